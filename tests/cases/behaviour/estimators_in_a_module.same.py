import bridge
import tensorflow.compat.v1 as tf

tf.logging.set_verbosity(tf.logging.INFO)


def make(model_fn, directory):
    return bridge.estimator.Estimator(model_fn, directory)
