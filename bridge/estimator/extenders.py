"""What makes more of an Estimator or an optimizer: metrics, features among the predictions, clipped gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.estimator import Estimator
from bridge.estimator.export.outputs import DEFAULT_KEY, PredictOutput
from bridge.estimator.functions import call_by_name, refuse_other_arguments
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.model_fn import EstimatorSpec
from bridge.estimator.run_config import RunConfig

_Optimizer: Any = tf.compat.v1.train.Optimizer


def add_metrics(estimator: Estimator, metric_fn: Callable[..., dict[str, Any]]) -> Estimator:
    """Returns an Estimator that evaluates more metrics, with the same model and folder.

    It stands for `tf.estimator.add_metrics` and `tf.contrib.estimator.add_metrics`.

    Args:
      estimator: The Estimator.
      metric_fn: A function of those of `features`, `labels`, `predictions` and `config` that it has as arguments, which
        returns metrics as in `EstimatorSpec.eval_metric_ops`. One of a name that is there replaces it.

    Returns:
      The new Estimator.

    Raises:
      EstimatorError: (a ValueError) the function has other arguments.
    """
    refuse_other_arguments(
        metric_fn, {"features", "labels", "predictions", "config"}, "metric_fn", EstimatorError
    )

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        added = call_by_name(
            metric_fn, features=features, labels=labels, predictions=spec.predictions, config=config
        )
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **added})

    return Estimator(
        model_fn,
        model_dir=estimator.model_dir,
        config=estimator.config,
        warm_start_from=estimator._warm_start_settings,
    )


def forward_features(
    estimator: Estimator,
    keys: str | Iterable[str] | None = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> Estimator:
    """Returns an Estimator whose predictions have features among them, such as keys (`tf.contrib.estimator.forward_features`).

    Args:
      estimator: The Estimator.
      keys: The features' names, or one; None for all.
      sparse_default_values: From names of sparse features to what stands where they have no value.

    Returns:
      The new Estimator, with the same model and folder.

    Raises:
      EstimatorTypeError: (a TypeError) `keys` are no names.
    """
    wanted = [keys] if isinstance(keys, str) else None if keys is None else list(keys)
    for key in wanted or ():
        if not isinstance(key, str):
            raise EstimatorTypeError(
                f"All items in the given keys list should be a string, but there is {key!r}."
            )
    defaults = sparse_default_values or {}

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if not isinstance(spec.predictions, dict):
            raise EstimatorError(
                f"Predictions should be a dict to be able to forward features. Given: {spec.predictions!r}."
            )
        forwarded = {
            key: _forwarded(features, key, spec.predictions, defaults)
            for key in (list(features) if wanted is None else wanted)
        }
        # As in TensorFlow 1.15, of what is exported only these two have the features too.
        outputs = dict(spec.export_outputs or {})
        for key in ("predict", DEFAULT_KEY):
            if isinstance(outputs.get(key), PredictOutput):
                outputs[key] = PredictOutput({**outputs[key].outputs, **forwarded})
        return spec._replace(
            predictions={**spec.predictions, **forwarded}, export_outputs=outputs or spec.export_outputs
        )

    return Estimator(model_fn, model_dir=estimator.model_dir, config=estimator.config)


def _forwarded(features: Any, key: str, predictions: Mapping[str, Any], defaults: Mapping[str, Any]) -> Any:
    """Returns a feature as a prediction."""
    if key not in features:
        raise EstimatorError(
            f"keys should exist in features. Key {key!r} is not in the features, which are {sorted(features)}."
        )
    if key in predictions:
        raise EstimatorError(
            f"Cannot forward feature key ({key}), since it does exist in predictions: {sorted(predictions)}. Name the others by `keys`."
        )
    feature = features[key]
    if key in defaults:
        if not isinstance(feature, tf.SparseTensor):
            raise EstimatorError(
                f"Feature ({key}) is expected to be a `SparseTensor`, but it is {feature!r}."
            )
        feature = tf.sparse.to_dense(feature, default_value=defaults[key])
    if isinstance(feature, tf.SparseTensor):
        raise EstimatorError(
            f"Feature ({key}) should be a Tensor. Leave it out by `keys`, or give its default to sparse_default_values."
        )
    return tf.convert_to_tensor(feature)


class _ClippingOptimizer(_Optimizer):
    """Clips gradients by their common norm, and gives them to another optimizer."""

    def __init__(self, optimizer: Any, clip_norm: Any) -> None:
        super().__init__(use_locking=False, name=f"ClipByNorm{optimizer.get_name()}")
        self._optimizer, self._clip_norm = optimizer, clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, self._clip_norm)
        return self._optimizer.apply_gradients(list(zip(clipped, variables, strict=True)), global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        return self._optimizer.variables()


def clip_gradients_by_norm(optimizer: Any, clip_norm: Any) -> Any:
    """Returns an optimizer that clips gradients by their common norm (`tf.contrib.estimator.clip_gradients_by_norm`).

    Args:
      optimizer: A v1 optimizer, which applies the clipped gradients.
      clip_norm: The largest norm of all gradients together.

    Returns:
      A v1 optimizer. Its variables are those of `optimizer`, under their own names.
    """
    return _ClippingOptimizer(optimizer, clip_norm)
