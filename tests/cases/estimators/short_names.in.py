from tensorflow import estimator as lib
import tensorflow as tf

est = tf.estimator
ModeKeys = est.ModeKeys
Keys, Spec = lib.ModeKeys, lib.EstimatorSpec
TRAIN = Keys.TRAIN
tpu = tf.contrib.tpu
more = tf.contrib.estimator


class Model:
    spec = tf.estimator.EstimatorSpec

    def __call__(self, features, labels, mode=tf.estimator.ModeKeys.TRAIN):
        export = tf.estimator.export
        training = mode == tf.estimator.ModeKeys.TRAIN
        if mode == ModeKeys.PREDICT:
            return self.spec(mode, export_outputs={"a": export.PredictOutput({})})
        mode = lib.ModeKeys.EVAL
        print(mode, training, Keys.EVAL, TRAIN)
        return tpu.TPUEstimatorSpec(mode, loss=tf.losses.absolute_difference(labels, features))


def make(estimator):
    key = tf.estimator.ModeKeys.TRAIN
    how = tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2
    old = tf.contrib.learn.ModeKeys.INFER
    est.Estimator(Model()), estimator.Estimator(Model())
    return more.add_metrics, more.stop_if_lower_hook, key, old, tpu.TPUConfig(per_host_input_for_training=how)
