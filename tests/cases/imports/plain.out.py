import numpy as np
import tensorflow.compat.v1 as tf


def model(x):
    with tf.variable_scope("net"):
        return tf.nn.relu(tf.get_variable("w", [3]) * x) + np.ones(3)
