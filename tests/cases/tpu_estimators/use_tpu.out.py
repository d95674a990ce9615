import bridge
import tensorflow.compat.v1 as tf
from absl import flags

FLAGS = flags.FLAGS


def make(model_fn, config, arguments, given):
    # TODO(codemod TFB602): TPUEstimator asks for TPUs unless it is given use_tpu=False. Pass use_tpu=False, or train a Keras model in tf.distribute.TPUStrategy's scope with fit
    on_tpus = bridge.estimator.tpu.TPUEstimator(model_fn, use_tpu=True, config=config, train_batch_size=8)
    # TODO(codemod TFB602): TPUEstimator asks for TPUs unless it is given use_tpu=False. Pass use_tpu=False, or train a Keras model in tf.distribute.TPUStrategy's scope with fit
    by_default = bridge.estimator.tpu.TPUEstimator(model_fn, config=config, train_batch_size=8)
    # TODO(codemod TFB602): TPUEstimator asks for TPUs unless it is given use_tpu=False. Pass use_tpu=False, or train a Keras model in tf.distribute.TPUStrategy's scope with fit
    by_position = bridge.estimator.tpu.TPUEstimator(model_fn, None, config, None, True, 8)
    as_told = bridge.estimator.tpu.TPUEstimator(model_fn, use_tpu=FLAGS.use_tpu, config=config)
    without = bridge.estimator.tpu.TPUEstimator(model_fn, None, config, None, False, 8)
    unknown = bridge.estimator.tpu.TPUEstimator(*given), bridge.estimator.tpu.TPUEstimator(model_fn, **arguments)
    return on_tpus, by_default, by_position, as_told, without, unknown
