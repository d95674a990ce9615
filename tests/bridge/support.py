"""What the tests of the bridge share: a tiny model and its data, hooks made of functions, readers of what they wrote."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import bridge

tf1 = tf.compat.v1

# The module in which TensorFlow's built-in hooks live. They read the clock as `time.time()`.
HOOKS_MODULE = sys.modules[tf1.train.SecondOrStepTimer.__module__]

KERNEL = np.array([[0.5], [-0.25], [0.125]], np.float32)
BIAS = np.array([0.25], np.float32)

Calls = list[tuple[str, ...]]

# A hook's calls in a fit: OPENING, then STEP as often as there are steps, then "end".
OPENING = ["begin", "after_create_session"]
STEP = ["before_run", "after_run"]


def small_model(**compile_options: Any) -> keras.Model:
    """A layer `dense` of one unit over three inputs, always with the same weights."""
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, name="dense")])
    model.set_weights([KERNEL, BIAS])
    compile_options.setdefault("optimizer", keras.optimizers.SGD(0.125))
    model.compile(**{"loss": "mse", "jit_compile": False, **compile_options})
    return model


class TwoUpdates(keras.Model):
    """A model whose step applies its gradients twice, so that the global step moves by two."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        return self.dense(inputs)

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        self.optimizer.apply(
            [tf.zeros_like(weight) for weight in self.trainable_variables], self.trainable_variables
        )
        return super().train_step(data)


def two_updates() -> keras.Model:
    """A compiled `TwoUpdates`."""
    model = TwoUpdates()
    model.compile("sgd", "mse", jit_compile=False)
    return model


def batches(count: int, *, nan_at: int | None = None) -> tf.data.Dataset:
    """`count` different batches of two examples; the targets of batch `nan_at` are NaN."""
    x = (np.arange(count * 6) * 5 % 11 - 5).reshape(count, 2, 3) / 8
    y = (np.arange(count * 2) * 3 % 7 - 3).reshape(count, 2, 1) / 4
    if nan_at is not None:
        y[nan_at] = np.nan
    return tf.data.Dataset.from_tensor_slices((x.astype(np.float32), y.astype(np.float32)))


def train(
    hooks: Any,
    *,
    steps: int = 3,
    epochs: int = 1,
    model: keras.Model | None = None,
    data: Any = None,
    callbacks: Iterable[keras.callbacks.Callback] = (),
    **options: Any,
) -> keras.Model:
    """Trains with a `HookCallback` of these hooks and options, and returns the model."""
    model = model or small_model()
    data = batches(steps) if data is None else data
    callback = bridge.HookCallback(hooks, **options)
    model.fit(data, epochs=epochs, callbacks=[callback, *callbacks], shuffle=False, verbose=0)
    return model


def step_of(model: keras.Model) -> int:
    return int(model.optimizer.iterations.numpy())


def at_step(step: int) -> keras.Model:
    """A model that has come as far as `step`."""
    model = small_model()
    model.optimizer.build(model.trainable_variables)
    model.optimizer.iterations.assign(step)
    return model


def tensor(name: str) -> tf.Tensor:
    """The tensor of that operation in the default graph."""
    return tf1.get_default_graph().get_tensor_by_name(f"{name}:0")


def variable(name: str) -> tf.Variable:
    """The variable of that name in the default graph."""
    return next(found for found in tf1.global_variables() if found.op.name == name)


