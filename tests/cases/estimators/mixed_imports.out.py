import bridge.seq2seq
import tensorflow.compat.v1 as tf
import bridge.estimator.tpu as tpu
# TODO(codemod TFB901): tf.contrib.rnn.ConvLSTMCell does not exist any more. Use Keras's recurrent layers, or subclass tf.nn.rnn_cell.RNNCell (through bridge.legacy_keras)
from tensorflow.contrib import rnn
from bridge.estimator import tpu as contrib_tpu
# TODO(codemod TFB604): bridge.estimator has no BoostedTreesClassifier. Train gradient-boosted trees with tensorflow_decision_forests, XGBoost or LightGBM
from tensorflow.estimator import (
    BoostedTreesClassifier as Trees,  # grows
)
from bridge.estimator import (
    Estimator,  # trains
    SessionRunHook)
# TODO(codemod TFB901): tensorflow.python.estimator.util does not exist any more. Use a public name, or copy the code from TensorFlow 1.15
from tensorflow.python.estimator import util
from bridge import estimator as estimator_lib


class Hook(tf.train.SessionRunHook):
    pass


def make(model_fn, columns):
    bridge.seq2seq.sequence_loss(tpu.TPUConfig(), rnn.ConvLSTMCell(contrib_tpu.RunConfig()))
    # TODO(codemod TFB604): bridge.estimator has no BoostedTreesClassifier. Train gradient-boosted trees with tensorflow_decision_forests, XGBoost or LightGBM
    # TODO(codemod TFB604): bridge.estimator has no fn_args. Use inspect.signature
    return Estimator(model_fn), Trees(columns, 1), estimator_lib.Estimator(util.fn_args(model_fn))
