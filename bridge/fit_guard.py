"""Notices that a `fit` ended in an error which the callback is not told of.

Keras does not call `on_train_end` when another callback, the validation or the data raises. Then hooks would stay
open, writers unflushed, and the model would keep the hooked step. The guard stands around the list of callbacks that
`fit` calls.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import tensorflow as tf

_CALLS = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")
_END_OF_DATA = (StopIteration, tf.errors.OutOfRangeError)


class FitGuard:
    """Calls a clean-up when something raises inside a `fit`."""

    def __init__(self, callback_list: Any, clean_up: Callable[[BaseException | None], None]) -> None:
        """Puts the guard up.

        Args:
          callback_list: Keras's or tf_keras's CallbackList of the fit.
          clean_up: Called with the error, when there is one.
        """
        self._list = weakref.ref(callback_list)
        self._model: Any = None
        self._replaced: dict[str, Any] = {}
        self._clean_up = clean_up
        self._names = [name for name in dir(type(callback_list)) if name.startswith("on_")]
        for name in self._names:
            quiet = _END_OF_DATA if "batch" in name else ()  # Keras takes these for the end of the epoch.
            object.__setattr__(callback_list, name, self._guarded(getattr(callback_list, name), quiet))
        # The list lives as long as the frame of `fit`: this catches what no call shows, such as an interrupt.
        self._finalizer = weakref.finalize(callback_list, clean_up, None)

    @classmethod
    def around_caller(
        cls, callback: Any, clean_up: Callable[[BaseException | None], None]
    ) -> FitGuard | None:
        """Puts a guard around the callback list that is calling `callback` just now.

        Keras gives callbacks no way to their list, so that it is read off the calling frames.

        Args:
          callback: The callback whose method runs.
          clean_up: Called with the error, when there is one.

        Returns:
          The guard, or None if no list is calling.
        """
        for frame in _calling_frames():
            owner = frame.f_locals.get("self")
            if owner is not callback and any(c is callback for c in getattr(owner, "callbacks", None) or ()):
                return cls(owner, clean_up)
        return None

    def guard_validation(self, model: Any) -> None:
        """Guards the validation inside `fit`, which is a call of the model's `evaluate`."""
        self._model = model
        self._replaced = {k: v for k, v in vars(model).items() if k == "evaluate"}
        original = model.evaluate

        def evaluate(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                if _is_fit(sys._getframe(1), model):  # Others may handle it.
                    self._clean_up(error)
                raise

        object.__setattr__(model, "evaluate", evaluate)

    @property
    def callback_list(self) -> Any:
        """The list of callbacks, or None after its fit."""
        return self._list()

    def caller(self) -> str:
        """Tells who is training, evaluating or predicting just now.

        Returns:
          "own" for the guarded fit or loop of the user's own, "nested" for a call inside of it, such as a callback's
          `train_on_batch`, and "another" for one after it.
        """
        callback_list = self._list()
        if callback_list is None:
            return "another"
        frames = [frame for frame in _calling_frames() if _is_fit(frame, callback_list.model)]
        own = [frame.f_locals.get("callbacks") is callback_list for frame in frames]
        if any(own):
            return "own" if own[0] else "nested"
        # No fit at all: a loop of the user's own, which calls the list of callbacks and train_on_batch by itself.
        return "own" if all(frame.f_code.co_name.endswith("_on_batch") for frame in frames) else "another"

    def _guarded(
        self, method: Callable[..., Any], quiet: tuple[type[BaseException], ...]
    ) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return method(*args, **kwargs)
            except quiet:
                raise
            except BaseException as error:
                self._clean_up(error)
                raise

        return call

    def release(self) -> None:
        """Takes the guard down. Twice is fine."""
        self._finalizer.detach()
        callback_list = self._list()
        for name in self._names if callback_list is not None else ():
            vars(callback_list).pop(name, None)
        if self._model is not None:
            vars(self._model).pop("evaluate", None)
            vars(self._model).update(self._replaced)
            self._model = None


def _is_fit(frame: FrameType, model: Any) -> bool:
    return frame.f_code.co_name in _CALLS and frame.f_locals.get("self") is model


def _calling_frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back
