import tensorflow.compat.v1 as tf


def raw(hooks):
    with tf.train.SingularMonitoredSession(hooks=hooks) as sess:
        return sess.raw_session()
