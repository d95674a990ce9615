import tensorflow as tf
from absl import flags

FLAGS = flags.FLAGS


def make(model_fn, config, arguments, given):
    on_tpus = tf.contrib.tpu.TPUEstimator(model_fn, use_tpu=True, config=config, train_batch_size=8)
    by_default = tf.estimator.tpu.TPUEstimator(model_fn, config=config, train_batch_size=8)
    by_position = tf.contrib.tpu.TPUEstimator(model_fn, None, config, None, True, 8)
    as_told = tf.contrib.tpu.TPUEstimator(model_fn, use_tpu=FLAGS.use_tpu, config=config)
    without = tf.contrib.tpu.TPUEstimator(model_fn, None, config, None, False, 8)
    unknown = tf.contrib.tpu.TPUEstimator(*given), tf.contrib.tpu.TPUEstimator(model_fn, **arguments)
    return on_tpus, by_default, by_position, as_told, without, unknown
