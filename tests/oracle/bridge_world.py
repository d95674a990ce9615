"""The second world: the same model in Keras, its `fit` with the scenario's hooks in a `bridge.HookCallback`.

`jit_compile=False`, since XLA rounds differently. The event files are read as `fit` left them, without closing
writers first as the other world does: the bridge promises that they are flushed.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

import bridge
from tests.oracle import scenarios
from tests.oracle.recording import Outcome, Pulse, Run, captured_logs, plain, record


def observe(scenario: scenarios.Scenario | scenarios.Table, directory: str) -> dict[str, Any]:
    """Runs one scenario here and returns its record; an error's type is given as the names of all its classes."""
    run = Run(directory)
    with run.clock.installed(), captured_logs() as logs:
        if isinstance(scenario, scenarios.Table):
            return {"table": plain(scenario.look_up(run))}
        outcome = _train(scenario, run)
    run.finish()
    found = record(run, outcome, logs)
    if outcome.error is not None:
        found["error"]["type"] = [parent.__name__ for parent in type(outcome.error).__mro__]
    tf.compat.v1.summary.FileWriterCache.clear()
    return found


def _train(scenario: scenarios.Scenario, run: Run) -> Outcome:
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, name="dense")])
    model.set_weights([scenarios.KERNEL, scenarios.BIAS])
    model.compile(keras.optimizers.SGD(scenarios.LEARNING_RATE), "mse", jit_compile=False)
    model.optimizer.build(model.trainable_variables)
    model.optimizer.iterations.assign(scenario.start_step)
    error = None
    try:
        if scenario.make_scaffold is not None:
            run.scaffold = scenario.make_scaffold(run)
        hooks = [Pulse(run.clock), *scenario.make_hooks(run)]
        callback = bridge.HookCallback(hooks, chief_only_hooks=run.chief_only_hooks, scaffold=run.scaffold)
        data = tf.data.Dataset.from_tensor_slices(scenario.epoch())
        model.fit(data, epochs=scenario.epochs, callbacks=[callback], verbose=0)
    except Exception as raised:  # noqa: BLE001 - the error is part of the record
        error = raised
    step = int(model.optimizer.iterations)
    kernel, bias = model.get_weights()
    return Outcome(step - scenario.start_step, step, kernel, bias, error)
