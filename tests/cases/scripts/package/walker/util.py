"""Helpers; TensorFlow is imported when it is needed."""
import numpy as np


def linear(inputs, units, name):
    import tensorflow as tf

    size = inputs.get_shape().as_list()[-1]
    with tf.variable_scope(name):
        start = np.random.RandomState(size + units).randn(size, units) / np.sqrt(size)
        w = tf.get_variable("w", dtype=tf.float32, initializer=start.astype(np.float32))
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
    return tf.nn.bias_add(tf.matmul(inputs, w), b)


def windows(series, length):
    x = np.stack([series[i:i + length] for i in range(len(series) - length)])
    return x.astype(np.float32), series[length:, None].astype(np.float32)
