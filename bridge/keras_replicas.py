"""Several replicas of one Keras model: how Keras joins them, and what it leaves undone where they span processes.

The private Keras names that this needs are here and nowhere else; all others are in `keras_internals`.
`tests/bridge/test_keras_internals.py` and `tests/bridge/multi_worker` fail with a clear message when a release moves them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from bridge import keras_internals
from bridge.errors import UnsupportedModelError


def spans_processes(strategy: Any) -> bool:
    """Tells whether a strategy's replicas live in several processes (`MultiWorkerMirroredStrategy` in a cluster)."""
    extended = strategy.extended
    return (
        isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
        and strategy.num_replicas_in_sync > len(extended.worker_devices) > 0
    )


def is_multi_worker(strategy: Any) -> bool:
    """Tells whether a strategy trains in several processes, which know their chief themselves."""
    return isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)


def reduce_replicas(model: Any, outputs: Any, kind: str) -> Any:
    """Joins the replicas' results of one step just as the model's own compiled function does.

    Args:
      model: The model, which knows its strategy.
      outputs: What `strategy.run` returned.
      kind: "train", "test" or "predict".

    Returns:
      The same structure of plain tensors.
    """
    strategy = model.distribute_strategy
    if keras_internals.is_tf_keras(model):
        method = model.distribute_reduction_method
        reduction = ("sum" if method == "auto" else method) if kind != "predict" else "concat"
    else:
        reduction = "mean" if kind != "predict" else "concat"
    joiners: dict[str, Callable[[Any], Any]] = {
        "mean": lambda values: tf.reduce_mean(values, axis=0),
        "sum": tf.reduce_sum,
        "first": lambda values: values[0],
        "concat": lambda values: tf.stack(values) if values[0].shape.rank == 0 else tf.concat(values, 0),
    }

    def join(value: Any) -> Any:
        locals_ = strategy.experimental_local_results(value)
        return value if len(locals_) == 1 else joiners[reduction](locals_)

    if spans_processes(strategy) and reduction == "mean":
        return mean_over_replicas(strategy, outputs)
    if spans_processes(strategy) and reduction == "sum":
        return tf.nest.map_structure(lambda value: strategy.reduce("SUM", value, axis=None), outputs)
    return tf.nest.map_structure(join, outputs)


def mean_over_replicas(strategy: Any, outputs: Any) -> Any:
    """Returns the mean of each number over all replicas of all workers, by one all-reduce for each type of number.

    Args:
      strategy: A strategy that spans processes.
      outputs: What `strategy.run` returned, in any structure.

    Returns:
      The same structure of plain tensors, equal on all workers.
    """
    flat = tf.nest.flatten(outputs)
    if not flat:
        return outputs

    def mean(*values: Any) -> list[tf.Tensor]:
        tensors = [tf.convert_to_tensor(value) for value in values]
        means: list[Any] = [None] * len(tensors)
        for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
            places = [i for i, tensor in enumerate(tensors) if tensor.dtype == dtype]
            joined = tf.concat([tf.reshape(tensors[i], [-1]) for i in places], 0)
            joined = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.MEAN, joined)
            parts = tf.split(joined, [tf.size(tensors[i]) for i in places], num=len(places))
            for i, part in zip(places, parts, strict=True):
                means[i] = tf.reshape(part, tf.shape(tensors[i]))
                means[i].set_shape(tensors[i].shape)
        return means

    results = strategy.run(mean, args=tuple(flat))
    return tf.nest.pack_sequence_as(outputs, [strategy.experimental_local_results(r)[0] for r in results])


def correct_multi_worker_fit(model: Any) -> Callable[[], None]:
    """Puts right what a Keras 3 model's `fit`, `evaluate` and `predict` get wrong when its replicas span processes.

    Args:
      model: A compiled model of Keras 3.

    Returns:
      A function that takes the change back.

    Raises:
      UnsupportedModelError: for a Keras 3 that does not add up the replicas' gradients at all.
    """
    optimizer = getattr(model, "optimizer", None)
    summed = optimizer is None or hasattr(optimizer, "_all_reduce_sum_gradients")
    if not summed or not hasattr(model, "_maybe_symbolic_build"):
        raise UnsupportedModelError(
            f"Keras {keras.__version__} does not join the gradients of several replicas, so that workers would end with "
            "different weights. Use Keras 3.12 or newer, or tf_keras."
        )

    def symbolic_build(iterator: Any = None, data_batch: Any = None) -> None:
        if iterator is not None:
            data_batch = tf.nest.map_structure(_one_replica, iterator._distributed_dataset.element_spec)
        with model.distribute_strategy.scope():
            model._symbolic_build(data_batch=data_batch)
        joined.extend(_join_statistics(model))

    joined: list[Any] = []
    object.__setattr__(model, "_maybe_symbolic_build", symbolic_build)
    _replace_reduction()

    def undo() -> None:
        vars(model).pop("_maybe_symbolic_build", None)
        for variable in joined:
            variable._aggregation = tf.VariableAggregation.NONE
        _restore_reduction()

    return undo


