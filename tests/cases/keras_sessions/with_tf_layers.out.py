import bridge.legacy_keras
import tensorflow.compat.v1 as tf
from tensorflow.keras import backend as K


def network(x):
    with tf.keras.backend.get_session().as_default():
        return tf.layers.dense(x, 3)
