"""What stands on the logits of a model: loss, metrics, predictions and exports.

`tf.estimator`'s classes and the functions of `tf.contrib.estimator` made heads of two manners, which differ in little; see
`Manner`. Canned estimators have those of contrib's.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import tensorflow as tf

from bridge.estimator.errors import EstimatorError, EstimatorTypeError, UnsupportedEstimatorError
from bridge.estimator.export.outputs import (
    DEFAULT_KEY,
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from bridge.estimator.functions import call_by_name, refuse_other_arguments
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.model_fn import AVERAGE_LOSS, LOSS, EstimatorSpec

tf1 = tf.compat.v1

REGULARIZATION_LOSS = "regularization_loss"
MEAN_OVER_BATCH = "sum_over_batch_size"

# Keras's words for what v1's losses call otherwise.
_REDUCTIONS = {
    "auto": tf1.losses.Reduction.SUM_OVER_BATCH_SIZE,
    "sum": tf1.losses.Reduction.SUM,
    MEAN_OVER_BATCH: tf1.losses.Reduction.SUM_OVER_BATCH_SIZE,
}


@dataclasses.dataclass(frozen=True)
class Manner:
    """In what heads of contrib's functions and of `tf.estimator`'s classes differ.

    Attributes:
      scope: The name scope of the optimizer from the root on, which checkpoints name its own variables by; None for the
        head's own.
      runs_updates: Whether a step runs the graph's UPDATE_OPS.
      shows_mean: Whether a summed loss is also written as a mean.
      auc: How the areas under curves are summed.
      at_least: Whether a threshold itself counts as positive for the accuracy.
      collection: The collection of the graph that gets the loss.
    """

    scope: str | None
    runs_updates: bool
    shows_mean: bool
    auc: str
    at_least: bool
    collection: str | None


OF_CLASSES = Manner("training", False, False, "careful_interpolation", False, None)
OF_CONTRIB = Manner(None, True, True, "trapezoidal", True, tf1.GraphKeys.LOSSES)


class Head(abc.ABC):
    """The base of all heads (`tf.estimator.Head`): turns logits into an `EstimatorSpec`.

    A class of one's own overrides `name`, `logits_dimension`, `loss_reduction`, `loss`, `predictions` and
    `create_estimator_spec`; canned estimators use only these.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The name, which stands at the end of the summaries' and metrics' names."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """How many logits an example has."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """How the examples' losses become one."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """Returns the loss.

        Args:
          labels: The labels.
          logits: The logits.
          features: The features, of which the weights are one.
          mode: One of `ModeKeys`.
          regularization_losses: What is added to the loss.
        """

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        """Returns the predictions by name.

        Args:
          logits: The logits.
          keys: The names of those to return; None for all.
        """

    @abc.abstractmethod
    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        """Returns what a `model_fn` returns.

        Args:
          features: The features, of which the weights are one.
          mode: One of `ModeKeys`.
          logits: The logits.
          labels: The labels; not needed for predictions.
          optimizer: A v1 optimizer, or one of tf_keras; for trainings either this or `train_op_fn`.
          trainable_variables: What the optimizer trains; a v1 optimizer without it trains the graph's trainable variables.
          train_op_fn: Returns the step of the training for a loss.
          update_ops: What a step runs besides, such as the updates of batch normalization.
          regularization_losses: What is added to the loss.

        Returns:
          The spec.

        Raises:
          EstimatorError: (a ValueError) an argument is missing or cannot be.
          EstimatorTypeError: (a TypeError) an argument is of a wrong type.
        """

    def metrics(self, regularization_losses: Sequence[Any] | None = None) -> NoReturn:
        """Does not exist: the metrics were objects of Keras.

        Args:
          regularization_losses: As for `loss`.

        Raises:
          UnsupportedEstimatorError: (a NotImplementedError) always.
        """
        del regularization_losses
        raise _no_metrics("metrics")

    def update_metrics(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Does not exist: the metrics were objects of Keras.

        Args:
          *args: Whatever.
          **kwargs: Whatever.

        Raises:
          UnsupportedEstimatorError: (a NotImplementedError) always.
        """
        del args, kwargs
        raise _no_metrics("update_metrics")


