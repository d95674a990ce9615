"""The variables of a model that a v1 checkpoint holds: built, and by their v1 names."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from bridge import keras_internals, names
from bridge.errors import UnsupportedModelError
from bridge.names import NamedVariable


def state_of(model: Any) -> list[NamedVariable]:
    """Names all of a model's variables, those of its optimizer included if it is compiled.

    Args:
      model: A built Keras 3 or tf_keras model. A compiled model's optimizer is built if it is not.

    Returns:
      The variables. A model without optimizer has no `global_step`.

    Raises:
      UnsupportedModelError: if the model is not built, or not of Keras on TensorFlow.
    """
    _check(model)
    optimizers = optimizers_of(model)
    if optimizers:
        keras_internals.create_slots(model)
        step = keras_internals.tf_variable(keras_internals.step_variable(optimizers[0]))
        return names.variables_of(model, step)
    found = names.variables_of(model, tf.Variable(0, dtype=tf.int64))
    return [variable for variable in found if variable.kind != "step"]


def optimizers_of(model: Any) -> list[Any]:
    """Returns the model's optimizers, the compiled one first."""
    return keras_internals.optimizers_of(model)


def _check(model: Any) -> None:
    if not keras_internals.is_tf_keras(model) and not isinstance(model, keras.Model):
        raise UnsupportedModelError(
            f"A keras.Model or tf_keras.Model is needed, but this is a {type(model).__name__}."
        )
    if not keras_internals.is_tf_keras(model) and keras.backend.backend() != "tensorflow":
        raise UnsupportedModelError(
            f"v1 checkpoints need Keras's TensorFlow backend, but the backend is {keras.backend.backend()!r}. "
            "Set KERAS_BACKEND=tensorflow before importing keras."
        )
    if not tf.executing_eagerly():
        raise UnsupportedModelError(
            "Keras models load and save v1 checkpoints in eager mode: take out disable_eager_execution() or "
            "disable_v2_behavior(), and call outside of tf.Graph().as_default(). In a graph, use tf.compat.v1.train.Saver."
        )
    if not model.built:
        raise UnsupportedModelError(
            f"The model {model.name!r} has no variables yet. Call model.build(input_shape), or the model on one batch, "
            "first."
        )
