"""SIGTERM, which a cluster sends to a job that must go: the step is finished, the model saved, then the process ends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import tensorflow as tf

tf1 = tf.compat.v1
_SessionRunHook: Any = tf1.train.SessionRunHook

# What a shell reports of a process that a signal ended.
_EXIT_STATUS = 128 + signal.SIGTERM


class Preemption:
    """Notes a SIGTERM instead of dying of it.

    Attributes:
      requested: Whether the signal came, here or to another process of the job.
    """

    def __init__(self, on_request: Callable[[], None] = lambda: None) -> None:
        """Prepares.

        Args:
          on_request: Called in the signal handler.
        """
        self.requested = False
        self._was_told = False
        self._on_request = on_request
        self._previous: Any = None
        self._is_installed = False

    def install(self) -> None:
        """Takes the signal over. Only the main thread can; a process that ignores the signal goes on doing so."""
        if threading.current_thread() is not threading.main_thread():
            return
        previous = signal.getsignal(signal.SIGTERM)
        if previous is signal.SIG_IGN or previous is None:
            return
        self._previous = previous
        self._is_installed = True
        signal.signal(signal.SIGTERM, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._was_told:  # Who asks twice does not want to wait.
            self.release()
            os.kill(os.getpid(), signal.SIGTERM)
            return
        self.requested = self._was_told = True
        tf1.logging.warning("SIGTERM: the step is finished and the model saved, then the process ends.")
        self._on_request()

    def follow(self) -> None:
        """Ends this process as if the signal had come to it: another one of its job got it, and all start again together."""
        if not self.requested:
            self.requested = True
            tf1.logging.warning(
                "Another worker has got SIGTERM: this process ends with it, once the model is saved."
            )

    def release(self) -> None:
        """Gives the signal back. Twice is fine."""
        if self._is_installed and threading.current_thread() is threading.main_thread():
            self._is_installed = False
            if signal.getsignal(signal.SIGTERM) == self._handle:
                signal.signal(signal.SIGTERM, self._previous)

    def leave(self) -> None:
        """Ends the process if the signal came, once everything is saved.

        Raises:
          SystemExit: with the status that a shell gives for SIGTERM, 143. A handler that the program had installed
            before is called instead.
        """
        if not self.requested:
            return
        self.requested = self._was_told = False
        if callable(self._previous):
            self._previous(signal.SIGTERM, None)
        else:
            raise SystemExit(_EXIT_STATUS)


class StopWhenPreempted(_SessionRunHook):
    """Requests the stop after the step in which the signal came."""

    def __init__(self, preemption: Preemption) -> None:
        """Prepares.

        Args:
          preemption: Knows of the signal.
        """
        self._preemption = preemption

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Requests the stop if the signal has come."""
        del run_values
        if self._preemption.requested:
            run_context.request_stop()