def _no_metrics(name: str) -> UnsupportedEstimatorError:
    return UnsupportedEstimatorError(
        f"Heads of bridge.estimator have no {name}(), for metrics of Keras do not run in a v1 graph. Take eval_metric_ops of what "
        "create_estimator_spec(mode=EVAL) returns, or write metrics by tf.compat.v1.metrics."
    )


class SimpleHead(Head):
    """What all heads but `MultiHead` have in common."""

    _manner = OF_CLASSES
    _is_wide = False  # Whether labels have as many values as logits.
    _losses_are_wide = False  # Whether each logit has a loss of its own.

    def __init__(
        self, weight_column: Any, loss_reduction: str, loss_fn: Callable[..., Any] | None, name: str | None
    ) -> None:
        """Takes what all heads have.

        Args:
          weight_column: The name of the feature that weighs examples, or a numeric column; None for no weights.
          loss_reduction: One of `tf.compat.v1.losses.Reduction` or `tf.keras.losses.Reduction`, but not NONE.
          loss_fn: A function of `labels`, `logits` and perhaps `features` that returns the examples' losses.
          name: The head's name.

        Raises:
          EstimatorError: (a ValueError) the reduction or the function cannot be.
        """
        reductions = tf1.losses.Reduction
        self._reduction = _REDUCTIONS.get(loss_reduction, loss_reduction)
        if self._reduction not in reductions.all() or self._reduction == reductions.NONE:
            raise EstimatorError(
                f"Invalid loss_reduction: {loss_reduction}. Use tf.compat.v1.losses.Reduction.SUM or a mean."
            )
        if loss_fn is not None:
            known = {"labels", "logits", "features", "loss_reduction"}
            refuse_other_arguments(loss_fn, known, "loss_fn", EstimatorError)
        self._given_reduction = loss_reduction
        self._weight_column, self._loss_fn, self._name = weight_column, loss_fn, name

    @property
    def name(self) -> str | None:
        """See the base class."""
        return self._name

    @property
    def loss_reduction(self) -> str:
        """See the base class."""
        return self._given_reduction

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """See the base class."""
        del mode
        losses = self._losses_of(features, labels, _checked_logits(logits, self.logits_dimension))
        return _regularized(losses.total, regularization_losses)

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        """See the base class.

        Raises:
          EstimatorError: (a ValueError) there is no such prediction.
        """
        made = self._predictions(_checked_logits(logits, self.logits_dimension))
        unknown = [key for key in keys or () if key not in made]
        if unknown:
            raise EstimatorError(f"There is no prediction {unknown[0]!r}. Valid keys are {sorted(made)}.")
        return {key: made[key] for key in keys} if keys else made

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        """See the base class."""
        with tf.name_scope(self._name or "head"):
            logits = _checked_logits(logits, self.logits_dimension)
            predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = self._export_outputs(predictions)
                outputs["predict"] = PredictOutput(predictions)
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            losses = self._losses_of(features, labels, logits)
            loss = _regularized(losses.total, regularization_losses)
            regularization = tf.add_n(regularization_losses) if regularization_losses else None
            if mode == ModeKeys.EVAL:
                metrics = self._metrics(losses.labels, predictions, losses.weights)
                metrics[AVERAGE_LOSS] = tf1.metrics.mean(losses.each, weights=losses.weights)
                if regularization is not None:
                    metrics[REGULARIZATION_LOSS] = tf1.metrics.mean(regularization)
                named = {self._key(name): metric for name, metric in metrics.items()}
                return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=named)
            step = step_of(optimizer, trainable_variables, train_op_fn)
            train_op = train_op_of(self._manner, step, loss, update_ops)
            summaries = {LOSS: loss}
            if self._manner.shows_mean and self._reduction == tf1.losses.Reduction.SUM:
                # Programs log it by v1's name, head/truediv.
                ones = tf.ones_like(losses.each)
                summaries[AVERAGE_LOSS] = losses.total / tf.reduce_sum(losses.weights * ones)
            if regularization is not None:
                summaries[REGULARIZATION_LOSS] = regularization
        write_summaries({self._key(name): value for name, value in summaries.items()})
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _key(self, name: str) -> str:
        """Returns a metric's or summary's name, which ends with the head's."""
        return f"{name}/{self._name}" if self._name else name

    def _losses_of(self, features: Any, labels: Any, logits: Any) -> _Losses:
        values = self._label_values(labels, logits)
        if self._loss_fn is None:
            each = self._losses(values, logits)
        else:
            width = self.logits_dimension if self._losses_are_wide else 1
            each = _called(self._loss_fn, features, values, logits, width)
        weights = self._weights(features, logits)
        total = tf1.losses.compute_weighted_loss(
            each, weights=weights, reduction=self._reduction, loss_collection=self._manner.collection
        )
        return _Losses(values, each, weights, total)

    def _weights(self, features: Any, logits: Any) -> Any:
        column = self._weight_column
        if column is None:
            return 1.0
        if isinstance(column, str):
            column = tf.feature_column.numeric_column(column, shape=(1,))
        if not hasattr(column, "normalizer_fn"):
            raise EstimatorTypeError(
                f"Weight column must be either a string or numeric column, but it is {column!r}."
            )
        if not isinstance(features, Mapping) or column.key not in features:
            there = sorted(features) if isinstance(features, Mapping) else features
            raise EstimatorError(
                f"The features have no {column.key!r}, which is the weight_column. They have {there}."
            )
        weights = tf.cast(features[column.key], tf.float32)
        if column.normalizer_fn is not None:
            weights = column.normalizer_fn(weights)
        return _with_last_axis(weights, logits)

    def _label_values(self, labels: Any, logits: Any) -> Any:
        """Returns labels as numbers, of the shape of the logits but for the last axis."""
        return self._as_numbers(_shaped(labels, logits, self.logits_dimension if self._is_wide else 1))

    @abc.abstractmethod
    def _as_numbers(self, labels: Any) -> Any: ...

    @abc.abstractmethod
    def _predictions(self, logits: Any) -> dict[Any, Any]: ...

    @abc.abstractmethod
    def _export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]: ...

    @abc.abstractmethod
    def _losses(self, labels: Any, logits: Any) -> Any: ...

    @abc.abstractmethod
    def _metrics(self, labels: Any, predictions: Mapping[str, Any], weights: Any) -> dict[str, Any]: ...


