"""What tf_slim offers without looking for anything that has moved; and the import that is there."""
import tensorflow.compat.v1 as tf
import tf_slim as slim


def network(images):
    net = slim.conv2d(images, 4, [3, 3], weights_regularizer=slim.l2_regularizer(0.01))
    return slim.fully_connected(slim.flatten(slim.max_pool2d(net, 2)), 10), tf.zeros([])
