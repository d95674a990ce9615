# codemod: --style explicit
import bridge.legacy_keras
import tensorflow as tf


def network(x):
    return tf.compat.v1.layers.dense(x, 3, kernel_initializer=tf.compat.v1.nn.rnn_cell.GRUCell(3))