@dataclasses.dataclass(frozen=True)
class _Losses:
    """The losses of a batch.

    Attributes:
      labels: The labels as numbers.
      each: The loss of each example, or of each of its values.
      weights: The weights.
      total: The loss.
    """

    labels: Any
    each: Any
    weights: Any
    total: Any


def step_of(
    optimizer: Any, trainable_variables: Sequence[Any] | None, train_op_fn: Callable[[Any], Any] | None
) -> Callable[[Any], Any]:
    """Returns the function that makes a training's step for a loss; arguments as for `Head.create_estimator_spec`."""
    if callable(trainable_variables):
        raise EstimatorTypeError(
            "trainable_variables is a function. Give train_op_fn by its name: heads of tf.contrib.estimator had it at this place."
        )
    if (optimizer is None) == (train_op_fn is None):
        which = "be None" if optimizer is None else "be set"
        raise EstimatorError(f"train_op_fn and optimizer cannot both {which}. Give one of them.")
    if train_op_fn is not None:
        return train_op_fn
    if isinstance(optimizer, tf1.train.Optimizer):
        step = tf1.train.get_global_step()
        return lambda loss: optimizer.minimize(loss, global_step=step, var_list=trainable_variables)
    if callable(getattr(optimizer, "get_updates", None)):
        if not trainable_variables:
            raise EstimatorError(
                "trainable_variables cannot be None with an optimizer of Keras. Give model.trainable_variables."
            )
        return lambda loss: optimizer.get_updates(loss, list(trainable_variables))[0]
    raise EstimatorError(
        f"The given object is not an Optimizer instance: {optimizer!r}. Give one of tf.compat.v1.train, such as AdamOptimizer; "
        "Keras 3's optimizers do not run in a v1 graph."
    )


def train_op_of(
    manner: Manner, step: Callable[[Any], Any], loss: Any, update_ops: Sequence[Any] | None
) -> Any:
    """Returns the operation of a training's step.

    Args:
      manner: The head's manner.
      step: Makes the step for a loss.
      loss: The loss.
      update_ops: What is run besides.

    Raises:
      EstimatorError: (a ValueError) `update_ops` are no list.
    """
    if update_ops is not None and not isinstance(update_ops, (list, tuple)):
        raise EstimatorError(f"update_ops should be a list or a tuple, but it is {update_ops!r}.")
    if manner.scope is None:
        made = step(loss)
    else:
        with tf.name_scope(""), tf.name_scope(manner.scope):
            made = step(loss)
    updates = [*(update_ops or ())]
    if manner.runs_updates:
        updates += tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)
    return tf.group(made, *updates)


