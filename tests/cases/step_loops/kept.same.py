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


def train_in_turns(d_loss, g_loss, hooks):
    d_op = tf.train.AdamOptimizer().minimize(d_loss)
    g_op = tf.train.AdamOptimizer().minimize(g_loss)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            _, d_value = sess.run([d_op, d_loss])
            _, g_value = sess.run([g_op, g_loss])
            print(d_value, g_value)
    step = 0
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run(d_op)
            step += 1
            if step % 5 == 0:
                sess.run(g_op)


def train_what_changes(ops, loss, hooks):
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            values = sess.run(ops)
            print(values)
            if "loss" not in ops:
                ops["loss"] = loss
