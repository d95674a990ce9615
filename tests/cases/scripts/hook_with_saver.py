"""Hooks that keep Savers and use collections: restore some variables at the start, export the best at the end."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_string("work_dir", os.environ.get("WORK_DIR", "hook_with_saver"), "where to write")
tf.app.flags.DEFINE_integer("train_steps", 30, "number of steps")
tf.app.flags.DEFINE_float("learning_rate", 0.05, "learning rate")
tf.app.flags.DEFINE_boolean("export", True, "whether to export the best weights")


class RestoreHook(tf.train.SessionRunHook):
    """Restores the variables of one scope from another job's checkpoint, at step 0 only."""

    def __init__(self, checkpoint, scope):
        self.checkpoint = checkpoint
        self.scope = scope
        self.restored = []

    def begin(self):
        variables = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=self.scope)
        present = {name for name, _ in tf.train.list_variables(self.checkpoint)}
        variables = [v for v in variables if v.op.name in present]
        self.saver = tf.train.Saver(var_list=variables)
        self.restored = sorted(v.op.name for v in variables)

    def after_create_session(self, session, coord):
        if session.run(tf.train.get_global_step()) == 0:
            self.saver.restore(session, self.checkpoint)


class ExportBestHook(tf.train.SessionRunHook):
    """Saves the weights whenever the loss is the lowest so far, and reads the metrics' collection."""

    def __init__(self, directory):
        self.directory = directory
        self.best = None
        self.exported = []

    def begin(self):
        self.loss, = tf.get_collection("my_losses")
        self.average = tf.train.ExponentialMovingAverage(0.9)
        self.saver = tf.train.Saver(tf.trainable_variables(), max_to_keep=2)

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        loss, step = run_values.results, run_context.session.run(tf.train.get_global_step())
        if step % 5 == 0 and (self.best is None or loss < self.best):
            self.best = float(loss)
            path = self.saver.save(run_context.session, os.path.join(self.directory, "best"),
                                   global_step=tf.train.get_global_step(), write_meta_graph=False)
            self.exported.append(os.path.basename(path))

    def end(self, session):
        self.final_step = int(session.run(tf.train.get_global_step()))


def write_old_checkpoint(path):
    with tf.Graph().as_default():
        tf.get_variable("body/w", initializer=np.linspace(-0.3, 0.3, 12).reshape(4, 3).astype(np.float32))
        tf.get_variable("body/extra", initializer=np.float32(3))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return tf.train.Saver().save(sess, path)


def main(unused_argv):
    old = write_old_checkpoint(os.path.join(FLAGS.work_dir, "old.ckpt"))
    rng = np.random.RandomState(8)
    x = rng.randn(24, 4).astype(np.float32)
    y = (x[:, :3] * [1, 2, 3]).astype(np.float32)

    with tf.variable_scope("body"):
        w = tf.get_variable("w", [4, 3], tf.float32, tf.zeros_initializer())
    with tf.variable_scope("tail"):
        b = tf.get_variable("b", [3], tf.float32, tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant(x), w) + b - tf.constant(y)))
    tf.add_to_collection("my_losses", loss)
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.GradientDescentOptimizer(FLAGS.learning_rate).minimize(loss, global_step=step)

    restore, export = RestoreHook(old, "body"), ExportBestHook(FLAGS.work_dir)
    hooks = [restore, tf.train.StopAtStepHook(FLAGS.train_steps)]
    if FLAGS.export:
        hooks.insert(0, export)
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=os.path.join(FLAGS.work_dir, "train"), hooks=hooks, save_summaries_steps=None,
            save_summaries_secs=None, log_step_count_steps=0) as sess:
        while not sess.should_stop():
            sess.run(train_op)

    tf.logging.info("best loss %f", export.best)
    print(json.dumps({"step": export.final_step, "loss": export.best, "exported": export.exported,
                      "restored": restore.restored,
                      "variables": [n for n, _ in tf.train.list_variables(tf.train.latest_checkpoint(FLAGS.work_dir))]}))


if __name__ == "__main__":
    tf.app.run()
