import re

import tensorflow.compat.v1 as tf


def train(model, optimizer, loss):
    pattern = re.compile("a")
    model.compile(optimizer, "mse")
    model.compile("adam")
    model.compile()
    return tf.train.AdamOptimizer(0.1).minimize(loss), pattern
