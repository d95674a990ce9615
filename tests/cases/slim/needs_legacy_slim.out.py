"""Functions that look for names which TensorFlow has moved, by several ways."""
import tf_slim
import bridge.legacy_slim
import tensorflow.compat.v1 as tf
from tf_slim import layers as contrib_layers
from tf_slim.layers import batch_norm


def network(images, is_training):
    net = batch_norm(images, is_training=is_training)
    return contrib_layers.layer_norm(contrib_layers.fully_connected(net, 3))


def train_op(loss):
    return tf_slim.optimize_loss(loss, tf.train.get_global_step(), 0.1, "SGD")


def evaluate(path, op):
    tf_slim.evaluation.evaluation.evaluate_once(path, eval_ops=op)
    return tf_slim.evaluation.evaluate_once("", path, "logs", num_evals=1, eval_op=op)
