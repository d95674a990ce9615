import tf_slim
import bridge.hparams
import tensorflow.compat.v1 as tf
import tensorflow
import tensorflow  # the layers
import os
try:
    import tensorflow.contrib.eager
except ImportError:
    pass


def f(x):
    a = tf_slim.layers.fully_connected(x, 3)
    b = bridge.hparams.HParams(a=1)
    # TODO(codemod TFB901): tf.contrib.crf.crf_decode does not exist any more. tensorflow_addons had it, which is no longer maintained; copy its three functions
    c = tensorflow.contrib.crf.crf_decode(a)
    with tf.Session() as sess:
        return sess.run([a, c, tensorflow.compat.v1.placeholder(tensorflow.float32)]), b, os


def g():
    import tensorflow
    return tensorflow.compat.v1.train.get_or_create_global_step()
