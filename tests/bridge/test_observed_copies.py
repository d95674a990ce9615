"""Hooks may look at every inner tensor, and the step stays what it is to the last bit."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import bridge
from bridge import keras_internals
from bridge.observed_copies import ObservedCopies

tf1 = tf.compat.v1

Keras = Any  # The module `keras` or `tf_keras`.
both = pytest.mark.parametrize("k", [keras, tf_keras], ids=["keras", "tf_keras"])

BATCH, STEPS_AN_EPOCH, EPOCHS = 4, 3, 2


def residual(k: Keras) -> Any:
    """Convolutions with normalisation and activation around a shortcut."""
    inputs = k.Input((6, 6, 2))
    x = k.layers.Conv2D(4, 3, padding="same", name="first")(inputs)
    x = k.layers.BatchNormalization(name="norm_1")(x)
    shortcut = x = k.layers.ReLU(name="relu_1")(x)
    x = k.layers.Conv2D(4, 3, padding="same", activation="relu", name="second")(x)
    x = k.layers.BatchNormalization(name="norm_2")(x)
    x = k.layers.Add(name="sum")([x, shortcut])
    x = k.layers.Activation("relu", name="relu_2")(x)
    x = k.layers.GlobalAveragePooling2D(name="pool")(x)
    return k.Model(inputs, k.layers.Dense(1, name="head")(x))


def attention(k: Keras) -> Any:
    """An attention block with its two sums and normalisations."""
    inputs = k.Input((5, 4))
    attended = k.layers.MultiHeadAttention(2, 3, name="attention")(inputs, inputs)
    x = k.layers.Add(name="sum_1")([inputs, attended])
    shortcut = x = k.layers.LayerNormalization(name="norm_1")(x)
    x = k.layers.Dense(8, activation="gelu", name="wide")(x)
    x = k.layers.Dense(4, name="narrow")(x)
    x = k.layers.LayerNormalization(name="norm_2")(k.layers.Add(name="sum_2")([x, shortcut]))
    x = k.layers.GlobalAveragePooling1D(name="pool")(x)
    return k.Model(inputs, k.layers.Dense(1, name="head")(x))


def data_for(model: Any) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(2)
    shape = (BATCH * STEPS_AN_EPOCH, *model.input_shape[1:])
    return random.normal(size=shape).astype("float32"), random.normal(size=(shape[0], 1)).astype("float32")


class LookAtAll(tf1.train.SessionRunHook):
    """Fetches every layer's output and every gradient on each second step."""

    def begin(self) -> None:
        names = [operation.name for operation in tf1.get_default_graph().get_operations()]
        self._names = [n for n in names if n.endswith("/output") or n.startswith("gradients/")]
        self._names = [n for n in self._names if not n.startswith("keras_step/")]
        self._weights = {v.op.name: v for v in tf1.trainable_variables()}
        self._runs = 0
        self.seen: list[dict[str, Any]] = []

    def before_run(self, run_context: Any) -> Any:
        self._runs += 1
        if self._runs % 2:
            return None
        fetches = {name: f"{name}:0" for name in self._names}
        return tf1.train.SessionRunArgs(
            {"weights": self._weights, "batch": "batch/x:0", "y": "batch/y:0", **fetches}
        )

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results is not None:
            self.seen.append(run_values.results)


def fit(k: Keras, build: Callable[[Keras], Any], callbacks: list[Any]) -> Any:
    k.backend.clear_session()
    k.utils.set_random_seed(5)
    model = build(k)
    model.compile(k.optimizers.Adam(0.01), "mse", jit_compile=False)
    x, y = data_for(model)
    model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, shuffle=False, verbose=0, callbacks=callbacks)
    return model


