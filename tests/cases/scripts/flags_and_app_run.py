#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""Everything by flags; tf.app.run calls main; the model is a function picked by name."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import json
import os

import numpy as np
import tensorflow as tf

flags = tf.app.flags

flags.DEFINE_string("data_dir", None, "Where the data is")
flags.DEFINE_string("train_dir", os.path.join(os.getenv("WORK_DIR", "/tmp"), "flags"), "Where to write")
flags.DEFINE_enum("model", "quadratic", ["linear", "quadratic"], "Which model")
flags.DEFINE_integer("max_steps", 48, "Steps")
flags.DEFINE_integer("batch_size", 16, "Batch size")
flags.DEFINE_float("lr", 0.1, "Learning rate")
flags.DEFINE_list("layers", ["4", "2"], "Layers")
flags.DEFINE_bool("log_device_placement", False, "Log where ops run")
flags.DEFINE_multi_integer("boundaries", [20, 40], "Where the rate changes")

FLAGS = flags.FLAGS


def linear(x):
    return x


def quadratic(x):
    return tf.concat([x, tf.square(x)], axis=-1)


MODELS = {"linear": linear, "quadratic": quadratic}


def train():
    tf.gfile.MakeDirs(FLAGS.train_dir)
    with tf.gfile.GFile(os.path.join(FLAGS.train_dir, "flags.txt"), "w") as f:
        f.write(json.dumps({"model": FLAGS.model, "layers": [int(n) for n in FLAGS.layers]}))
    rng = np.random.RandomState(FLAGS.batch_size)
    xs = rng.uniform(-1, 1, size=(64, 2)).astype(np.float32)
    ys = (xs[:, 0] ** 2 - xs[:, 1] + 1).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices({"x": xs, "y": ys})
    batch = dataset.repeat().batch(FLAGS.batch_size).make_one_shot_iterator().get_next()

    features = MODELS[FLAGS.model](batch["x"])
    w = tf.get_variable("w", [features.shape[1].value], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
    predictions = tf.reduce_sum(features * w, axis=1) + b
    loss = tf.losses.mean_squared_error(batch["y"], predictions)
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.piecewise_constant(
        tf.cast(global_step, tf.int32), FLAGS.boundaries, [FLAGS.lr, FLAGS.lr / 2, FLAGS.lr / 10])
    train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=global_step)

    class _LoggerHook(tf.train.SessionRunHook):
        """Logs loss and rate every ten steps."""

        def begin(self):
            self._step = -1
            self.logged = []

        def before_run(self, run_context):
            self._step += 1
            return tf.train.SessionRunArgs([loss, rate])

        def after_run(self, run_context, run_values):
            if self._step % 10 == 0:
                loss_value, rate_value = run_values.results
                tf.logging.info("step %d, loss = %.4f, rate = %g", self._step, loss_value, rate_value)
                self.logged.append([self._step, float(loss_value), float(rate_value)])
            self.last_loss = float(run_values.results[0])

    logger = _LoggerHook()
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=FLAGS.train_dir,
            hooks=[tf.train.StopAtStepHook(last_step=FLAGS.max_steps), tf.train.NanTensorHook(loss), logger],
            save_checkpoint_secs=60,
            config=tf.ConfigProto(log_device_placement=FLAGS.log_device_placement)) as mon_sess:
        while not mon_sess.should_stop():
            mon_sess.run(train_op)
    return logger


def main(_):
    tf.logging.set_verbosity(tf.logging.WARN)
    if tf.gfile.Exists(FLAGS.train_dir):
        tf.gfile.DeleteRecursively(FLAGS.train_dir)
    logger = train()
    print(json.dumps({
        "step": int(tf.train.load_variable(FLAGS.train_dir, "global_step")), "loss": logger.last_loss,
        "logged": logger.logged, "w": tf.train.load_variable(FLAGS.train_dir, "w").tolist(),
        "flags": tf.gfile.Open(os.path.join(FLAGS.train_dir, "flags.txt")).read()}, sort_keys=True))


if __name__ == "__main__":
    tf.app.run(main=main)
