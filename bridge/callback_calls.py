"""Keras callbacks around the steps of a v1 graph: which ones can, how they are called, and their progress bar."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import keras
import tensorflow as tf

from bridge import tf_internals
from bridge.errors import UnsupportedCallbackError
from bridge.graph_logs import Totals
from bridge.hook_callback import HookCallback

tf1 = tf.compat.v1

_Callback = keras.callbacks.Callback

# Callbacks that do their work on Keras's own weights, optimizer or files, and what to use over a graph.
_REFUSED = {
    "BackupAndRestore": (
        "The session does what it does, with the global step and the hooks' state in it: "
        "MonitoredTrainingSession(checkpoint_dir=...)."
    ),
    "SwapEMAWeights": (
        "It needs a Keras optimizer. Keep the averages in the graph, with tf.compat.v1.train."
        "ExponentialMovingAverage, and restore them with its variables_to_restore()."
    ),
}
_INTERVAL = 0.05  # Seconds, Keras's own, between two updates of the progress bar.


def as_list(callbacks: Any) -> list[Any]:
    """Returns one callback, a list, or what is in Keras's CallbackList, as a list."""
    if callbacks is None:
        return []
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return list(callbacks.callbacks)
    return list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]


def check_callbacks(callbacks: Iterable[Any], *, over_graph: bool) -> None:
    """Refuses, before anything runs, what would fail or silently do nothing later.

    Args:
      callbacks: The callbacks.
      over_graph: Whether the model that they get is made of a graph's variables.

    Raises:
      UnsupportedCallbackError: for such a callback; it says the way out.
    """
    for callback in callbacks:
        if not isinstance(callback, _Callback):
            raise UnsupportedCallbackError(
                f"{callback!r} is a {type(callback).__name__}, not a keras.callbacks.Callback. Import it from keras "
                "(Keras 3), not from tf_keras; a SessionRunHook belongs into the session's hooks=[...]."
            )
        if isinstance(callback, HookCallback):
            raise UnsupportedCallbackError(
                "HookCallback brings hooks into the fit of a Keras model. A v1 session has its own: give the hooks to "
                "MonitoredTrainingSession(hooks=[...])."
            )
        if over_graph:
            _check_over_graph(callback)


def _check_over_graph(callback: Any) -> None:
    for name, way_out in _REFUSED.items():
        kind = getattr(keras.callbacks, name, None)  # Not every Keras 3 has all of them.
        if kind is not None and isinstance(callback, kind):
            raise UnsupportedCallbackError(f"{name} cannot work over a v1 graph. {way_out}")
    if isinstance(callback, keras.callbacks.ModelCheckpoint) and not callback.save_weights_only:
        raise UnsupportedCallbackError(
            f"ModelCheckpoint({callback.filepath!r}) would save a whole Keras model, but a v1 graph is not one. Use "
            "ModelCheckpoint('….weights.h5', save_weights_only=True) for the variables, or the session's "
            "checkpoint_dir or a CheckpointSaverHook for v1 checkpoints with the graph."
        )
    if isinstance(callback, keras.callbacks.TensorBoard) and callback.embeddings_freq:
        raise UnsupportedCallbackError(
            "TensorBoard(embeddings_freq=...) looks for Keras's Embedding layers. Point the projector at the "
            "session's v1 checkpoints instead, and leave embeddings_freq out."
        )


