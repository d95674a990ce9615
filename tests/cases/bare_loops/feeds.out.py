"""What is fed is computed before each step, as it was."""
import numpy as np
import bridge
from tensorflow.compat import v1 as tf


def train(train_op, x, y, mnist, rate, hooks):
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        sess.fit(
            bridge.GraphModel(train_op, feed_fn=lambda: {x: np.random.rand(3), rate: 0.1}),
            verbose=0,
        )
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        sess.fit(bridge.GraphModel(train_op, feed_fn=lambda: mnist.next_feed()), verbose=0)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        # one-hot
        def next_feed_2():
            # The next hundred pictures.
            images, labels = mnist.train.next_batch(100)
            images = images / 255.0  # as it was trained
            return {x: images, y: labels, rate: 0.1 if mnist.train.epochs_completed < 3 else 0.01}

        sess.fit(bridge.GraphModel([train_op], feed_fn=next_feed_2), verbose=0)
