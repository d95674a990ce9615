"""A job whose files may not grow beyond a size (`ulimit -f`): a save fails in the middle. Run by test_faults."""

from __future__ import annotations

import errno
import resource
import sys
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import bridge

tf1 = tf.compat.v1


class Limit(tf1.train.SessionRunHook):
    """Lets no file grow beyond some bytes once the third step is over, as a quota would."""

    def __init__(self) -> None:
        self._runs = 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._runs += 1
        if self._runs == 3:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))


def train_op() -> Any:
    weight = tf1.get_variable("weight", [1 << 19], initializer=tf1.ones_initializer())
    step = tf1.train.get_or_create_global_step()
    return tf1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(weight**2), global_step=step)


def run(kind: str, directory: str) -> None:
    """Trains six steps and saves each.

    Args:
      kind: "keras" for a Keras model, "graph" for a GraphModel, "loop" for a loop over a graph.
      directory: Where checkpoints go.
    """
    options = {"save_graph_def": False, "log_step_count_steps": None, "save_summaries_steps": None}
    options |= {"checkpoint_dir": directory, "save_checkpoint_steps": 1}
    if kind == "keras":
        with bridge.MonitoredTrainingSession(chief_only_hooks=[Limit()], **options) as session:
            inputs = keras.Input((1024,))
            model = keras.Model(inputs, keras.layers.Dense(512)(inputs))
            model.compile("sgd", "mse", jit_compile=False)
            x, y = np.ones((6, 1024), "float32"), np.ones((6, 512), "float32")
            session.fit(model, x, y, batch_size=1, verbose=0)
        return
    with tf.Graph().as_default():
        op = train_op()
        with bridge.MonitoredTrainingSession(chief_only_hooks=[Limit()], **options) as session:
            if kind == "graph":
                session.fit(bridge.GraphModel(op), steps_per_epoch=6, verbose=0)
            else:
                for _ in range(6):
                    session.run(op)


if __name__ == "__main__":
    try:
        run(*sys.argv[1:])
    except (OSError, tf.errors.OutOfRangeError) as error:
        too_large = getattr(error, "errno", None) == errno.EFBIG or "File too large" in str(error)
        sys.exit(3 if too_large else 4)
