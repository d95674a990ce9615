"""The network: one convolution, one layer."""
import numpy as np
import tensorflow.compat.v1 as tf


def variable(name, shape, seed):
    value = np.random.RandomState(seed).normal(0, 0.1, shape)
    return tf.get_variable(name, initializer=value.astype("float32"))


def network(images):
    with tf.variable_scope("conv"):
        net = tf.nn.conv2d(images, variable("kernel", (3, 3, 1, 8), 1), [1, 1, 1, 1], "VALID")
        net = tf.nn.relu(net + tf.get_variable("bias", [8], initializer=tf.zeros_initializer()))
    with tf.variable_scope("classes"):
        net = tf.reshape(net, [-1, 6 * 6 * 8])
        return tf.matmul(net, variable("kernel", (288, 10), 2))


def loss(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
