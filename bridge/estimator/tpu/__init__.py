"""`tf.estimator.tpu` for programs that run without a TPU."""

from typing import Any

from bridge.estimator.symbols import missing
from bridge.estimator.tpu import experimental
from bridge.estimator.tpu.config import InputPipelineConfig, RunConfig, TPUConfig
from bridge.estimator.tpu.estimator import TPUEstimator
from bridge.estimator.tpu.spec import TPUEstimatorSpec

__all__ = [
    "InputPipelineConfig",
    "RunConfig",
    "TPUConfig",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "experimental",
]


def __getattr__(name: str) -> Any:
    return missing(__name__, name, __all__)
