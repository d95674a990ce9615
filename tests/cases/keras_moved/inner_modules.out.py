import keras
import tensorflow as tf
from keras.layers import Layer
from keras import Input
from keras.layers import LeakyReLU
from keras.layers import Dense, Lambda as Fn
from keras.layers import BatchNormalization
from keras import utils as np_utils
from keras.utils import to_categorical
from keras.backend import clear_session


class Mine(Layer):
    pass


def network(y):
    x = Fn(abs)(BatchNormalization()(LeakyReLU()(Dense(3)(Input((3,))))))
    clear_session()
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    return keras.layers.Dropout(0.5)(x), to_categorical(y), np_utils.to_categorical(y)
