"""Hooks that ask for the step's tensors in `end` get those of the last batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import bridge
from tests.bridge.support import FetchHook, FunctionHook, batches, small_model, step_of, train

tf1 = tf.compat.v1

STEPS = 4


def as_generator() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for x, y in batches(STEPS):
        yield x.numpy(), y.numpy()


def arrays() -> tuple[np.ndarray, np.ndarray]:
    x, y = (np.concatenate(part) for part in zip(*as_generator(), strict=True))
    return x, y


DATA: dict[str, Callable[[], dict[str, Any]]] = {
    "dataset": lambda: {"x": batches(STEPS)},
    "unknown length": lambda: {"x": batches(STEPS).filter(lambda x, y: True)},
    "generator": lambda: {"x": as_generator()},
    "arrays": lambda: dict(zip("xy", arrays(), strict=True), batch_size=2),
    "infinite": lambda: {"x": batches(STEPS).repeat(), "steps_per_epoch": STEPS},
    "infinite, unknown": lambda: {
        "x": batches(STEPS).filter(lambda x, y: True).repeat(),
        "steps_per_epoch": STEPS,
    },
}
every_data = pytest.mark.parametrize("data", DATA)


def fit(hooks: Any, data: str, model: Any = None, **options: Any) -> Any:
    model = model or small_model()
    callback = bridge.HookCallback(hooks)
    model.fit(**{**DATA[data](), "shuffle": False, "verbose": 0, "callbacks": [callback], **options})
    return model


def loss_of_last_batch(model: Any, last: int = STEPS - 1) -> float:
    """The loss of the trained model on the last batch, computed apart."""
    x, y = list(as_generator())[last]
    weights = [np.array(weight) for weight in model.get_weights()]
    return float(np.mean(np.square(x @ weights[0] + weights[1] - y)))


def logged_losses(log: pytest.LogCaptureFixture) -> list[float]:
    return [float(line.split("=")[1].split("(")[0]) for line in log.messages if line.startswith("loss = ")]


@every_data
def test_logging_at_the_end_logs_the_loss_of_the_last_batch(data: str, log: pytest.LogCaptureFixture) -> None:
    model = fit(tf1.train.LoggingTensorHook({"loss": "loss"}, at_end=True), data)
    assert step_of(model) == STEPS, "the loss at the end is not another step"
    assert logged_losses(log) == [pytest.approx(loss_of_last_batch(model), rel=1e-4)]


def test_the_tensor_may_be_given_in_a_list(log: pytest.LogCaptureFixture) -> None:
    model = fit(tf1.train.LoggingTensorHook(["loss"], at_end=True), "dataset")
    assert logged_losses(log) == [pytest.approx(loss_of_last_batch(model), rel=1e-4)]


@every_data
def test_final_ops_see_the_last_batch(data: str) -> None:
    hook = tf1.train.FinalOpsHook({"loss": "loss:0", "x": "batch/x:0", "step": "global_step:0"})
    model = fit(hook, data)
    assert step_of(model) == STEPS
    values = hook.final_ops_values
    assert values["loss"] == pytest.approx(loss_of_last_batch(model), rel=1e-5)
    np.testing.assert_array_equal(values["x"], list(as_generator())[-1][0])
    assert values["step"] == STEPS


@every_data
def test_the_last_batch_of_several_epochs_is_that_of_the_last_epoch(data: str) -> None:
    if data == "generator":
        pytest.skip("a generator is read once")
    hook = tf1.train.FinalOpsHook("loss:0")
    model = fit(hook, data, epochs=3)
    assert step_of(model) == 3 * STEPS
    assert hook.final_ops_values == pytest.approx(loss_of_last_batch(model), rel=1e-5)


@every_data
def test_after_an_early_stop_it_is_the_batch_of_the_last_step_that_ran(data: str) -> None:
    hook = tf1.train.FinalOpsHook("loss:0")
    model = fit([tf1.train.StopAtStepHook(num_steps=2), hook], data)
    assert step_of(model) == 2
    assert hook.final_ops_values == pytest.approx(loss_of_last_batch(model, last=1), rel=1e-5)


def test_a_run_of_the_session_in_end_gets_it_too() -> None:
    found: list[Any] = []
    model = fit(
        FunctionHook(end=lambda session, built: found.extend(session.run(["loss:0", "dense/output:0"]))),
        "dataset",
    )
    assert found[0] == pytest.approx(loss_of_last_batch(model), rel=1e-5)
    assert found[1].shape == (2, 1)


def state_of(model: Any) -> list[np.ndarray]:
    variables = [
        *model.variables,
        *model.optimizer.variables,
        *(v for m in model.metrics for v in m.variables),
    ]
    return [variable.numpy() for variable in variables]


@pytest.mark.parametrize(
    "name",
    ["loss", "dense/output", "gradients/dense/kernel", "learning_rate", "batch/y", "logs/loss", "logs/mae"],
)
@pytest.mark.parametrize("k", [keras, tf_keras], ids=["keras", "tf_keras"])
def test_looking_at_it_changes_nothing(k: Any, name: str) -> None:
    plain, looked = (
        k.Sequential([k.Input((3,)), k.layers.Dense(1, kernel_initializer="ones", name="dense")])
        for _ in range(2)
    )
    for model in (plain, looked):
        model.compile(k.optimizers.SGD(0.125), "mse", metrics=["mae"], jit_compile=False)
    hook = tf1.train.FinalOpsHook(f"{name}:0")
    expected = plain.fit(batches(STEPS), shuffle=False, verbose=0).history
    found = fit(hook, "dataset", looked).history.history  # `fit` leaves its History on the model.
    assert found == expected
    for value, other in zip(state_of(looked), state_of(plain), strict=True):
        np.testing.assert_array_equal(value, other)
    if name.startswith("logs/"):
        assert float(hook.final_ops_values) == pytest.approx(expected[name.removeprefix("logs/")][-1])


@pytest.mark.parametrize("options", [{"jit_compile": True}, {"run_eagerly": True}], ids=str)
def test_the_loss_at_the_end_under_xla_and_run_eagerly(options: dict[str, Any]) -> None:
    plain = small_model(**options)
    plain.fit(batches(STEPS), shuffle=False, verbose=0)
    hook = tf1.train.FinalOpsHook("loss:0")
    model = fit(hook, "dataset", small_model(**options))
    assert step_of(model) == STEPS
    for value, other in zip(model.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_array_equal(value, other)
    before = small_model()
    before.fit(batches(STEPS).take(STEPS - 1), shuffle=False, verbose=0)
    seen = [loss_of_last_batch(before), loss_of_last_batch(model)]
    assert any(hook.final_ops_values == pytest.approx(loss, rel=1e-5) for loss in seen)


def test_in_tf_keras_it_is_the_last_batch_too() -> None:
    model = tf_keras.Sequential([tf_keras.Input((3,)), tf_keras.layers.Dense(1)])
    model.compile(tf_keras.optimizers.SGD(0.125), "mse")
    hook = tf1.train.FinalOpsHook("loss:0")
    for data in ("dataset", "unknown length", "arrays"):
        fit(hook, data, model, epochs=2)
        assert hook.final_ops_values == pytest.approx(loss_of_last_batch(model), rel=1e-5), data


def test_evaluation_and_prediction_have_a_last_batch_too() -> None:
    test, predict = tf1.train.FinalOpsHook("loss:0"), tf1.train.FinalOpsHook("batch/x:0")
    model = small_model()
    callback = bridge.HookCallback(eval_hooks=test, predict_hooks=predict)
    x, y = arrays()
    model.evaluate(x, y, batch_size=2, verbose=0, callbacks=[callback])
    assert test.final_ops_values == pytest.approx(loss_of_last_batch(model), rel=1e-5)
    model.predict(batches(STEPS).map(lambda x, y: x), verbose=0, callbacks=[callback])
    np.testing.assert_array_equal(predict.final_ops_values, x[-2:])


def test_a_batch_of_the_fit_before_is_not_kept_for_a_fit_without_steps() -> None:
    fetched = FetchHook(lambda: "loss:0")
    model = train(fetched, steps=2)
    hook = tf1.train.FinalOpsHook("loss:0")
    train([tf1.train.StopAtStepHook(last_step=2), hook], steps=2, model=model)
    assert hook.final_ops_values is None
    assert isinstance(model, keras.Model)
