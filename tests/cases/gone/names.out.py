import bridge
import tensorflow.compat.v1 as tf
# TODO(codemod TFB901): tf.contrib.crf.crf_decode does not exist any more. tensorflow_addons had it, which is no longer maintained; copy its three functions
from tensorflow.contrib.crf import crf_decode
# TODO(codemod TFB901): tf.contrib.seq2seq.dynamic_decode does not exist any more. tensorflow_addons had it, which is no longer maintained; write the decoding loop with Keras or tf.while_loop
import tensorflow.contrib.seq2seq as seq2seq


class Model(bridge.estimator.Estimator):
    def decode(self, x):
        if x: return seq2seq.dynamic_decode(x), crf_decode(x)
        # TODO(codemod TFB901): tf.contrib.eager.list_devices does not exist any more. Eager execution is TensorFlow 2 itself: tf.GradientTape, tf.Variable, tf.train.Checkpoint
        elif tf.contrib.eager.list_devices():
            # TODO(codemod TFB901): tf.contrib.learn.foo does not exist any more. Use bridge.estimator or Keras; the data sets moved to tensorflow-datasets
            y = 1; x = tf.contrib.learn.foo(x)
        return tf.get_variable("x")