@both
@pytest.mark.parametrize("build", [residual, attention])
def test_a_step_that_is_looked_at_everywhere_trains_the_same_weights_to_the_bit(
    k: Keras, build: Callable[[Keras], Any]
) -> None:
    hook = LookAtAll()
    found = fit(k, build, [bridge.HookCallback(hook)])
    expected = fit(k, build, [])
    assert len(hook.seen) == EPOCHS * STEPS_AN_EPOCH // 2
    assert len(hook.seen[0]) > 20
    for value, other in zip(found.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_array_equal(value, other)
    for value, other in zip(found.optimizer.variables, expected.optimizer.variables, strict=True):
        np.testing.assert_array_equal(value.numpy(), other.numpy())


@both
@pytest.mark.parametrize("build", [residual, attention])
def test_what_hooks_see_is_what_the_layers_compute(k: Keras, build: Callable[[Keras], Any]) -> None:
    hook = LookAtAll()
    model = fit(k, build, [bridge.HookCallback(hook)])
    layers = {layer.name: layer for layer in model.layers if not isinstance(layer, k.layers.InputLayer)}
    names = [entry.name for entry in bridge.describe(model, data_for(model), file=io.StringIO())]
    assert {f"{name}/output" for name in layers} <= set(names)
    probe = k.Model(model.inputs, [layer.output for layer in layers.values()])
    for seen in hook.seen:
        # Trainable weights are as before the step; in training, nothing else goes into the values.
        variables = dict(
            zip((n for n in names if n in seen["weights"]), model.trainable_variables, strict=True)
        )
        for name, variable in variables.items():
            variable.assign(seen["weights"][name])
        with tf.GradientTape() as tape:
            outputs = probe([seen["batch"]] if k is keras else seen["batch"], training=True)
            loss = tf.reduce_mean(tf.square(outputs[-1] - seen["y"]))
        gradients = tape.gradient(loss, [keras_internals.tf_variable(v) for v in variables.values()])
        for name, value in zip(layers, outputs, strict=True):
            np.testing.assert_allclose(
                seen[f"{name}/output"], value.numpy(), rtol=1e-5, atol=1e-5, err_msg=name
            )
        for name, gradient in zip(variables, gradients, strict=True):
            np.testing.assert_allclose(
                seen[f"gradients/{name}"], gradient.numpy(), rtol=1e-4, atol=1e-5, err_msg=name
            )


# --- which operations are copied -----------------------------------------------------------------------------------


def copies_of(build: Callable[[], None], tensor: str) -> tuple[str, dict[str, Any]]:
    """Copies for a look at a tensor of a graph that was built in the step's scope."""
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [2, 2], name="keras_step/x")
        del x
        build()
    nodes = {node.name: node for node in graph.as_graph_def().node}
    is_stateful = lambda name: bool(graph.get_operation_by_name(name).op_def.is_stateful)  # noqa: E731
    made: dict[str, Any] = {}
    return ObservedCopies(nodes, nodes, is_stateful).copy(f"keras_step/{tensor}:0", made), made


def op(name: str) -> tf.Tensor:
    return tf1.get_default_graph().get_tensor_by_name(f"keras_step/{name}:0")


def chain() -> None:
    """x -> a -> b -> c, each the only user of the one before."""
    for source, name in (("x", "a"), ("a", "b"), ("b", "c")):
        tf.negative(op(source), name=f"keras_step/{name}")


def test_a_tensor_with_one_user_is_computed_by_copies_up_to_the_inputs() -> None:
    shown, made = copies_of(chain, "b")
    assert shown == "keras_step/b/observed:0"
    assert sorted(made) == ["keras_step/a/observed", "keras_step/b/observed"]
    assert list(made["keras_step/b/observed"].input) == ["keras_step/a/observed:0"]
    assert list(made["keras_step/a/observed"].input) == ["keras_step/x:0"]


def test_a_tensor_with_several_users_is_shown_itself() -> None:
    def build() -> None:
        chain()
        tf.exp(op("b"), name="keras_step/d")

    assert copies_of(build, "b") == ("keras_step/b:0", {})


def test_copies_end_at_a_tensor_with_several_users() -> None:
    def build() -> None:
        chain()
        tf.exp(op("a"), name="keras_step/d")

    shown, made = copies_of(build, "b")
    assert list(made) == ["keras_step/b/observed"]
    assert list(made["keras_step/b/observed"].input) == ["keras_step/a:0"]
    assert shown == "keras_step/b/observed:0"


def test_users_that_only_ask_for_the_shape_do_not_count() -> None:
    def build() -> None:
        chain()
        tf.shape(op("b"), name="keras_step/shape")
        tf1.zeros_like(op("b"), name="keras_step/zeros", optimize=False)

    assert copies_of(build, "b")[0] == "keras_step/b/observed:0"


def test_users_of_what_hands_it_on_count() -> None:
    def build() -> None:
        tf.negative(op("x"), name="keras_step/a")
        tf.identity(op("a"), name="keras_step/same")
        tf.exp(op("same"), name="keras_step/e")
        tf.sin(op("same"), name="keras_step/s")

    assert copies_of(build, "a") == ("keras_step/a:0", {})


def test_random_numbers_are_not_drawn_twice() -> None:
    def build() -> None:
        tf.raw_ops.RandomStandardNormal(shape=[2, 2], dtype=tf.float32, name="keras_step/noise")
        tf.add(op("noise"), op("x"), name="keras_step/a")
        tf.negative(op("a"), name="keras_step/b")

    shown, made = copies_of(build, "a")
    assert list(made) == ["keras_step/a/observed"]
    assert all(node.op == "AddV2" for node in made.values())
    assert shown.startswith("keras_step/a/")


def test_an_input_of_the_step_is_shown_itself() -> None:
    assert copies_of(chain, "x") == ("keras_step/x:0", {})
