"""A legacy graph as TF1 scripts have it, the bridge's session over it, and what tests ask of both."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf

import bridge
from bridge.tf_internals import GLOBAL_STEP_READ_KEY
from tests.bridge.support import read_events

tf1 = tf.compat.v1

Session = bridge.MonitoredTrainingSession

# Modules of TensorFlow that wait by `time.sleep`: for the chief, and for threads.
SESSION_MANAGER = sys.modules[tf1.train.SessionManager.__module__]
COORDINATOR = sys.modules[tf1.train.Coordinator.__module__]

STEP_RATE = "global_step/sec"

PREEMPTED = [
    tf.errors.AbortedError(None, None, "a server went away"),
    tf.errors.UnavailableError(None, None, "a server went away"),
]


@dataclasses.dataclass
class Legacy:
    """A graph as TF1 scripts have it: each step adds one to `weight` and to `global_step`."""

    graph: tf.Graph
    weight: Any
    train_op: Any
    step: Any


def build() -> Legacy:
    step = tf1.train.get_or_create_global_step()
    weight = tf1.get_variable("weight", initializer=10.0)
    tf1.summary.scalar("constant", tf.constant(2.5))
    # TF1 leaves open whether a hook's reading of the step sees this step's update; here it never does.
    reading = tf.identity(step)
    tf1.add_to_collection(GLOBAL_STEP_READ_KEY, reading)
    with tf.control_dependencies([reading]):
        train_op = tf.group(tf1.assign_add(weight, 1.0), tf1.assign_add(step, 1), name="train_op")
    return Legacy(tf1.get_default_graph(), weight, train_op, step)


def run_steps(session: Any, legacy: Legacy, steps: int) -> list[Any]:
    """Runs as many steps, or up to a stop; returns the weights after each."""
    weights: list[Any] = []
    for _ in range(steps):
        if session.should_stop():
            break
        session.run(legacy.train_op)
        weights.append(float(raw(session).run(legacy.weight)))
    return weights


def raw(session: Any) -> Any:
    """The tf1.Session inside."""
    found: list[Any] = []
    session.run_step_fn(lambda step_context: found.append(step_context.session))
    return found[0]


def train(steps: int, **options: Any) -> list[float]:
    """Trains a fresh legacy graph for so many steps in a session of its own."""
    with tf.Graph().as_default():
        legacy = build()
        with Session(**options) as session:
            return run_steps(session, legacy, steps)


def files(directory: Path) -> list[str]:
    """The kinds of files in a folder."""
    return sorted({"events" if "tfevents" in path.name else path.name for path in directory.iterdir()})


def tags(directory: Path) -> list[str]:
    return sorted(read_events(directory).Tags()["scalars"])


@contextlib.contextmanager
def chief_on(server: Any, **options: Any) -> Iterator[tuple[Any, Legacy]]:
    with tf.Graph().as_default():
        legacy = build()
        with Session(master=server.target, **options) as session:
            yield session, legacy


class FailingHook(tf1.train.SessionRunHook):
    """Raises one error after the other, each in the `before_run` of one attempt to run."""

    def __init__(self, errors: list[BaseException], at_run: int = 1) -> None:
        self._errors, self._at_run, self._runs = errors, at_run, 0
        self.sessions = 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.sessions += 1

    def before_run(self, run_context: Any) -> None:
        self._runs += 1
        if self._runs >= self._at_run and self._errors:
            raise self._errors.pop(0)
