"""The canned estimators that scripts use most."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from bridge.estimator.canned.heads import Head, classifier_head, regressor_head
from bridge.estimator.canned.networks import (
    DeepPart,
    LinearPart,
    ModelFn,
    combined_model_fn,
    deep_model_fn,
    linear_model_fn,
)
from bridge.estimator.errors import EstimatorError
from bridge.estimator.estimator import Estimator
from bridge.estimator.run_config import RunConfig

_SUM = tf.compat.v1.losses.Reduction.SUM


def columns_of(feature_columns: Iterable[Any] | None) -> tuple[Any, ...]:
    """Returns columns as a tuple.

    Raises:
      EstimatorError: (a ValueError) there are none.
    """
    columns = tuple(feature_columns or ())
    if not columns:
        raise EstimatorError("feature_columns must not be empty. Give columns of tf.feature_column.")
    return columns


class DNNClassifier(Estimator):
    """Dense layers over feature columns, for classes (`tf.estimator.DNNClassifier`)."""

    def __init__(
        self,
        hidden_units: Iterable[int],
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
    ) -> None:
        """Takes the network.

        Args:
          hidden_units: The size of each hidden layer.
          feature_columns: Dense columns of `tf.feature_column`.
          model_dir: As for `Estimator`.
          n_classes: How many classes there are. Labels are their ids.
          weight_column: The name of the feature that weighs examples, or a numeric column.
          label_vocabulary: The classes' names, if labels are strings.
          optimizer: A v1 optimizer, a function that makes one, or Adagrad, Adam, Ftrl, RMSProp or SGD.
          activation_fn: The hidden layers' activation.
          dropout: The probability with which a value is dropped.
          input_layer_partitioner: A partitioner of the columns' variables.
          config: As for `Estimator`.
          warm_start_from: As for `Estimator`.
          loss_reduction: One of `tf.compat.v1.losses.Reduction`.
          batch_norm: Whether batch normalization comes after each hidden layer.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = deep_model_fn(
            head,
            DeepPart(
                tuple(hidden_units),
                columns_of(feature_columns),
                optimizer,
                activation_fn,
                dropout,
                batch_norm,
            ),
            input_layer_partitioner,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNRegressor(Estimator):
    """Dense layers over feature columns, for numbers (`tf.estimator.DNNRegressor`)."""

    def __init__(
        self,
        hidden_units: Iterable[int],
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
    ) -> None:
        """Takes the network.

        Args:
          hidden_units: As for `DNNClassifier`.
          feature_columns: As for `DNNClassifier`.
          model_dir: As for `Estimator`.
          label_dimension: How many numbers a label has.
          weight_column: As for `DNNClassifier`.
          optimizer: As for `DNNClassifier`.
          activation_fn: As for `DNNClassifier`.
          dropout: As for `DNNClassifier`.
          input_layer_partitioner: As for `DNNClassifier`.
          config: As for `Estimator`.
          warm_start_from: As for `Estimator`.
          loss_reduction: As for `DNNClassifier`.
          batch_norm: As for `DNNClassifier`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        model_fn = deep_model_fn(
            regressor_head(label_dimension, weight_column, loss_reduction),
            DeepPart(
                tuple(hidden_units),
                columns_of(feature_columns),
                optimizer,
                activation_fn,
                dropout,
                batch_norm,
            ),
            input_layer_partitioner,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearClassifier(Estimator):
    """A linear model over feature columns, for classes (`tf.estimator.LinearClassifier`)."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = _SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        """Takes the model.

        Args:
          feature_columns: Columns of `tf.feature_column`, dense or categorical.
          model_dir: As for `Estimator`.
          n_classes: As for `DNNClassifier`.
          weight_column: As for `DNNClassifier`.
          label_vocabulary: As for `DNNClassifier`.
          optimizer: As for `DNNClassifier`.
          config: As for `Estimator`.
          partitioner: A partitioner of the variables.
          warm_start_from: As for `Estimator`.
          loss_reduction: As for `DNNClassifier`.
          sparse_combiner: How several values of a categorical column come together: sum, mean or sqrtn.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        part = LinearPart(columns_of(feature_columns), optimizer, sparse_combiner)
        model_fn = linear_model_fn(head, part, partitioner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearRegressor(Estimator):
    """A linear model over feature columns, for numbers (`tf.estimator.LinearRegressor`)."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = _SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        """Takes the model.

        Args:
          feature_columns: As for `LinearClassifier`.
          model_dir: As for `Estimator`.
          label_dimension: As for `DNNRegressor`.
          weight_column: As for `DNNClassifier`.
          optimizer: As for `DNNClassifier`.
          config: As for `Estimator`.
          partitioner: As for `LinearClassifier`.
          warm_start_from: As for `Estimator`.
          loss_reduction: As for `DNNClassifier`.
          sparse_combiner: As for `LinearClassifier`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        head = regressor_head(label_dimension, weight_column, loss_reduction)
        part = LinearPart(columns_of(feature_columns), optimizer, sparse_combiner)
        model_fn = linear_model_fn(head, part, partitioner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


def combined(
    head: Head,
    linear_feature_columns: Iterable[Any] | None,
    linear_optimizer: Any,
    linear_sparse_combiner: str,
    dnn_feature_columns: Iterable[Any] | None,
    dnn_optimizer: Any,
    dnn_hidden_units: Iterable[int] | None,
    dnn_activation_fn: Any,
    dnn_dropout: float | None,
    batch_norm: bool,
    input_layer_partitioner: Any,
) -> ModelFn:
    """Returns the `model_fn` of both parts; arguments as for `DNNLinearCombinedEstimator`.

    Raises:
      EstimatorError: (a ValueError) there are no columns, or dense columns without hidden layers.
    """
    wide, deep = tuple(linear_feature_columns or ()), tuple(dnn_feature_columns or ())
    units = tuple(dnn_hidden_units or ())
    if not wide and not deep:
        raise EstimatorError(
            "Either linear_feature_columns or dnn_feature_columns must be defined. Give columns of tf.feature_column."
        )
    if deep and not units:
        raise EstimatorError(
            "dnn_hidden_units must be defined when dnn_feature_columns is specified. Give a list of sizes, such as [100, 50]."
        )
    return combined_model_fn(
        head,
        LinearPart(wide, linear_optimizer, linear_sparse_combiner) if wide else None,
        DeepPart(units, deep, dnn_optimizer, dnn_activation_fn, dnn_dropout, batch_norm) if deep else None,
        input_layer_partitioner,
    )


class DNNLinearCombinedClassifier(Estimator):
    """A linear model and dense layers, for classes (`tf.estimator.DNNLinearCombinedClassifier`); wide and deep.

    The logits are the sum of both parts', and each part has an optimizer of its own.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Iterable[int] | None = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        """Takes the model.

        Args:
          model_dir: As for `Estimator`.
          linear_feature_columns: Columns of the linear part, dense or categorical; none for no such part.
          linear_optimizer: As for `DNNClassifier`; by a name its rate is 0.005, or less for more than 40000 columns.
          dnn_feature_columns: Dense columns of the dense layers; none for no such part.
          dnn_optimizer: As for `DNNClassifier`; by a name its rate is 0.001.
          dnn_hidden_units: The size of each hidden layer.
          dnn_activation_fn: The hidden layers' activation.
          dnn_dropout: The probability with which a value of a hidden layer is dropped.
          n_classes: As for `DNNClassifier`.
          weight_column: As for `DNNClassifier`.
          label_vocabulary: As for `DNNClassifier`.
          input_layer_partitioner: A partitioner of both parts' columns' variables.
          config: As for `Estimator`.
          warm_start_from: As for `Estimator`.
          loss_reduction: As for `DNNClassifier`.
          batch_norm: As for `DNNClassifier`.
          linear_sparse_combiner: How several values of a categorical column come together: sum, mean or sqrtn.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be, or there are no columns, or dense columns without hidden layers.
        """
        model_fn = combined(
            classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            linear_feature_columns,
            linear_optimizer,
            linear_sparse_combiner,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            batch_norm,
            input_layer_partitioner,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedRegressor(Estimator):
    """A linear model and dense layers, for numbers (`tf.estimator.DNNLinearCombinedRegressor`); wide and deep.

    The logits are the sum of both parts', and each part has an optimizer of its own.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Iterable[int] | None = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        """Takes the model.

        Args:
          model_dir: As for `Estimator`.
          linear_feature_columns: As for `DNNLinearCombinedClassifier`.
          linear_optimizer: As for `DNNLinearCombinedClassifier`.
          dnn_feature_columns: As for `DNNLinearCombinedClassifier`.
          dnn_optimizer: As for `DNNLinearCombinedClassifier`.
          dnn_hidden_units: As for `DNNLinearCombinedClassifier`.
          dnn_activation_fn: As for `DNNLinearCombinedClassifier`.
          dnn_dropout: As for `DNNLinearCombinedClassifier`.
          label_dimension: As for `DNNRegressor`.
          weight_column: As for `DNNClassifier`.
          input_layer_partitioner: As for `DNNLinearCombinedClassifier`.
          config: As for `Estimator`.
          warm_start_from: As for `Estimator`.
          loss_reduction: As for `DNNClassifier`.
          batch_norm: As for `DNNClassifier`.
          linear_sparse_combiner: As for `DNNLinearCombinedClassifier`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be, or there are no columns, or dense columns without hidden layers.
        """
        model_fn = combined(
            regressor_head(label_dimension, weight_column, loss_reduction),
            linear_feature_columns,
            linear_optimizer,
            linear_sparse_combiner,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            batch_norm,
            input_layer_partitioner,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)
