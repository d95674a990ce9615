"""Canned estimators with a head of the user's choice, and the functions that make their logits alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from bridge.estimator.canned.estimators import columns_of, combined
from bridge.estimator.canned.networks import DeepPart, LinearPart, deep_model_fn, linear_model_fn
from bridge.estimator.estimator import Estimator
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.run_config import RunConfig


class DNNEstimator(Estimator):
    """Dense layers over feature columns, with a head (`tf.estimator.DNNEstimator`)."""

    def __init__(
        self,
        head: Any,
        hidden_units: Iterable[int],
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        """Takes the network.

        Args:
          head: A head, such as `BinaryClassHead` or `bridge.estimator.heads.binary_classification_head()`.
          hidden_units: As for `DNNClassifier`.
          feature_columns: As for `DNNClassifier`.
          model_dir: As for `Estimator`.
          optimizer: As for `DNNClassifier`.
          activation_fn: As for `DNNClassifier`.
          dropout: As for `DNNClassifier`.
          input_layer_partitioner: As for `DNNClassifier`.
          config: As for `Estimator`.
          warm_start_from: As for `Estimator`.
          batch_norm: As for `DNNClassifier`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        part = DeepPart(
            tuple(hidden_units), columns_of(feature_columns), optimizer, activation_fn, dropout, batch_norm
        )
        model_fn = deep_model_fn(head, part, input_layer_partitioner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearEstimator(Estimator):
    """A linear model over feature columns, with a head (`tf.estimator.LinearEstimator`)."""

    def __init__(
        self,
        head: Any,
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Any = None,
        sparse_combiner: str = "sum",
    ) -> None:
        """Takes the model.

        Args:
          head: As for `DNNEstimator`.
          feature_columns: As for `LinearClassifier`.
          model_dir: As for `Estimator`.
          optimizer: As for `DNNClassifier`.
          config: As for `Estimator`.
          partitioner: As for `LinearClassifier`.
          sparse_combiner: As for `LinearClassifier`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        part = LinearPart(columns_of(feature_columns), optimizer, sparse_combiner)
        super().__init__(linear_model_fn(head, part, partitioner), model_dir, config)


class DNNLinearCombinedEstimator(Estimator):
    """A linear model and dense layers, with a head (`tf.estimator.DNNLinearCombinedEstimator`)."""

    def __init__(
        self,
        head: Any,
        model_dir: str | os.PathLike[str] | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Iterable[int] | None = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        """Takes the model.

        Args:
          head: As for `DNNEstimator`.
          model_dir: As for `Estimator`.
          linear_feature_columns: As for `DNNLinearCombinedClassifier`.
          linear_optimizer: As for `DNNLinearCombinedClassifier`.
          dnn_feature_columns: As for `DNNLinearCombinedClassifier`.
          dnn_optimizer: As for `DNNLinearCombinedClassifier`.
          dnn_hidden_units: As for `DNNLinearCombinedClassifier`.
          dnn_activation_fn: As for `DNNLinearCombinedClassifier`.
          dnn_dropout: As for `DNNLinearCombinedClassifier`.
          input_layer_partitioner: As for `DNNLinearCombinedClassifier`.
          config: As for `Estimator`.
          linear_sparse_combiner: As for `DNNLinearCombinedClassifier`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be, or there are no columns, or dense columns without hidden layers.
        """
        model_fn = combined(
            head,
            linear_feature_columns,
            linear_optimizer,
            linear_sparse_combiner,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            False,
            input_layer_partitioner,
        )
        super().__init__(model_fn, model_dir, config)


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Iterable[int],
    feature_columns: Iterable[Any],
    activation_fn: Any,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[[Any, str], Any]:
    """Returns a function of features and mode that makes the logits of dense layers, for a `model_fn`.

    It stands for `tf.estimator.experimental.dnn_logit_fn_builder`.

    Args:
      units: How many logits an example has.
      hidden_units: As for `DNNClassifier`.
      feature_columns: As for `DNNClassifier`.
      activation_fn: As for `DNNClassifier`.
      dropout: As for `DNNClassifier`.
      input_layer_partitioner: As for `DNNClassifier`.
      batch_norm: As for `DNNClassifier`.

    Raises:
      EstimatorError: (a ValueError) there are no columns.
    """
    columns = columns_of(feature_columns)
    part = DeepPart(tuple(hidden_units), columns, None, activation_fn, dropout, batch_norm)

    def logit_fn(features: Any, mode: str) -> Any:
        return part.logits(features, units, mode == ModeKeys.TRAIN, input_layer_partitioner)

    return logit_fn


def linear_logit_fn_builder(
    units: int, feature_columns: Iterable[Any], sparse_combiner: str = "sum"
) -> Callable[[Any], Any]:
    """Returns a function of features that makes the logits of a linear model, for a `model_fn`.

    It stands for `tf.estimator.experimental.linear_logit_fn_builder`.

    Args:
      units: How many logits an example has.
      feature_columns: As for `LinearClassifier`.
      sparse_combiner: As for `LinearClassifier`.

    Raises:
      EstimatorError: (a ValueError) there are no columns.
    """
    part = LinearPart(columns_of(feature_columns), None, sparse_combiner)

    def logit_fn(features: Any) -> Any:
        return part.logits(features, units)

    return logit_fn
