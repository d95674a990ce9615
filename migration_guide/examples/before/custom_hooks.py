"""Hooks of one's own: one that logs, one that feeds a learning rate, one that stops. Three ways to name their base."""
import json
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.training import session_run_hook


class LossKeeper(tf.train.SessionRunHook):
    def __init__(self, loss):
        self._loss = loss
        self.losses = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs({"loss": self._loss})

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results["loss"]))


class DecayHook(session_run_hook.SessionRunHook):
    def __init__(self, rate, first):
        self._rate, self._value = rate, first

    def before_run(self, run_context):
        self._value *= 0.97
        return session_run_hook.SessionRunArgs(None, feed_dict={self._rate: self._value})


class StopWhenGood(tf.estimator.SessionRunHook):
    def __init__(self, loss, limit):
        self._loss, self._limit = loss, limit

    def before_run(self, ctx):
        return tf.estimator.SessionRunArgs(self._loss)

    def after_run(self, ctx, vals):
        if vals.results < self._limit:
            ctx.request_stop()


rng = np.random.RandomState(2)
data = rng.randn(96, 5).astype("float32")
x = tf.data.Dataset.from_tensor_slices(data).repeat().batch(12).make_one_shot_iterator().get_next()
center = tf.get_variable("center", initializer=np.full(5, 2.0, "float32"))
loss = tf.reduce_mean(tf.square(x - center))
rate = tf.placeholder_with_default(0.5, [], name="rate")
global_step = tf.train.get_or_create_global_step()
train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=global_step)

keeper = LossKeeper(loss)
with tf.train.MonitoredTrainingSession(
        checkpoint_dir=sys.argv[1], hooks=[keeper, DecayHook(rate, 0.5), StopWhenGood(loss, 0.9)]) as sess:
    while not sess.should_stop():
        sess.run(train_op)

print(json.dumps({"step": int(tf.train.load_variable(sys.argv[1], "global_step")),
                  "loss": keeper.losses[-1], "first": keeper.losses[0]}))
