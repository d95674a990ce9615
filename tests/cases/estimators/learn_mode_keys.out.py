import bridge
from bridge.estimator import ModeKeys
import tensorflow.compat.v1 as tf

Modes = bridge.estimator.ModeKeys


def model_fn(mode):
    if mode == bridge.estimator.ModeKeys.PREDICT or mode == ModeKeys.PREDICT or Modes.PREDICT == mode:
        return None
    return mode in (bridge.estimator.ModeKeys.TRAIN, ModeKeys.EVAL, Modes.TRAIN, bridge.estimator.ModeKeys.PREDICT)
