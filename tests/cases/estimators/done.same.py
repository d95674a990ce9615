import bridge
from bridge import estimator as lib
from bridge.estimator import tpu


def make(model_fn):
    config = tpu.RunConfig(tpu_config=tpu.TPUConfig())
    return bridge.estimator.Estimator(model_fn), lib.ModeKeys.TRAIN, config
