import keras
import tensorflow as tf
from keras.engine.topology import Layer, Input
from keras.layers.advanced_activations import LeakyReLU
from keras.layers.core import Dense, Lambda as Fn
from keras.layers.normalization import BatchNormalization
from keras.utils import np_utils
from keras.utils.np_utils import to_categorical
from keras.backend.tensorflow_backend import clear_session


class Mine(Layer):
    pass


def network(y):
    x = Fn(abs)(BatchNormalization()(LeakyReLU()(Dense(3)(Input((3,))))))
    clear_session()
    tf.keras.mixed_precision.experimental.set_policy("mixed_float16")
    return keras.layers.core.Dropout(0.5)(x), to_categorical(y), np_utils.to_categorical(y)
