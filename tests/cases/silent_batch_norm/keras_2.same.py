import bridge.legacy_keras
import tensorflow.compat.v1 as tf


def network(x):
    return tf.keras.layers.BatchNormalization()(x) * tf.get_variable("w", [3])
