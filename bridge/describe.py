"""`describe`: lists the names that hooks can ask for in a model's step."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from bridge import keras_internals
from bridge.step_graph import GraphName, StepGraph
from bridge.trace import StepTrace


def describe(model: Any, data: Any, *, kind: str = "train", file: Any = None) -> list[GraphName]:
    """Lists and prints the documented names in the v1 graph of a model's step.

    Args:
      model: A compiled Keras 3 or tf_keras model. It is built if it is not; nothing is trained.
      data: What `fit` would get: a `tf.data.Dataset`, or one batch (or all data) as `x`, `(x, y)` or
        `(x, y, sample_weight)`. Only shapes and dtypes matter.
      kind: "train", "test" or "predict".
      file: Where to print; None stands for standard output.

    Returns:
      The names, with kind, shape and dtype, in the order of the table.

    Raises:
      UnsupportedModelError: for a model that hooks cannot run in.
    """
    keras_internals.check_model(model)
    names = StepGraph(model, StepTrace(model, kind, _spec(data))).names
    width = max(len(entry.name) for entry in names)
    for entry in names:
        shape = "" if entry.shape is None else str(entry.shape)
        dtype = "" if entry.dtype is None else entry.dtype.name
        print(f"{entry.name:<{width}}  {entry.kind:<9}  {shape:<16}  {dtype}".rstrip(), file=file)
    return names


def _spec(data: Any) -> Any:
    """Returns the spec of one batch, with an open batch size for arrays."""
    if isinstance(data, tf.data.Dataset):
        return data.element_spec

    def of_value(value: Any) -> tf.TypeSpec:
        if isinstance(value, tf.TypeSpec):
            return value
        if isinstance(value, tf.__internal__.CompositeTensor):
            return tf.type_spec_from_value(value)
        array = value if isinstance(value, tf.Tensor) else np.asarray(value)
        dtype = tf.as_dtype(array.dtype)
        if dtype == tf.float64:
            dtype = tf.as_dtype(tf.keras.backend.floatx())  # As Keras's own adapter does with arrays.
        return tf.TensorSpec([None, *array.shape[1:]], dtype)

    return tf.nest.map_structure(of_value, data)
