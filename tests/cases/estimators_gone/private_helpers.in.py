import tensorflow as tf
from tensorflow.contrib.tpu.python.tpu import tpu_optimizer
from tensorflow.python.estimator import estimator


def current_step(model_dir):
    return estimator._load_global_step_from_checkpoint_dir(model_dir)


def optimizer(use_tpu):
    made = tf.train.AdamOptimizer()
    return tpu_optimizer.CrossShardOptimizer(made) if use_tpu else made
