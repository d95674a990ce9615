"""`tf.estimator` on today's TensorFlow: the same names with the same meaning, run through Keras's `fit`."""

from typing import Any

from bridge.estimator import experimental, export, heads, inputs, predictor, strategies, tpu
from bridge.estimator.canned import (
    BaselineClassifier,
    BaselineEstimator,
    BaselineRegressor,
    BinaryClassHead,
    DNNClassifier,
    DNNEstimator,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    Head,
    LinearClassifier,
    LinearEstimator,
    LinearRegressor,
    LogisticRegressionHead,
    MultiClassHead,
    MultiHead,
    MultiLabelHead,
    PoissonRegressionHead,
    RegressionHead,
    classifier_parse_example_spec,
    regressor_parse_example_spec,
)
from bridge.estimator.estimator import Estimator
from bridge.estimator.exporter import BestExporter, Exporter, FinalExporter, LatestExporter
from bridge.estimator.extenders import add_metrics, clip_gradients_by_norm, forward_features
from bridge.estimator.hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    ProfilerHook,
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
)
from bridge.estimator.keras_estimator import model_to_estimator
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.model_fn import EstimatorSpec
from bridge.estimator.run_config import RunConfig
from bridge.estimator.specs import EvalSpec, TrainSpec
from bridge.estimator.symbols import missing
from bridge.estimator.train_and_evaluate import train_and_evaluate
from bridge.estimator.warm_start import VocabInfo, WarmStartSettings

__all__ = [
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "BestExporter",
    "BinaryClassHead",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Exporter",
    "FeedFnHook",
    "FinalExporter",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "Head",
    "LatestExporter",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LoggingTensorHook",
    "LogisticRegressionHead",
    "ModeKeys",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "PoissonRegressionHead",
    "ProfilerHook",
    "RegressionHead",
    "RunConfig",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "TrainSpec",
    "VocabInfo",
    "WarmStartSettings",
    "add_metrics",
    "classifier_parse_example_spec",
    "clip_gradients_by_norm",
    "experimental",
    "export",
    "forward_features",
    "heads",
    "inputs",
    "model_to_estimator",
    "predictor",
    "regressor_parse_example_spec",
    "strategies",
    "tpu",
    "train_and_evaluate",
]


def __getattr__(name: str) -> Any:
    return missing(__name__, name, __all__)
