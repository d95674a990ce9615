import tensorflow.compat.v1 as tf


class MySession(tf.train.MonitoredSession):
    pass


def sessions(creator, args, path):
    is_monitored = isinstance(creator, tf.train.MonitoredSession)
    with tf.train.MonitoredSession(session_creator=creator) as sess:
        sess.run(is_monitored)
    yield tf.train.MonitoredSession(*args)
    yield tf.train.MonitoredSession(tf.train.ChiefSessionCreator(checkpoint_filename_with_path=path))
    yield tf.train.Supervisor()
