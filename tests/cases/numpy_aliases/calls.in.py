import numpy as np
import tensorflow.compat.v1 as tf


def numbers(x, shape):
    y = np.reshape(x, newshape=shape)
    z = np.reshape(
        x,
        newshape=[-1, 2],  # in pairs
        order="F",
    )
    return tf.constant(y), z, np.asscalar(x[0]) + 1, np.mat(x), np.zeros(3, np.bool8)
