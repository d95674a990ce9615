"""TensorFlow's own random operations draw under hooks what they draw without."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import bridge
from bridge import random_state
from bridge.errors import StepGraphWarning
from tests.bridge.support import FetchHook

tf1 = tf.compat.v1

Keras = Any  # The module `keras` or `tf_keras`.
Draw = Callable[[tf.Tensor], tf.Tensor]  # From a shape to numbers.

X, Y = np.linspace(-1, 1, 36, dtype="float32").reshape(12, 3), np.linspace(0, 1, 12, dtype="float32")[:, None]


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    yield
    tf.random.set_seed(0)


def uniform_int(shape: tf.Tensor) -> tf.Tensor:
    return tf.random.uniform(shape, -3, 4, tf.int32)


DRAWS: dict[str, Draw] = {
    "normal": tf.random.normal,
    "uniform": tf.random.uniform,
    "truncated_normal": tf.random.truncated_normal,
    "uniform_int": uniform_int,
    "uniform_int64": lambda shape: tf.random.uniform(shape, -5, 1 << 40, tf.int64) // (1 << 38),
    "bounds": lambda shape: tf.random.uniform(shape, -2.0, 3.0),
    "normal, op seed": lambda shape: tf.random.normal(shape, 1.0, 0.5, seed=5),
    "uniform, op seed": lambda shape: tf.random.uniform(shape, seed=5),
    "truncated_normal, op seed": lambda shape: tf.random.truncated_normal(shape, seed=5),
    "uniform_int, op seed": lambda shape: tf.random.uniform(shape, 0, 9, tf.int32, seed=5),
    # Not a sum of draws: TensorFlow joins the additions of stateful and of stateless draws in different orders, so that
    # the last bits of such a sum differ (the guide says so).
    "several": lambda shape: (
        tf.random.normal(shape, seed=5) * tf.random.normal(shape, seed=5) * tf.random.uniform(shape)
    ),
    "long shape": lambda shape: tf.random.normal(tf.cast(shape, tf.int64)),
    "float16": lambda shape: tf.random.normal(shape, dtype=tf.float16),
    "bfloat16": lambda shape: tf.random.uniform(shape, dtype=tf.bfloat16),
    "float64": lambda shape: tf.random.truncated_normal(shape, dtype=tf.float64),
    "float64 uniform": lambda shape: tf.random.uniform(shape, dtype=tf.float64, seed=8),
}


def noisy_model(k: Keras, draw: Draw, **options: Any) -> Any:
    class Noise(k.layers.Layer):  # type: ignore[name-defined]
        def call(self, inputs: Any) -> Any:
            return inputs + tf.cast(draw(tf.shape(inputs)), inputs.dtype)

    k.utils.set_random_seed(11)
    model = k.Sequential([k.Input((3,)), Noise(name="noise"), k.layers.Dense(1)])
    model.compile(**{"optimizer": "sgd", "loss": "mse", "jit_compile": False, **options})
    return model


class Alternating(tf1.train.SessionRunHook):
    """Asks for something else in each step, so that there are three programs."""

    ASKED = (None, "noise/output:0", ["loss:0", "dense/output:0"])

    def __init__(self) -> None:
        self.noises: list[np.ndarray] = []

    def begin(self) -> None:
        self._runs = 0

    def before_run(self, run_context: Any) -> Any:
        self._asked = self.ASKED[self._runs % len(self.ASKED)]
        self._runs += 1
        return self._asked and tf1.train.SessionRunArgs(self._asked)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if isinstance(self._asked, str):
            self.noises.append(run_values.results)


def two_fits(model: Any, callbacks: list[Any]) -> list[np.ndarray]:
    """Trains twice, the second time with batches of another size, and returns the weights after each fit."""
    weights = []
    for epochs in (2, 1):
        model.fit(X, Y, batch_size=2, epochs=epochs, shuffle=False, verbose=0, callbacks=callbacks)
        weights.extend(model.get_weights())
    return weights


def assert_same(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for value, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(value, other)


@pytest.mark.parametrize("name", DRAWS)
def test_steps_of_alternating_fetches_draw_what_a_plain_fit_draws(name: str) -> None:
    hook = Alternating()
    with warnings.catch_warnings():
        warnings.simplefilter("error", StepGraphWarning)
        found = two_fits(noisy_model(keras, DRAWS[name]), [bridge.HookCallback(hook)])
    assert_same(found, two_fits(noisy_model(keras, DRAWS[name]), []))
    assert len(hook.noises) == 6
    for index, noise in enumerate(hook.noises):  # The numbers do not repeat themselves.
        assert not any(np.array_equal(noise, other) for other in hook.noises[:index])


def test_tf_keras_draws_the_same_too() -> None:
    found = two_fits(noisy_model(tf_keras, tf.random.normal), [bridge.HookCallback(Alternating())])
    assert_same(found, two_fits(noisy_model(tf_keras, tf.random.normal), []))


def test_numbers_drawn_in_a_hook_are_the_hooks_own() -> None:
    hook = FetchHook(lambda: tf.random.normal([2], seed=3))
    found = two_fits(noisy_model(keras, tf.random.normal), [bridge.HookCallback([Alternating(), hook])])
    assert_same(found, two_fits(noisy_model(keras, tf.random.normal), []))
    assert len({tuple(result) for result in hook.results}) > 1


def test_without_any_seed_the_numbers_are_new_in_each_step_and_program() -> None:
    model = noisy_model(keras, lambda shape: tf.raw_ops.RandomStandardNormal(shape=shape, dtype=tf.float32))
    hooks = [Alternating(), Alternating()]
    two_fits(model, [bridge.HookCallback(hooks[0])])
    two_fits(
        noisy_model(keras, lambda shape: tf.raw_ops.RandomStandardNormal(shape=shape, dtype=tf.float32)),
        [bridge.HookCallback(hooks[1])],
    )
    noises = [
        noise - x for hook in hooks for noise, x in zip(hook.noises, [X[2:4], X[8:10]] * 3, strict=True)
    ]
    assert len({noise.tobytes() for noise in noises}) == len(noises) == 12


# --- what cannot be taken out ------------------------------------------------------------------------------------

OTHERS: dict[str, Draw] = {
    "shuffle": lambda shape: tf.random.shuffle(tf.cast(tf.range(tf.reduce_prod(shape)), tf.float32))[:1],
    "categorical": lambda shape: tf.random.categorical([[0.5, 0.5]], 3)[0],
    "gamma": lambda shape: tf.random.gamma([3], 1.0),
    "poisson": lambda shape: tf.random.poisson([3], 1.0),
    "in a branch": lambda shape: tf.cond(
        tf.reduce_prod(shape) > 0, lambda: tf.random.normal([3]), lambda: tf.zeros([3])
    ),
    "in a loop": lambda shape: tf.while_loop(
        lambda i, x: i < 2, lambda i, x: (i + 1, x + tf.random.normal([3])), (0, tf.zeros([3]))
    )[1],
}


@pytest.mark.parametrize("name", OTHERS)
def test_numbers_that_depend_on_the_fetches_are_warned_of(name: str) -> None:
    model = noisy_model(keras, OTHERS[name])
    with pytest.warns(
        StepGraphWarning, match=r"draws random numbers in 'keras_step/|draws random numbers in"
    ):
        two_fits(model, [bridge.HookCallback(Alternating())])


@pytest.mark.parametrize("name", OTHERS)
def test_with_one_set_of_fetches_they_are_those_of_a_plain_fit(name: str) -> None:
    def fit(callbacks: list[Any]) -> list[np.ndarray]:
        model = noisy_model(keras, OTHERS[name])
        model.fit(X, Y, batch_size=2, shuffle=False, verbose=0, callbacks=callbacks)
        return model.get_weights()

    with warnings.catch_warnings():
        warnings.simplefilter("error", StepGraphWarning)
        found = fit([bridge.HookCallback(FetchHook(lambda: "noise/output:0"))])
    assert_same(found, fit([]))


# --- the rewriting itself ------------------------------------------------------------------------------------------


def test_a_graph_without_random_operations_stays_as_it_is() -> None:
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant(1.0), 2.0)
    graph_def = graph.as_graph_def()
    before = graph_def.SerializeToString()
    state = random_state.take_out(graph_def)
    assert graph_def.SerializeToString() == before
    assert (state.counters, state.effects, state.others) == ({}, [], [])


def test_each_random_operation_gets_a_counter_and_an_effect_that_advances_it() -> None:
    with tf.Graph().as_default() as graph:
        tf.random.normal([2, 3], seed=1, name="a")
        tf.random.uniform([4], seed=1, name="b")
        tf.random.shuffle(tf.range(3), name="c")
    graph_def = graph.as_graph_def()
    state = random_state.take_out(graph_def)
    assert len(state.counters) == len(state.effects) == 2
    assert state.others == ["c"]
    with tf.Graph().as_default():
        tf.graph_util.import_graph_def(graph_def, name="")  # It is well-formed.
