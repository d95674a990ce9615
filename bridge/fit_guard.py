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
        self._clean_up = clean_up
        self._names = [name for name in dir(type(callback_list)) if name.startswith("on_")]
        for name in self._names:
            object.__setattr__(callback_list, name, self._guarded(getattr(callback_list, name)))
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
        object.__setattr__(model, "evaluate", self._guarded(model.evaluate))

    def is_running(self) -> bool:
        """Tells whether the guarded fit is calling just now."""
        callback_list = self._list()
        return callback_list is not None and any(
            frame.f_locals.get("callbacks") is callback_list or frame.f_locals.get("self") is callback_list
            for frame in _calling_frames()
        )

    def _guarded(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return method(*args, **kwargs)
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


def _calling_frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back
