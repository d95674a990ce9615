import tensorflow as tf
from tensorflow.keras import layers


def network(x):
    x = layers.BatchNormalization()(layers.Dense(3)(x), training=True)
    return tf.get_variable("w", [3]) * x
