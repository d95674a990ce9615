import numpy
import numpy as np
import tensorflow.compat.v1 as tf


def arrays(str):
    yield np.zeros(3, np.float), numpy.ones(3, dtype=numpy.int), np.array([], np.object)
    yield np.bool, np.long(3), np.NaN, np.product([2]), np.float_
    yield np.str, np.unicode_