def write_summaries(values: Mapping[str, Any]) -> None:
    """Summarises scalars under names of their own, whatever the name scope is."""
    with tf.name_scope(""):
        for name, value in values.items():
            tf1.summary.scalar(name, value)


def _regularized(loss: Any, regularization_losses: Sequence[Any] | None) -> Any:
    return tf.add_n([loss, tf.add_n(regularization_losses)]) if regularization_losses else loss


def _called(loss_fn: Callable[..., Any], features: Any, labels: Any, logits: Any, width: int) -> Any:
    """Returns what the user's function made, checked."""
    losses = call_by_name(loss_fn, labels=labels, logits=logits, features=features)
    expected = tf.concat([tf.shape(logits)[:-1], [width]], 0)
    if losses.shape.rank is not None and losses.shape.rank != logits.shape.rank:
        raise EstimatorError(
            f"loss_fn must return a Tensor of shape [batch, {width}], one value for each example, but it returned {losses}. Leave out the "
            "reduction."
        )
    check = tf1.assert_equal(
        tf.shape(losses), expected, message=f"loss_fn must return shape [batch, {width}]"
    )
    with tf1.control_dependencies([check]):
        return tf.identity(losses)


def _checked_logits(logits: Any, dimension: int) -> Any:
    """Returns logits as float32, if they have the right number of values."""
    logits = tf.cast(logits, tf.float32)
    if logits.shape.rank is not None and (logits.shape.rank < 2 or logits.shape[-1] not in (None, dimension)):
        raise EstimatorError(
            f"logits shape must be [batch, {dimension}], got {logits.shape}. Let the last layer have {dimension} units."
        )
    return logits


def _with_last_axis(values: Any, logits: Any) -> Any:
    """Returns values with an axis more, if they have one less than the logits."""
    ranks = values.shape.rank, logits.shape.rank
    missing = ranks[0] == ranks[1] - 1 if None not in ranks else ranks[0] == 1
    return tf.expand_dims(values, -1) if missing else values


def _shaped(labels: Any, logits: Any, dimension: int) -> Any:
    """Returns labels of shape [batch, dimension]."""
    if labels is None:
        raise EstimatorError("You must provide a labels Tensor. Let input_fn return (features, labels).")
    if isinstance(labels, tf.SparseTensor):
        raise EstimatorError("SparseTensor labels are not supported. Use tf.sparse.to_dense in input_fn.")
    labels = _with_last_axis(tf.convert_to_tensor(labels), logits)
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


def _checked_thresholds(thresholds: Iterable[float] | None) -> tuple[float, ...]:
    made = tuple(thresholds or ())
    for threshold in made:
        if not 0.0 < threshold < 1.0:
            raise EstimatorError(f"thresholds must be in (0, 1) range. Given: {threshold}.")
    return made


def _at_thresholds(
    manner: Manner, thresholds: Iterable[float], labels: Any, probabilities: Any, weights: Any
) -> dict[str, Any]:
    """Returns accuracy, precision and recall at each threshold."""
    metrics: dict[str, Any] = {}
    for threshold in thresholds:
        above = tf.greater_equal if manner.at_least else tf.greater
        guessed = tf.cast(above(probabilities, threshold), tf.float32)
        metrics[f"accuracy/positive_threshold_{threshold:g}"] = tf1.metrics.accuracy(
            labels, guessed, weights=weights
        )
        for name, at in (
            ("precision", tf1.metrics.precision_at_thresholds),
            ("recall", tf1.metrics.recall_at_thresholds),
        ):
            metrics[f"{name}/positive_threshold_{threshold:g}"] = _of_metric(
                tf.squeeze, at(labels, probabilities, (threshold,), weights=weights)
            )
    return metrics


def _of_metric(function: Callable[[Any], Any], metric: tuple[Any, Any]) -> tuple[Any, Any]:
    """Returns a function of a metric; with replicas its value is, as the metric's, one for all of them."""
    value, update = metric

    def of_first(strategy: Any, values: Any) -> Any:
        return function(strategy.experimental_local_results(values)[0])

    return tf.distribute.get_replica_context().merge_call(of_first, args=(value,)), function(update)


