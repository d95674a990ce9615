"""The switch of the programs: `tf` and `estimator` of TensorFlow 1.15, or today's with the bridge.

This module and the programs also run under Python 3.7.
"""

from __future__ import annotations

import glob
import os

import numpy as np
import tensorflow  # noqa: ICN001 - `tf` is what the programs get

IS_V1 = tensorflow.__version__.startswith("1.")

if IS_V1:
    tf = tensorflow
    estimator = tensorflow.estimator
else:
    from bridge import estimator

    tf = tensorflow.compat.v1


def as_json(value):
    """Turns numpy values, bytes and tuples into what JSON holds."""
    if isinstance(value, dict):
        return {str(as_json(name)): as_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (np.ndarray, np.generic)):
        return as_json(value.tolist())
    return value


# What a clock puts there, and what reads variables beside the step that updates them.
VARYING = ("global_step/sec", "examples/sec", "linear/bias", "linear/fraction_of_zero_weights")


def events(folder):
    """From tags to pairs of step and value; values are None where they vary, or are no numbers."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*tfevents*"))):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                if value.tag.startswith("enqueue_input/"):  # v1's queues; there are none any more.
                    continue
                number = value.simple_value if value.HasField("simple_value") else None
                found.setdefault(value.tag, []).append([event.step, None if value.tag in VARYING else number])
    return found


def files(folder):
    """The names of a folder's files, cut where they hold a time, or the number of shards."""
    names = {
        name.split(".out.tfevents")[0].split("-of-")[0].replace("data-00001", "data-00000")
        for name in os.listdir(folder)
    }
    return sorted(names)


def variables(path):
    """From the names of a checkpoint's variables to their values."""
    reader = tf.train.load_checkpoint(path)
    return {name: reader.get_tensor(name).tolist() for name in sorted(reader.get_variable_to_shape_map())}


def state(folder):
    """What the file `checkpoint` says, with paths as they stand in it."""
    with open(os.path.join(folder, "checkpoint")) as file:
        return [line.strip() for line in file if "timestamp" not in line]


def job(estimator_, *names):
    """All that can be compared of an Estimator's folder, and of evaluations by name."""
    folder = estimator_.model_dir
    made = {"files": files(folder), "state": state(folder), "events": events(folder)}
    made["variables"] = variables(estimator_.latest_checkpoint())
    for name in names:
        made["eval " + (name or "")] = events(estimator_.eval_dir(name))
    return made


class Journal(tf.train.SessionRunHook):
    """Notes its calls in a list that several share."""

    def __init__(self, calls, name):
        self.calls, self.name = calls, name

    def begin(self):
        self.calls.append(self.name + " begin")

    def after_create_session(self, session, coord):
        self.calls.append(self.name + " created")

    def before_run(self, run_context):
        self.calls.append(self.name + " before")

    def after_run(self, run_context, run_values):
        self.calls.append(self.name + " after")

    def end(self, session):
        self.calls.append(self.name + " end")


def numbers(seed, *shape):
    """Numbers that are the same in every world."""
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype(np.float32)


X = numbers(0, 24, 3)
Y = (X.dot(np.array([[1.0], [-2.0], [0.5]], np.float32)) + 0.25).astype(np.float32)


def data(batch=4, repeat=None):
    """A dataset of features `x` and labels."""
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(repeat).batch(batch)


def once():
    """The data once."""
    return data(repeat=1)


def regression(features, labels, mode, params):
    """A linear model_fn; params: rate, optimizer."""
    w = tf.get_variable("w", [3, 1], initializer=tf.constant_initializer([[0.1], [0.2], [0.3]]))
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    y = tf.add(tf.matmul(features["x"], w), b, name="y")
    if mode == estimator.ModeKeys.PREDICT:
        return estimator.EstimatorSpec(mode, predictions={"y": y, "double": 2.0 * y})
    loss = tf.reduce_mean(tf.square(y - labels), name="squared")
    optimizer = params.get("optimizer", tf.train.GradientDescentOptimizer)(params.get("rate", 0.1))
    return estimator.EstimatorSpec(
        mode,
        predictions={"y": y},
        loss=loss,
        train_op=optimizer.minimize(loss, tf.train.get_global_step()),
        eval_metric_ops={"mae": tf.metrics.mean_absolute_error(labels, y)},
    )


def linear(folder, model_fn=regression, warm_start_from=None, params=None, **config):
    """An Estimator of a model_fn in a folder."""
    config.setdefault("save_checkpoints_steps", 5)
    config.setdefault(
        "save_summary_steps", 1
    )  # A saver of every second step may be late by one, in TF1, too.
    config.setdefault("log_step_count_steps", 4)
    return estimator.Estimator(
        model_fn, folder, estimator.RunConfig(**config), params, warm_start_from=warm_start_from
    )
