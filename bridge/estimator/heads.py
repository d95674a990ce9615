"""The functions of `tf.contrib.estimator` that make heads; its classes are in `bridge.estimator` itself.

Their heads run the graph's UPDATE_OPS in each step, and write a summed loss as a mean too. Canned estimators have such heads,
whose loss is the sum; the functions that made these were private (`tensorflow.python.estimator.canned.head`), but programs
call them, so that they are here as `canned_…`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from bridge.estimator.canned.heads import (
    BinaryClassHead,
    Head,
    LogisticRegressionHead,
    MultiClassHead,
    MultiLabelHead,
    PoissonRegressionHead,
    RegressionHead,
    as_contrib,
)
from bridge.estimator.canned.multi_head import MultiHead
from bridge.estimator.canned.optimizers import optimizer_of
from bridge.estimator.errors import EstimatorError

__all__ = [
    "binary_classification_head",
    "canned_binary_head",
    "canned_classification_head",
    "canned_multi_class_head",
    "canned_optimizer",
    "canned_regression_head",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
]

_MEAN = tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE
_SUM = tf.compat.v1.losses.Reduction.SUM


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> MultiClassHead:
    """Returns a head for more than two classes (`tf.contrib.estimator.multi_class_head`).

    Args:
      n_classes: As for `MultiClassHead`.
      weight_column: As for `MultiClassHead`.
      label_vocabulary: As for `MultiClassHead`.
      loss_reduction: One of `tf.compat.v1.losses.Reduction`, but not NONE.
      loss_fn: As for `MultiClassHead`.
      name: As for `MultiClassHead`.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be.
    """
    head: MultiClassHead = as_contrib(
        MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)
    )
    return head


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> BinaryClassHead:
    """Returns a head for two classes (`tf.contrib.estimator.binary_classification_head`).

    Args:
      weight_column: As for `BinaryClassHead`.
      thresholds: As for `BinaryClassHead`.
      label_vocabulary: As for `BinaryClassHead`.
      loss_reduction: As for `multi_class_head`.
      loss_fn: As for `BinaryClassHead`.
      name: As for `BinaryClassHead`.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be.
    """
    head: BinaryClassHead = as_contrib(
        BinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)
    )
    return head


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., Any] | None = None,
    classes_for_class_based_metrics: Iterable[int | str] | None = None,
    name: str | None = None,
) -> MultiLabelHead:
    """Returns a head for any number of classes an example (`tf.contrib.estimator.multi_label_head`).

    Args:
      n_classes: As for `MultiLabelHead`.
      weight_column: As for `MultiLabelHead`.
      thresholds: As for `MultiLabelHead`.
      label_vocabulary: As for `MultiLabelHead`.
      loss_reduction: As for `multi_class_head`.
      loss_fn: As for `MultiLabelHead`.
      classes_for_class_based_metrics: As for `MultiLabelHead`.
      name: As for `MultiLabelHead`.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be.
    """
    head: MultiLabelHead = as_contrib(
        MultiLabelHead(
            n_classes,
            weight_column,
            thresholds,
            label_vocabulary,
            loss_reduction,
            loss_fn,
            classes_for_class_based_metrics,
            name,
        )
    )
    return head


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., Any] | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> RegressionHead:
    """Returns a head for real numbers (`tf.contrib.estimator.regression_head`).

    Args:
      weight_column: As for `RegressionHead`.
      label_dimension: As for `RegressionHead`.
      loss_reduction: As for `multi_class_head`.
      loss_fn: As for `RegressionHead`.
      inverse_link_fn: As for `RegressionHead`.
      name: As for `RegressionHead`.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be.
    """
    head: RegressionHead = as_contrib(
        RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)
    )
    return head


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> PoissonRegressionHead:
    """Returns a head for counts (`tf.contrib.estimator.poisson_regression_head`).

    Args:
      weight_column: As for `PoissonRegressionHead`.
      label_dimension: As for `PoissonRegressionHead`.
      loss_reduction: As for `multi_class_head`.
      compute_full_loss: As for `PoissonRegressionHead`.
      name: As for `PoissonRegressionHead`.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be.
    """
    head: PoissonRegressionHead = as_contrib(
        PoissonRegressionHead(label_dimension, weight_column, loss_reduction, compute_full_loss, name)
    )
    return head


def logistic_regression_head(
    weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None
) -> LogisticRegressionHead:
    """Returns a head for numbers between zero and one (`tf.contrib.estimator.logistic_regression_head`).

    Args:
      weight_column: As for `LogisticRegressionHead`.
      loss_reduction: As for `multi_class_head`.
      name: As for `LogisticRegressionHead`.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be.
    """
    head: LogisticRegressionHead = as_contrib(LogisticRegressionHead(weight_column, loss_reduction, name))
    return head


def multi_head(heads: Iterable[Head], head_weights: Sequence[float] | None = None) -> MultiHead:
    """Returns several heads as one (`tf.contrib.estimator.multi_head`).

    As in TensorFlow 1.15, its steps do not run the graph's UPDATE_OPS: give it a `train_op_fn` that does.

    Args:
      heads: As for `MultiHead`.
      head_weights: As for `MultiHead`.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be.
    """
    head: MultiHead = as_contrib(MultiHead(heads, head_weights))
    return head


def canned_binary_head(
    weight_column: Any = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _SUM,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> BinaryClassHead:
    """Returns the head of canned classifiers of two classes (`_binary_logistic_head_with_sigmoid_cross_entropy_loss`).

    Args:
      weight_column: As for `BinaryClassHead`.
      thresholds: As for `BinaryClassHead`.
      label_vocabulary: As for `BinaryClassHead`.
      loss_reduction: As for `multi_class_head`.
      loss_fn: As for `BinaryClassHead`.
      name: As for `BinaryClassHead`.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be.
    """
    return binary_classification_head(
        weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name
    )


def canned_multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _SUM,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> MultiClassHead:
    """Returns the head of canned classifiers of more classes (`_multi_class_head_with_softmax_cross_entropy_loss`).

    Args:
      n_classes: As for `MultiClassHead`.
      weight_column: As for `MultiClassHead`.
      label_vocabulary: As for `MultiClassHead`.
      loss_reduction: As for `multi_class_head`.
      loss_fn: As for `MultiClassHead`.
      name: As for `MultiClassHead`.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be.
    """
    return multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def canned_classification_head(
    n_classes: int,
    weight_column: Any,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
    loss_fn: Callable[..., Any] | None = None,
) -> Head:
    """Returns the head of canned classifiers (`_binary_logistic_or_multi_class_head`).

    Args:
      n_classes: How many classes there are.
      weight_column: As for `MultiClassHead`.
      label_vocabulary: As for `MultiClassHead`.
      loss_reduction: As for `multi_class_head`.
      loss_fn: As for `MultiClassHead`.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be.
    """
    if n_classes == 2:
        return canned_binary_head(weight_column, None, label_vocabulary, loss_reduction, loss_fn)
    return canned_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn)


def canned_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _SUM,
    loss_fn: Callable[..., Any] | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> RegressionHead:
    """Returns the head of canned regressors (`_regression_head`).

    Args:
      weight_column: As for `RegressionHead`.
      label_dimension: As for `RegressionHead`.
      loss_reduction: As for `multi_class_head`.
      loss_fn: As for `RegressionHead`.
      inverse_link_fn: As for `RegressionHead`.
      name: As for `RegressionHead`.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be.
    """
    return regression_head(weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name)


def canned_optimizer(opt: Any, learning_rate: float | None = None) -> Any:
    """Returns the optimizer that canned estimators make of a name (`canned.optimizers.get_optimizer_instance`).

    Args:
      opt: A v1 optimizer, a function without arguments that returns one, or Adagrad, Adam, Ftrl, RMSProp or SGD.
      learning_rate: The rate for a name.

    Raises:
      EstimatorError: (a ValueError) it is something else, or a name without a rate.
    """
    if isinstance(opt, str) and learning_rate is None:
        raise EstimatorError("learning_rate must be specified when opt is a string. Give one.")
    return optimizer_of(opt, learning_rate)
