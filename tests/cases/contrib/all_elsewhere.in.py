import tensorflow as tf
from tensorflow.contrib import layers, lookup


def table(words, numbers):
    initializer = lookup.KeyValueTensorInitializer(tf.placeholder(tf.string), numbers)
    weights = tf.get_variable("w", [3], regularizer=layers.l2_regularizer(0.1))
    return lookup.HashTable(initializer, -1), weights
