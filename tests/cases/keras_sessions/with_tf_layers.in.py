import tensorflow as tf
from tensorflow.keras import backend as K


def network(x):
    with K.get_session().as_default():
        return tf.layers.dense(x, 3)
