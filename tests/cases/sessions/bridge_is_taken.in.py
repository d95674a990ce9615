import tensorflow.compat.v1 as tf


def over(bridge, hooks):
    return bridge, tf.train.MonitoredTrainingSession(hooks=hooks)
