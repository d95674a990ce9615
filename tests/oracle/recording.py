"""What a run of a scenario may use, and what it left behind, in plain JSON values.

Shared by both worlds, so it speaks only `tensorflow.compat.v1` and the Python of 3.7. Time is a `FakeClock`
which the hooks read in place of the `time` module: seconds pass only between steps, by amounts that a float
holds exactly, and so rates and durations are exact values as well.
"""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import json
import logging
import os
import re
import sys
from typing import Any, Callable, Iterator

import numpy as np
import tensorflow.compat.v1 as tf

# The module in which TensorFlow's built-in hooks live, in this release. It reads the time as `time.time()`.
HOOKS_MODULE = sys.modules[tf.train.SecondOrStepTimer.__module__]

SECONDS_OF_STEPS = (0.5, 0.25, 1.0, 2.0)


class FakeClock:
    """Stands in for the `time` module inside the hooks' module."""

    def __init__(self) -> None:
        self._now = 1000.0
        self.on_sleep: Callable[[], object] = lambda: None

    def time(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds
        self.on_sleep()

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """While the context lasts, the built-in hooks take this clock for the `time` module."""
        real = HOOKS_MODULE.time
        HOOKS_MODULE.time = self
        try:
            yield
        finally:
            HOOKS_MODULE.time = real


class Pulse(tf.train.SessionRunHook):
    """Lets the seconds of one step pass. The first hook of every run."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._steps = 0

    def before_run(self, run_context: Any) -> None:
        self._clock.sleep(SECONDS_OF_STEPS[self._steps % len(SECONDS_OF_STEPS)])
        self._steps += 1


class Run:
    """One run of one scenario: where its hooks write, what they share, what they saw."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.clock = FakeClock()
        self.trace: list[Any] = []
        self.chief_only_hooks: list[Any] = []
        self.scaffold: Any = None
        self._last_words: list[Callable[[], object]] = []

    def path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def saw(self, *what: Any) -> None:
        """Writes one line into the trace."""
        self.trace.append(plain(what[0] if len(what) == 1 else what))

    def afterwards(self, tell: Callable[[], object]) -> None:
        """Has `tell` called when training is over, its result written into the trace."""
        self._last_words.append(tell)

    def finish(self) -> None:
        for tell in self._last_words:
            self.saw(tell())


@dataclasses.dataclass
class Outcome:
    """How training went, as the world that ran it knows."""

    trained: int
    global_step: int
    kernel: Any
    bias: Any
    error: BaseException | None = None


@contextlib.contextmanager
def captured_logs() -> Iterator[list[logging.LogRecord]]:
    """Collects what is logged on TensorFlow's logger, from INFO upwards, and keeps it off the screen."""
    logger = tf.get_logger()
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    before = logger.level, logger.propagate, list(logger.handlers)
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(logging.INFO)
    try:
        yield records
    finally:
        logger.level, logger.propagate, logger.handlers[:] = before
        logger.setLevel(before[0])


def record(run: Run, outcome: Outcome, logs: list[logging.LogRecord]) -> dict[str, Any]:
    """Everything that the run left behind, without what differs between two runs of one program."""
    found: dict[str, Any] = {
        "trained": outcome.trained,
        "global_step": outcome.global_step,
        "kernel": plain(outcome.kernel),
        "bias": plain(outcome.bias),
    }
    if outcome.error is not None:
        found["error"] = told(outcome.error)
    found["trace"] = run.trace
    found["logs"] = [
        [entry.levelname, _without_place(entry.getMessage(), run.directory)]
        for entry in logs
        if _is_from_hooks(entry)
    ]
    found["files"] = _files(run.directory)
    found["timelines"] = _timelines(run.directory)
    found["events"] = _events(run.directory)
    found["checkpoints"] = _checkpoints(run.directory)
    return {key: value for key, value in found.items() if value not in ([], {})}


def told(error: BaseException) -> dict[str, Any]:
    """An error as its class's name and its text."""
    return {"type": type(error).__name__, "message": str(error)}


def plain(value: Any) -> Any:
    """`value` in JSON's terms: arrays and tuples as lists, a NaN as the text "nan"."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float) and value != value:
        return "nan"
    return value


def _is_from_hooks(entry: logging.LogRecord) -> bool:
    return os.path.basename(entry.pathname) == os.path.basename(HOOKS_MODULE.__file__)


def _without_place(text: str, directory: str) -> str:
    return re.sub(r" object at 0x[0-9a-f]+", " object", text.replace(directory, "DIR"))


def _walk(directory: str) -> list[str]:
    names = [
        os.path.relpath(os.path.join(folder, name), directory)
        for folder, _, files in os.walk(directory)
        for name in files
    ]
    return sorted(names)


def _files(directory: str) -> list[str]:
    return sorted({re.sub(r"events\.out\.tfevents\..*", "events", name) for name in _walk(directory)})


def _timelines(directory: str) -> dict[str, bool]:
    """Of each timeline file, whether it is a Chrome trace with anything in it."""
    found = {}
    for name in _walk(directory):
        if os.path.basename(name).startswith("timeline-"):
            with open(os.path.join(directory, name)) as file:
                found[name] = bool(json.load(file)["traceEvents"])
    return found


def _events(directory: str) -> dict[str, list[list[Any]]]:
    """The events of each folder in the order of writing, as lists that open with kind and step."""
    found: dict[str, list[list[Any]]] = {}
    for path in sorted(glob.glob(os.path.join(directory, "**", "events.out.tfevents.*"), recursive=True)):
        folder = os.path.relpath(os.path.dirname(path), directory)
        entries = found.setdefault(folder, [])
        try:
            for event in tf.train.summary_iterator(path):
                entries.extend(_event(event, directory))
        except tf.errors.DataLossError:
            entries.append(["the file breaks off: its writer was not flushed"])
    return found


def _event(event: Any, directory: str) -> Iterator[list[Any]]:
    kind = event.WhichOneof("what")
    if kind == "summary":
        for value in event.summary.value:
            content = value.WhichOneof("value")
            yield [content, event.step, value.tag, _summary_content(value, content)]
    elif kind == "session_log":
        status = type(event.session_log).SessionStatus.Name(event.session_log.status)
        path = _without_place(event.session_log.checkpoint_path, directory)
        yield ["session_log", event.step, status, path]
    elif kind == "tagged_run_metadata":
        yield [kind, event.step, event.tagged_run_metadata.tag]
    elif kind != "file_version":
        yield [kind, event.step]


def _summary_content(value: Any, content: str) -> Any:
    if content == "simple_value":
        return plain(value.simple_value)
    if content == "histo":
        histo = value.histo
        filled = [[edge, count] for edge, count in zip(histo.bucket_limit, histo.bucket) if count]
        return [histo.min, histo.max, histo.num, histo.sum, histo.sum_squares, filled]
    raise ValueError(f"No scenario writes a summary of kind {content}.")


def _checkpoints(directory: str) -> dict[str, Any]:
    """Of each folder with checkpoints: those kept, oldest first, with each variable's value."""
    found = {}
    for name in _walk(directory):
        if os.path.basename(name) == "checkpoint":
            folder = os.path.dirname(name)
            state = tf.train.get_checkpoint_state(os.path.join(directory, folder))
            paths = list(state.all_model_checkpoint_paths)
            found[folder or "."] = {
                "latest": os.path.basename(state.model_checkpoint_path),
                "kept": {os.path.basename(path): _variables(path) for path in paths},
            }
    return found


def _variables(checkpoint: str) -> dict[str, Any]:
    reader = tf.train.load_checkpoint(checkpoint)
    return {
        name: [np.dtype(reader.get_tensor(name).dtype).name, plain(reader.get_tensor(name))]
        for name in sorted(reader.get_variable_to_shape_map())
    }
