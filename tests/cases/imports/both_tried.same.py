try:
    import tensorflow.compat.v1 as tf
except ImportError:
    import tensorflow as tf


def model():
    return tf.placeholder(tf.float32)
