import tensorflow.compat.v1 as tf


def twice(config):
    creator = tf.train.ChiefSessionCreator(config=config)
    return tf.train.MonitoredSession(creator), tf.train.MonitoredSession(creator)


def changed(config, other):
    creator = tf.train.ChiefSessionCreator(config=config)
    config = other
    return tf.train.MonitoredSession(creator), config


def computed(folder):
    creator = tf.train.ChiefSessionCreator(checkpoint_dir=folder.make())
    return tf.train.MonitoredSession(creator)


def chosen(config, is_chief):
    if is_chief:
        creator = tf.train.ChiefSessionCreator(config=config)
    else:
        creator = tf.train.WorkerSessionCreator(config=config)
    return tf.train.MonitoredSession(creator)


def explained(config):
    creator = tf.train.ChiefSessionCreator(config=config)  # Not in a cluster.
    return tf.train.MonitoredSession(creator)
