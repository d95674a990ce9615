import tensorflow.compat.v1 as tf


def rename(x):
    return tf.log(x), tf.gfile.GFile, tf.random_normal([2]), tf.reduce_sum(x, keep_dims=True)
