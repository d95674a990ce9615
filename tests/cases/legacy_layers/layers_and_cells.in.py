"""Layers and cells."""
import numpy as np
import tensorflow as tf
from tensorflow.contrib.rnn import LSTMCell, static_rnn
from tensorflow.python.layers.core import Dense
from tensorflow.python.ops.rnn_cell import GRUCell

layers = tf.layers


class Cell(tf.contrib.rnn.RNNCell):
    def call(self, inputs, state):
        return layers.dense(inputs, 3), state


def network(x, training):
    x = tf.layers.batch_normalization(layers.conv2d(x, 3, 3), training=training)
    cell = tf.contrib.rnn.MultiRNNCell([LSTMCell(3), GRUCell(4), tf.nn.rnn_cell.BasicRNNCell(2)])
    outputs, state = static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
    assert isinstance(state[0], tf.contrib.rnn.LSTMStateTuple)
    return Dense(3)(outputs[-1])
