"""`evaluate` in a monitored session: with the weights of the newest checkpoint, or a clear error."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import bridge
from bridge.errors import UnsupportedSessionError
from tests.bridge.support import batches, small_model


@pytest.fixture
def trained(tmp_path: Path) -> tuple[Path, float]:
    """A folder of checkpoints, and the loss of the model that wrote them."""
    with bridge.MonitoredTrainingSession(checkpoint_dir=tmp_path) as session:
        model = small_model()
        session.fit(model, batches(3), verbose=0)
    return tmp_path, float(model.evaluate(batches(3), verbose=0))


@pytest.mark.parametrize("optimizer", ["sgd", None])
def test_a_model_is_evaluated_with_the_saved_weights(
    trained: tuple[Path, float], optimizer: str | None
) -> None:
    folder, loss = trained
    model = small_model(optimizer=optimizer)
    assert model.evaluate(batches(3), verbose=0) != loss
    with bridge.MonitoredTrainingSession(checkpoint_dir=folder) as session:
        assert session.evaluate(model, batches(3), verbose=0) == loss


class TwoOptimizers(keras.Model):
    """A model that keeps an optimizer of its own beside the compiled one, and trains with that."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(1, name="dense")
        self.own = keras.optimizers.SGD(0.125)

    def call(self, inputs: object) -> object:
        return self.dense(inputs)

    def train_step(self, data: object) -> dict[str, object]:
        x, y = data  # type: ignore[misc]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x) - y) ** 2)
        self.own.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        return {"loss": loss}


def two_optimizers() -> keras.Model:
    model = TwoOptimizers()
    model.compile("rmsprop", "mse", jit_compile=False)
    model(np.zeros((1, 3), np.float32))
    return model


def test_a_model_with_several_optimizers_is_evaluated_with_the_saved_weights(tmp_path: Path) -> None:
    with bridge.MonitoredTrainingSession(checkpoint_dir=tmp_path) as session:
        model = two_optimizers()
        session.fit(model, batches(3), verbose=0)
        loss = model.evaluate(batches(3), verbose=0)
    with bridge.MonitoredTrainingSession(checkpoint_dir=tmp_path) as session:
        assert session.evaluate(two_optimizers(), batches(3), verbose=0) == loss


def test_a_model_with_several_optimizers_goes_on_at_the_step_of_the_one_that_trains(tmp_path: Path) -> None:
    with bridge.MonitoredTrainingSession(checkpoint_dir=tmp_path) as session:
        session.fit(two_optimizers(), batches(3), epochs=2, verbose=0)
    with bridge.MonitoredTrainingSession(checkpoint_dir=tmp_path) as session:
        model = two_optimizers()
        history = session.fit(model, batches(3), epochs=4, verbose=0)
    assert history.epoch == [2, 3]
    assert (int(model.own.iterations), int(model.optimizer.iterations)) == (12, 0)


def test_a_model_without_variables_cannot_be_restored_and_the_error_says_how_to_build_it(
    trained: tuple[Path, float],
) -> None:
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    with (
        bridge.MonitoredTrainingSession(checkpoint_dir=trained[0]) as session,
        pytest.raises(UnsupportedSessionError, match=r"has no variables yet.*Build it first"),
    ):
        session.evaluate(model, np.zeros((2, 3)), np.zeros((2, 1)))
