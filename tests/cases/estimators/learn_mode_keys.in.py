from tensorflow.contrib import learn
from tensorflow.contrib.learn import ModeKeys
from tensorflow.contrib.learn.python.learn.estimators import model_fn as model_fn_lib
import tensorflow as tf

Modes = tf.contrib.learn.ModeKeys


def model_fn(mode):
    if mode == learn.ModeKeys.INFER or mode == ModeKeys.INFER or Modes.INFER == mode:
        return None
    return mode in (model_fn_lib.ModeKeys.TRAIN, ModeKeys.EVAL, Modes.TRAIN, tf.contrib.learn.ModeKeys.INFER)