class _ClassifierHead(SimpleHead):
    """What heads of classifiers have in common."""

    def __init__(
        self,
        n_classes: int,
        weight_column: Any,
        label_vocabulary: Sequence[str] | None,
        loss_reduction: str,
        loss_fn: Callable[..., Any] | None,
        name: str | None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
            raise EstimatorTypeError(
                f"label_vocabulary should be a list or tuple, but it is {label_vocabulary!r}."
            )
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise EstimatorError(
                f"label_vocabulary does not have n_classes items: it has {len(label_vocabulary)}, and n_classes is {n_classes}."
            )
        self._n_classes = n_classes
        self._vocabulary = None if label_vocabulary is None else list(label_vocabulary)

    def _class_names(self) -> Any:
        if self._vocabulary is None:
            return tf.as_string(tf.range(self._n_classes))
        return tf.constant(self._vocabulary)

    def _class_predictions(self, logits: Any, probabilities: Any) -> dict[str, Any]:
        ids = tf.expand_dims(tf.argmax(probabilities, axis=-1), -1)
        names = self._class_names()
        classes = tf.as_string(ids) if self._vocabulary is None else tf.gather(names, ids)
        batch = tf.stack([tf.shape(logits)[0], 1])
        return {
            "probabilities": probabilities,
            "class_ids": ids,
            "classes": classes,
            "all_class_ids": tf.tile(tf.expand_dims(tf.range(self._n_classes), 0), batch),
            "all_classes": tf.tile(tf.expand_dims(names, 0), batch),
        }

    def _export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        scores = predictions["probabilities"]
        names = tf.tile(tf.expand_dims(self._class_names(), 0), tf.stack([tf.shape(scores)[0], 1]))
        output = ClassificationOutput(scores, names)
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

    def _checked_range(self, labels: Any, n_classes: int | None = None) -> Any:
        limit = n_classes or self._n_classes
        message = f"Labels must be in [0, {limit}), and in label_vocabulary if there is one"
        with tf1.control_dependencies(
            [
                tf1.assert_less(labels, tf.cast(limit, labels.dtype), message=message),
                tf1.assert_non_negative(labels, message=message),
            ]
        ):
            return tf.identity(labels)

    def _auc(self, labels: Any, predictions: Any, weights: Any, curve: str = "ROC") -> Any:
        weights = _broadcast(weights, predictions)
        return tf1.metrics.auc(
            labels, predictions, weights=weights, curve=curve, summation_method=self._manner.auc
        )


class MultiClassHead(_ClassifierHead):
    """More than two classes, by softmax (`tf.estimator.MultiClassHead`)."""

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = MEAN_OVER_BATCH,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Takes the classes.

        Args:
          n_classes: How many classes there are, more than two.
          weight_column: The name of the feature that weighs examples, or a numeric column; None for no weights.
          label_vocabulary: The classes' names, if labels are strings.
          loss_reduction: How the examples' losses become one; not NONE.
          loss_fn: A function of `labels`, `logits` and perhaps `features` that returns a loss for each example.
          name: The head's name, which stands at the end of the summaries' and metrics' names.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        if n_classes <= 2:
            raise EstimatorError(
                f"n_classes must be > 2: {n_classes}. For two classes there is BinaryClassHead."
            )
        super().__init__(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)

    @property
    def logits_dimension(self) -> int:
        """See the base class."""
        return self._n_classes

    def _predictions(self, logits: Any) -> dict[Any, Any]:
        return {"logits": logits, **self._class_predictions(logits, tf.nn.softmax(logits))}

    def _as_numbers(self, labels: Any) -> Any:
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


class BinaryClassHead(_ClassifierHead):
    """Two classes, by one logit (`tf.estimator.BinaryClassHead`)."""

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Iterable[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = MEAN_OVER_BATCH,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Takes the classes.

        Args:
          weight_column: As for `MultiClassHead`.
          thresholds: Accuracy, precision and recall are also evaluated for these probabilities.
          label_vocabulary: As for `MultiClassHead`.
          loss_reduction: As for `MultiClassHead`.
          loss_fn: As for `MultiClassHead`.
          name: As for `MultiClassHead`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        self._thresholds = _checked_thresholds(thresholds)
        super().__init__(2, weight_column, label_vocabulary, loss_reduction, loss_fn, name)

    @property
    def logits_dimension(self) -> int:
        """See the base class."""
        return 1

    def _predictions(self, logits: Any) -> dict[Any, Any]:
        both = tf.nn.softmax(tf.concat([tf.zeros_like(logits), logits], axis=-1))
        return {"logits": logits, "logistic": tf.sigmoid(logits), **self._class_predictions(logits, both)}

    def _export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        return {
            **super()._export_outputs(predictions),
            "regression": RegressionOutput(predictions["logistic"]),
        }

    def _as_numbers(self, labels: Any) -> Any:
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
            "auc": self._auc(labels, logistic, weights),
            "auc_precision_recall": self._auc(labels, logistic, weights, "PR"),
            "label/mean": mean,
            "accuracy_baseline": _of_metric(lambda value: tf.maximum(value, 1.0 - value), mean),
            "prediction/mean": _weighted_mean(logistic, weights),
            **_at_thresholds(self._manner, self._thresholds, labels, logistic, weights),
        }


class MultiLabelHead(_ClassifierHead):
    """Any number of classes for each example (`tf.estimator.MultiLabelHead`)."""

    _is_wide = True

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Iterable[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = MEAN_OVER_BATCH,
        loss_fn: Callable[..., Any] | None = None,
        classes_for_class_based_metrics: Iterable[int | str] | None = None,
        name: str | None = None,
    ) -> None:
        """Takes the classes.

        Args:
          n_classes: How many classes there are. Labels are zeros and ones for each class, or sparse ids or names.
          weight_column: As for `MultiClassHead`.
          thresholds: As for `BinaryClassHead`.
          label_vocabulary: The classes' names, if labels are sparse strings.
          loss_reduction: As for `MultiClassHead`.
          loss_fn: As for `MultiClassHead`.
          classes_for_class_based_metrics: Classes, by id or name, that have metrics of their own.
          name: As for `MultiClassHead`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        if n_classes < 2:
            raise EstimatorError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}.")
        self._thresholds = _checked_thresholds(thresholds)
        super().__init__(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)
        self._with_metrics = [self._id_of(one) for one in classes_for_class_based_metrics or ()]

    def _id_of(self, one: int | str) -> int:
        if isinstance(one, str):
            if self._vocabulary is None:
                raise EstimatorError(
                    "label_vocabulary must be provided when classes_for_class_based_metrics are strings."
                )
            return self._vocabulary.index(one)
        if not 0 <= one < self._n_classes:
            raise EstimatorError(
                f"All classes_for_class_based_metrics must be in range [0, {self._n_classes - 1}]. Given: {one}."
            )
        return one

    @property
    def logits_dimension(self) -> int:
        """See the base class."""
        return self._n_classes

    def _predictions(self, logits: Any) -> dict[Any, Any]:
        return {"logits": logits, "probabilities": tf.sigmoid(logits)}

    def _label_values(self, labels: Any, logits: Any) -> Any:
        if isinstance(labels, tf.SparseTensor):
            ids = self._label_ids(labels.values)
            if not ids.dtype.is_integer:
                raise EstimatorError(f"Labels dtype should be integer. Instead got {ids.dtype.name}.")
            there = tf.SparseTensor(labels.indices, self._checked_range(ids), labels.dense_shape)
            labels = tf.cast(tf.sparse.to_indicator(there, self._n_classes), tf.int64)
        return super()._label_values(labels, logits)

    def _as_numbers(self, labels: Any) -> Any:
        return self._checked_range(labels, 2)

    def _losses(self, labels: Any, logits: Any) -> Any:
        labels = tf.cast(labels, logits.dtype)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(losses, axis=-1, keepdims=True)

    def _metrics(self, labels: Any, predictions: Mapping[str, Any], weights: Any) -> dict[str, Any]:
        probabilities = predictions["probabilities"]
        every = _broadcast(weights, probabilities)
        metrics = {
            "auc": self._auc(labels, probabilities, weights),
            "auc_precision_recall": self._auc(labels, probabilities, weights, "PR"),
            **_at_thresholds(self._manner, self._thresholds, labels, probabilities, every),
        }
        for one in self._with_metrics:
            name = f"class{one}" if self._vocabulary is None else self._vocabulary[one]
            those, guessed = labels[..., one : one + 1], probabilities[..., one : one + 1]
            metrics[f"probability_mean/{name}"] = _weighted_mean(guessed, weights)
            metrics[f"auc/{name}"] = self._auc(those, guessed, weights)
            metrics[f"auc_precision_recall/{name}"] = self._auc(those, guessed, weights, "PR")
        return metrics


class RegressionHead(SimpleHead):
    """Real numbers, by the squared error (`tf.estimator.RegressionHead`)."""

    _is_wide = True
    _losses_are_wide = True

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = MEAN_OVER_BATCH,
        loss_fn: Callable[..., Any] | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Takes the labels' size.

        Args:
          label_dimension: How many numbers a label has.
          weight_column: As for `MultiClassHead`.
          loss_reduction: As for `MultiClassHead`.
          loss_fn: A function of `labels`, `logits` and perhaps `features` that returns a loss for each number.
          inverse_link_fn: Makes predictions of logits; None for the logits themselves.
          name: As for `MultiClassHead`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_dimension < 1:
            raise EstimatorError(f"Invalid label_dimension {label_dimension}. Give at least 1.")
        self._dimension, self._inverse_link_fn = label_dimension, inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        """See the base class."""
        return self._dimension

    def _predictions(self, logits: Any) -> dict[Any, Any]:
        if self._inverse_link_fn is None:
            return {"predictions": logits}
        return {"predictions": self._inverse_link_fn(logits), "logits": logits}

    def _export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        output = RegressionOutput(predictions["predictions"])
        return {DEFAULT_KEY: output, "regression": output}

    def _as_numbers(self, labels: Any) -> Any:
        return tf.cast(labels, tf.float32)

    def _losses(self, labels: Any, logits: Any) -> Any:
        return tf.math.squared_difference(logits, labels)

    def _metrics(self, labels: Any, predictions: Mapping[str, Any], weights: Any) -> dict[str, Any]:
        return {
            "label/mean": _weighted_mean(labels, weights),
            "prediction/mean": _weighted_mean(predictions["predictions"], weights),
        }


class PoissonRegressionHead(RegressionHead):
    """Counts, by the likelihood of a Poisson distribution (`tf.estimator.PoissonRegressionHead`)."""

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = MEAN_OVER_BATCH,
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        """Takes the labels' size.

        Args:
          label_dimension: As for `RegressionHead`.
          weight_column: As for `MultiClassHead`.
          loss_reduction: As for `MultiClassHead`.
          compute_full_loss: Whether the loss has the term that does not depend on the logits.
          name: As for `MultiClassHead`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """

        def loss_fn(labels: Any, logits: Any) -> Any:
            return tf.nn.log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

        super().__init__(label_dimension, weight_column, loss_reduction, loss_fn, tf.exp, name)


class LogisticRegressionHead(RegressionHead):
    """Numbers between zero and one, by the cross entropy (`tf.estimator.LogisticRegressionHead`)."""

    def __init__(
        self, weight_column: Any = None, loss_reduction: str = MEAN_OVER_BATCH, name: str | None = None
    ) -> None:
        """Takes the weights.

        Args:
          weight_column: As for `MultiClassHead`.
          loss_reduction: As for `MultiClassHead`.
          name: As for `MultiClassHead`.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        super().__init__(1, weight_column, loss_reduction, _logistic_loss, tf.sigmoid, name)


def _logistic_loss(labels: Any, logits: Any) -> Any:
    message = "Labels must be in range [0, 1]"
    one = tf.cast(1, labels.dtype)
    checks = [
        tf1.assert_less_equal(labels, one, message=message),
        tf1.assert_non_negative(labels, message=message),
    ]
    with tf1.control_dependencies(checks):
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.identity(labels), logits=logits)


def as_contrib(head: Any) -> Any:
    """Returns a head in the manner of contrib's functions, which canned estimators have too."""
    head._manner = OF_CONTRIB
    return head


def classifier_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> Head:
    """Returns the head of a canned classifier; arguments as for `DNNClassifier`.

    Raises:
      EstimatorError: (a ValueError) there are less than two classes.
    """
    if n_classes < 2:
        raise EstimatorError(f"n_classes must be at least 2, but it is {n_classes}.")
    if n_classes == 2:
        return as_contrib(BinaryClassHead(weight_column, None, label_vocabulary, loss_reduction))
    return as_contrib(MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction))


def regressor_head(label_dimension: int, weight_column: Any, loss_reduction: str) -> Head:
    """Returns the head of a canned regressor; arguments as for `DNNRegressor`."""
    return as_contrib(RegressionHead(label_dimension, weight_column, loss_reduction))
