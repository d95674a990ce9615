"""saving_listeners: one writes beside each checkpoint, one asks for a stop; a saver hook of one's own beside it."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

directory = os.path.join(sys.argv[1], "listened")


class Journal(tf.train.CheckpointSaverListener):
    def __init__(self):
        self.lines = []

    def begin(self):
        self.lines.append("begin")

    def before_save(self, session, global_step_value):
        self.lines.append("before %d: %.4f" % (global_step_value, session.run("w:0").sum()))

    def after_save(self, session, global_step_value):
        path = tf.train.latest_checkpoint(directory)
        self.lines.append("after %d: %s" % (global_step_value, os.path.basename(path)))
        with tf.gfile.GFile(os.path.join(directory, "note-%d.txt" % global_step_value), "w") as f:
            f.write("kept")

    def end(self, session, global_step_value):
        self.lines.append("end %d" % global_step_value)


class StopAfter(tf.estimator.CheckpointSaverListener):
    """after_save returns True: training stops."""

    def __init__(self, step):
        self.step = step

    def after_save(self, session, global_step_value):
        return global_step_value >= self.step


def model_fn(features, labels, mode):
    w = tf.get_variable("w", initializer=np.array([[0.5], [0.5]], np.float32))
    loss = tf.losses.absolute_difference(labels, tf.matmul(features, w))
    train_op = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(23).randn(45, 2).astype(np.float32)
    y = x.dot([[2.0], [-1.0]]).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(9)


journal = Journal()
config = tf.estimator.RunConfig(model_dir=directory, save_checkpoints_steps=8, keep_checkpoint_max=3,
                                session_config=tf.ConfigProto(inter_op_parallelism_threads=2))
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, saving_listeners=[journal, StopAfter(24)], max_steps=100)
stopped_at = int(estimator.get_variable_value("global_step"))
estimator.train(input_fn, steps=6, saving_listeners=[journal])
result = estimator.evaluate(input_fn, steps=5)
print(json.dumps({"step": int(result["global_step"]), "loss": float(result["loss"]), "stopped_at": stopped_at,
                  "journal": journal.lines, "notes": sorted(n for n in os.listdir(directory) if n.startswith("note")),
                  "checkpoints": sorted(n for n in os.listdir(directory) if n.endswith(".index"))}))
