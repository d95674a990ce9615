"""The optimizers that canned estimators take: a v1 optimizer, a function that makes one, or a name."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError

tf1 = tf.compat.v1

_BY_NAME: dict[str, Any] = {
    "Adagrad": tf1.train.AdagradOptimizer,
    "Adam": tf1.train.AdamOptimizer,
    "Ftrl": tf1.train.FtrlOptimizer,
    "RMSProp": tf1.train.RMSPropOptimizer,
    "SGD": tf1.train.GradientDescentOptimizer,
}


def optimizer_of(optimizer: Any, learning_rate: float | None) -> Any:
    """Returns a v1 optimizer.

    Args:
      optimizer: One, a function without arguments that returns one, or a name.
      learning_rate: The rate for a name.

    Raises:
      EstimatorError: (a ValueError) it is something else.
    """
    if isinstance(optimizer, str):
        if optimizer not in _BY_NAME:
            raise EstimatorError(
                f"Unsupported optimizer name: {optimizer}. Supported names are: {', '.join(_BY_NAME)}."
            )
        return _BY_NAME[optimizer](learning_rate=learning_rate)
    made = optimizer() if callable(optimizer) else optimizer
    if not isinstance(made, tf1.train.Optimizer):
        raise EstimatorError(
            f"The given object is not an Optimizer instance: {made!r}. Give one of tf.compat.v1.train, such as AdamOptimizer; "
            "Keras's optimizers do not run in a v1 graph."
        )
    return made
