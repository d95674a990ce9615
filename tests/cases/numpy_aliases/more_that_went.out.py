import warnings

import numpy as np
import tensorflow.compat.v1 as tf

np.set_printoptions(threshold=np.inf)
warnings.filterwarnings("ignore", category=np.exceptions.VisibleDeprecationWarning)


def numbers(values, wanted):
    counts, _ = np.histogram(values, bins=3, density=True)
    # TODO(codemod TFB306): np.trapz does not exist any more. Use np.trapezoid (from NumPy 2 on) or scipy.integrate.trapezoid
    area = np.trapz(values)
    # TODO(codemod TFB306): np.in1d went away with NumPy 2: np.isin (--unsafe-fixes rewrites it)
    # TODO(codemod TFB306): np.math does not exist any more. Import math, and use it
    return np.asarray(values, dtype=float), np.in1d(values, wanted), counts, area, np.math.sqrt(2), tf.placeholder(tf.float32)
