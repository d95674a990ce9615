import tensorflow.contrib.seq2seq as seq2seq, tensorflow.contrib.tpu as tpu
from tensorflow.contrib import tpu as contrib_tpu, rnn
from tensorflow.estimator import (
    Estimator,  # trains
    BoostedTreesClassifier as Trees,  # grows
    SessionRunHook)
from tensorflow.python.estimator import estimator as estimator_lib, util


class Hook(SessionRunHook):
    pass


def make(model_fn, columns):
    seq2seq.sequence_loss(tpu.TPUConfig(), rnn.ConvLSTMCell(contrib_tpu.RunConfig()))
    return Estimator(model_fn), Trees(columns, 1), estimator_lib.Estimator(util.fn_args(model_fn))
