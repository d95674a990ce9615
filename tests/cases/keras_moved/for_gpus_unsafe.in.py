# codemod: --unsafe-fixes
import tensorflow as tf
from tensorflow.keras import layers

layer = layers.CuDNNGRU(3, return_sequences=True)
