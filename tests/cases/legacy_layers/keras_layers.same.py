import tensorflow as tf


def network(x, layers):
    return layers.dense(tf.keras.layers.Dense(3)(x))
