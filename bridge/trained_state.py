"""What training made of a model, where something else is put over it when a `fit` ends: the former is what is saved.

Keras puts averages over the weights (`use_ema=True`), and callbacks put back the best ones, lower the rate or clear states
after an epoch that a stop cut short. The session's last checkpoint is written later still, and a run that goes on from
there would not be the run that was stopped. So the session saves what was trained, and leaves what `fit` left.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from bridge import keras_internals, tf_internals


class TrainedState:
    """Keeps the values that a model's variables had when its training ended."""

    def __init__(self) -> None:
        """Starts with nothing kept."""
        self._kept: dict[int, tuple[tf.Variable, tf.Tensor]] = {}

    def keep(self, variables: Iterable[Any], *, again: bool = False) -> None:
        """Keeps the present values.

        Args:
          variables: Live variables, distributed ones too.
          again: Whether those that are kept already are kept anew.
        """
        with tf_internals.eager_mode():
            for variable in variables:
                for part in tf_internals.replicas(variable):
                    if again or id(part) not in self._kept:
                        self._kept[id(part)] = part, tf.identity(part)

    @contextlib.contextmanager
    def watching(self, model: Any, is_wanted: Callable[[], bool]) -> Iterator[None]:
        """Context of a `fit`, at whose end Keras may put averages over the weights.

        Args:
          model: The model that is trained.
          is_wanted: Tells whether the end of this fit is where the model stands now.

        Yields:
          Nothing.
        """
        self._kept.clear()  # The next fit goes on from what the one before left, as in Keras.
        optimizer = getattr(model, "optimizer", None)
        original = getattr(optimizer, "finalize_variable_values", None)
        if original is None or not keras_internals.averages_weights(optimizer):
            yield
            return

        def finalize(variables: Sequence[Any]) -> None:
            if is_wanted():
                self.keep(keras_internals.tf_variable(variable) for variable in variables)
                original(variables)

        object.__setattr__(optimizer, "finalize_variable_values", finalize)
        try:
            yield
        finally:
            object.__delattr__(optimizer, "finalize_variable_values")

    @contextlib.contextmanager
    def put_back(self) -> Iterator[None]:
        """Context in which the model is as training left it; afterwards it is again as `fit` left it."""
        kept, self._kept = list(self._kept.values()), {}
        with tf_internals.eager_mode():
            left = [(variable, tf.identity(variable)) for variable, _ in kept]
            _assign(kept)
        try:
            yield
        finally:
            with tf_internals.eager_mode():
                _assign(left)


def _assign(values: Iterable[tuple[tf.Variable, tf.Tensor]]) -> None:
    for variable, value in values:
        variable.assign(value, read_value=False)
