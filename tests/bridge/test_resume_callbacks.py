"""A run that was stopped goes on from what was trained, whatever callbacks made of the model when the stop ended its fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.bridge.exactness import data, models
from tests.bridge.exactness.cases import BOTH, Case, mse, package
from tests.bridge.exactness.running import EPOCHS
from tests.bridge.resuming import (
    Session,
    assert_same_state,
    begin,
    in_pieces,
    left_by,
    never_stopped,
    session,
    trained_state,
)

tf1 = tf.compat.v1

ADAM = Case("adam", models.normed, data.arrays, mse("Adam"))  # 5 steps an epoch.
STATEFUL = Case("stateful", models.stateful_lstm, data.full_sequences, mse("RMSprop"))


def clear_states(k: Any) -> Any:
    class Clear(k.callbacks.Callback):  # type: ignore[misc, name-defined]
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            for layer in self.model.layers:
                if getattr(layer, "stateful", False):
                    getattr(layer, "reset_state", getattr(layer, "reset_states", None))()

    return Clear()


def shrink(k: Any) -> Any:
    class Shrink(k.callbacks.Callback):  # type: ignore[misc, name-defined]
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.model.set_weights([weight * 0.9 for weight in self.model.get_weights()])

    return Shrink()


def lower_rate(k: Any) -> Any:
    class Lower(k.callbacks.Callback):  # type: ignore[misc, name-defined]
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.model.optimizer.learning_rate = 0.005

    return Lower()


CHANGES = [(STATEFUL, clear_states), (ADAM, shrink)]


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize(("case", "change"), CHANGES, ids=["clears-states", "changes-weights"])
@pytest.mark.parametrize("whole_epoch", [False, True], ids=["in-an-epoch", "after-an-epoch"])
def test_what_a_callback_does_after_an_epoch_is_saved_if_the_epoch_was_whole(
    whole_epoch: bool, case: Case, change: Any, flavour: str, tmp_path: Path
) -> None:
    k = package(flavour)
    expected = never_stopped(k, case, callbacks=[change(k)])
    steps = int(trained_state(expected)["optimizer_0/iterations"]) // EPOCHS
    stop = 2 * steps if whole_epoch else steps + 1
    found = in_pieces(k, case, tmp_path, [stop], callbacks=[change(k)])
    assert_same_state(expected, found)


@pytest.mark.parametrize("flavour", BOTH)
def test_a_rate_that_the_cut_epoch_lowered_is_as_before_in_the_checkpoint(
    flavour: str, tmp_path: Path
) -> None:
    k = package(flavour)
    model, _ = session(k, ADAM, tmp_path, stop_at=2, callbacks=[lower_rate(k)])
    assert float(model.optimizer.learning_rate) == pytest.approx(0.005)
    rates = [
        tf.train.load_variable(str(tmp_path), name)
        for name, _ in tf.train.list_variables(str(tmp_path))
        if name.rsplit("/", 1)[-1].lower() in ("learning_rate", "current_learning_rate")
    ]
    assert rates == [pytest.approx(0.01)]


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize("stop", [7, 10], ids=["in-an-epoch", "after-an-epoch"])
def test_weights_that_a_callback_puts_back_after_a_stop_are_left_in_the_model_but_not_saved(
    stop: int, flavour: str, tmp_path: Path
) -> None:
    k = package(flavour)

    class PutBack(k.callbacks.Callback):  # type: ignore[misc, name-defined]
        """As EarlyStopping(restore_best_weights=True) does in Keras 3, whoever ended the fit."""

        def on_train_begin(self, logs: Any = None) -> None:
            self.best = self.model.get_weights()

        def on_train_end(self, logs: Any = None) -> None:
            self.model.set_weights(self.best)

    trained, _ = session(k, ADAM, None, stop_at=stop)
    callback = PutBack()
    model, _ = session(k, ADAM, tmp_path, stop_at=stop, callbacks=[callback])
    resumed, _ = session(k, ADAM, tmp_path, stop_at=stop)
    expected = [(callback.best, model), (trained.get_weights(), resumed)]
    for weights, found in expected:
        for weight, other in zip(weights, found.get_weights(), strict=True):
            np.testing.assert_array_equal(weight, other)


def test_best_weights_are_saved_where_early_stopping_itself_ended_the_fit(tmp_path: Path) -> None:
    worst = keras.callbacks.EarlyStopping("loss", mode="max", patience=1, restore_best_weights=True)
    model, history = session(keras, ADAM, tmp_path, callbacks=[worst], epochs=9)
    assert len(history.epoch) < 9
    saved = tf.train.load_variable(str(tmp_path), "dense/kernel")
    np.testing.assert_array_equal(saved, model.get_weights()[0])


def test_averages_that_take_turns_with_the_weights_are_not_saved_in_their_place(tmp_path: Path) -> None:
    case = Case("ema", models.undropped, data.arrays, mse("Adam", use_ema=True, ema_momentum=0.8))

    def swap() -> list[Any]:
        return [keras.callbacks.SwapEMAWeights(swap_on_epoch=True)]

    expected = trained_state(never_stopped(keras, case, callbacks=swap()))
    for stop in (7, 10):
        session(keras, case, tmp_path, stop_at=stop, callbacks=swap())
    found = trained_state(left_by(*session(keras, case, tmp_path, callbacks=swap())))
    for name, value in expected.items():  # Keras swaps by adding and subtracting, which rounds.
        np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-6, err_msg=name)


def test_a_fit_after_the_stop_does_not_bring_averages_into_the_checkpoint(tmp_path: Path) -> None:
    case = Case("ema", models.undropped, data.arrays, mse("Adam", use_ema=True, ema_momentum=0.8))
    plain = begin(keras, Case("plain", models.undropped, data.arrays, mse("Adam")))
    plain.fit(**data.arrays(keras), epochs=1, verbose=0)
    model = begin(keras, case)
    with Session(checkpoint_dir=str(tmp_path), hooks=[tf1.train.StopAtStepHook(last_step=5)]) as opened:
        for epochs in (2, 3):
            opened.fit(model, **data.arrays(keras), epochs=epochs, verbose=0)
    saved = tf.train.load_variable(str(tmp_path), "dense/kernel")
    np.testing.assert_array_equal(saved, plain.get_weights()[0])
    assert np.any(saved != model.get_weights()[0])  # As a plain fit, this one leaves the averages.


@pytest.mark.parametrize("flavour", BOTH)
def test_states_of_a_recurrent_layer_have_the_same_names_in_every_process(
    flavour: str, tmp_path: Path
) -> None:
    """TensorFlow lists a function's variables in another order each time; Keras gives both states one name."""
    k = package(flavour)
    found = []
    for attempt in range(6):
        model, _ = session(k, STATEFUL, tmp_path / str(attempt), stop_at=3)
        states = next(layer for layer in model.layers if getattr(layer, "stateful", False)).states
        saved = tf.train.load_checkpoint(str(tmp_path / str(attempt)))
        tensors = {name: saved.get_tensor(name) for name in saved.get_variable_to_shape_map()}
        found.append(
            [
                next(name for name, value in tensors.items() if np.array_equal(value, state.numpy()))
                for state in states
            ]
        )
    assert found == [found[0]] * 6
