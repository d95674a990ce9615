import tensorflow as tf
from tensorflow.contrib.crf import crf_decode
import tensorflow.contrib.seq2seq as seq2seq


class Model(tf.estimator.Estimator):
    def decode(self, x):
        if x: return seq2seq.dynamic_decode(x), crf_decode(x)
        elif tf.contrib.eager.list_devices():
            y = 1; x = tf.contrib.learn.foo(x)
        return tf.get_variable("x")
