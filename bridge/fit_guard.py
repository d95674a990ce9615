"""Notices that a `fit` ended in an error which the callback is not told of.

Keras does not call `on_train_end` when another callback, the validation or the data raises. Then hooks would stay
open, writers unflushed, and the model would keep the hooked step. The guard stands around the list of callbacks that
`fit` calls.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any


class FitGuard:
    """Calls a clean-up when something raises inside a `fit`."""

    def __init__(self, callback_list: Any, model: Any, clean_up: Callable[[BaseException | None], None]) -> None:
        """Puts the guard up.

        Args:
          callback_list: Keras's or tf_keras's CallbackList of the running fit; None guards only `evaluate`.
          model: The model that is trained.
          clean_up: Called once with the error, when there is one.
        """
        self._list = callback_list
        self._model = model
        self._clean_up = clean_up
        self._names = [n for n in dir(type(callback_list)) if n.startswith("on_")] if callback_list is not None else []
        for name in self._names:
            object.__setattr__(callback_list, name, self._guarded(getattr(callback_list, name)))
        object.__setattr__(model, "evaluate", self._guarded(model.evaluate))
        self._finalizer: weakref.finalize | None = None
        if callback_list is not None:
            # The list lives as long as the frame of `fit`: this catches what no call shows, such as an interrupt.
            self._finalizer = weakref.finalize(callback_list, clean_up, None)
            self._finalizer.atexit = True

    @classmethod
    def around_caller(cls, callback: Any, clean_up: Callable[[BaseException | None], None]) -> FitGuard:
        """Puts a guard around the callback list that is calling `callback` just now.

        Keras gives callbacks no way to their list, so that it is read off the calling frames.

        Args:
          callback: The callback whose method runs.
          clean_up: Called once with the error, when there is one.

        Returns:
          The guard.
        """
        frame = sys._getframe(1)
        found = None
        while frame is not None and found is None:
            owner = frame.f_locals.get("self")
            if owner is not callback and any(c is callback for c in getattr(owner, "callbacks", None) or ()):
                found = owner
            frame = frame.f_back  # type: ignore[assignment]
        return cls(found, callback.model, clean_up)

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
        if self._finalizer is not None:
            self._finalizer.detach()
        for name in self._names:
            vars(self._list).pop(name, None)
        self._names = []
        vars(self._model).pop("evaluate", None)
