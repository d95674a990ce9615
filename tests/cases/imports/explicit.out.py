# codemod: --style explicit
import tensorflow as tf
from tensorflow.compat.v1 import gfile


def model(x):
    w = tf.compat.v1.get_variable("w", [3])  # weights
    return (tf.compat.v1
            .train.AdamOptimizer(0.1)), tf.nn.relu(w), gfile.GFile, tf.float32
