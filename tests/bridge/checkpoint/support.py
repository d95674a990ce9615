"""What the tests of checkpoints share: the golden files of TensorFlow 1.15.5, and Keras models like its graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from bridge.checkpoint import model_state
from tests.bridge.checkpoint import worlds

GOLDEN = Path(__file__).parent / "golden"
EXPECTED: dict[str, Any] = json.loads((GOLDEN / "expected.json").read_text())["programs"]

# As in `tests/oracle`: the kernels of two TensorFlows add up products in different orders.
TOLERANCE = 2e-6

Keras = Any  # The module `keras` or `tf_keras`.
both = pytest.mark.parametrize("k", [keras, tf_keras], ids=["keras", "tf_keras"])

COUNTS = {"ref_variables": 4, "slim_names": 7, "other_types": 5}


def golden(name: str) -> str:
    """The prefix of a golden checkpoint."""
    return str(GOLDEN / name / f"model.ckpt-{COUNTS.get(name, 4)}")


def expected(name: str, variable: str, when: str = "saved") -> np.ndarray:
    """A variable's value in TensorFlow 1.15.5."""
    return np.asarray(EXPECTED[name][when][variable], np.float32)


def dense_model(k: Keras, optimizer: Any = None, **options: Any) -> Any:
    """One layer `dense` over three inputs, as in most of the golden programs, with other weights than theirs."""
    model = k.Sequential([k.Input((3,)), k.layers.Dense(1, name="dense")])
    model.set_weights([np.full((3, 1), 9, np.float32), np.full(1, 9, np.float32)])
    if optimizer is not None:
        model.compile(optimizer, "mse", **options)
    return model


def adam(k: Keras) -> Any:
    return k.optimizers.Adam(worlds.RATE, epsilon=worlds.EPSILON)


def train(model: Any, steps: int = worlds.STEPS_AFTER) -> None:
    """Trains on, one step an epoch."""
    model.fit(worlds.X, worlds.Y, batch_size=4, epochs=steps, shuffle=False, verbose=0)


def assert_weights(model: Any, name: str, when: str = "saved", layer: str = "dense") -> None:
    """Compares a dense layer with what TensorFlow 1.15.5 had."""
    kernel, bias = model.get_layer(layer).get_weights()
    np.testing.assert_allclose(kernel, expected(name, "dense/kernel", when), rtol=TOLERANCE, atol=TOLERANCE)
    np.testing.assert_allclose(bias, expected(name, "dense/bias", when), rtol=TOLERANCE, atol=TOLERANCE)


def step_of(model: Any) -> int:
    return int(model.optimizer.iterations.numpy())


def names(entries: Any) -> list[str]:
    """The variables' names in lines of a report."""
    return [entry.name for entry in entries]


def sources(entries: Any) -> list[str]:
    """The checkpoint's names in lines of a report."""
    return [entry.source for entry in entries]


def write(prefix: Path, values: dict[str, Any]) -> str:
    """Writes a checkpoint with TensorFlow's own operation."""
    prefix.parent.mkdir(parents=True, exist_ok=True)
    tensors = [tf.convert_to_tensor(value) for value in values.values()]
    tf.raw_ops.SaveV2(
        prefix=str(prefix),
        tensor_names=list(values),
        shape_and_slices=[""] * len(values),
        tensors=tensors,
    )
    return str(prefix)


def entries_of(prefix: str) -> dict[str, np.ndarray]:
    """All entries of a checkpoint."""
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def state_of(model: Any) -> list[np.ndarray]:
    """All values that a load may change. Builds the optimizer, as a load does."""
    return [np.array(named.variable.numpy()) for named in model_state.state_of(model)]
