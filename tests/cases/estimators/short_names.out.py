import bridge
from bridge import estimator as lib
import tensorflow.compat.v1 as tf

est = bridge.estimator
ModeKeys = est.ModeKeys
Keys, Spec = lib.ModeKeys, lib.EstimatorSpec
TRAIN = Keys.TRAIN
tpu = bridge.estimator.tpu


class Model:
    spec = bridge.estimator.EstimatorSpec

    def __call__(self, features, labels, mode=bridge.estimator.ModeKeys.TRAIN):
        export = bridge.estimator.export
        training = mode == bridge.estimator.ModeKeys.TRAIN
        if mode == ModeKeys.PREDICT:
            return self.spec(mode, export_outputs={"a": export.PredictOutput({})})
        mode = lib.ModeKeys.EVAL
        print(mode, training, Keys.EVAL, TRAIN)
        return tpu.TPUEstimatorSpec(mode, loss=tf.losses.absolute_difference(labels, features))


def make(estimator):
    key = bridge.estimator.ModeKeys.TRAIN
    how = bridge.estimator.tpu.InputPipelineConfig.PER_HOST_V2
    old = bridge.estimator.ModeKeys.PREDICT
    est.Estimator(Model()), estimator.Estimator(Model())
    return bridge.estimator.add_metrics, bridge.estimator.experimental.stop_if_lower_hook, key, old, tpu.TPUConfig(per_host_input_for_training=how)
