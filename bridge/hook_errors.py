"""Tells which hook an error came from, without touching the error itself."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

tf1 = tf.compat.v1

_PHASES = ("begin", "after_create_session", "before_run", "after_run", "end")

_REMEDIES = (
    ("Graph is finalized", "A hook may add operations to the graph in begin() only."),
    (
        "numpy() is only available",
        "In a hook the step's graph is the default one. Read values with session.run; Keras belongs in a callback.",
    ),
    (
        "Same tensor is fed",
        "Let one of the hooks feed it, or give each a placeholder_with_default of its own.",
    ),
    (
        "session.BaseSession",
        "tfdbg's hooks need a v1 session. For Keras: tf.debugging.experimental.enable_dump_debug_info.",
    ),
    ("NaN loss", "NanTensorHook(..., fail_on_nan_loss=False) stops the training instead of raising."),
)


def name_the_hook(error: BaseException, hooks: Sequence[Any]) -> None:
    """Adds a note to an error that says which hook's method raised it, and what helps.

    The error stays the same object, of the same type, so that callers catch what they always caught.

    Args:
      error: What was raised.
      hooks: The hooks of the session.
    """
    hook, method = _where(error, hooks)
    if hook is None:
        return
    remedies = [remedy for words, remedy in _REMEDIES if words in str(error)]
    note = " ".join([f"Raised in {type(hook).__name__}.{method}().", *remedies])
    if hasattr(error, "add_note"):
        error.add_note(note)
    else:  # Python 3.10 has no notes in its tracebacks.
        error.__notes__ = [*getattr(error, "__notes__", ()), note]
        tf1.logging.error("%s", note)


def check_end(error: Exception) -> None:
    """Raises what only looks like the end of the data.

    Args:
      error: A StopIteration or OutOfRangeError out of a run.

    Raises:
      OSError: if a file has grown to the process's limit, which TensorFlow reports as OutOfRangeError.
    """
    if "File too large" in str(error):
        raise OSError(
            errno.EFBIG,
            f"A file that a hook writes has reached the size limit of this process (ulimit -f): {error}. Raise the limit, or "
            "write fewer or sharded checkpoints.",
        ) from error


def _where(error: BaseException, hooks: Sequence[Any]) -> tuple[Any, str]:
    """Finds the innermost call of a hook in an error's traceback."""
    found: tuple[Any, str] = (None, "")
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_name in _PHASES:
            first = frame.f_code.co_varnames[:1]
            owner = frame.f_locals.get(first[0]) if first else None
            if any(owner is hook for hook in hooks):
                found = owner, frame.f_code.co_name
        elif frame.f_code.co_name == "_call_hook_before_run":
            # TensorFlow itself refuses what this hook asked for.
            found = frame.f_locals.get("hook"), "before_run"
        traceback = traceback.tb_next
    return found
