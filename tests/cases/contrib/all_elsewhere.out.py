import tf_slim
import tensorflow.compat.v1 as tf


def table(words, numbers):
    initializer = tf.lookup.KeyValueTensorInitializer(tf.placeholder(tf.string), numbers)
    weights = tf.get_variable("w", [3], regularizer=tf_slim.l2_regularizer(0.1))
    return tf.lookup.StaticHashTable(initializer, -1), weights
