"""Canned estimators over feature columns."""

from bridge.estimator.canned.baseline import BaselineClassifier, BaselineEstimator, BaselineRegressor
from bridge.estimator.canned.estimators import (
    DNNClassifier,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    LinearClassifier,
    LinearRegressor,
)
from bridge.estimator.canned.headed import DNNEstimator, DNNLinearCombinedEstimator, LinearEstimator
from bridge.estimator.canned.heads import (
    BinaryClassHead,
    Head,
    LogisticRegressionHead,
    MultiClassHead,
    MultiLabelHead,
    PoissonRegressionHead,
    RegressionHead,
)
from bridge.estimator.canned.multi_head import MultiHead
from bridge.estimator.canned.parsing import classifier_parse_example_spec, regressor_parse_example_spec

__all__ = [
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "BinaryClassHead",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Head",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LogisticRegressionHead",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "RegressionHead",
    "classifier_parse_example_spec",
    "regressor_parse_example_spec",
]
