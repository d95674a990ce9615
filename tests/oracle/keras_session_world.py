"""The programs of `session_scenarios` for a Keras model: `fit` in a `bridge.MonitoredTrainingSession`.

Every run of a program has a new model, as every process has. `epochs` counts from the beginning of the job.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

import bridge
from tests.oracle import scenarios
from tests.oracle.recording import Outcome, Pulse, Run, captured_logs, record
from tests.oracle.session_scenarios import SessionScenario
from tests.oracle.session_worlds import set_events_aside


def observe(scenario: SessionScenario, directory: str) -> dict[str, Any]:
    """Runs one program here and returns its record."""
    run = Run(directory)
    with run.clock.installed(), captured_logs() as logs:
        for number in range(scenario.runs):
            outcome = _train(scenario, run, epochs=scenario.epochs * (number + 1))
            tf.compat.v1.summary.FileWriterCache.clear()
            set_events_aside(directory, number)
    run.finish()
    return record(run, outcome, logs)


def _train(scenario: SessionScenario, run: Run, *, epochs: int) -> Outcome:
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, name="dense")])
    model.set_weights([scenarios.KERNEL, scenarios.BIAS])
    model.compile(keras.optimizers.SGD(scenarios.LEARNING_RATE), "mse", jit_compile=False)
    run.chief_only_hooks[:] = []
    hooks = scenario.make_hooks(run)
    with bridge.MonitoredTrainingSession(
        hooks=hooks,
        chief_only_hooks=[Pulse(run.clock), *run.chief_only_hooks],
        **scenario.options(run),
    ) as session:
        session.fit(model, tf.data.Dataset.from_tensor_slices(scenario.epoch()), epochs=epochs, verbose=0)
    step = int(model.optimizer.iterations)
    kernel, bias = model.get_weights()
    return Outcome(step, step, kernel, bias)
