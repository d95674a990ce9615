"""Epochs inside a monitored session: batches fed by hand, an evaluation after each epoch, a rate that Python lowers."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

OUT = os.environ.get("WORK_DIR") or sys.argv[1]
EPOCHS = 5
BATCH = 25


class Data(object):
    """Spirals in two dimensions."""

    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        t = rng.uniform(0.3, 1.0, size=n)
        self.labels = rng.randint(0, 3, size=n)
        angle = 4 * t + self.labels * 2 * np.pi / 3
        self.points = np.stack([t * np.cos(angle), t * np.sin(angle)], axis=1).astype(np.float32)

    def batches(self, size):
        for start in range(0, len(self.points), size):
            yield self.points[start:start + size], self.labels[start:start + size]


def fully_connected(x, units, scope, activation=None):
    n_in = x.get_shape().as_list()[-1]
    init = np.random.RandomState(n_in * units).normal(0, 0.4, (n_in, units)).astype(np.float32)
    with tf.variable_scope(scope):
        w = tf.get_variable("w", shape=[n_in, units], initializer=tf.constant_initializer(init))
        b = tf.get_variable("b", shape=[units], initializer=tf.zeros_initializer)
        out = tf.matmul(x, w) + b
        return activation(out) if activation else out


def main():
    train, test = Data(200, seed=1), Data(60, seed=2)

    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.int64, [None], name="y")
    lr = tf.placeholder_with_default(0.1, [], name="learning_rate")
    h = fully_connected(x, 16, "h1", tf.nn.relu)
    logits = fully_connected(h, 3, "out")
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    global_step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(lr).minimize(loss, global_step)
    tf.summary.scalar("train/loss", loss)

    history = []
    learning_rate = 0.02
    last_accuracy = 0.0
    with tf.train.MonitoredTrainingSession(checkpoint_dir=OUT, save_summaries_steps=0) as sess:
        for epoch in range(EPOCHS):
            total, count = 0.0, 0
            for points, labels in train.batches(BATCH):
                _, batch_loss = sess.run([train_op, loss], feed_dict={x: points, y: labels, lr: learning_rate})
                total += batch_loss * len(points)
                count += len(points)
            test_loss, test_accuracy, step = sess.run(
                [loss, accuracy, global_step], feed_dict={x: test.points, y: test.labels})
            print("Epoch %d  train %.4f  test %.4f  accuracy %.3f" % (
                epoch + 1, total / count, test_loss, test_accuracy))
            if test_accuracy <= last_accuracy:
                learning_rate *= 0.5
            last_accuracy = test_accuracy
            history.append(float(test_loss))

    print(json.dumps({"step": int(step), "loss": history[-1], "history": history,
                      "accuracy": float(test_accuracy), "learning_rate": learning_rate,
                      "last_checkpoint": os.path.basename(tf.train.latest_checkpoint(OUT))}))


if __name__ == '__main__':
    main()
