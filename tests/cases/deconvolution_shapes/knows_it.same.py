import tensorflow.compat.v1 as tf


def deconv2d(images, weights, biases, shape):
    deconv = tf.nn.conv2d_transpose(images, weights, shape, [1, 2, 2, 1])
    deconv.set_shape(shape)
    return tf.reshape(tf.nn.bias_add(deconv, biases), deconv.get_shape())


def other(images, weights, shape):
    up = tf.nn.conv2d_transpose(images, weights, tf.shape(images), [1, 2, 2, 1])
    return tf.placeholder(tf.float32) + tf.reshape(up, [-1, 3])
