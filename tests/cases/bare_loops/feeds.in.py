"""What is fed is computed before each step, as it was."""
import numpy as np
from tensorflow.compat import v1 as tf


def train(train_op, x, y, mnist, rate, hooks):
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run(train_op, feed_dict={x: np.random.rand(3), rate: 0.1})
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run(train_op, mnist.next_feed())
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            # The next hundred pictures.
            images, labels = mnist.train.next_batch(100)
            images = images / 255.0  # as it was trained

            sess.run(
                [train_op],
                feed_dict={
                    x: images,
                    y: labels,  # one-hot
                    rate: 0.1 if mnist.train.epochs_completed < 3 else 0.01,
                },
            )
