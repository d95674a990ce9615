"""The private TensorFlow names that the bridge needs, all in this module.

Each one has a line on why no public name serves; `tests/bridge/test_tf_internals.py` fails with a clear message
when a TensorFlow release moves one.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

# Tracing of single runs (`RunMetadata`) has no public switch in eager mode.
from tensorflow.python.eager import context as _context

# Runs a function of the eager context; `call_flat` of the function does it with twice the time around the kernel.
from tensorflow.python.eager import execute as _execute

# Gives an error from inside a function the text that all functions give it.
from tensorflow.python.eager.polymorphic_function.atomic_function import InterpolateRuntimeError

# `Session.as_default` is this function on the session; a session of another class needs the function itself.
from tensorflow.python.framework.stack import default_session as default_session

# Where `get_variable(reuse=True)` looks.
from tensorflow.python.ops import variable_scope as _variable_scope

# The collection in which built-in hooks keep their reading of the global step.
from tensorflow.python.training.training_util import GLOBAL_STEP_READ_KEY as GLOBAL_STEP_READ_KEY

# What `Session.list_devices` returns.
from tensorflow.python.client.session import _DeviceAttributes

# `Saver.save` and `get_default_session` check for this base class; it is not exported.
from tensorflow.python.client.session import SessionInterface as SessionInterface

# `Session.run` maps fetches of any nesting with this class. `tf.nest` cannot: it sorts dictionary keys, and hooks
# themselves are the keys.
from tensorflow.python.client.session import _FetchMapper

# The table by which `Session.run` takes sparse and ragged values apart; third parties add to it by the public
# `tf.compat.v1.Session` machinery, so it must be read, not copied.
from tensorflow.python.client.session import _REGISTERED_EXPANSIONS

# Hooks run with their graph as the default one; executing a program from there needs eager mode back.
# `tf.init_scope` stays in the graph when the graph is the outermost context.
eager_mode = tf.__internal__.eager_context.eager_mode

FetchMapper = _FetchMapper


def fetch_mapper(fetches: Any) -> _FetchMapper:
    """Returns TensorFlow's own mapper of `fetches`; the fetched graph must be the default graph."""
    return _FetchMapper.for_fetch(fetches)


def expand_feeds(feed_dict: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Takes composite feeds (sparse, ragged, …) apart, as `Session.run` does.

    Args:
      feed_dict: From tensors, composite tensors or names to values.

    Returns:
      Pairs of a single tensor (or name) and its value.

    Raises:
      TypeError: if a key is of a type that cannot be fed.
    """
    pairs: list[tuple[Any, Any]] = []
    for feed, value in feed_dict.items():
        for tensor_type, _, feed_function, _ in _REGISTERED_EXPANSIONS:
            if isinstance(feed, tensor_type):
                pairs.extend(feed_function(feed, value))
                break
        else:
            raise TypeError(f"Feed argument {feed!r} has invalid type {type(feed).__name__!r}.")
    return pairs


def flat_caller(
    function: Any, *, optimize: bool = True
) -> Callable[[Sequence[tf.Tensor]], Sequence[tf.Tensor]]:
    """Returns a function that runs a concrete function on its flat inputs, captures included.

    The public call takes its arguments apart and checks them anew on every step, which costs a third of the time
    of a small model's step.

    Args:
      function: A `tf.types.experimental.ConcreteFunction`.
      optimize: Whether TensorFlow optimises the function's graph; for a function that runs once it is not worth it.

    Returns:
      A callable from the list of flat input tensors (without captures) to the list of flat outputs.
    """
    inference = function._inference_function
    captured = list(function.captured_inputs)
    name, count = inference.name.decode(), len(inference.function_type.flat_outputs)
    config = tf.compat.v1.ConfigProto()
    if not optimize:
        config.graph_options.rewrite_options.disable_meta_optimizer = True
    context = _context.context()
    options = context.function_call_options if optimize else _context.FunctionCallOptions(config_proto=config)
    attributes = tuple(itertools.chain(*options.as_attrs().items()))

    def run(inputs: Sequence[tf.Tensor]) -> Sequence[tf.Tensor]:
        try:
            return _execute.execute(name, count, inputs=[*inputs, *captured], attrs=attributes, ctx=context)
        except tf.errors.OpError:
            with InterpolateRuntimeError(inference):  # Names the operation and where it was made.
                raise

    run.owner = function  # type: ignore[attr-defined]  # It owns the C function.
    return run


def device_attributes() -> list[Any]:
    """Returns the local devices in the form that `Session.list_devices` gives."""
    return [
        _DeviceAttributes(device.name, device.device_type, 0, 0)
        for device in tf.config.list_logical_devices()
    ]


def iterator_length(iterator: Any) -> int | None:
    """Tells how many elements a fresh `tf.data` iterator yields.

    Args:
      iterator: A Python iterator over a dataset.

    Returns:
      The number, `sys.maxsize` for an infinite dataset, or None where it is not known in advance. The dataset behind
      an iterator has no public name.
    """
    dataset = getattr(iterator, "_dataset", None)
    if dataset is None:
        return None
    length = int(tf.data.experimental.cardinality(dataset).numpy())
    if length == tf.data.INFINITE_CARDINALITY:
        return sys.maxsize
    return None if length == tf.data.UNKNOWN_CARDINALITY else length


def eager_tensor(value: Any) -> tf.Tensor:
    """Turns a numpy value into an eager tensor, whatever graph is the default one."""
    with eager_mode():
        return tf.constant(value)


def cached_writers() -> list[Any]:
    """Returns the event writers that hooks share; `FileWriterCache` can only forget them in public."""
    return list(tf.compat.v1.summary.FileWriterCache._cache.values())


def replicas(variable: tf.Variable) -> list[tf.Variable]:
    """Returns the variables that a distributed variable is made of, or the variable itself."""
    components = getattr(variable, "values", None) if hasattr(variable, "distribute_strategy") else None
    return list(components) if isinstance(components, (list, tuple)) else [variable]


def register_variable(variable: Any) -> None:
    """Makes `tf.compat.v1.get_variable` find a variable of the default graph by its name, as `reuse=True` needs.

    Only `get_variable` itself puts variables there, and it would not take one that exists.
    """
    _variable_scope._get_default_variable_store()._vars[variable.op.name] = variable


def wait_for_processes(name: str, timeout_secs: float) -> None:
    """Waits until all processes of the job wait under the same name; collective operations would wait for ever.

    Args:
      name: A name that was not used before.
      timeout_secs: Seconds to wait at most.

    Raises:
      tf.errors.OpError: if some process does not come, or the job has failed.
    """
    _context.context().wait_at_barrier(name, int(timeout_secs * 1000))


def tell_processes(message: str) -> None:
    """Ends the collective operations of all processes of the job with an error that says this message."""
    _context.context().report_error_to_cluster(tf.errors.ABORTED, message)
