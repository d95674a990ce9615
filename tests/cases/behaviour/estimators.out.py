import os

import bridge
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

from models import input_fn, model_fn

tf.logging.set_verbosity(tf.logging.INFO)


def train(directory):
    bridge.estimator.Estimator(model_fn, directory).train(input_fn, steps=10)


train(os.environ["MODEL_DIR"])
