"""Optimizers that average the weights (`use_ema=True`): a session saves the trained ones, `fit` leaves the averages.

At its end, before any callback hears of it, Keras's `fit` puts the averages over the trained weights. The session's last
checkpoint is written later, and a run that goes on from averages is not the run that was stopped.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from bridge import keras_internals, tf_internals


class AveragedWeights:
    """Keeps the trained weights of a model whose `fit` replaces them by averages."""

    def __init__(self) -> None:
        """Starts with nothing kept."""
        self._trained: list[tuple[tf.Variable, tf.Tensor]] = []

    @contextlib.contextmanager
    def watching(self, model: Any, is_wanted: Callable[[], bool]) -> Iterator[None]:
        """Context of a `fit`.

        Args:
          model: The model that is trained.
          is_wanted: Tells whether the end of this fit is where the model stands now.

        Yields:
          Nothing.
        """
        self._trained.clear()  # The next fit goes on from what the one before left, as in Keras.
        optimizer = getattr(model, "optimizer", None)
        original = getattr(optimizer, "finalize_variable_values", None)
        if original is None or not keras_internals.averages_weights(optimizer):
            yield
            return

        def finalize(variables: Sequence[Any]) -> None:
            if is_wanted():
                weights = [keras_internals.tf_variable(variable) for variable in variables]
                self._trained = [(weight, tf.identity(weight)) for weight in weights]
                original(variables)

        object.__setattr__(optimizer, "finalize_variable_values", finalize)
        try:
            yield
        finally:
            object.__delattr__(optimizer, "finalize_variable_values")

    @contextlib.contextmanager
    def put_back(self) -> Iterator[None]:
        """Context in which the model has its trained weights; afterwards it has the averages again."""
        trained, self._trained = self._trained, []
        with tf_internals.eager_mode():
            averages = [(weight, tf.identity(weight)) for weight, _ in trained]
            for weight, value in trained:
                weight.assign(value)
        try:
            yield
        finally:
            with tf_internals.eager_mode():
                for weight, value in averages:
                    weight.assign(value)
