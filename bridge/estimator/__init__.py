"""`tf.estimator` on today's TensorFlow: the same names with the same meaning, run through Keras's `fit`."""

from typing import Any

from bridge.estimator import experimental, export, inputs, strategies, tpu
from bridge.estimator.canned import (
    DNNClassifier,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    LinearClassifier,
    LinearRegressor,
    classifier_parse_example_spec,
    regressor_parse_example_spec,
)
from bridge.estimator.estimator import Estimator
from bridge.estimator.exporter import BestExporter, Exporter, FinalExporter, LatestExporter
from bridge.estimator.extenders import add_metrics
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
    "BestExporter",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "DNNClassifier",
    "DNNLinearCombinedClassifier",
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
    "LatestExporter",
    "LinearClassifier",
    "LinearRegressor",
    "LoggingTensorHook",
    "ModeKeys",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "ProfilerHook",
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
    "experimental",
    "export",
    "inputs",
    "model_to_estimator",
    "regressor_parse_example_spec",
    "strategies",
    "tpu",
    "train_and_evaluate",
]


def __getattr__(name: str) -> Any:
    return missing(__name__, name, __all__)
