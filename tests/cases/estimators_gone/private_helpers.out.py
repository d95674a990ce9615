import tensorflow.compat.v1 as tf
# TODO(codemod TFB604): tf.contrib.tpu.tpu_optimizer does not exist any more. On TPUs train a Keras model in tf.distribute.TPUStrategy's scope with fit
from tensorflow.contrib.tpu.python.tpu import tpu_optimizer
# TODO(codemod TFB901): tensorflow.python.estimator.estimator does not exist any more. Use a public name, or copy the code from TensorFlow 1.15
from tensorflow.python.estimator import estimator


def current_step(model_dir):
    # TODO(codemod TFB604): bridge.estimator has no _load_global_step_from_checkpoint_dir. Read it by tf.train.load_variable(model_dir, "global_step"); it is 0 where tf.train.latest_checkpoint(model_dir) is None
    return estimator._load_global_step_from_checkpoint_dir(model_dir)


def optimizer(use_tpu):
    made = tf.train.AdamOptimizer()
    # TODO(codemod TFB604): tf.contrib.tpu.CrossShardOptimizer does not exist any more. Without TPUs leave it out; tf.tpu.CrossShardOptimizer is still there
    return tpu_optimizer.CrossShardOptimizer(made) if use_tpu else made
