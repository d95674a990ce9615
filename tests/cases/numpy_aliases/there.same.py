import numpy as np
import tensorflow.compat.v1 as tf


def arrays(other):
    np = other
    return np.float, np.int


def more():
    return np.float32, np.int64, np.bool_, np.nan, tf.float32
