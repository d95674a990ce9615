import sys
from distutils.version import LooseVersion

import six
from packaging import version

import tensorflow as tf

TF_MAJOR = int(tf.__version__.split(".")[0])
IS_TF1 = LooseVersion(tf.__version__) < LooseVersion("2.0")


def is_tf2():
    """Whether it is TensorFlow 2."""
    return tf.__version__.startswith("2.")


if hasattr(tf, "contrib"):
    layers = tf.contrib.layers
elif not is_tf2():
    layers = tf.contrib.keras.layers
if version.parse(tf.__version__) < version.parse("2.0.0"):
    from tensorflow.contrib.crf import crf_decode
summary = tf.contrib.summary if TF_MAJOR < 2 else tf.summary
names = hasattr(tf, "contrib") and tf.contrib.names
flags = tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 0) or tf.contrib.flags
if IS_TF1 or six.PY2:
    tf.contrib.first()


def gone():
    try:
        return tf.contrib.second()
    except AttributeError:
        return None


def later():
    if not IS_TF1:
        return tf.add(1, 2)
    return tf.contrib.third(sys.argv)
