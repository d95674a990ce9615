"""Runs the programs of `session_scenarios` over the hand-written graph, in any session with v1's signature.

TensorFlow 1.15.5 runs its own `MonitoredTrainingSession` here, today's TensorFlow the bridge's: a legacy graph must not
notice.
"""

from __future__ import annotations

import glob
import os
from typing import Any

import tensorflow.compat.v1 as tf

from tests.oracle.recording import Outcome, Pulse, Run, captured_logs, record
from tests.oracle.session_scenarios import SessionScenario
from tests.oracle.v1_world import Observer, build


def observe(
    scenario: SessionScenario, directory: str, open_session: Any = tf.train.MonitoredTrainingSession
) -> dict[str, Any]:
    """Runs one program and returns its record."""
    run = Run(directory)
    with run.clock.installed(), captured_logs() as logs:
        for number in range(scenario.runs):
            with tf.Graph().as_default():
                outcome = _train(scenario, run, open_session)
            tf.summary.FileWriterCache.clear()
            set_events_aside(directory, number)
    run.finish()
    return record(run, outcome, logs)


def set_events_aside(directory: str, number: int) -> None:
    """Names the event files of a run by its number: a file is named by the second, and the next run would overwrite it."""
    pattern = os.path.join(directory, "**", "events.out.tfevents.*")
    for index, path in enumerate(sorted(glob.glob(pattern, recursive=True))):
        if ".run-" not in path:
            name = f"events.out.tfevents.run-{number}-{index}"
            os.rename(path, os.path.join(os.path.dirname(path), name))


def _train(scenario: SessionScenario, run: Run, open_session: Any) -> Outcome:
    train_op, batches = build(scenario)
    observer = Observer(scenario.start_step)
    run.chief_only_hooks[:] = []
    hooks = scenario.make_hooks(run)
    with open_session(
        hooks=hooks,
        chief_only_hooks=[observer, Pulse(run.clock), *run.chief_only_hooks],
        config=tf.ConfigProto(inter_op_parallelism_threads=4),
        **scenario.options(run),
    ) as session:
        for feeds in batches:
            if session.should_stop():
                break
            session.run(train_op, feeds)
    step, kernel, bias = observer.state
    return Outcome(int(step) - scenario.start_step, int(step), kernel, bias)
