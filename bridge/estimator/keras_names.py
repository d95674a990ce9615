"""Names of Keras layers in a `model_fn`: counted by graph, as in TensorFlow 1, for a checkpoint knows variables by them."""

from __future__ import annotations

import collections
import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf1
from keras.src.backend.common import global_state

_COUNTS = "object_name_uids"

_by_graph: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


@contextlib.contextmanager
def counted_by_graph() -> Iterator[None]:
    """Lets Keras 3 go on with the default graph's own counts: its first `Dense` is `dense` in each graph.

    Keras 3 counts by process, and would look for `dense_1` when it evaluates what was trained as `dense`.
    """
    graph = tf1.get_default_graph()
    others = global_state.get_global_attribute(_COUNTS)
    counts = _by_graph.setdefault(graph, collections.defaultdict(int))
    global_state.set_global_attribute(_COUNTS, counts)
    try:
        yield
    finally:
        global_state.set_global_attribute(_COUNTS, others)