def _join_statistics(model: Any) -> list[Any]:
    """Makes the replicas share the statistics that Keras's own layers gather, as tf_keras does.

    In Keras 3 each replica has its own, so that workers would end with different weights, and a checkpoint would hold
    those of the chief alone.

    Returns:
      The variables that were changed.
    """
    changed = []
    for layer in model._flatten_layers():
        if not isinstance(layer, (keras.layers.BatchNormalization, keras.layers.SpectralNormalization)):
            continue
        for variable in map(keras_internals.tf_variable, layer.non_trainable_variables):
            alone = getattr(variable, "aggregation", None) == tf.VariableAggregation.NONE
            if alone and variable.dtype.is_floating and hasattr(variable, "_aggregation"):
                variable._aggregation = tf.VariableAggregation.MEAN
                changed.append(variable)
    return changed


def share_batch_statistics(model: Any) -> Callable[[], None]:
    """Makes the replicas of a tf_keras model average the statistics of each batch before they gather them.

    In tf_keras each replica gathers its own, which are averaged when they are read. A checkpoint of the chief would hold
    its own alone, so that a job that goes on from there would not be the one that was never stopped. The average of
    what was gathered is, but for rounding, what is gathered of the averages.

    Args:
      model: A model of tf_keras.

    Returns:
      A function that takes the change back.
    """
    layers = [layer for layer in model._flatten_layers() if hasattr(layer, "_assign_moving_average")]

    def averaged(assign: Callable[..., Any]) -> Callable[..., Any]:
        def call(variable: Any, value: Any, momentum: Any, inputs_size: Any) -> Any:
            context = tf.distribute.get_replica_context()
            if context is not None:
                # At the end of the data, some replicas may have an empty batch, of which nothing is gathered.
                counts = tf.constant(True) if inputs_size is None else inputs_size > 0
                parts = [tf.where(counts, value, tf.zeros_like(value)), tf.cast(counts, value.dtype)]
                total, count = context.all_reduce(tf.distribute.ReduceOp.SUM, parts)
                value = tf.math.divide_no_nan(total, count)
                inputs_size = None if inputs_size is None else count
            return assign(variable, value, momentum, inputs_size)

        return call

    for layer in layers:
        object.__setattr__(layer, "_assign_moving_average", averaged(layer._assign_moving_average))

    def undo() -> None:
        for layer in layers:
            vars(layer).pop("_assign_moving_average", None)

    return undo


def _one_replica(spec: Any) -> Any:
    """Returns what one replica gets of a component of a distributed batch."""
    if isinstance(spec, tf.OptionalSpec):
        return None  # So Keras passes an absent input through tf.data.
    return getattr(spec, "_value_specs", (spec,))[0]


def _trainer_module() -> Any:
    return sys.modules[keras.Model.make_predict_function.__module__]


class _Reduction:
    """Keras's joining of the replicas' results, replaced while some model needs it."""

    lock = threading.Lock()
    users = 0
    own: Any = None


def _replace_reduction() -> None:
    """Replaces Keras's joining of the replicas' results; models of other strategies get what they always got."""
    trainer = _trainer_module()
    with _Reduction.lock:
        _Reduction.users += 1
        if _Reduction.users > 1:
            return
        own = _Reduction.own = trainer.reduce_per_replica

        def reduce_per_replica(values: Any, strategy: Any, reduction: str) -> Any:
            if reduction in ("auto", "mean") and spans_processes(strategy):
                return mean_over_replicas(strategy, values)
            return own(values, strategy, reduction)

        trainer.reduce_per_replica = reduce_per_replica


def _restore_reduction() -> None:
    with _Reduction.lock:
        _Reduction.users -= 1
        if _Reduction.users == 0:
            _trainer_module().reduce_per_replica = _Reduction.own
