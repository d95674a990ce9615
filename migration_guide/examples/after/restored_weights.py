"""Fine-tuning: a Scaffold's init_fn restores a part of an older checkpoint; the session is an attribute, closed by hand."""
import json
import os
import sys

import numpy as np
import bridge
import keras
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

first, second = (os.path.join(sys.argv[1], name) for name in ("first", "second"))
rng = np.random.RandomState(9)
data = rng.randn(64, 4).astype("float32")
targets = np.abs(data).sum(axis=1, keepdims=True)


def build(head):
    x, y = tf.data.Dataset.from_tensor_slices((data, targets)).repeat().batch(16).make_one_shot_iterator().get_next()
    body = tf.get_variable("body", initializer=np.random.RandomState(1).randn(4, 8).astype("float32") * 0.5)
    top = tf.get_variable(head, initializer=np.random.RandomState(2).randn(8, 1).astype("float32") * 0.5)
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, body)), top) - y))
    step = tf.train.get_or_create_global_step()
    return body, loss, tf.train.AdamOptimizer(0.02).minimize(loss, global_step=step)


class Trainer(object):
    def __init__(self, directory, scaffold, steps):
        self.sess = bridge.MonitoredTrainingSession(
            checkpoint_dir=directory, scaffold=scaffold, hooks=[tf.train.StopAtStepHook(num_steps=steps)])

    def train(self, train_op, loss):
        value: object

        def after_step(new_value):
            nonlocal value
            value = new_value

        if not self.sess.should_stop():
            with self.sess.graph.as_default():
                self.sess.fit(
                    bridge.GraphModel(train_op, fetches={"new_value": loss}, raise_at_end=True),
                    callbacks=[
                        keras.callbacks.LambdaCallback(
                            on_train_batch_end=lambda batch, logs: after_step(**logs)
                        )
                    ],
                    verbose=0,
                )
        self.sess.close()
        return float(value)


with tf.Graph().as_default():
    _, loss, train_op = build("old_head")
    before = Trainer(first, None, 20).train(train_op, loss)

with tf.Graph().as_default():
    body, loss, train_op = build("new_head")
    saver = tf.train.Saver([body])
    scaffold = tf.train.Scaffold(init_fn=lambda scaffold, sess: saver.restore(sess, tf.train.latest_checkpoint(first)))
    after = Trainer(second, scaffold, 20).train(train_op, loss)

print(json.dumps({"step": int(tf.train.load_variable(second, "global_step")), "loss": after, "before": before}))
