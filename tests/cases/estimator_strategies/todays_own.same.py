import bridge
import tensorflow.compat.v1 as tf


def config(devices):
    return bridge.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy(devices))
