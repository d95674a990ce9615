import os

try:
    from tensorflow.python.estimator import estimator as estimator_lib
except ImportError:
    from tensorflow_estimator.python.estimator import estimator as estimator_lib

try:
    from tensorflow import estimator as tf_estimator
except ImportError:
    tf_estimator = None


def make(model_fn):
    return estimator_lib.Estimator(model_fn, os.getcwd()) if tf_estimator else None
