import os

import tensorflow as tf

from models import input_fn, model_fn

tf.logging.set_verbosity(tf.logging.INFO)


def train(directory):
    tf.estimator.Estimator(model_fn, directory).train(input_fn, steps=10)


train(os.environ["MODEL_DIR"])
