"""Hooks that steer: a warm-up rate through the feed of before_run, run options, and a stop by time budget of steps."""
import json
import sys

import numpy as np
import tensorflow as tf

WORK_DIR = sys.argv[1]


class WarmUpHook(tf.estimator.SessionRunHook):
    """Feeds the learning rate: a ramp, then a plateau, then halves."""

    def __init__(self, placeholder, peak, ramp):
        self._placeholder, self._peak, self._ramp = placeholder, peak, ramp
        self._local_step = 0
        self.rates = []

    def rate(self):
        if self._local_step < self._ramp:
            return self._peak * (self._local_step + 1) / self._ramp
        return self._peak * 0.5 ** ((self._local_step - self._ramp) // 15)

    def before_run(self, run_context):
        rate = self.rate()
        self.rates.append(rate)
        return tf.train.SessionRunArgs(
            fetches=tf.train.get_global_step(), feed_dict={self._placeholder: rate})

    def after_run(self, run_context, run_values):
        self._local_step += 1


class TraceHook(tf.train.SessionRunHook):
    """Asks for a full trace at some steps and counts the ops in it."""

    def __init__(self, steps):
        self.steps, self.count, self.traced = steps, 0, {}

    def before_run(self, run_context):
        options = None
        if self.count in self.steps:
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        return tf.train.SessionRunArgs(None, options=options)

    def after_run(self, run_context, run_values):
        if self.count in self.steps:
            stats = run_values.run_metadata.step_stats
            self.traced[self.count] = sum(len(device.node_stats) for device in stats.dev_stats) > 0
        self.count += 1


class PlateauHook(tf.train.SessionRunHook):
    def __init__(self, loss, patience):
        self._loss = loss
        self._patience = patience
        self._best, self._since = float("inf"), 0

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        if run_values.results < self._best - 1e-3:
            self._best, self._since = run_values.results, 0
        else:
            self._since += 1
        if self._since >= self._patience:
            run_context.request_stop()


x_values = np.linspace(-2, 2, 50).astype(np.float32).reshape(-1, 1)
y_values = np.sin(x_values) + 0.1 * x_values

learning_rate = tf.placeholder(tf.float32, [], name="learning_rate")
x = tf.constant(x_values)
y = tf.constant(y_values)
powers = tf.concat([x, x ** 2, x ** 3], axis=1)
weights = tf.get_variable("weights", [3, 1], initializer=tf.zeros_initializer())
bias = tf.get_variable("bias", [], initializer=tf.zeros_initializer())
loss = tf.losses.mean_squared_error(y, tf.matmul(powers, weights) + bias, scope="mse")
global_step = tf.train.get_or_create_global_step()
train_op = tf.train.GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)

warm_up = WarmUpHook(learning_rate, peak=0.05, ramp=5)
trace = TraceHook({3, 8})
hooks = [warm_up, trace, PlateauHook(loss, patience=4)]
hooks.append(tf.train.StopAtStepHook(last_step=500))

steps, losses = [], []
with tf.train.MonitoredTrainingSession(checkpoint_dir=WORK_DIR, hooks=hooks, save_summaries_steps=None,
                                       save_summaries_secs=None) as sess:
    while not sess.should_stop():
        loss_value, step, _ = sess.run((loss, global_step, train_op))
        losses.append(loss_value)
        steps.append(step)

print(json.dumps({"step": int(tf.train.load_variable(WORK_DIR, "global_step")), "loss": float(losses[-1]),
                  "rates": warm_up.rates[::6], "runs": len(losses), "traced": trace.traced}))
