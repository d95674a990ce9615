"""The event writers of hooks: they are flushed on every way out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from bridge import tf_internals

tf1 = tf.compat.v1


def flush_writers(hooks: Iterable[Any]) -> None:
    """Writes to disk what hooks have given to their event writers.

    Some of TensorFlow's hooks leave that to the end of the process, and after an error no hook has its `end`.

    Args:
      hooks: The hooks. Writers that they and their listeners keep are flushed, and all that hooks share.
    """
    hooks = list(hooks)
    listeners = [listener for hook in hooks for listener in getattr(hook, "_listeners", None) or ()]
    kept = [value for owner in (*hooks, *listeners) for value in getattr(owner, "__dict__", {}).values()]
    for writer in (*tf_internals.cached_writers(), *kept):
        if isinstance(writer, tf1.summary.FileWriter):
            writer.flush()
