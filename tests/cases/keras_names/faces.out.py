import keras
import tensorflow.keras.backend as KB
import tensorflow as tf
from tensorflow.keras import backend as K, regularizers
from keras.layers import Dense
from keras.losses import mean_squared_error as mse, Loss
from tensorflow.keras.preprocessing.image import (
    ImageDataGenerator,  # flips
    img_to_array,
)
from tensorflow.keras.preprocessing.text import Tokenizer; from keras.models import Sequential
from tensorflow.keras import losses


class Mine(Loss):
    def call(self, y_true, y_pred):
        K.clear_session()
        total = K.sum(y_true - y_pred) + KB.mean(y_true) + mse(y_true, y_pred)
        return total + losses.mse(y_true, y_pred) + losses.MSE(y_true, y_pred)


flow = tf.keras.preprocessing.image.ImageDataGenerator(horizontal_flip=True)
other = ImageDataGenerator(), img_to_array, Tokenizer(), Dense, Sequential, regularizers.l2
reduction = tf.keras.losses.Reduction.NONE, tf.keras.losses.Reduction.NONE, keras.losses.kl_divergence
