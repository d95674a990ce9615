"""A Keras model goes on from where TensorFlow 1.15.5 saved: its weights after more steps are those of TF1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tf_keras

from bridge.checkpoint import load_v1
from bridge.errors import CheckpointMismatchError
from tests.bridge.checkpoint import worlds
from tests.bridge.checkpoint.support import (
    EXPECTED,
    Keras,
    adam,
    assert_weights,
    both,
    dense_model,
    entries_of,
    expected,
    golden,
    names,
    sources,
    step_of,
    train,
    write,
)

pytestmark = pytest.mark.oracle

RATE = worlds.RATE
RMS = {"rho": worlds.DECAY, "epsilon": worlds.EPSILON}
STRONG = {"momentum": worlds.MOMENTUM, **RMS}

OPTIMIZERS: dict[str, Callable[[Keras], Any]] = {
    "sgd": lambda k: k.optimizers.SGD(RATE),
    "momentum": lambda k: k.optimizers.SGD(RATE, momentum=worlds.MOMENTUM),
    "nesterov": lambda k: k.optimizers.SGD(RATE, momentum=worlds.MOMENTUM, nesterov=True),
    "rmsprop": lambda k: k.optimizers.RMSprop(RATE, **STRONG),
    "rmsprop_plain": lambda k: k.optimizers.RMSprop(RATE, **RMS),
    "rmsprop_centered": lambda k: k.optimizers.RMSprop(RATE, centered=True, **STRONG),
    "adam": adam,
    "adagrad": lambda k: k.optimizers.Adagrad(RATE, epsilon=0.0),
    "adadelta": lambda k: k.optimizers.Adadelta(RATE, rho=worlds.DECAY, epsilon=worlds.EPSILON),
    "ftrl": lambda k: k.optimizers.Ftrl(RATE),
    "adamax": lambda k: k.optimizers.Adamax(RATE, epsilon=worlds.EPSILON),
    # TF1's AdamW decays by the given part, Keras's by the rate's part of it.
    "adamw": lambda k: k.optimizers.AdamW(
        RATE, weight_decay=worlds.WEIGHT_DECAY / RATE, epsilon=worlds.EPSILON
    ),
}

LEGACY = tf_keras.optimizers.legacy
LEGACY_OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: LEGACY.SGD(RATE),
    "momentum": lambda: LEGACY.SGD(RATE, momentum=worlds.MOMENTUM),
    "rmsprop": lambda: LEGACY.RMSprop(RATE, **STRONG),
    "rmsprop_centered": lambda: LEGACY.RMSprop(RATE, centered=True, **STRONG),
    "adam": lambda: LEGACY.Adam(RATE, epsilon=worlds.EPSILON),
    "adagrad": lambda: LEGACY.Adagrad(RATE, epsilon=0.0),
    "adadelta": lambda: LEGACY.Adadelta(RATE, rho=worlds.DECAY, epsilon=worlds.EPSILON),
    "ftrl": lambda: LEGACY.Ftrl(RATE),
    "adamax": lambda: LEGACY.Adamax(RATE, epsilon=worlds.EPSILON),
}


def test_every_golden_optimizer_is_tested() -> None:
    assert {f"optimizer_{name}" for name in OPTIMIZERS} == {n for n in EXPECTED if n.startswith("optimizer_")}


@both
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_as_in_tf1(k: Keras, name: str) -> None:
    model = dense_model(k, OPTIMIZERS[name](k))
    load_v1(model, golden(f"optimizer_{name}"))
    assert_weights(model, f"optimizer_{name}")
    assert step_of(model) == worlds.STEPS_BEFORE
    train(model)
    assert_weights(model, f"optimizer_{name}", "after")
    assert step_of(model) == worlds.STEPS_BEFORE + worlds.STEPS_AFTER


@pytest.mark.parametrize("name", LEGACY_OPTIMIZERS)
def test_training_with_tf_keras_legacy_optimizers_goes_on_as_in_tf1(name: str) -> None:
    model = dense_model(tf_keras, LEGACY_OPTIMIZERS[name]())
    load_v1(model, golden(f"optimizer_{name}"))
    train(model)
    assert_weights(model, f"optimizer_{name}", "after")


@both
def test_training_would_not_go_on_so_without_the_slots(k: Keras) -> None:
    model = dense_model(k, adam(k))
    load_v1(model, golden("optimizer_adam"))
    slots = [v for v in model.optimizer.variables if "kernel" in getattr(v, "path", v.name)]
    for slot in slots:
        slot.assign(np.zeros(slot.shape))
    train(model)
    with pytest.raises(AssertionError):
        assert_weights(model, "optimizer_adam", "after")


@both
def test_the_optimizer_inside_a_loss_scaling_one_gets_the_slots(k: Keras) -> None:
    scaled = k.optimizers.LossScaleOptimizer if k is keras else k.mixed_precision.LossScaleOptimizer
    model = dense_model(k, scaled(adam(k)))
    load_v1(model, golden("optimizer_adam"))
    train(model)
    assert_weights(model, "optimizer_adam", "after")


def test_a_subclass_of_an_optimizer_gets_the_slots_of_its_base() -> None:
    class Named(keras.optimizers.Adam):
        pass

    model = dense_model(keras, Named(RATE, epsilon=worlds.EPSILON))
    load_v1(model, golden("optimizer_adam"))
    train(model)
    assert_weights(model, "optimizer_adam", "after")


@both
@pytest.mark.parametrize("name", ["scoped_optimizer", "keras_in_a_session", "partitioned", "old_format"])
def test_training_goes_on_however_the_slots_were_named_and_saved(k: Keras, name: str) -> None:
    model = dense_model(k, adam(k))
    report = load_v1(model, golden(name))
    assert_matches_dense_program(model, name)
    train(model)
    if name == "partitioned":
        kernel = np.concatenate([expected(name, f"dense/kernel/part_{n}", "after") for n in (0, 1)])
        np.testing.assert_allclose(model.get_layer("dense").get_weights()[0], kernel, rtol=1e-5, atol=2e-6)
    else:
        assert_weights(model, name, "after")
    assert not report.problems


def assert_matches_dense_program(model: Any, name: str) -> None:
    assert step_of(model) == worlds.STEPS_BEFORE
    if name != "partitioned":
        assert_weights(model, name)


@both
def test_the_averages_of_use_ema_come_from_the_shadow_variables(k: Keras) -> None:
    model = dense_model(
        k, k.optimizers.Adam(RATE, epsilon=worlds.EPSILON, use_ema=True, ema_overwrite_frequency=None)
    )
    report = load_v1(model, golden("moving_averages"))
    assert "dense/kernel/ExponentialMovingAverage" in sources(report.matched)
    averages = [v for v in model.optimizer.variables if "average" in getattr(v, "path", v.name)]
    assert len(averages) == 2
    kernel = next(v for v in averages if "kernel" in getattr(v, "path", v.name))
    np.testing.assert_array_equal(
        kernel.numpy(), expected("moving_averages", "dense/kernel/ExponentialMovingAverage")
    )


# --- what does not mean the same -------------------------------------------------------------------------------


@both
def test_momentum_is_not_converted_under_a_schedule(k: Keras) -> None:
    schedule = k.optimizers.schedules.ExponentialDecay(RATE, 10, 0.5)
    model = dense_model(k, k.optimizers.SGD(schedule, momentum=worlds.MOMENTUM))
    with pytest.raises(CheckpointMismatchError, match="schedule") as error:
        load_v1(model, golden("optimizer_momentum"))
    report = error.value.report
    assert sources(report.not_convertible) == ["dense/kernel/Momentum", "dense/bias/Momentum"]
    np.testing.assert_array_equal(model.get_weights()[0], np.full((3, 1), 9))
    load_v1(model, golden("optimizer_momentum"), strict=False)
    assert_weights(model, "optimizer_momentum")


@both
def test_momentum_says_in_the_report_that_it_was_converted(k: Keras) -> None:
    model = dense_model(k, k.optimizers.SGD(RATE, momentum=worlds.MOMENTUM))
    report = load_v1(model, golden("optimizer_momentum"))
    notes = {entry.source: entry.note for entry in report.matched}
    assert notes["dense/kernel/Momentum"] == "-learning_rate * accumulator"
    assert notes["dense/kernel"] == ""


@both
def test_centred_slots_are_not_made_of_those_of_an_uncentred_optimizer(k: Keras) -> None:
    model = dense_model(k, k.optimizers.RMSprop(RATE, centered=True, **STRONG))
    with pytest.raises(CheckpointMismatchError) as error:
        load_v1(model, golden("optimizer_rmsprop"))
    assert names(error.value.report.missing) == [
        f"rm_sprop/dense/{weight}/average_gradient" for weight in ("kernel", "bias")
    ]


@both
def test_another_optimizer_than_that_of_tf1_is_a_mismatch(k: Keras) -> None:
    model = dense_model(k, k.optimizers.Adagrad(RATE))
    with pytest.raises(CheckpointMismatchError) as error:
        load_v1(model, golden("optimizer_adam"))
    report = error.value.report
    assert names(report.missing) == ["adagrad/dense/kernel/accumulator", "adagrad/dense/bias/accumulator"]
    assert sources(report.unexpected) == [
        f"dense/{weight}/{slot}" for weight in ("bias", "kernel") for slot in ("Adam", "Adam_1")
    ]


def test_an_optimizer_that_tf1_did_not_have_says_so() -> None:
    model = dense_model(keras, keras.optimizers.Nadam(RATE))
    with pytest.raises(CheckpointMismatchError, match="TF1 has no state that means the same as momentum"):
        load_v1(model, golden("optimizer_adam"))


@both
def test_an_optimizer_of_another_name_is_found_through_name_map(k: Keras) -> None:
    model = dense_model(k, adam(k))
    with pytest.raises(CheckpointMismatchError):
        load_v1(model, golden("renamed_optimizer"))
    pairs = [(r"^adam/(.*)/(momentum|m)$", r"\1/my_adam"), (r"^adam/(.*)/(velocity|v)$", r"\1/my_adam_1")]
    load_v1(model, golden("renamed_optimizer"), name_map=pairs)
    train(model)
    assert_weights(model, "renamed_optimizer", "after")


@both
def test_a_count_of_adam_that_is_not_the_global_step_is_noted(k: Keras, tmp_path: Any) -> None:
    entries = entries_of(golden("optimizer_adam"))
    report = load_v1(dense_model(k, adam(k)), golden("optimizer_adam"))
    assert report.notes == ()
    report = load_v1(
        dense_model(k, adam(k)),
        write(tmp_path / "model.ckpt", {**entries, "global_step": np.int64(500)}),
    )
    (note,) = report.notes
    assert "beta2_power" in note
    assert "another number of steps" in note


def test_a_second_optimizer_is_told_where_it_can_get_its_step() -> None:
    class TwoOptimizers(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(1, name="dense")
            self.other = keras.optimizers.SGD(RATE)

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

    model = TwoOptimizers()
    model(worlds.X)
    model.compile(adam(keras), "mse")
    with pytest.raises(CheckpointMismatchError) as error:
        load_v1(model, golden("optimizer_adam"))
    (entry,) = error.value.report.missing
    assert entry.name == "sgd/iteration"
    assert "name_map={'sgd/iteration': 'global_step'}" in entry.note
    load_v1(model, golden("optimizer_adam"), name_map={"sgd/iteration": "global_step"})
    assert int(model.other.iterations.numpy()) == step_of(model) == worlds.STEPS_BEFORE
