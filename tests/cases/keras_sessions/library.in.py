import tensorflow as tf
from tensorflow.keras import backend as K


def configure(config):
    K.set_session(tf.Session(config=config))
