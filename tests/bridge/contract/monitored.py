"""What the tests of `MonitoredTrainingSession` over Keras models share: a tiny model of either Keras, and one fit."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import tensorflow as tf

import bridge
from tests.bridge.support import BIAS, KERNEL, FunctionHook, batches

tf1 = tf.compat.v1

Session = bridge.MonitoredTrainingSession

KERAS_VERSIONS = ["keras", "tf_keras"]


def package(name: str) -> Any:
    """The Keras package of that name."""
    return importlib.import_module(name)


def model_of(name: str = "keras", **compile_options: Any) -> Any:
    """A layer `dense` of one unit over three inputs, always with the same weights, of `keras` or `tf_keras`."""
    k = package(name)
    model = k.Sequential([k.Input((3,)), k.layers.Dense(1, name="dense")])
    model.set_weights([KERNEL, BIAS])
    compile_options.setdefault("optimizer", k.optimizers.SGD(0.125))
    model.compile(**{"loss": "mse", "jit_compile": False, **compile_options})
    return model


def fit(session: Any, model: Any = None, steps: int = 3, **options: Any) -> Any:
    """Trains `steps` batches in a session, in one epoch if not told otherwise; returns the History."""
    model = model_of() if model is None else model
    options.setdefault("epochs", 1)
    return session.fit(model, batches(steps), shuffle=False, verbose=0, **options)


def train(steps: int = 3, *, model: Any = None, fits: dict[str, Any] | None = None, **options: Any) -> Any:
    """Opens a session with these options, trains so many batches, leaves it, and returns the model."""
    model = model_of() if model is None else model
    with Session(**options) as session:
        fit(session, model, steps, **(fits or {}))
    return model


def step_of(model: Any) -> int:
    """The model's global step."""
    return int(model.optimizer.iterations.numpy())


def names_in(directory: Path) -> list[str]:
    """The names of the files in a folder."""
    return sorted(path.name for path in directory.iterdir())


def constant_summary(value: float = 2.5) -> FunctionHook:
    """A hook that adds a summary of a constant to the step's graph."""
    return FunctionHook(lambda: tf1.summary.scalar("constant", tf.constant(value)))


class FailingHook(tf1.train.SessionRunHook):
    """Raises errors in a phase: one error after the other, each in a call of its own, from the `start`th call on."""

    def __init__(self, errors: list[BaseException], phase: str = "after_run", *, start: int = 1) -> None:
        self._errors, self._phase, self._start = list(errors), phase, start
        self._calls = 0

    def _call(self, phase: str) -> None:
        if phase != self._phase:
            return
        self._calls += 1
        if self._calls >= self._start and self._errors:
            raise self._errors.pop(0)

    def begin(self) -> None:
        self._call("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._call("after_create_session")

    def before_run(self, run_context: Any) -> None:
        self._call("before_run")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._call("after_run")

    def end(self, session: Any) -> None:
        self._call("end")


def aborted(message: str = "another machine is gone") -> tf.errors.AbortedError:
    """The error after which a monitored session recovers."""
    return tf.errors.AbortedError(None, None, message)


def unavailable(message: str = "another machine does not answer") -> tf.errors.UnavailableError:
    """The other one."""
    return tf.errors.UnavailableError(None, None, message)
