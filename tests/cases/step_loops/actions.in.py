"""What a loop does with the results of a step."""
import logging
import time

import tensorflow as tf

log = logging.getLogger(__name__)


def train(train_op, loss, accuracy, global_step, merged, hooks):
    started = time.time()
    losses = []
    writer = tf.summary.FileWriter("logs/own")
    with tf.train.MonitoredTrainingSession(checkpoint_dir="logs", hooks=hooks) as sess:
        print("training")

        # The loop.
        while not sess.should_stop():
            _, loss_value, step_value = sess.run(
                [train_op, loss, global_step])
            losses.append(loss_value)

            # Now and then.
            if step_value % 10 == 0:
                print("step %d: loss = %.4f (%.1f s)" % (step_value, loss_value, time.time() - started))
                log.info("loss %s", loss_value)
    with tf.train.MonitoredTrainingSession() as sess:
        for step in range(50):
            summary = sess.run([merged, train_op])
            writer.add_summary(summary[0], global_step=step)
    print(losses)


def train_with_feeds(train_op, loss, x, data, hooks):
    best = None
    count = 0
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            batch = data.next()
            value, _ = sess.run([loss, train_op], feed_dict={x: batch})
            count += 1
            if best is None or value < best:
                best = value
                tf.logging.info("best so far, in step %d: %s", count, best)


number = 0
with tf.train.MonitoredTrainingSession() as sess:
    while not sess.should_stop():
        sess.run("train"); number += 1; print(number)
