import tensorflow.contrib.tpu as contrib_tpu
import tensorflow.estimator as tf_estimator
from tensorflow import estimator
from tensorflow import gfile, estimator as e
from tensorflow.contrib import estimator as contrib_estimator
from tensorflow.contrib.tpu.python.tpu import tpu_config, tpu_estimator
from tensorflow.estimator import (
    EvalSpec,  # how it is evaluated
    TrainSpec,
)
from tensorflow.python.estimator import estimator as estimator_lib, model_fn as model_fn_lib
from tensorflow.python.estimator.export import export, export_output as outputs
from tensorflow.python.estimator.run_config import RunConfig
from tensorflow.python.keras.estimator import model_to_estimator
from tensorflow_estimator.python.estimator.estimator import Estimator, WarmStartSettings as Warm


def make(model_fn, receiver_fn, model):
    from tensorflow_estimator.python.estimator import early_stopping

    config = contrib_tpu.RunConfig(tpu_config=contrib_tpu.TPUConfig(iterations_per_loop=2))
    tpu_estimator.TPUEstimatorSpec, tpu_config.RunConfig
    print(estimator.ModeKeys.TRAIN, tf_estimator.inputs.pandas_input_fn, e.FinalExporter, gfile.Exists("a"))
    print(estimator_lib.Estimator, model_fn_lib.EstimatorSpec, outputs.PredictOutput({}), RunConfig())
    print(export.ServingInputReceiver, EvalSpec(model_fn), TrainSpec(model_fn))
    print(contrib_estimator.InMemoryEvaluatorHook, contrib_estimator.stop_if_lower_hook, Warm("a"))
    print(early_stopping.stop_if_lower_hook, model_to_estimator(model))
    return Estimator(model_fn, config=config)
