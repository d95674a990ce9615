"""Canned estimators that do not look at the features: what every other model has to be better than."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from bridge.estimator.canned.heads import classifier_head, regressor_head
from bridge.estimator.canned.networks import baseline_model_fn
from bridge.estimator.estimator import Estimator
from bridge.estimator.run_config import RunConfig

_SUM = tf.compat.v1.losses.Reduction.SUM


class BaselineClassifier(Estimator):
    """Predicts each class as often as it is among the labels (`tf.estimator.BaselineClassifier`)."""

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = _SUM,
    ) -> None:
        """Takes the classes.

        Args:
          model_dir: As for `Estimator`.
          n_classes: As for `DNNClassifier`.
          weight_column: As for `DNNClassifier`.
          label_vocabulary: As for `DNNClassifier`.
          optimizer: As for `DNNClassifier`; by a name its rate is 0.3.
          config: As for `Estimator`.
          loss_reduction: As for `DNNClassifier`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(baseline_model_fn(head, optimizer, weight_column), model_dir, config)


class BaselineRegressor(Estimator):
    """Predicts the labels' mean (`tf.estimator.BaselineRegressor`)."""

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = _SUM,
    ) -> None:
        """Takes the labels' size.

        Args:
          model_dir: As for `Estimator`.
          label_dimension: As for `DNNRegressor`.
          weight_column: As for `DNNClassifier`.
          optimizer: As for `BaselineClassifier`.
          config: As for `Estimator`.
          loss_reduction: As for `DNNClassifier`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        head = regressor_head(label_dimension, weight_column, loss_reduction)
        super().__init__(baseline_model_fn(head, optimizer, weight_column), model_dir, config)


class BaselineEstimator(Estimator):
    """Predicts a constant, with a head (`tf.estimator.BaselineEstimator`)."""

    def __init__(
        self,
        head: Any,
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
    ) -> None:
        """Takes the head.

        Args:
          head: As for `DNNEstimator`.
          model_dir: As for `Estimator`.
          optimizer: As for `BaselineClassifier`.
          config: As for `Estimator`.
        """
        super().__init__(baseline_model_fn(head, optimizer, None), model_dir, config)
