"""The private Keras names exist, in Keras 3 and in tf_keras, and behave as the bridge assumes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import bridge
from bridge import keras_internals
from bridge.errors import UnsupportedModelError
from tests.bridge.exactness import models
from tests.bridge.support import Calls, TraceHook, phases

Keras = Any  # The module `keras` or `tf_keras`.
both = pytest.mark.parametrize("k", [keras, tf_keras], ids=["keras", "tf_keras"])

X, Y = np.ones((4, 3), "float32"), np.ones((4, 1), "float32")


def model_of(k: Keras, **options: Any) -> Any:
    model = k.Sequential([k.Input((3,)), k.layers.Dense(1)])
    model.compile(**{"optimizer": k.optimizers.SGD(0.5), "loss": "mse", **options})
    return model


def needs(owner: Any, attribute: str, package: Keras) -> None:
    assert hasattr(owner, attribute), (
        f"{package.__name__} {package.__version__} has no {type(owner).__name__}.{attribute}: "
        "change bridge/keras_internals.py."
    )


@both
@pytest.mark.parametrize(
    "attribute",
    ["_flatten_layers", "train_step", "test_step", "predict_step", "train_function", "distribute_strategy"],
)
def test_a_model_has_what_is_taken_from_it(k: Keras, attribute: str) -> None:
    needs(model_of(k), attribute, k)


@pytest.mark.parametrize("attribute", ["steps_per_execution", "_symbolic_build", "_initial_epoch"])
def test_a_keras_3_model_has_what_is_taken_from_it(attribute: str) -> None:
    model = model_of(keras)
    model.fit(X, Y, verbose=0)
    needs(model, attribute, keras)


@pytest.mark.parametrize(
    "attribute",
    [
        "_steps_per_execution",
        "_train_counter",
        "_test_counter",
        "_predict_counter",
        "_maybe_load_initial_counters_from_ckpt",
        "distribute_reduction_method",
    ],
)
def test_a_tf_keras_model_has_what_is_taken_from_it(attribute: str) -> None:
    needs(model_of(tf_keras), attribute, tf_keras)


@pytest.mark.parametrize(
    ("k", "attribute"),
    [
        (keras, "_iterations"),
        (keras, "_learning_rate"),
        (keras, "_trainable_variables"),
        (tf_keras, "_iterations"),
        (tf_keras, "_learning_rate"),
    ],
)
def test_an_optimizer_has_what_is_taken_from_it(k: Keras, attribute: str) -> None:
    optimizer = model_of(k).optimizer
    optimizer.build([tf.Variable(1.0) if k is tf_keras else keras.Variable(1.0)])
    needs(optimizer, attribute, k)


def test_a_keras_3_optimizer_reads_its_rate_where_it_is_observed() -> None:
    needs(keras.optimizers.SGD(), "_get_current_learning_rate", keras)


def test_a_legacy_optimizer_keeps_its_rate_where_it_is_looked_for() -> None:
    optimizer = tf_keras.optimizers.legacy.SGD(0.25)
    needs(optimizer, "_hyper", tf_keras)
    optimizer._create_all_weights([tf.Variable(1.0)])
    rate = keras_internals.rate_variable(optimizer)
    assert rate is not None
    assert float(rate.numpy()) == 0.25


# --- models and layers -----------------------------------------------------------------------------------------


@both
def test_a_model_knows_its_package(k: Keras) -> None:
    model = model_of(k)
    assert keras_internals.is_tf_keras(model) is (k is tf_keras)
    assert keras_internals.package_of(model) is k
    assert keras_internals.package_of_layer(model.layers[-1]) is k


@both
def test_models_are_accepted(k: Keras) -> None:
    keras_internals.check_model(model_of(k))


@pytest.mark.parametrize(
    "thing", [object(), keras.layers.Dense(1), tf.Module()], ids=lambda t: type(t).__name__
)
def test_other_things_are_refused_by_their_class(thing: Any) -> None:
    with pytest.raises(UnsupportedModelError, match=type(thing).__name__):
        keras_internals.check_model(thing)


def test_another_backend_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    keras_internals.check_model(model_of(tf_keras))
    with pytest.raises(UnsupportedModelError, match="KERAS_BACKEND=tensorflow"):
        keras_internals.check_model(keras.Model())


@both
@pytest.mark.parametrize("build", [models.normed, models.subclassed, models.nested, models.gru])
def test_sublayers_are_the_direct_ones_in_order(k: Keras, build: Callable[[Keras], Any]) -> None:
    model = build(k)
    found = [type(layer).__name__ for layer in keras_internals.sublayers(model)]
    expected = [type(layer).__name__ for layer in model.layers if not isinstance(layer, k.layers.InputLayer)]
    assert found[: len(expected)] == expected
    assert set(found[len(expected) :]) <= {"Functional"}  # Keras 3's Sequential wraps one.


@both
def test_sublayers_of_a_compiled_model_hold_no_metrics(k: Keras) -> None:
    model = model_of(k, metrics=["mae", k.metrics.MeanSquaredError()])
    model.fit(X, Y, verbose=0)
    for layer in keras_internals.sublayers(model):
        assert not isinstance(layer, k.metrics.Metric)


@both
def test_a_name_that_the_user_gave_is_told_from_keras_own(k: Keras) -> None:
    assert keras_internals.has_given_name(k.layers.Dense(1, name="dense_7")) is (k is not keras)
    assert not keras_internals.has_given_name(k.layers.Dense(1))


@both
@pytest.mark.parametrize(
    "kind",
    ["Conv2D", "Dense", "LSTM", "GRUCell", "BatchNormalization", "Conv2DTranspose", "GlobalMaxPooling1D"],
)
def test_a_class_becomes_the_name_that_keras_gives(k: Keras, kind: str) -> None:
    k.backend.clear_session()
    arguments = {"Conv2D": (1, 1), "Conv2DTranspose": (1, 1)}.get(kind, (1,))
    layer = getattr(k.layers, kind)(*(() if kind.startswith("Global") else arguments))
    assert keras_internals.snake_case(kind) == layer.name


# --- variables -------------------------------------------------------------------------------------------------


@both
def test_the_tensorflow_variable_inside_is_found(k: Keras) -> None:
    (kernel, _) = model_of(k).layers[-1].weights
    inner = keras_internals.tf_variable(kernel)
    assert isinstance(inner, tf.Variable)
    assert inner.handle.dtype == tf.resource
    assert keras_internals.tf_variable(inner) is inner
    kernel.assign(np.full((3, 1), 7.0, "float32"))
    np.testing.assert_array_equal(inner.numpy(), np.full((3, 1), 7.0))


def test_the_variable_inside_tf_keras_autocast_is_found() -> None:
    layer = tf_keras.layers.Dense(1, dtype="mixed_float16")
    layer.build((None, 3))
    assert type(layer.kernel).__name__.startswith("AutoCast")
    assert type(keras_internals.tf_variable(layer.kernel)).__name__ == "ResourceVariable"


@both
def test_short_and_full_names(k: Keras) -> None:
    model = k.Sequential([k.Input((3,)), k.layers.Dense(1, name="head")], name="net")
    names = [keras_internals.full_name(variable) for variable in model.weights]
    assert [name.removeprefix("net/") for name in names] == ["head/kernel", "head/bias"]
    assert [keras_internals.short_name(variable) for variable in model.weights] == ["kernel", "bias"]


# --- optimizers ------------------------------------------------------------------------------------------------


@both
def test_all_optimizers_of_a_model_are_found_once(k: Keras) -> None:
    model = models.own_step(k)
    extra = {"a": k.optimizers.Adam(), "b": k.optimizers.RMSprop()}
    model.in_attribute = k.optimizers.SGD()
    model.in_list = [model.in_attribute, k.optimizers.Adagrad()]
    model.in_dict = extra
    model.compile("adam", "mse")
    found = keras_internals.optimizers_of(model)
    assert found[0] is model.optimizer
    assert [type(o).__name__ for o in found[1:]] == ["SGD", "Adagrad", "Adam", "RMSprop"]


@both
def test_an_optimizer_inside_a_loss_scaling_one_is_not_a_second_one(k: Keras) -> None:
    package = k.optimizers if k is keras else k.mixed_precision
    inner = k.optimizers.SGD(0.5)
    model = model_of(k, optimizer=package.LossScaleOptimizer(inner))
    model.inner = inner
    (found,) = keras_internals.optimizers_of(model)
    assert found is model.optimizer
    rate = keras_internals.rate_variable(found)
    assert keras_internals.tf_variable(rate) is keras_internals.tf_variable(inner._learning_rate)


@both
def test_the_step_variable_counts_batches(k: Keras) -> None:
    model = model_of(k)
    counter = keras_internals.tf_variable(keras_internals.step_variable(model.optimizer))
    model.fit(X, Y, batch_size=1, verbose=0)
    assert int(counter.numpy()) == 4


def test_the_step_variable_counts_batches_that_are_only_accumulated() -> None:
    optimizer = keras.optimizers.SGD(0.5, gradient_accumulation_steps=2)
    model = model_of(keras, optimizer=optimizer)
    model.fit(X, Y, batch_size=1, verbose=0)
    assert int(keras_internals.tf_variable(keras_internals.step_variable(optimizer)).numpy()) == 4
    assert int(optimizer.iterations) == 2


@both
def test_a_rate_is_a_variable_or_a_schedule(k: Keras) -> None:
    schedule = k.optimizers.schedules.ExponentialDecay(0.5, 1, 0.5)
    plain, scheduled = k.optimizers.SGD(0.25), k.optimizers.SGD(schedule)
    assert float(keras_internals.tf_variable(keras_internals.rate_variable(plain)).numpy()) == 0.25
    assert keras_internals.schedule_of(plain) is None
    assert keras_internals.rate_variable(scheduled) is None
    assert keras_internals.schedule_of(scheduled) is schedule


def test_an_observed_rate_is_what_the_optimizer_uses_and_only_inside() -> None:
    model = model_of(keras)
    variable = keras.Variable(1.0)
    optimizer = model.optimizer
    optimizer.build([variable])
    seen: list[float] = []

    def observe(rate: Any) -> Any:
        seen.append(float(rate))
        return 0.125

    with keras_internals.ObservedRate(optimizer, observe):
        optimizer.apply([tf.constant(1.0)])
    assert float(variable.numpy()) == 0.875
    assert set(seen) == {0.5}
    seen.clear()
    optimizer.apply([tf.constant(1.0)])
    assert float(variable.numpy()) == 0.375
    assert seen == []


# --- steps -----------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("steps", [1, 3])
def test_steps_per_execution_is_a_number(k: Keras, steps: int) -> None:
    assert keras_internals.steps_per_execution(model_of(k, steps_per_execution=steps)) == steps


def test_tf_keras_counts_its_batches_and_keras_3_does_not() -> None:
    assert keras_internals.step_counters(model_of(keras)) == {}
    model = model_of(tf_keras)
    counters = keras_internals.step_counters(model)
    model.fit(X, Y, batch_size=1, verbose=0)
    model.evaluate(X, Y, batch_size=2, verbose=0)
    model.predict(X, batch_size=4, verbose=0)
    assert {kind: int(counter.numpy()) for kind, counter in counters.items()} == {
        "train": 4,
        "test": 2,
        "predict": 1,
    }


def test_building_ahead_makes_the_variables_of_optimizer_and_metrics_and_trains_nothing() -> None:
    model = model_of(keras, optimizer="adam", metrics=["mae"])
    weights = model.get_weights()
    spec = (tf.TensorSpec([None, 3]), tf.TensorSpec([None, 1]))
    keras_internals.build_ahead(model, "train", spec)
    assert model.optimizer.built
    assert int(model.optimizer.iterations.numpy()) == 0
    assert len([v for metric in model.metrics for v in metric.variables]) >= 4
    for before, after in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(after, before)
    assert not np.any([variable.numpy() for metric in model.metrics for variable in metric.variables])


@pytest.mark.parametrize("build", [models.own_step, models.deferred])
def test_a_model_with_a_step_of_its_own_or_without_variables_is_not_built_ahead(
    build: Callable[[Keras], Any],
) -> None:
    model = build(keras)
    model.compile("adam", "mse")
    keras_internals.build_ahead(model, "train", (tf.TensorSpec([None, 6]), tf.TensorSpec([None, 1])))
    assert not model.optimizer.built


# --- fits that train nothing -------------------------------------------------------------------------------------


@both
def test_starting_after_the_last_epoch_runs_none_and_is_undone(k: Keras) -> None:
    model = model_of(k)
    weights = model.get_weights()

    class Skip(k.callbacks.Callback):  # type: ignore[name-defined]
        epochs = 0

        def on_train_begin(self, logs: Any = None) -> None:
            self.undo = keras_internals.start_at_epoch(self.model, sys.maxsize)
            assert self.undo is not None, "no epoch can be skipped: change bridge/keras_internals.py"

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self.epochs += 1

    skip = Skip()
    initial_epoch = getattr(model, "_initial_epoch", None)
    history = model.fit(X, Y, epochs=3, verbose=0, callbacks=[skip])
    assert (skip.epochs, history.epoch) == (0, [])
    for old, new in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(new, old)
    skip.undo()
    if k is keras:
        assert model._initial_epoch == initial_epoch
    else:
        assert "_maybe_load_initial_counters_from_ckpt" not in vars(model)
    assert model.fit(X, Y, epochs=2, verbose=0).epoch == [0, 1]
    assert int(model.optimizer.iterations.numpy()) == 2


@both
def test_a_fit_whose_last_step_is_reached_trains_nothing_and_the_next_one_is_whole(k: Keras) -> None:
    model = model_of(k)
    model.fit(X, Y, batch_size=2, verbose=0)
    calls: Calls = []
    callback = bridge.HookCallback([tf.compat.v1.train.StopAtStepHook(last_step=2), TraceHook(calls)])
    weights = model.get_weights()
    model.fit(X, Y, batch_size=2, epochs=2, verbose=0, callbacks=[callback])
    for old, new in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(new, old)
    assert "before_run" not in phases(calls)
    history = model.fit(X, Y, batch_size=2, epochs=2, verbose=0)
    assert history.epoch == [0, 1]
    assert int(model.optimizer.iterations.numpy()) == 6
