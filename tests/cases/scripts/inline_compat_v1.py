"""`import tensorflow as tf`, and tf.compat.v1 spelt out at each use."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
tf.compat.v1.disable_resource_variables()
work_dir = os.path.join(sys.argv[1], "inline")


class RateHook(tf.compat.v1.train.SessionRunHook):
    def __init__(self, tensor):
        self.tensor, self.values = tensor, []

    def before_run(self, run_context):
        return tf.compat.v1.train.SessionRunArgs(self.tensor)

    def after_run(self, run_context, run_values):
        self.values.append(float(run_values.results))


x_data = np.random.RandomState(90).randn(60, 4).astype(np.float32)
y_data = (x_data.sum(axis=1) > 0).astype(np.int32)

with tf.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.float32, [None, 4])
    y = tf.compat.v1.placeholder(tf.int32, [None])
    with tf.compat.v1.variable_scope("softmax"):
        w = tf.compat.v1.get_variable("w", [4, 2], initializer=tf.compat.v1.zeros_initializer())
    logits = tf.matmul(x, w)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)
    step = tf.compat.v1.train.get_or_create_global_step()
    rate = tf.compat.v1.train.polynomial_decay(0.5, step, decay_steps=30, end_learning_rate=0.1)
    train_op = tf.compat.v1.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    hook = RateHook(rate)
    with tf.compat.v1.train.MonitoredTrainingSession(
            checkpoint_dir=work_dir, hooks=[hook], save_summaries_steps=None, save_summaries_secs=None) as sess:
        for epoch in range(2):
            for start in range(0, 60, 10):
                sess.run(train_op, feed_dict={x: x_data[start:start + 10], y: y_data[start:start + 10]})
        loss_value = sess.run(loss, feed_dict={x: x_data, y: y_data})

print(json.dumps({"step": int(tf.train.load_variable(work_dir, "global_step")), "loss": float(loss_value),
                  "first_rate": hook.values[0], "runs": len(hook.values)}))
