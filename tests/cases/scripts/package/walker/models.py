"""Models of the library, kept by name."""
from __future__ import absolute_import

import numpy as np

try:
    import tensorflow.compat.v1 as tf
except ImportError:
    import tensorflow as tf

from . import util

_MODELS = {}


def register(cls):
    _MODELS[cls.__name__.lower()] = cls
    return cls


def get_model(name):
    return _MODELS[name]


@register
class Walker(object):
    """Predicts the next place of a walk from the last three."""

    def __init__(self, learning_rate):
        self.rate = tf.get_variable("rate", initializer=np.float32(learning_rate), trainable=False)

    def loss(self, inputs, targets):
        hidden = tf.nn.selu(util.linear(inputs, 6, "hidden"))
        return tf.reduce_mean(tf.square(util.linear(hidden, 1, "out") - targets), name="loss")

    def train_op(self, loss):
        optimizer = tf.train.MomentumOptimizer(self.rate, 0.8)
        return optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
