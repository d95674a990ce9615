"""Which strategies a `RunConfig` can have.

A strategy of one process trains and evaluates a v1 graph as TensorFlow 1 did. What spans processes has other ways out:
TF_CONFIG's roles with parameter servers, or Keras.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError, EstimatorTypeError, UnsupportedEstimatorError

_v1: Any = tf.compat.v1.distribute

_ON_TPUS = (
    tf.distribute.TPUStrategy,
    tf.distribute.experimental.TPUStrategy,
    _v1.experimental.TPUStrategy,
)
_OVER_WORKERS = (
    tf.distribute.MultiWorkerMirroredStrategy,
    tf.distribute.experimental.MultiWorkerMirroredStrategy,
    _v1.experimental.MultiWorkerMirroredStrategy,
    _v1.experimental.ParameterServerStrategy,
)
_ROLES = (
    "Leave the strategy out of RunConfig: then train_and_evaluate trains with the chief, workers and parameter servers of TF_CONFIG, "
    "each of them by itself. To train in step, port the model to Keras (bridge.multi_worker)."
)


def chosen(name: str, strategy: Any, config: Any) -> Any:
    """Returns the strategy that a `RunConfig` was given by itself, or in its `experimental_distribute`.

    Args:
      name: `train_distribute` or `eval_distribute`.
      strategy: What was given under that name.
      config: The `experimental_distribute`, or None.

    Raises:
      EstimatorError: (a ValueError) both were given.
    """
    inside = getattr(config, name, None)
    if strategy is not None and inside is not None:
        raise EstimatorError(
            f"Either `{name}` or `experimental_distribute.{name}` can be set. Set one of them."
        )
    return inside if strategy is None else strategy


def check_strategy(name: str, strategy: Any) -> None:
    """Checks a strategy of a `RunConfig`.

    Args:
      name: The field's name.
      strategy: The strategy, or None.

    Raises:
      EstimatorTypeError: (a TypeError) it is no strategy.
      UnsupportedEstimatorError: no v1 graph can be trained under it.
    """
    if strategy is None:
        return
    if not isinstance(strategy, (tf.distribute.Strategy, _v1.Strategy)):
        raise EstimatorTypeError(f"{name} must be a tf.distribute.Strategy, but it is {strategy!r}.")
    kind = type(strategy).__name__
    if isinstance(strategy, _ON_TPUS):
        raise UnsupportedEstimatorError(
            f"{name} is a {kind}, but a v1 graph does not run on TPUs any more. Port the model to Keras: compile it in strategy.scope() "
            "and call fit (bridge.MonitoredTrainingSession keeps hooks and checkpoints)."
        )
    if isinstance(strategy, tf.distribute.ParameterServerStrategy) and not isinstance(
        strategy, _OVER_WORKERS
    ):
        raise UnsupportedEstimatorError(f"{name} is a {kind}, in which a v1 graph is not trained. {_ROLES}")


def check_cluster(strategies: Mapping[str, Any], cluster: Mapping[str, Sequence[Any]]) -> None:
    """Checks that strategies do not have to span processes.

    Args:
      strategies: From the fields' names to the strategies, or None.
      cluster: The cluster of TF_CONFIG: from jobs to tasks.

    Raises:
      UnsupportedEstimatorError: a strategy would span processes.
    """
    processes = sum(len(tasks) for job, tasks in cluster.items() if job != "evaluator")
    for name, strategy in strategies.items():
        spans = (
            processes > 1 if name == "train_distribute" else processes and isinstance(strategy, _OVER_WORKERS)
        )
        if strategy is not None and spans:
            raise UnsupportedEstimatorError(
                f"{name} is a {type(strategy).__name__}, and TF_CONFIG has a cluster of several processes ({', '.join(cluster)}): a v1 "
                f"graph is not trained under a strategy that spans them. {_ROLES}"
            )
