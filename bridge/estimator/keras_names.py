"""Names of Keras layers in a `model_fn`, as TensorFlow 1 gave them, for a checkpoint knows variables by their names.

Keras 3 counts its layers by process, opens a name scope for a layer's variables and another one for its operations, and
makes the variables of a subclassed model when all of its layers are through. In a graph of TensorFlow 1 the second `Dense`
would become `dense_1_1`, and the layers of a subclassed model would lose their names.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import keras
import tensorflow as tf
from keras.src.backend.common import global_state
from keras.src.backend.common.name_scope import current_path

tf1 = tf.compat.v1

_COUNTS = "object_name_uids"

_by_graph: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


class _Calls(threading.local):
    """What this thread's `model_fn` is about to do.

    Attributes:
      graph: The graph that it builds; None outside of one.
      scopes: Of each layer that is being called: the name scope that it was given, or None. The innermost is the last.
    """

    graph: Any = None
    scopes: dict[int, list[str | None]]

    def __init__(self) -> None:
        self.scopes = collections.defaultdict(list)


_calls = _Calls()


@contextlib.contextmanager
def counted_by_graph() -> Iterator[None]:
    """Lets Keras 3 name layers and variables by the default graph: its first `Dense` is `dense` in each graph."""
    graph = tf1.get_default_graph()
    others, outer = global_state.get_global_attribute(_COUNTS), _calls.graph
    _hook_into_keras()
    counts = _by_graph.setdefault(graph, collections.defaultdict(int))
    global_state.set_global_attribute(_COUNTS, counts)
    _calls.graph = graph
    try:
        yield
    finally:
        _calls.graph = outer
        global_state.set_global_attribute(_COUNTS, others)


@functools.cache
def _hook_into_keras() -> None:
    """Puts three hooks into Keras, which do nothing outside of a `model_fn`; there is no public way to name scopes."""
    from keras.src.backend.tensorflow.core import Variable, name_scope

    _wrap(keras.Layer, "__call__", _call)
    _wrap(name_scope, "__enter__", _enter)
    _wrap(Variable, "_deferred_initialize", _make_late)


def _wrap(owner: Any, name: str, hook: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapped(self: Any, *args: Any, **options: Any) -> Any:
        if not _is_in_graph():
            return original(self, *args, **options)
        return hook(original, self, *args, **options)

    setattr(owner, name, wrapped)


def _is_in_graph() -> bool:
    """Whether a `model_fn`'s own graph is being built, and not one that Keras throws away, or a function."""
    return _calls.graph is not None and tf1.get_default_graph() is _calls.graph


def _call(original: Callable[..., Any], layer: Any, *args: Any, **options: Any) -> Any:
    """Notes that a layer is called: what it opens until then is one scope."""
    scopes = _calls.scopes[id(layer)]
    scopes.append(None)
    try:
        return original(layer, *args, **options)
    finally:
        scopes.pop()
        if not scopes:
            del _calls.scopes[id(layer)]


def _enter(original: Callable[..., Any], scope: Any) -> Any:
    """Enters the scope of a layer, which is the same for its variables and its operations."""
    scopes = _calls.scopes.get(id(scope.caller))
    if scopes and scopes[-1] is not None:
        scope._tf_name_scope = tf.name_scope(f"{scopes[-1]}/")
    elif not scopes and isinstance(scope.caller, keras.Sequential):
        # Built before it is called: TensorFlow 1 named its layers as if they stood alone.
        scope._tf_name_scope = contextlib.nullcontext()
    entered = original(scope)
    if scopes and scopes[-1] is None:
        scopes[-1] = tf1.get_default_graph().get_name_scope()
    return entered


def _make_late(original: Callable[..., Any], variable: Any) -> Any:
    """Makes a variable in the scope of its layer, though it is made when the layer is through."""
    inside, outside = variable.path.rpartition("/")[0], current_path()
    if outside and not f"{inside}/".startswith(f"{outside}/"):
        return original(variable)
    layers = inside[len(outside) :].strip("/")
    here = tf1.get_default_graph().get_name_scope()
    with tf.name_scope(f"{here}/{layers}/".lstrip("/")) if layers else contextlib.nullcontext():
        return original(variable)
