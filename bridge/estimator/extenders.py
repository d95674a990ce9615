"""`add_metrics`: an Estimator with more metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bridge.estimator.errors import EstimatorError
from bridge.estimator.estimator import Estimator
from bridge.estimator.functions import call_by_name, refuse_other_arguments
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.model_fn import EstimatorSpec
from bridge.estimator.run_config import RunConfig


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
