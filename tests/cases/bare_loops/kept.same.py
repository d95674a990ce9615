"""Loops that are more than a run of the train op, or not provably that."""
import bridge
import tensorflow.compat.v1 as tf


def train(train_op, loss, x, hooks, steps, evaluate):
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        for _ in range(steps):
            sess.run(train_op)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        for epoch in range(10):
            while not sess.should_stop():
                sess.run(train_op)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        step = 0
        while not sess.should_stop() and step < 10:
            step = sess.run(train_op, {x: step})
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run(train_op)
            evaluate(sess)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            last = sess.run(loss)
    sess = bridge.MonitoredTrainingSession(hooks=hooks)
    while not sess.should_stop():
        sess.run(train_op)
    return last
