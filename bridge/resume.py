"""Where a fit goes on that an earlier run has begun: epoch, step in the epoch, and position in the data.

Keras can start at another epoch, but not inside of one. The batches that were trained before are therefore passed
over inside Keras's own loop, while its callbacks are not called.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

from bridge import keras_internals


class Skippable(Protocol):
    """What can pass over a batch."""

    def skip(self, iterator: Any) -> None:
        """Reads one batch from an iterator and forgets it."""


@dataclasses.dataclass(frozen=True)
class Position:
    """How far a fit has come already.

    Attributes:
      epoch: The epoch in which it goes on.
      skipped: How many batches of Keras's loop, from its first epoch on, are passed over.
      batches: How many batches were trained before.
      is_done: Whether nothing is left to train.
    """

    epoch: int
    skipped: int
    batches: int
    is_done: bool


def position(
    trained: int, *, initial_epoch: int, epochs: int, steps_per_epoch: int | None, whole_epochs: bool
) -> Position:
    """Finds where a fit goes on.

    Args:
      trained: How many batches of this fit were trained before, counted from epoch 0.
      initial_epoch: As given to `fit`.
      epochs: As given to `fit`.
      steps_per_epoch: How many steps an epoch has, or None if nobody knows.
      whole_epochs: Whether Keras can leave out epochs that are over, instead of passing over their batches.

    Returns:
      The position. Without `steps_per_epoch` the epoch is `initial_epoch`.
    """
    if not steps_per_epoch:
        return Position(initial_epoch, trained, trained, False)
    trained = max(trained, initial_epoch * steps_per_epoch)
    epoch = trained // steps_per_epoch
    first = epoch if whole_epochs else initial_epoch
    return Position(epoch, trained - first * steps_per_epoch, trained, epoch >= epochs)


class Replay:
    """Passes over the batches that were trained before, with all callbacks silent meanwhile.

    Attributes:
      left: How many batches are still to be passed over.
    """

    def __init__(self, count: int, *, reads_data: bool) -> None:
        """Prepares.

        Args:
          count: How many batches of Keras's loop to pass over.
          reads_data: Whether each takes a batch from the data, so that training goes on with the batch after it.
        """
        self.left = count
        self._reads_data = reads_data
        self._silent = True
        self._begin_epoch: Callable[[], object] = lambda: None
        self._undo: list[Callable[[], object]] = []

    def skip(self, batches: Skippable, iterator: Any) -> None:
        """Passes over one batch.

        Args:
          batches: Reads the batch, where one is to be read.
          iterator: The epoch's iterator.

        Raises:
          StopIteration: if the epoch's data is at its end.
        """
        if self._reads_data:
            batches.skip(iterator)
        self.left -= 1

    def silence(self, callback_list: Any, model: Any) -> None:
        """Keeps the callbacks, and the validation, from the epochs and batches that are passed over.

        Args:
          callback_list: Keras's list of the running fit.
          model: The model that is trained.
        """
        on_epoch_begin, on_epoch_end = callback_list.on_epoch_begin, callback_list.on_epoch_end
        on_batch_begin, on_batch_end = callback_list.on_train_batch_begin, callback_list.on_train_batch_end

        def epoch_begin(epoch: int, logs: Any = None) -> None:
            self._begin_epoch = lambda: on_epoch_begin(epoch, logs)
            if not self.left:
                self._speak()

        def batch_begin(batch: int, logs: Any = None) -> None:
            # An execution of several steps may begin with steps that are passed over.
            if self._silent and self.left < keras_internals.steps_per_execution(model):
                self._speak()
            if not self._silent:
                on_batch_begin(batch, logs)

        def batch_end(batch: int, logs: Any = None) -> None:
            if not self._silent:
                on_batch_end(batch, logs)

        def epoch_end(epoch: int, logs: Any = None) -> None:
            if not self._silent:
                on_epoch_end(epoch, logs)

        replaced = {
            "on_epoch_begin": epoch_begin,
            "on_epoch_end": epoch_end,
            "on_train_batch_begin": batch_begin,
            "on_train_batch_end": batch_end,
        }
        before = {name: vars(callback_list).get(name) for name in replaced}
        for name, method in replaced.items():
            object.__setattr__(callback_list, name, method)

        def give_back() -> None:
            for name, method in before.items():
                if method is None:
                    vars(callback_list).pop(name, None)
                else:
                    object.__setattr__(callback_list, name, method)
            keras_internals.restore_validation(model)

        self._undo.append(give_back)
        keras_internals.suspend_validation(model, lambda: not self._silent)

    def _speak(self) -> None:
        """From here on callbacks hear of everything, first of the epoch that goes on."""
        self._silent = False
        self.release()
        begin, self._begin_epoch = self._begin_epoch, lambda: None
        begin()

    def release(self) -> None:
        """Gives the callbacks and the model their own methods back. Twice is fine."""
        while self._undo:
            self._undo.pop()()
