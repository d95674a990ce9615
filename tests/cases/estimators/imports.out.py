import bridge.estimator.tpu as contrib_tpu
import bridge.estimator as tf_estimator
from bridge import estimator
from tensorflow.compat.v1 import gfile
from bridge import estimator as e
from bridge.estimator import experimental as contrib_estimator
from bridge.estimator import tpu as tpu_config, tpu as tpu_estimator
from bridge.estimator import (
    EvalSpec,  # how it is evaluated
    TrainSpec,
)
from bridge import estimator as estimator_lib, estimator as model_fn_lib
from bridge.estimator import export, export as outputs
from bridge.estimator import RunConfig
from bridge.estimator import model_to_estimator
from bridge.estimator import Estimator, WarmStartSettings as Warm


def make(model_fn, receiver_fn, model):
    from bridge.estimator import experimental as early_stopping

    config = contrib_tpu.RunConfig(tpu_config=contrib_tpu.TPUConfig(iterations_per_loop=2))
    tpu_estimator.TPUEstimatorSpec, tpu_config.RunConfig
    print(estimator.ModeKeys.TRAIN, tf_estimator.inputs.pandas_input_fn, e.FinalExporter, gfile.Exists("a"))
    print(estimator_lib.Estimator, model_fn_lib.EstimatorSpec, outputs.PredictOutput({}), RunConfig())
    print(export.ServingInputReceiver, EvalSpec(model_fn), TrainSpec(model_fn))
    print(contrib_estimator.InMemoryEvaluatorHook, contrib_estimator.stop_if_lower_hook, Warm("a"))
    print(early_stopping.stop_if_lower_hook, model_to_estimator(model))
    return Estimator(model_fn, config=config)
