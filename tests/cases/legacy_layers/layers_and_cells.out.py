"""Layers and cells."""
import numpy as np
import bridge.legacy_keras
import tensorflow.compat.v1 as tf

layers = tf.layers


class Cell(tf.nn.rnn_cell.RNNCell):
    def call(self, inputs, state):
        return layers.dense(inputs, 3), state


def network(x, training):
    x = tf.layers.batch_normalization(layers.conv2d(x, 3, 3), training=training)
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(3), tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.BasicRNNCell(2)])
    outputs, state = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
    assert isinstance(state[0], tf.nn.rnn_cell.LSTMStateTuple)
    return tf.layers.Dense(3)(outputs[-1])
