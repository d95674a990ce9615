# codemod: --unsafe-fixes
import tensorflow as tf
from tensorflow.keras import layers

layer = tf.keras.layers.GRU(3, return_sequences=True)