class ProgressBar(keras.callbacks.ProgbarLogger):
    """Keras's progress bar with the running values of the epoch, and with its true end when it stops early.

    What Keras shows between two steps is averaged by the bar in some versions and not in others.

    Attributes:
      totals: The values of the running epoch.
      in_fit: Whether it belongs to a fit, in which evaluations are silent.
    """

    totals: Totals

    def __init__(self) -> None:
        """Makes a bar; the parameters come from the list of callbacks."""
        super().__init__()
        self.in_fit = False
        self._updated = 0.0

    def _new_bar(self) -> None:
        self.seen, self._updated = 0, 0.0
        self.progbar = keras.utils.Progbar(
            self.target, verbose=self.verbose, unit_name="step", stateful_metrics=self.totals.names
        )

    def _step(self, batch: int) -> None:
        self.seen = batch + 1
        now = time.monotonic()
        if self.verbose == 1 and now - self._updated >= _INTERVAL:
            self._updated = now
            with tf_internals.eager_mode():  # Older versions of Keras compute what they show with operations.
                self.progbar.update(self.seen, list(self.totals.result().items()), finalize=False)

    def _finish(self, logs: Mapping[str, Any] | None) -> None:
        if self.progbar.target is None:
            self.progbar.target = self.seen
        self.progbar.update(self.seen, list((logs or {}).items()), finalize=True)

    def on_train_begin(self, logs: Any = None) -> None:
        """Keeps quiet from now on in evaluations."""
        super().on_train_begin(logs)
        self.in_fit = True

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Starts a bar."""
        super().on_epoch_begin(epoch, logs)
        self._new_bar()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Moves the bar."""
        self._step(batch)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Shows what the epoch came to, at the step where it ended."""
        self._finish(logs)

    def on_test_begin(self, logs: Any = None) -> None:
        """Starts a bar, outside of a fit."""
        if not self.in_fit:
            self._new_bar()

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """Moves the bar, outside of a fit."""
        if not self.in_fit:
            self._step(batch)

    def on_test_end(self, logs: Any = None) -> None:
        """Shows what the evaluation came to, outside of a fit."""
        if not self.in_fit:
            self._finish(logs)


class CallbackCalls:
    """Calls a list of callbacks in eager mode, as they expect it, from inside a graph.

    Attributes:
      history: Keras's History of these calls.
      bar: The progress bar, or None.
    """

    def __init__(
        self,
        callbacks: Iterable[Any],
        model: Any,
        *,
        bar: ProgressBar | None = None,
        add_history: bool = True,
        **params: Any,
    ) -> None:
        """Hands the model and the parameters to the callbacks.

        Args:
          callbacks: Keras callbacks.
          model: What they get as their model.
          bar: A progress bar, called after the others; None for none.
          add_history: Whether a History is added.
          **params: What Keras gives to them: verbose, epochs, steps.
        """
        own = list(callbacks)
        if any(isinstance(callback, keras.callbacks.ProgbarLogger) for callback in own):
            bar = None
        self.bar = bar
        self._at_batch_begin = [c for c in own if _has_own(c, "on_train_batch_begin", "on_batch_begin")]
        self._at_batch_end = [c for c in own if _has_own(c, "on_train_batch_end", "on_batch_end")]
        with tf_internals.eager_mode():
            self._list = keras.callbacks.CallbackList(
                [*own, *([] if bar is None else [bar])], add_history=add_history, model=model, **params
            )
        self.history = next((c for c in self._list.callbacks if isinstance(c, keras.callbacks.History)), None)

    def call(self, method: str, *args: Any) -> None:
        """Calls a method of all callbacks, in their order."""
        with tf_internals.eager_mode():
            getattr(self._list, method)(*args)

    def batch_begin(self, batch: int) -> None:
        """Begins a training batch.

        Only callbacks that look at batches are called, so that eager mode is not entered for nothing.
        """
        if self._at_batch_begin:
            with tf_internals.eager_mode():
                for callback in self._at_batch_begin:
                    callback.on_train_batch_begin(batch, logs={})

    def batch_end(self, batch: int, logs: dict[str, Any]) -> None:
        """Ends a training batch, and moves the progress bar."""
        if self._at_batch_end:
            with tf_internals.eager_mode():
                for callback in self._at_batch_end:
                    callback.on_train_batch_end(batch, logs=logs)
        if self.bar is not None:
            self.bar.on_train_batch_end(batch)

    def flush(self) -> None:
        """Flushes what the callbacks write to, after an error: Keras tells them nothing then.

        What fails here, such as a full disk, is logged; the error that came before is the one to show.
        """
        with tf_internals.eager_mode():
            for callback in self._list.callbacks:
                for file in _files(vars(callback).values()):
                    _flush(file, callback)


def _flush(file: Any, callback: Any) -> None:
    try:
        file.flush()
    except (OSError, tf.errors.OpError) as error:
        tf1.logging.error("%s could not flush its file: %s", type(callback).__name__, error)


def _has_own(callback: Any, *methods: str) -> bool:
    """Tells whether a callback overrides one of the methods, in its class or, as LambdaCallback does, in itself."""
    return any(
        getattr(getattr(callback, name), "__func__", None) is not getattr(_Callback, name) for name in methods
    )


def _files(values: Iterable[Any]) -> Iterator[Any]:
    """Finds open files and summary writers among a callback's attributes, or in their lists and dicts."""
    for value in values:
        if isinstance(value, Mapping):
            yield from _files(value.values())
        elif isinstance(value, (list, tuple)):
            yield from _files(value)
        elif callable(getattr(value, "flush", None)) and getattr(value, "closed", False) is not True:
            yield value
