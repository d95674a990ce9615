"""Canned estimators over feature columns."""

from bridge.estimator.canned.estimators import (
    DNNClassifier,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    LinearClassifier,
    LinearRegressor,
)
from bridge.estimator.canned.parsing import classifier_parse_example_spec, regressor_parse_example_spec

__all__ = [
    "DNNClassifier",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "LinearClassifier",
    "LinearRegressor",
    "classifier_parse_example_spec",
    "regressor_parse_example_spec",
]
