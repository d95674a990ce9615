import numpy
import numpy as np
import tensorflow.compat.v1 as tf


def arrays(str):
    yield np.zeros(3, float), numpy.ones(3, dtype=int), np.array([], object)
    yield bool, int(3), np.nan, np.prod([2]), np.float64
    # TODO(codemod TFB306): np.str does not exist any more. Write the builtin type; the file has another thing of its name
    yield np.str, np.str_
