"""Loops whose action may be more than one."""
import bridge
import tensorflow.compat.v1 as tf


def train(train_op, loss, hooks, report, history):
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            _, value = sess.run([train_op, loss])
            report(value)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            _, value = sess.run([train_op, loss])
            history.append(value)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            _, value = sess.run([train_op, loss])
            if value < 0.1:
                return value
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            _, value = sess.run([train_op, loss])
            print(tf.shape(value))
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            try:
                _, value = sess.run([train_op, loss])
            except tf.errors.OutOfRangeError:
                continue
            print(value)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            _, value = sess.run([train_op, loss])
            draw(value)


def draw(value):
    with tf.Session() as sess:
        print(sess.run(tf.square(value)))
