# codemod: --unsafe-fixes
"""Supervisors that are used for more, or in another way."""
import tensorflow.compat.v1 as tf


class Trainer(object):
    def __init__(self):
        self.sv = tf.train.Supervisor(logdir="logs")


def saves(train_op):
    sv = tf.train.Supervisor(logdir="logs")
    with sv.managed_session() as sess:
        while not sv.should_stop():
            sess.run(train_op)
        sv.saver.save(sess, sv.save_path)


def stops(train_op):
    sv = tf.train.Supervisor(logdir="logs")
    with sv.managed_session() as sess:
        while not sv.should_stop():
            if sess.run(train_op) > 3:
                sv.request_stop()


def waits(train_op, manager):
    sv = tf.train.Supervisor(logdir="logs", session_manager=manager)
    with sv.managed_session() as sess:
        sess.run(train_op)
    sv = tf.train.Supervisor(logdir="logs")
    sess = sv.prepare_or_wait_for_session()
