"""The errors of `bridge.estimator`, each with its way out in the message."""

from __future__ import annotations

from bridge.errors import BridgeError


class EstimatorError(BridgeError, ValueError):
    """An argument, or something that a `model_fn` or `input_fn` returned, with which an Estimator cannot work."""


class EstimatorTypeError(BridgeError, TypeError):
    """Something of another type was given where an Estimator needs a certain one."""


class UnsupportedEstimatorError(BridgeError, NotImplementedError):
    """A part of `tf.estimator` that `bridge.estimator` does not have, with the way to Keras."""
