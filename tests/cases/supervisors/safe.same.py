"""Supervisors go on working."""
import tensorflow.compat.v1 as tf


def train(train_op):
    sv = tf.train.Supervisor(logdir="logs")
    with sv.managed_session() as sess:
        while not sv.should_stop():
            sess.run(train_op)
