"""`EstimatorSpec`: what a `model_fn` returns, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.export.outputs import serving_outputs
from bridge.estimator.functions import argument_names, call_by_name
from bridge.estimator.mode_keys import ModeKeys

tf1 = tf.compat.v1

LOSS = "loss"
AVERAGE_LOSS = "average_loss"

MODEL_FN_ARGUMENTS = {"features", "labels", "mode", "params", "config"}


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict[str, Any]
    export_outputs: Any
    training_chief_hooks: tuple[Any, ...]
    training_hooks: tuple[Any, ...]
    scaffold: Any
    evaluation_hooks: tuple[Any, ...]
    prediction_hooks: tuple[Any, ...]


class EstimatorSpec(_Fields):
    """The operations of a model, as its `model_fn` returns them (`tf.estimator.EstimatorSpec`)."""

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        training_chief_hooks: Iterable[Any] | None = None,
        training_hooks: Iterable[Any] | None = None,
        scaffold: Any = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> EstimatorSpec:
        """Checks the parts.

        Args:
          mode: One of `ModeKeys`.
          predictions: A tensor or a dict of tensors; needed for PREDICT.
          loss: A tensor of one number; needed for TRAIN and EVAL.
          train_op: The operation or tensor that is run in a training step; needed for TRAIN.
          eval_metric_ops: From names to pairs `(value, update_op)` as `tf.compat.v1.metrics` returns, or to metrics of
            tf_keras that were updated.
          export_outputs: From names of signatures to `bridge.estimator.export.ExportOutput`s.
          training_chief_hooks: Hooks of the chief's training.
          training_hooks: Hooks of the training.
          scaffold: A `tf.compat.v1.train.Scaffold`.
          evaluation_hooks: Hooks of the evaluation.
          prediction_hooks: Hooks of the prediction.

        Raises:
          EstimatorError: (a ValueError) something that the mode needs is missing, or is of another graph.
          EstimatorTypeError: (a TypeError) something is of a wrong type.
        """
        checked_predictions = _checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = serving_outputs(export_outputs, checked_predictions)
        scaffold = scaffold or tf1.train.Scaffold()
        if not isinstance(scaffold, tf1.train.Scaffold):
            raise EstimatorTypeError(
                f"scaffold must be a tf.compat.v1.train.Scaffold, but it is {scaffold!r}."
            )
        return super().__new__(
            cls,
            mode=mode,
            predictions=checked_predictions,
            loss=_checked_loss(loss, mode),
            train_op=_checked_train_op(train_op, mode),
            eval_metric_ops=_checked_metrics(eval_metric_ops),
            export_outputs=export_outputs,
            training_chief_hooks=checked_hooks(training_chief_hooks),
            training_hooks=checked_hooks(training_hooks),
            scaffold=scaffold,
            evaluation_hooks=checked_hooks(evaluation_hooks),
            prediction_hooks=checked_hooks(prediction_hooks),
        )

    def _replace(self, **fields: Any) -> EstimatorSpec:
        """Returns a spec with other fields, checked anew; the mode cannot be changed."""
        if fields.get("mode", self.mode) != self.mode:
            raise EstimatorError("mode of EstimatorSpec cannot be changed. Make another EstimatorSpec.")
        return EstimatorSpec(**{**self._asdict(), **fields})


def checked_hooks(hooks: Iterable[Any] | None) -> tuple[Any, ...]:
    """Returns hooks as a tuple.

    Raises:
      EstimatorTypeError: (a TypeError) something is no hook.
    """
    made = tuple(hooks or ())
    for hook in made:
        if not isinstance(hook, tf1.train.SessionRunHook):
            raise EstimatorTypeError(
                f"All hooks must be SessionRunHook instances, but {hook!r} is none. Derive its class from "
                "tf.compat.v1.train.SessionRunHook; Keras callbacks go to train(callbacks=[...])."
            )
    return made


def _check_graph(value: Any, what: str) -> None:
    if value.graph is not tf1.get_default_graph():
        raise EstimatorError(
            f"{what} is of another graph than the one in which this model_fn was called. Each call has a graph of its own: make the "
            "tensor inside of the model_fn, in this very call."
        )


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (tf.Tensor, tf.Variable)) and hasattr(value, "graph")


def _checked_tensor(value: Any, what: str) -> Any:
    if not _is_tensor(value):
        raise EstimatorTypeError(f"{what} must be a Tensor, but it is {value!r}.")
    _check_graph(value, what)
    return value


def _checked_train_op(train_op: Any, mode: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise EstimatorError(
                "Missing train_op. Return EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(...))."
            )
        return None
    if isinstance(train_op, tf.Variable):
        train_op = train_op.op
    if not isinstance(train_op, tf.Operation) and not _is_tensor(train_op):
        raise EstimatorTypeError(f"train_op must be an Operation or Tensor, but it is {train_op!r}.")
    _check_graph(train_op, "train_op")
    return train_op


def _checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise EstimatorError(f"Missing loss, which the mode {mode!r} needs.")
        return None
    _checked_tensor(loss, "loss")
    if loss.shape.num_elements() not in (None, 1):
        raise EstimatorError(f"Loss must be a single number, but it is {loss}. Give its mean or sum.")
    return loss if loss.shape.is_compatible_with([]) else tf.reshape(loss, [])


def _checked_predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise EstimatorError("Missing predictions, which the mode 'infer' needs.")
        return {}
    if isinstance(predictions, Mapping):
        return {name: _checked_tensor(value, f"predictions[{name!r}]") for name, value in predictions.items()}
    return _checked_tensor(predictions, "predictions")


def _checked_metrics(metrics: Mapping[str, Any] | None) -> dict[str, Any]:
    if metrics is None:
        return {}
    if not isinstance(metrics, Mapping):
        raise EstimatorTypeError(f"eval_metric_ops must be a dict, but it is {metrics!r}.")
    checked = {name: _metric_pair(name, metric) for name, metric in metrics.items()}
    for name, pair in checked.items():
        for value in tf.nest.flatten(pair):
            _check_graph(value, f"eval_metric_ops[{name!r}]")
    return checked


def _metric_pair(name: str, metric: Any) -> tuple[Any, Any]:
    if isinstance(metric, tuple) and len(metric) == 2:
        return metric
    updates = getattr(metric, "updates", None)
    if updates is not None and callable(getattr(metric, "result", None)):  # A metric of tf_keras.
        if not updates:
            raise EstimatorError(
                f"Please call update_state(...) on the metric {name!r} inside of the model_fn."
            )
        for collection in (tf1.GraphKeys.LOCAL_VARIABLES, tf1.GraphKeys.METRIC_VARIABLES):
            there = {id(variable) for variable in tf1.get_collection(collection)}
            for variable in metric.variables:
                if id(variable) not in there:
                    tf1.add_to_collection(collection, variable)
        return metric.result(), updates[0]
    raise EstimatorTypeError(
        f"Values of eval_metric_ops must be (metric_value, update_op) tuples, but {name!r} is {metric!r}. Use the functions of "
        "tf.compat.v1.metrics; metrics of Keras 3 do not run in a v1 graph."
    )


def verify_model_fn(model_fn: Any, params: Any) -> None:
    """Checks a `model_fn`'s arguments.

    Args:
      model_fn: The function.
      params: The params that it will get, or None.

    Raises:
      EstimatorError: (a ValueError) it cannot be called.
    """
    names = argument_names(model_fn)
    if "features" not in names:
        raise EstimatorError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise EstimatorError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to Estimator."
        )
    if params is None and "params" in names:
        tf1.logging.warning(
            "The model_fn (%s) has an argument params, but no params are passed to Estimator.", model_fn
        )
    others = [name for name in names if name not in MODEL_FN_ARGUMENTS]
    if others:
        raise EstimatorError(
            f"model_fn ({model_fn}) has following not expected args: {others}. It may have features, labels, mode, params and config; "
            "bind others with functools.partial."
        )


def call_logit_fn(logit_fn: Any, features: Any, mode: str, params: Any, config: Any) -> Any:
    """Calls a function that makes logits, by the names of its arguments.

    It stands for `tf.estimator.experimental.call_logit_fn`.

    Args:
      logit_fn: A function of features and, if it has such arguments, mode, params and config.
      features: The features.
      mode: One of `ModeKeys`.
      params: The params.
      config: The `RunConfig`.

    Returns:
      A tensor, or a dict from names to tensors.

    Raises:
      EstimatorError: (a ValueError) it returned something else.
    """
    logits = call_by_name(logit_fn, features=features, mode=mode, params=params, config=config)
    is_dict = isinstance(logits, dict) and all(
        isinstance(name, str) and isinstance(value, tf.Tensor) for name, value in logits.items()
    )
    if not is_dict and not isinstance(logits, tf.Tensor):
        raise EstimatorError(
            f"logit_fn should return a Tensor or a dictionary mapping strings to Tensors, but it returned {logits!r}."
        )
    return logits
