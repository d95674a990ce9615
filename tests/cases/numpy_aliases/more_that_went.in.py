import warnings

import numpy as np
import tensorflow as tf

np.set_printoptions(threshold=np.nan)
warnings.filterwarnings("ignore", category=np.VisibleDeprecationWarning)


def numbers(values, wanted):
    counts, _ = np.histogram(values, bins=3, normed=True)
    area = np.trapz(values)
    return np.asfarray(values), np.in1d(values, wanted), counts, area, np.math.sqrt(2), tf.placeholder(tf.float32)
