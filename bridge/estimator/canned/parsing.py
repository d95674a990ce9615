"""What to parse from serialized examples for canned estimators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError

tf1 = tf.compat.v1


def classifier_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: Any = tf.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Returns the parsing spec of a classifier's examples (`tf.estimator.classifier_parse_example_spec`).

    Args:
      feature_columns: The columns.
      label_key: The label's name.
      label_dtype: The label's type.
      label_default: The label's default value.
      weight_column: The name of the weight, or a numeric column, or None.

    Returns:
      From names to `tf.io` features, for `tf.io.parse_example`.

    Raises:
      EstimatorError: (a ValueError) label or weight is also a feature.
    """
    label = tf.io.FixedLenFeature((1,), label_dtype, label_default)
    return _spec(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: Any = tf.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Returns the parsing spec of a regressor's examples (`tf.estimator.regressor_parse_example_spec`).

    Args:
      feature_columns: As for `classifier_parse_example_spec`.
      label_key: As for `classifier_parse_example_spec`.
      label_dtype: As for `classifier_parse_example_spec`.
      label_default: As for `classifier_parse_example_spec`.
      label_dimension: How many numbers a label has.
      weight_column: As for `classifier_parse_example_spec`.

    Returns:
      As `classifier_parse_example_spec`.

    Raises:
      EstimatorError: (a ValueError) label or weight is also a feature.
    """
    label = tf.io.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _spec(feature_columns, label_key, label, weight_column)


def _spec(feature_columns: Iterable[Any], label_key: str, label: Any, weight_column: Any) -> dict[str, Any]:
    spec: dict[str, Any] = tf1.feature_column.make_parse_example_spec(feature_columns)
    if label_key in spec:
        raise EstimatorError(
            f"label should not be used as feature. label_key: {label_key}, features: {sorted(spec)}."
        )
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = tf.feature_column.numeric_column(weight_column)
    if not hasattr(weight_column, "parse_example_spec"):
        raise EstimatorError(
            f"weight_column should be an instance of tf.feature_column.numeric_column, but it is {weight_column!r}."
        )
    if weight_column.key in spec:
        raise EstimatorError(
            f"weight_column should not be used as feature. weight_column: {weight_column.key}, features: {sorted(spec)}."
        )
    return {**spec, **weight_column.parse_example_spec}
