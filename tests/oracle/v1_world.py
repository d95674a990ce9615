"""The first world: the model written by hand as a TF1 graph, run by `MonitoredTrainingSession` on TensorFlow 1.15.5.

TF1 leaves it open whether a hook's read of a variable sees it before or after the step's update in the same run. The
bridge promises "before", and so this world is made to mean the same: the variables are resource variables, whose
values once read stay as they are, and the updates wait for a gate operation that gives every read a head start. All
else is as a TF1 script has it. Without a directory `MonitoredTrainingSession` adds no hook of its own.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tests.oracle import scenarios
from tests.oracle.recording import Outcome, Pulse, Run, captured_logs, plain, record

HEAD_START_SECONDS = 0.02


class Observer(tf.train.SessionRunHook):
    """Keeps the model's state after each step. Comes first, and so sees every step that was made."""

    def __init__(self, start_step: int) -> None:
        self.state: Any = [start_step, scenarios.KERNEL, scenarios.BIAS]

    def begin(self) -> None:
        graph = tf.get_default_graph()
        names = ("global_step", "dense/kernel", "dense/bias")
        self._variables = [scenarios.variable(name, graph) for name in names]

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.state = session.run(self._variables)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.state = run_context.session.run(self._variables)

    def end(self, session: Any) -> None:
        self.state = session.run(self._variables)


def observe(
    scenario: scenarios.Scenario | scenarios.Table,
    directory: str,
    open_session: Any = tf.train.MonitoredTrainingSession,
) -> dict[str, Any]:
    """Runs one scenario here, in a session that `open_session` opens, and returns its record."""
    run = Run(directory)
    with tf.Graph().as_default(), run.clock.installed(), captured_logs() as logs:
        if isinstance(scenario, scenarios.Table):
            return {"table": plain(scenario.look_up(run))}
        outcome = _train(scenario, run, open_session)
        tf.summary.FileWriterCache.clear()
    run.finish()
    return record(run, outcome, logs)


def _train(scenario: scenarios.Scenario, run: Run, open_session: Any) -> Outcome:
    train_op, batches = build(scenario)
    observer = Observer(scenario.start_step)
    error = None
    try:
        if scenario.make_scaffold is not None:
            run.scaffold = scenario.make_scaffold(run)
        made = [
            hook if isinstance(hook, tf.train.SessionRunHook) else hook() for hook in scenario.make_hooks(run)
        ]
        with open_session(
            scaffold=run.scaffold,
            hooks=[observer, Pulse(run.clock), *made],
            chief_only_hooks=run.chief_only_hooks,
            config=tf.ConfigProto(inter_op_parallelism_threads=4),
        ) as session:
            for feeds in batches:
                if session.should_stop():
                    break
                session.run(train_op, feeds)
    except Exception as raised:  # noqa: BLE001 - the error is part of the record
        error = raised
    step, kernel, bias = observer.state
    return Outcome(int(step) - scenario.start_step, int(step), kernel, bias, error)


def build(scenario: scenarios.Scenario) -> tuple[Any, Any]:
    """The model's train operation, and the feeds of each run."""
    all_x, all_y = scenario.epoch()
    if scenario.iterator:
        data = tf.data.Dataset.from_tensor_slices((all_x, all_y)).repeat(scenario.epochs)
        next_x, next_y = tf.data.make_one_shot_iterator(data).get_next()
        x, y = tf.identity(next_x, "batch/x"), tf.identity(next_y, "batch/y")
        batches: Any = iter(dict, None)
    else:
        x = tf.placeholder(tf.float32, [2, 3], "batch/x")
        y = tf.placeholder(tf.float32, [2, 1], "batch/y")
        batches = [{x: all_x[i], y: all_y[i]} for _ in range(scenario.epochs) for i in range(len(all_x))]

    resource = not scenario.reference_variables
    rate = tf.placeholder_with_default(np.float32(scenarios.LEARNING_RATE), [], "learning_rate")
    kernel = tf.get_variable("dense/kernel", initializer=scenarios.KERNEL, use_resource=resource)
    bias = tf.get_variable("dense/bias", initializer=scenarios.BIAS, use_resource=resource)
    # What `get_or_create_global_step` makes, but for the value that it starts at.
    global_step = tf.get_variable(
        "global_step",
        initializer=np.int64(scenario.start_step),
        trainable=False,
        collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.GLOBAL_STEP],
        use_resource=resource,
    )
    output = tf.identity(tf.matmul(x, kernel) + bias, "dense/output")
    loss = tf.reduce_mean(tf.square(y - output), name="loss")
    slopes = tf.gradients(loss, [kernel, bias], name="backward")
    slopes = [
        tf.identity(slopes[0], "gradients/dense/kernel"),
        tf.identity(slopes[1], "gradients/dense/bias"),
    ]
    gate = tf.py_func(lambda: time.sleep(HEAD_START_SECONDS), [], [])
    with tf.control_dependencies([gate]):
        optimizer = tf.train.GradientDescentOptimizer(rate)
        pairs = [(slopes[0], kernel), (slopes[1], bias)]
        train_op = optimizer.apply_gradients(pairs, global_step, name="train_op")
    return train_op, batches