class TraceHook(tf1.train.SessionRunHook):
    """Notes each call as `(phase, name)`, and may raise, or request the stop, in one of them."""

    def __init__(
        self,
        calls: Calls,
        name: str = "hook",
        *,
        raises: BaseException | None = None,
        phase: str = "",
        at_run: int = 1,
        stop_at_run: int = 0,
    ) -> None:
        self._calls, self._name = calls, name
        self._raises, self._phase, self._at_run, self._stop_at_run = raises, phase, at_run, stop_at_run
        self._runs = 0

    def _note(self, phase: str) -> None:
        self._calls.append((phase, self._name))
        is_time = phase not in ("before_run", "after_run") or self._runs == self._at_run
        if self._raises is not None and phase == self._phase and is_time:
            raise self._raises

    def begin(self) -> None:
        self._note("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._note("after_create_session")

    def before_run(self, run_context: Any) -> None:
        self._runs += 1
        self._note("before_run")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._note("after_run")
        if self._runs == self._stop_at_run:
            run_context.request_stop()

    def end(self, session: Any) -> None:
        self._note("end")


def phases(calls: Calls, name: str = "hook") -> list[str]:
    """The calls of one hook, in order."""
    return [phase for phase, hook in calls if hook == name]


class FunctionHook(tf1.train.SessionRunHook):
    """A hook made of functions; `begin` returns what the others get as their last argument, `built`."""

    def __init__(
        self,
        begin: Callable[[], Any] = lambda: None,
        *,
        after_create_session: Callable[[Any, Any], object] = lambda session, built: None,
        before_run: Callable[[Any, Any], Any] = lambda run_context, built: None,
        after_run: Callable[[Any, Any, Any], object] = lambda run_context, run_values, built: None,
        end: Callable[[Any, Any], object] = lambda session, built: None,
    ) -> None:
        self._begin, self._after_create_session = begin, after_create_session
        self._before_run, self._after_run, self._end = before_run, after_run, end

    def begin(self) -> None:
        self._built = self._begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._after_create_session(session, self._built)

    def before_run(self, run_context: Any) -> Any:
        return self._before_run(run_context, self._built)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._after_run(run_context, run_values, self._built)

    def end(self, session: Any) -> None:
        self._end(session, self._built)


class FetchHook(tf1.train.SessionRunHook):
    """Asks for what `fetches()` returns in `begin`, feeds `feeds()`, and keeps the results of each run."""

    def __init__(
        self,
        fetches: Callable[[], Any] = lambda: None,
        feeds: Callable[[], Any] = lambda: None,
        options: Any = None,
    ) -> None:
        self._make_fetches, self._make_feeds, self._options = fetches, feeds, options
        self.results: list[Any] = []
        self.values: list[Any] = []

    def begin(self) -> None:
        self._fetches, self._feeds = self._make_fetches(), self._make_feeds()

    def before_run(self, run_context: Any) -> Any:
        return tf1.train.SessionRunArgs(self._fetches, self._feeds, self._options)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.results.append(run_values.results)
        self.values.append(run_values)


def in_session(
    use: Callable[[Any, Any], Any], build: Callable[[], Any] = lambda: None, **options: Any
) -> Any:
    """Opens a session in a fit of one step, and returns what `use(session, build())` returns there."""
    results: list[Any] = []
    train(
        FunctionHook(build, after_create_session=lambda session, built: results.append(use(session, built))),
        steps=1,
        **options,
    )
    return results[0]


class FakeClock:
    """Stands for the `time` module in the built-in hooks: time passes only by `sleep`."""

    def __init__(self) -> None:
        self._now = 1000.0
        self.on_sleep: Callable[[], object] = lambda: None

    def time(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds
        self.on_sleep()


def seconds_per_step(clock: FakeClock, seconds: float) -> FunctionHook:
    """A hook that lets time pass before each step. Put it first."""
    return FunctionHook(before_run=lambda run_context, built: clock.sleep(seconds))


def read_events(directory: Path) -> EventAccumulator:
    """TensorBoard's view of the event files in a folder."""
    accumulator = EventAccumulator(str(directory), size_guidance={"scalars": 0, "histograms": 0, "images": 0})
    accumulator.Reload()
    return accumulator


def scalars(directory: Path, tag: str) -> list[tuple[int, float]]:
    """Steps and values of one scalar in the event files of a folder."""
    return [(event.step, event.value) for event in read_events(directory).Scalars(tag)]


def saved_steps(directory: Path, basename: str = "model.ckpt") -> list[int]:
    """The steps of the checkpoints that a folder holds, in order."""
    return sorted(int(path.stem.rsplit("-", 1)[1]) for path in directory.glob(f"{basename}-*.index"))


def saved(directory: Path, name: str, step: int | None = None) -> np.ndarray:
    """A variable's value in the newest checkpoint of a folder, or in that of a step."""
    path = str(directory) if step is None else str(directory / f"model.ckpt-{step}")
    return tf.train.load_checkpoint(path).get_tensor(name)
