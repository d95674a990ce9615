# codemod: --style explicit
import tensorflow as tf
from tensorflow import gfile


def model(x):
    w = tf.get_variable("w", [3])  # weights
    return (tf
            .train.AdamOptimizer(0.1)), tf.nn.relu(w), gfile.GFile, tf.float32
