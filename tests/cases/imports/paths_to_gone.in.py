import tensorflow as tf
import tensorflow.contrib
import tensorflow.contrib.layers  # the layers
import os, tensorflow.contrib.rnn
try:
    import tensorflow.contrib.eager
except ImportError:
    pass


def f(x):
    a = tensorflow.contrib.layers.fully_connected(x, 3)
    b = tensorflow.contrib.training.HParams(a=1)
    c = tensorflow.contrib.crf.crf_decode(a)
    with tf.Session() as sess:
        return sess.run([a, c, tensorflow.placeholder(tensorflow.float32)]), b, os


def g():
    import tensorflow.contrib.framework
    return tensorflow.contrib.framework.get_or_create_global_step()
