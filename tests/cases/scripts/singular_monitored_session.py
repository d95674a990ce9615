"""SingularMonitoredSession: raw_session() goes to a Saver and to an evaluation that must not count as a step."""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.training.monitored_session import SingularMonitoredSession

out = sys.argv[1]
checkpoint_dir = os.path.join(out, "checkpoints")
os.makedirs(checkpoint_dir)


class Counter(tf.train.SessionRunHook):
    def __init__(self):
        self.runs = 0

    def before_run(self, _):
        self.runs += 1


def build():
    x = tf.constant(np.random.RandomState(3).randn(20, 5).astype(np.float32))
    y = tf.reduce_sum(x[:, :2], axis=1, keepdims=True)
    w = tf.get_variable("w", (5, 1), initializer=tf.zeros_initializer())
    loss = tf.nn.l2_loss(tf.matmul(x, w) - y)
    step = tf.train.get_or_create_global_step()
    return loss, step, tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)


counter = Counter()
with tf.Graph().as_default():
    loss, step, train_op = build()
    saver = tf.train.Saver()
    with SingularMonitoredSession(hooks=[counter, tf.train.StopAtStepHook(last_step=15)]) as sess:
        while not sess.should_stop():
            sess.run(train_op)
            if sess.raw_session().run(step) % 5 == 0:
                raw = sess.raw_session()
                path = saver.save(raw, os.path.join(checkpoint_dir, "model.ckpt"), global_step=step)
                first_loss = float(raw.run(loss))

with tf.Graph().as_default():
    loss, step, train_op = build()
    with SingularMonitoredSession(checkpoint_dir=checkpoint_dir, hooks=[counter]) as sess:
        resumed = int(sess.run(step))
        for _ in range(10):
            _, last_step = sess.run([train_op, step])
        second_loss = float(sess.raw_session().run(loss))
        last_step = int(sess.raw_session().run(step))

print(json.dumps({"step": last_step, "loss": second_loss, "first_loss": first_loss, "resumed": resumed,
                  "runs": counter.runs, "checkpoint": os.path.basename(path)}))
