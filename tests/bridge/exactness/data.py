"""The data of the exactness table: each function returns arguments of `fit`, made anew on every call.

Nothing is random between two calls: numbers come from a generator with a fixed seed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tests.bridge.exactness.models import CLASSES, FEATURES, SIDE, STEP_FEATURES, STEPS, VOCABULARY

Keras = Any
FitArguments = dict[str, Any]

ROWS = 36
BATCH = 8  # Four full batches and one of four.


def _rng() -> np.random.Generator:
    return np.random.default_rng(20240)


def _rows(count: int = ROWS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, FEATURES)).astype("float32")
    return x, (x.sum(1, keepdims=True) + 0.1 * rng.normal(size=(count, 1))).astype("float32")


def _labels(count: int = ROWS) -> np.ndarray:
    return _rng().integers(0, CLASSES, size=count).astype("int32")


def arrays(k: Keras) -> FitArguments:
    x, y = _rows()
    return {"x": x, "y": y, "batch_size": BATCH}


def labelled(k: Keras) -> FitArguments:
    return {"x": _rows()[0], "y": _labels(), "batch_size": BATCH}


def weighted(k: Keras) -> FitArguments:
    return {**arrays(k), "sample_weight": np.linspace(0.1, 2.0, ROWS).astype("float32")}


def class_weighted(k: Keras) -> FitArguments:
    return {**labelled(k), "class_weight": {0: 0.5, 1: 1.0, 2: 3.0}}


def validated(k: Keras) -> FitArguments:
    return {**arrays(k), "validation_data": _rows(20, seed=5), "validation_batch_size": 7}


def split(k: Keras) -> FitArguments:
    return {**arrays(k), "validation_split": 0.25, "validation_freq": 2}


def one_row_left(k: Keras) -> FitArguments:
    """The last batch has one row."""
    x, y = _rows(33)
    return {"x": x, "y": y, "batch_size": BATCH}


def dataset(k: Keras) -> FitArguments:
    """Finite, its last batch smaller, shuffled anew each epoch."""
    return {"x": tf.data.Dataset.from_tensor_slices(_rows()).shuffle(ROWS, seed=3).batch(BATCH).prefetch(2)}


def full_batches(k: Keras) -> FitArguments:
    return {"x": tf.data.Dataset.from_tensor_slices(_rows()).batch(BATCH, drop_remainder=True)}


def infinite(k: Keras) -> FitArguments:
    return {"x": tf.data.Dataset.from_tensor_slices(_rows()).repeat().batch(BATCH), "steps_per_epoch": 7}


def long_finite(k: Keras) -> FitArguments:
    """More batches than one epoch takes: the epochs go on where the last one stopped."""
    return {"x": tf.data.Dataset.from_tensor_slices(_rows(120)).batch(BATCH), "steps_per_epoch": 4}


def too_short(k: Keras) -> FitArguments:
    """Ends before the steps that were asked for."""
    return {"x": tf.data.Dataset.from_tensor_slices(_rows()).batch(BATCH), "steps_per_epoch": 4}


def unknown_length(k: Keras) -> FitArguments:
    """A filter hides how many batches there are."""
    rows = tf.data.Dataset.from_tensor_slices(_rows()).filter(lambda x, y: x[0] > -0.5)
    return {"x": rows.batch(BATCH)}


def from_generator(k: Keras) -> FitArguments:
    """Unknown length and unknown batch size."""
    x, y = _rows()

    def batches() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start, stop in ((0, 8), (8, 11), (11, 20), (20, 36)):
            yield x[start:stop], y[start:stop]

    spec = (tf.TensorSpec([None, FEATURES], tf.float32), tf.TensorSpec([None, 1], tf.float32))
    return {"x": tf.data.Dataset.from_generator(batches, output_signature=spec)}


def weighted_dataset(k: Keras) -> FitArguments:
    weights = np.linspace(0.5, 1.5, ROWS).astype("float32")
    return {"x": tf.data.Dataset.from_tensor_slices((*_rows(), weights)).batch(BATCH)}


def changing_lengths(k: Keras) -> FitArguments:
    """Sequences as long as the longest of their batch."""
    rng = _rng()
    values = [rng.normal(size=(2 + i % 4 + i // 12, STEP_FEATURES)).astype("float32") for i in range(ROWS)]

    def rows() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for value in values:
            yield value, value.sum(keepdims=True)[0, :1]

    spec = (tf.TensorSpec([None, STEP_FEATURES], tf.float32), tf.TensorSpec([1], tf.float32))
    return {"x": tf.data.Dataset.from_generator(rows, output_signature=spec).padded_batch(6)}


def py_dataset(k: Keras) -> FitArguments:
    base = k.utils.PyDataset if hasattr(k.utils, "PyDataset") else k.utils.Sequence

    class Batches(base):
        def __init__(self) -> None:
            super().__init__()
            self.x, self.y = _rows()

        def __len__(self) -> int:
            return math.ceil(ROWS / BATCH)

        def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
            rows = slice(index * BATCH, (index + 1) * BATCH)
            return self.x[rows], self.y[rows]

    return {"x": Batches(), "shuffle": False}


def generator(k: Keras) -> FitArguments:
    """A Python generator; its batches do not all have the same size."""
    x, y = _rows()

    def batches() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        while True:
            for start, stop in ((0, 8), (8, 11), (11, 20), (20, 36)):
                yield x[start:stop], y[start:stop]

    return {"x": batches(), "steps_per_epoch": 5}


def dicts(k: Keras) -> FitArguments:
    x, y = _rows()
    targets = {"total": y, "label": _labels()}
    weights = {"total": np.linspace(0, 1, ROWS).astype("float32"), "label": np.ones(ROWS, "float32")}
    return {
        "x": {"left": x, "right": x[::-1].copy()},
        "y": targets,
        "sample_weight": weights,
        "batch_size": BATCH,
    }


def dict_dataset(k: Keras) -> FitArguments:
    given = dicts(k)
    return {"x": tf.data.Dataset.from_tensor_slices((given["x"], given["y"])).batch(BATCH)}


def lists(k: Keras) -> FitArguments:
    x, y = _rows()
    return {"x": [x, x * x], "y": [y, np.concatenate([y, -y], 1)], "batch_size": BATCH}


def images(k: Keras) -> FitArguments:
    return {
        "x": _rng().normal(size=(ROWS, SIDE, SIDE, 1)).astype("float32"),
        "y": _labels(),
        "batch_size": BATCH,
    }


def sequences(k: Keras) -> FitArguments:
    x = _rng().normal(size=(ROWS, STEPS, STEP_FEATURES)).astype("float32")
    return {"x": x, "y": x.sum((1, 2))[:, None], "batch_size": BATCH}


def full_sequences(k: Keras) -> FitArguments:
    given = sequences(k)
    return {"x": given["x"][:32], "y": given["y"][:32], "batch_size": 8, "shuffle": False}


def tokens(k: Keras) -> FitArguments:
    """Token numbers; the rows end in zeros, which are masked."""
    x = _rng().integers(1, VOCABULARY, size=(ROWS, STEPS)).astype("int32")
    x[np.arange(STEPS) >= _rng().integers(2, STEPS + 1, size=(ROWS, 1))] = 0
    return {"x": x, "y": _labels(), "batch_size": BATCH}


def full_token_batches(k: Keras) -> FitArguments:
    given = tokens(k)
    dataset = tf.data.Dataset.from_tensor_slices((given["x"], given["y"]))
    return {"x": dataset.batch(BATCH, drop_remainder=True)}


def words(k: Keras) -> FitArguments:
    numbers, y = _rows()
    text = np.array([[f"word{n}" for n in row] for row in _rng().integers(0, VOCABULARY, size=(ROWS, STEPS))])
    given = {"text": tf.constant(text), "numbers": tf.constant(numbers)}
    return {"x": tf.data.Dataset.from_tensor_slices((given, y)).batch(BATCH)}


def ragged_rows(k: Keras) -> FitArguments:
    lengths = _rng().integers(1, 6, size=ROWS)
    values = _rng().integers(0, VOCABULARY, size=int(lengths.sum())).astype("int32")
    rows = tf.RaggedTensor.from_row_lengths(values, lengths)
    return {"x": tf.data.Dataset.from_tensor_slices((rows, _rows()[1])).batch(BATCH)}


def sparse_rows(k: Keras) -> FitArguments:
    x, y = _rows()
    x[x < 0.5] = 0
    return {"x": tf.data.Dataset.from_tensor_slices((tf.sparse.from_dense(x), y)).batch(BATCH)}


def with_length(data: Any) -> Any:
    """Returns the same data, of which TensorFlow knows the number of batches."""

    def counted(k: Keras) -> FitArguments:
        given = data(k)
        batches = sum(1 for _ in given["x"])
        return {**given, "x": given["x"].apply(tf.data.experimental.assert_cardinality(batches))}

    return functools.wraps(data)(counted)


def one_class(k: Keras) -> FitArguments:
    """Targets for a binary metric."""
    x, y = _rows()
    return {"x": x, "y": (y > 0).astype("float32"), "batch_size": BATCH}


def nan_at(batch: int) -> Any:
    """Returns data of which one batch has a NaN among its targets."""

    def with_nan(k: Keras) -> FitArguments:
        x, y = _rows()
        y[batch * BATCH] = np.nan
        return {"x": x, "y": y, "batch_size": BATCH, "shuffle": False}

    return functools.wraps(arrays)(with_nan)
