"""The ways of training that are compared. Each trains some epochs and tells when what was done."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

import bridge
from tests.benchmarks.hooks import hook_set
from tests.benchmarks.workloads import BATCH, Workload, compile_model, v1_train_op

tf1 = tf.compat.v1


@dataclasses.dataclass
class Run:
    """What one training took.

    Attributes:
      start: Seconds from before `compile` (v1: from before the graph) until the first step is done, or None if this
        was not asked for.
      epochs: Seconds of each epoch.
    """

    start: float | None
    epochs: list[float]


Variant = Callable[..., Run]  # (workload, steps, epochs, first_step=False)


class _EpochTimes(keras.callbacks.Callback):
    """Notes how long each epoch takes.

    It has no batch methods: those would change what `fit` does in every step.
    """

    async_safe = True

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._begin = time.perf_counter()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.seconds.append(time.perf_counter() - self._begin)


class _FirstStep(keras.callbacks.Callback):
    """Notes when the first step is done; used only where steps are not timed."""

    time: float | None = None

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.time is None:
            self.time = time.perf_counter()


def with_fit(hooks: str | None, *, numpy: bool = False, jit: bool = False) -> Variant:
    """Makes a variant that trains with `fit`.

    Args:
      hooks: Which set of hooks a HookCallback gets; None for plain `fit`.
      numpy: Whether the data are arrays instead of a dataset.
      jit: Whether XLA compiles the step.

    Returns:
      The variant.
    """

    def run(workload: Workload, steps: int, epochs: int, first_step: bool = False) -> Run:
        model = workload.model()
        data = workload.arrays(steps) if numpy else (workload.dataset(),)
        options = {"batch_size": BATCH} if numpy else {"steps_per_epoch": steps}
        times, first = _EpochTimes(), _FirstStep()
        with tempfile.TemporaryDirectory() as directory:
            begin = time.perf_counter()
            compile_model(model, jit=jit)
            callbacks: list[Any] = [times, first] if first_step else [times]
            if hooks is not None:
                callbacks.append(bridge.HookCallback(hook_set(hooks, directory, workload.inner)))
            model.fit(*data, **options, epochs=epochs, verbose=0, callbacks=callbacks)
        return Run(first.time - begin if first.time else None, times.seconds)

    return run


def v1_session(workload: Workload, steps: int, epochs: int, first_step: bool = False) -> Run:
    """Trains the hand-written network in a MonitoredTrainingSession with the five hooks."""
    del first_step
    seconds: list[float] = []
    start = None
    with tempfile.TemporaryDirectory() as directory:
        begin = time.perf_counter()
        with tf.Graph().as_default():
            tf1.set_random_seed(1)
            train_op = v1_train_op(workload)
            hooks = [
                h if isinstance(h, tf1.train.SessionRunHook) else h() for h in hook_set("five", directory, "")
            ]
            with tf1.train.MonitoredTrainingSession(hooks=hooks) as session:
                for _ in range(epochs):
                    epoch_begin = time.perf_counter()
                    for _ in range(steps):
                        session.run(train_op)
                        start = start or time.perf_counter() - begin
                    seconds.append(time.perf_counter() - epoch_begin)
    return Run(start, seconds)


VARIANTS: dict[str, Variant] = {
    "plain fit": with_fit(None),
    "no hook": with_fit("none"),
    "five hooks": with_fit("five"),
    "twenty hooks": with_fit("twenty"),
    "v1 session": v1_session,
    "plain fit, numpy": with_fit(None, numpy=True),
    "no hook, numpy": with_fit("none", numpy=True),
    "five hooks, numpy": with_fit("five", numpy=True),
    "plain fit, jit": with_fit(None, jit=True),
    "no hook, jit": with_fit("none", jit=True),
    "five hooks, jit": with_fit("five", jit=True),
}
