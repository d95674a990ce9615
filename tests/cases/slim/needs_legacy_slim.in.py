"""Functions that look for names which TensorFlow has moved, by several ways."""
import tensorflow as tf
from tensorflow.contrib import layers as contrib_layers
from tensorflow.contrib.layers import batch_norm


def network(images, is_training):
    net = batch_norm(images, is_training=is_training)
    return contrib_layers.layer_norm(contrib_layers.fully_connected(net, 3))


def train_op(loss):
    return tf.contrib.layers.optimize_loss(loss, tf.train.get_global_step(), 0.1, "SGD")


def evaluate(path, op):
    tf.contrib.training.evaluate_once(path, eval_ops=op)
    return tf.contrib.slim.evaluation.evaluate_once("", path, "logs", num_evals=1, eval_op=op)
