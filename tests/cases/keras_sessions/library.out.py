import tensorflow.compat.v1 as tf
from tensorflow.keras import backend as K


def configure(config):
    # TODO(codemod TFB501): a session's configuration goes to TensorFlow itself: bridge.apply_session_config (--unsafe-fixes rewrites it)
    K.set_session(tf.Session(config=config))
