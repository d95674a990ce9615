import tensorflow as tf

tf = tf.compat.v1


def model():
    return tf.placeholder(tf.float32)
