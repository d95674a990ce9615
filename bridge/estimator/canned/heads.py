"""What stands on the logits of canned estimators: loss, metrics, predictions and exports."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.export.outputs import (
    DEFAULT_KEY,
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.model_fn import AVERAGE_LOSS, LOSS, EstimatorSpec

tf1 = tf.compat.v1


class Head(abc.ABC):
    """Turns logits into an `EstimatorSpec`.

    Attributes:
      logits_dimension: How many logits an example has.
    """

    logits_dimension: int

    def __init__(self, weight_column: Any, loss_reduction: str) -> None:
        """Takes what all heads have.

        Args:
          weight_column: The name of the feature that weighs examples, or a numeric column; None for no weights.
          loss_reduction: One of `tf.compat.v1.losses.Reduction`, but not NONE.

        Raises:
          EstimatorError: (a ValueError) the reduction cannot be.
        """
        reductions = tf1.losses.Reduction
        if loss_reduction not in reductions.all() or loss_reduction == reductions.NONE:
            raise EstimatorError(
                f"Invalid loss_reduction: {loss_reduction}. Use tf.compat.v1.losses.Reduction.SUM or a mean."
            )
        self._weight_column = weight_column
        self._reduction = loss_reduction

    def spec(
        self, features: Any, labels: Any, mode: str, logits: Any, train: Callable[[Any], Any]
    ) -> EstimatorSpec:
        """Returns the model's spec.

        Args:
          features: The features, of which the weights are one.
          labels: The labels; None in predictions.
          mode: One of `ModeKeys`.
          logits: The logits.
          train: Returns the step of the training for a loss; it counts the global step. It is called in trainings only.
        """
        with tf.name_scope("head"):  # As in v1, whose checkpoints name an optimizer's own variables by it.
            return self._spec(features, labels, mode, logits, train)

    def _spec(
        self, features: Any, labels: Any, mode: str, logits: Any, train: Callable[[Any], Any]
    ) -> EstimatorSpec:
        predictions = self._predictions(logits)
        if mode == ModeKeys.PREDICT:
            outputs = self._export_outputs(predictions)
            outputs["predict"] = PredictOutput(predictions)
            return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
        labels = self._label_values(_shaped(labels, self.logits_dimension if self._is_wide else 1))
        losses = self._losses(labels, logits)
        weights = self._weights(features)
        loss = tf1.losses.compute_weighted_loss(losses, weights=weights, reduction=self._reduction)
        if mode == ModeKeys.EVAL:
            metrics = self._metrics(labels, predictions, weights)
            metrics[AVERAGE_LOSS] = tf1.metrics.mean(losses, weights=weights)
            return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
        updates = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)
        train_op = tf.group(train(loss), *updates)
        summaries = {LOSS: loss}
        if self._reduction == tf1.losses.Reduction.SUM:
            # Programs log it by v1's name, head/truediv.
            summaries[AVERAGE_LOSS] = loss / tf.reduce_sum(weights * tf.ones_like(losses))
        with tf.name_scope(""):
            for name, value in summaries.items():
                tf1.summary.scalar(name, value)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    _is_wide = False  # Whether labels have as many values as logits.

    def _weights(self, features: Any) -> Any:
        column = self._weight_column
        if column is None:
            return 1.0
        if isinstance(column, str):
            column = tf.feature_column.numeric_column(column, shape=(1,))
        if not hasattr(column, "normalizer_fn"):
            raise EstimatorTypeError(
                f"Weight column must be either a string or numeric column, but it is {column!r}."
            )
        if column.key not in features:
            raise EstimatorError(
                f"The features have no {column.key!r}, which is the weight_column. They have {sorted(features)}."
            )
        weights = tf.cast(features[column.key], tf.float32)
        if column.normalizer_fn is not None:
            weights = column.normalizer_fn(weights)
        return tf.expand_dims(weights, -1) if weights.shape.rank == 1 else weights

    @abc.abstractmethod
    def _predictions(self, logits: Any) -> dict[str, Any]: ...

    @abc.abstractmethod
    def _export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]: ...

    @abc.abstractmethod
    def _label_values(self, labels: Any) -> Any: ...

    @abc.abstractmethod
    def _losses(self, labels: Any, logits: Any) -> Any: ...

    @abc.abstractmethod
    def _metrics(self, labels: Any, predictions: Mapping[str, Any], weights: Any) -> dict[str, Any]: ...


def _shaped(labels: Any, dimension: int) -> Any:
    """Returns labels of shape [batch, dimension]."""
    if labels is None:
        raise EstimatorError("You must provide a labels Tensor. Let input_fn return (features, labels).")
    if isinstance(labels, tf.SparseTensor):
        raise EstimatorError("SparseTensor labels are not supported. Use tf.sparse.to_dense in input_fn.")
    labels = tf.convert_to_tensor(labels)
    if labels.shape.rank == 1:
        labels = tf.expand_dims(labels, -1)
    if labels.shape.rank is not None and labels.shape[-1] not in (None, dimension):
        raise EstimatorError(
            f"Mismatched label shape. Expected labels dimension={dimension}, received {labels.shape[-1]}. Labels are class ids, not "
            "one-hot; a regressor has label_dimension."
        )
    return labels


def _weighted_mean(values: Any, weights: Any) -> Any:
    values = tf.cast(values, tf.float32)
    return tf1.metrics.mean(values, weights=_broadcast(weights, values))


def _broadcast(weights: Any, values: Any) -> Any:
    return tf.ones_like(values, tf.float32) * weights


class _ClassifierHead(Head):
    """What heads of classifiers have in common."""

    def __init__(
        self, n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
    ) -> None:
        super().__init__(weight_column, loss_reduction)
        if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
            raise EstimatorTypeError(
                f"label_vocabulary should be a list or tuple, but it is {label_vocabulary!r}."
            )
        self._n_classes = n_classes
        self._vocabulary = None if label_vocabulary is None else list(label_vocabulary)

    def _class_predictions(self, logits: Any, probabilities: Any) -> dict[str, Any]:
        ids = tf.expand_dims(tf.argmax(probabilities, axis=-1), -1)
        all_ids = tf.range(self._n_classes)
        if self._vocabulary is None:
            names, classes = tf.as_string(all_ids), tf.as_string(ids)
        else:
            names = tf.constant(self._vocabulary)
            classes = tf.gather(names, ids)
        batch = tf.stack([tf.shape(logits)[0], 1])
        return {
            "probabilities": probabilities,
            "class_ids": ids,
            "classes": classes,
            "all_class_ids": tf.tile(tf.expand_dims(all_ids, 0), batch),
            "all_classes": tf.tile(tf.expand_dims(names, 0), batch),
        }

    def _export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        output = ClassificationOutput(predictions["probabilities"], predictions["all_classes"])
        return {DEFAULT_KEY: output, "classification": output}

    def _label_ids(self, labels: Any) -> Any:
        if self._vocabulary is not None:
            if labels.dtype != tf.string:
                raise EstimatorError(
                    f"Labels dtype should be string if there is a vocabulary, but it is {labels.dtype.name}."
                )
            table = tf.lookup.StaticVocabularyTable(
                tf.lookup.KeyValueTensorInitializer(
                    self._vocabulary, tf.range(self._n_classes, dtype=tf.int64)
                ),
                num_oov_buckets=1,
            )
            labels = table.lookup(labels)
        return labels

    def _checked_range(self, labels: Any) -> Any:
        limit = tf.cast(self._n_classes, labels.dtype)
        message = f"Labels must be in [0, {self._n_classes}), and in label_vocabulary if there is one"
        with tf1.control_dependencies(
            [
                tf1.assert_less(labels, limit, message=message),
                tf1.assert_non_negative(labels, message=message),
            ]
        ):
            return tf.identity(labels)


class MultiClassHead(_ClassifierHead):
    """More than two classes, by softmax."""

    def __init__(
        self, n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
    ) -> None:
        """Takes the classes; arguments as for `DNNClassifier`."""
        super().__init__(n_classes, weight_column, label_vocabulary, loss_reduction)
        self.logits_dimension = n_classes

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {"logits": logits, **self._class_predictions(logits, tf.nn.softmax(logits))}

    def _label_values(self, labels: Any) -> Any:
        ids = self._label_ids(labels)
        if not ids.dtype.is_integer:
            raise EstimatorError(
                f"Labels dtype should be integer, but it is {ids.dtype.name}. Cast them in input_fn."
            )
        return self._checked_range(ids)

    def _losses(self, labels: Any, logits: Any) -> Any:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.squeeze(labels, -1), logits)
        return tf.expand_dims(losses, -1)

    def _metrics(self, labels: Any, predictions: Mapping[str, Any], weights: Any) -> dict[str, Any]:
        ids = predictions["class_ids"]
        return {"accuracy": tf1.metrics.accuracy(labels, ids, weights=_broadcast(weights, ids))}


class BinaryHead(_ClassifierHead):
    """Two classes, by one logit."""

    logits_dimension = 1

    def __init__(
        self, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
    ) -> None:
        """Takes the classes; arguments as for `DNNClassifier`."""
        super().__init__(2, weight_column, label_vocabulary, loss_reduction)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        both = tf.nn.softmax(tf.concat([tf.zeros_like(logits), logits], axis=-1))
        return {"logits": logits, "logistic": tf.sigmoid(logits), **self._class_predictions(logits, both)}

    def _export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        return {
            **super()._export_outputs(predictions),
            "regression": RegressionOutput(predictions["logistic"]),
        }

    def _label_values(self, labels: Any) -> Any:
        return self._checked_range(tf.cast(self._label_ids(labels), tf.float32))

    def _losses(self, labels: Any, logits: Any) -> Any:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _metrics(self, labels: Any, predictions: Mapping[str, Any], weights: Any) -> dict[str, Any]:
        ids, logistic = predictions["class_ids"], predictions["logistic"]
        weights = _broadcast(weights, labels)
        mean = _weighted_mean(labels, weights)
        metrics = tf1.metrics
        return {
            "accuracy": metrics.accuracy(labels, ids, weights=weights),
            "precision": metrics.precision(labels, ids, weights=weights),
            "recall": metrics.recall(labels, ids, weights=weights),
            "auc": metrics.auc(labels, logistic, weights=weights),
            "auc_precision_recall": metrics.auc(labels, logistic, weights=weights, curve="PR"),
            "label/mean": mean,
            "accuracy_baseline": tuple(tf.maximum(value, 1.0 - value) for value in mean),
            "prediction/mean": _weighted_mean(logistic, weights),
        }


class RegressionHead(Head):
    """Real numbers, by the squared error."""

    _is_wide = True

    def __init__(self, label_dimension: int, weight_column: Any, loss_reduction: str) -> None:
        """Takes the labels' size; arguments as for `DNNRegressor`.

        Raises:
          EstimatorError: (a ValueError) the size is not positive.
        """
        super().__init__(weight_column, loss_reduction)
        if label_dimension < 1:
            raise EstimatorError(f"Invalid label_dimension {label_dimension}. Give at least 1.")
        self.logits_dimension = label_dimension

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {"predictions": logits}

    def _export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        output = RegressionOutput(predictions["predictions"])
        return {DEFAULT_KEY: output, "regression": output}

    def _label_values(self, labels: Any) -> Any:
        return tf.cast(labels, tf.float32)

    def _losses(self, labels: Any, logits: Any) -> Any:
        return tf.math.squared_difference(logits, labels)

    def _metrics(self, labels: Any, predictions: Mapping[str, Any], weights: Any) -> dict[str, Any]:
        return {
            "label/mean": _weighted_mean(labels, weights),
            "prediction/mean": _weighted_mean(predictions["predictions"], weights),
        }


def classifier_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> Head:
    """Returns the head of a classifier; arguments as for `DNNClassifier`.

    Raises:
      EstimatorError: (a ValueError) there are less than two classes.
    """
    if n_classes < 2:
        raise EstimatorError(f"n_classes must be at least 2, but it is {n_classes}.")
    if n_classes == 2:
        return BinaryHead(weight_column, label_vocabulary, loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
