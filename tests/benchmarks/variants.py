"""The ways of training that are compared. Each trains some epochs and tells when what was done."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import tensorflow as tf

import bridge
from tests.benchmarks.hooks import hook_set
from tests.benchmarks.workloads import BATCH, Workload, compile_model, v1_train_op

tf1 = tf.compat.v1


class Span(NamedTuple):
    """How long something took.

    Attributes:
      clock: Seconds that passed.
      cpu: Seconds of CPU, of all the process's threads; less disturbed by what else the machine does.
    """

    clock: float
    cpu: float


def _now() -> Span:
    return Span(time.perf_counter(), time.process_time())


def _since(begin: Span) -> Span:
    now = _now()
    return Span(now.clock - begin.clock, now.cpu - begin.cpu)


@dataclasses.dataclass
class Run:
    """What one training took.

    Attributes:
      start: From before `compile` (v1: from before the graph) until the first step was done; None if not asked for.
      epochs: Each epoch.
    """

    start: Span | None
    epochs: list[Span]


Pause = Callable[[], None]  # Called between epochs: others train then.
Variant = Callable[..., Run]  # (workload, steps, epochs, pause, first_step=False)


class _EpochTimes(keras.callbacks.Callback):
    """Notes how long each epoch takes.

    It has no batch methods: those would change what `fit` does in every step.
    """

    async_safe = True

    def __init__(self, pause: Pause) -> None:
        super().__init__()
        self._pause = pause
        self.epochs: list[Span] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._begin = _now()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.epochs.append(_since(self._begin))
        self._pause()


class _FirstStep(keras.callbacks.Callback):
    """Notes when the first step is done; used only where steps are not timed."""

    def __init__(self) -> None:
        super().__init__()
        self.begin = _now()
        self.span: Span | None = None

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.span is None:
            self.span = _since(self.begin)


def with_fit(hooks: str | None, *, numpy: bool = False, jit: bool = False, session: bool = False) -> Variant:
    """Makes a variant that trains with `fit`.

    Args:
      hooks: Which set of hooks a HookCallback gets; None for plain `fit`.
      session: Whether a MonitoredTrainingSession with its default savers runs the `fit`.
      numpy: Whether the data are arrays instead of a dataset.
      jit: Whether XLA compiles the step.

    Returns:
      The variant.
    """

    def run(workload: Workload, steps: int, epochs: int, pause: Pause, first_step: bool = False) -> Run:
        model = workload.model()
        data = workload.arrays(steps) if numpy else (workload.dataset(),)
        options: dict[str, Any] = {"batch_size": BATCH} if numpy else {"steps_per_epoch": steps}
        times = _EpochTimes(pause)
        with tempfile.TemporaryDirectory() as directory:
            first = _FirstStep()
            compile_model(model, jit=jit)
            callbacks: list[Any] = [times, first] if first_step else [times]
            if hooks is not None:
                callbacks.append(bridge.HookCallback(hook_set(hooks, directory, workload.inner)))
            options |= {"epochs": epochs, "verbose": 0, "callbacks": callbacks}
            if session:
                bridge.monitored_fit(model, *data, **options, checkpoint_dir=directory)
            else:
                model.fit(*data, **options)
        return Run(first.span, times.epochs)

    return run


def v1_session(workload: Workload, steps: int, epochs: int, pause: Pause, first_step: bool = False) -> Run:
    """Trains the hand-written network in a MonitoredTrainingSession with the five hooks."""
    del first_step
    made: list[Span] = []
    start: Span | None = None
    with tempfile.TemporaryDirectory() as directory:
        begin = _now()
        with tf.Graph().as_default():
            tf1.set_random_seed(1)
            train_op = v1_train_op(workload)
            hooks = [
                h if isinstance(h, tf1.train.SessionRunHook) else h() for h in hook_set("five", directory, "")
            ]
            with tf1.train.MonitoredTrainingSession(hooks=hooks) as session:
                for _ in range(epochs):
                    epoch_begin = _now()
                    for _ in range(steps):
                        session.run(train_op)
                        start = start or _since(begin)
                    made.append(_since(epoch_begin))
                    pause()
    return Run(start, made)


VARIANTS: dict[str, Variant] = {
    "plain fit": with_fit(None),
    "no hook": with_fit("none"),
    "five hooks": with_fit("five"),
    "monitored": with_fit(None, session=True),
    "twenty hooks": with_fit("twenty"),
    "v1 session": v1_session,
    "plain fit, numpy": with_fit(None, numpy=True),
    "no hook, numpy": with_fit("none", numpy=True),
    "five hooks, numpy": with_fit("five", numpy=True),
    "plain fit, jit": with_fit(None, jit=True),
    "no hook, jit": with_fit("none", jit=True),
    "five hooks, jit": with_fit("five", jit=True),
}
