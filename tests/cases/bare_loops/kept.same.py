"""Loops that are more than a run of the train op, or not provably that."""
import bridge
import tensorflow.compat.v1 as tf


def train(train_op, loss, x, hooks, steps, data, evaluate):
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        for _ in range(steps):
            sess.run(train_op)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        for epoch in range(10):
            for _ in range(steps):
                sess.run(train_op)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop() and data.more():
            sess.run(train_op)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run(train_op)
            evaluate(sess)
    with bridge.MonitoredTrainingSession(hooks=hooks) as sess:
        for i in range(10):
            if sess.should_stop():
                break
            sess.run(train_op, {x: data[i]})
    with tf.Graph().as_default():
        session = bridge.MonitoredTrainingSession(hooks=hooks)
    while not session.should_stop():
        session.run(train_op)


class Trainer(object):
    def __init__(self, train_op, sess=None):
        self.sess = sess or bridge.MonitoredTrainingSession()
        self.train_op = train_op

    def train(self):
        while not self.sess.should_stop():
            self.sess.run(self.train_op)


def train_in(sess, train_op):
    while not sess.should_stop():
        sess.run(train_op)


def main(train_op, make_session):
    with bridge.MonitoredTrainingSession() as sess:
        train_in(sess, train_op)
    train_in(make_session(), train_op)
