"""The three networks that are measured, each written twice: as a Keras model, and by hand in TF1 style."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1

BATCH = 32
CLASSES = 10


@dataclasses.dataclass(frozen=True)
class Workload:
    """One network with its data.

    Attributes:
      name: Its name in tables and on the command line.
      shape: Shape of one example.
      layers: Makes the Keras layers, from the input to the logits.
      v1_logits: Builds the same network in the default graph, from a batch to its logits.
      steps: Steps of one timed epoch; a multiple of 100, the period of the hooks.
      inner: Name of the first layer, whose output hooks look at.
    """

    name: str
    shape: tuple[int, ...]
    layers: Callable[[], list[Any]]
    v1_logits: Callable[[tf.Tensor], tf.Tensor]
    steps: int
    inner: str

    def model(self) -> keras.Model:
        """Builds the Keras model, not compiled."""
        keras.utils.set_random_seed(1)
        return keras.Sequential(self.layers())

    def arrays(self, batches: int) -> tuple[np.ndarray, np.ndarray]:
        """Makes random examples and labels that fill so many batches."""
        random = np.random.default_rng(7)
        x = random.standard_normal((batches * BATCH, *self.shape), dtype=np.float32)
        return x, random.integers(0, CLASSES, batches * BATCH)

    def dataset(self) -> tf.data.Dataset:
        """Makes an endless dataset of fifty cached batches."""
        return tf.data.Dataset.from_tensor_slices(self.arrays(50)).batch(BATCH).cache().repeat()


def compile_model(model: keras.Model, *, jit: bool = False) -> None:
    """Compiles as all variants do.

    Args:
      model: A Keras model that returns logits.
      jit: Whether XLA compiles the step.
    """
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-3), loss, jit_compile=jit)


def v1_train_op(workload: Workload) -> tf.Operation:
    """Writes data, network and training step into the default graph, as a TF1 program does.

    Args:
      workload: The network.

    Returns:
      The training operation. The loss is named `loss`.
    """
    x, y = tf1.data.make_one_shot_iterator(workload.dataset()).get_next()
    with _as_in_tf1():
        loss = tf.identity(tf1.losses.sparse_softmax_cross_entropy(y, workload.v1_logits(x)), name="loss")
        return tf1.train.AdamOptimizer(1e-3).minimize(loss, tf1.train.get_or_create_global_step())


@contextlib.contextmanager
def _as_in_tf1() -> Iterator[None]:
    """Context in which a graph gets TF1's own variables and loops, which cost a session less than today's."""
    tf1.disable_resource_variables()
    tf1.disable_control_flow_v2()
    try:
        yield
    finally:
        tf1.enable_control_flow_v2()
        tf1.enable_resource_variables()


def _v1_variables(*shape: Any) -> tuple[tf.Variable, tf.Variable]:
    kernel = tf1.get_variable("kernel", shape, initializer=tf1.glorot_uniform_initializer())
    return kernel, tf1.get_variable("bias", shape[-1:], initializer=tf1.zeros_initializer())


def _v1_dense(x: tf.Tensor, units: int, name: str) -> tf.Tensor:
    with tf1.variable_scope(name):
        kernel, bias = _v1_variables(x.shape[-1], units)
        return tf.nn.bias_add(tf.matmul(x, kernel), bias)


def _v1_conv(x: tf.Tensor, filters: int, name: str) -> tf.Tensor:
    with tf1.variable_scope(name):
        kernel, bias = _v1_variables(3, 3, x.shape[-1], filters)
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, 1, "VALID"), bias))
        return tf.nn.max_pool2d(x, 2, 2, "VALID")


def _mlp() -> list[Any]:
    dense = keras.layers.Dense
    return [keras.Input((32,)), dense(64, activation="relu"), dense(64, activation="relu"), dense(CLASSES)]


def _v1_mlp(x: tf.Tensor) -> tf.Tensor:
    x = tf.nn.relu(_v1_dense(x, 64, "dense"))
    x = tf.nn.relu(_v1_dense(x, 64, "dense_1"))
    return _v1_dense(x, CLASSES, "dense_2")


def _cnn() -> list[Any]:
    layers = keras.layers
    return [
        keras.Input((28, 28, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(CLASSES),
    ]


def _v1_cnn(x: tf.Tensor) -> tf.Tensor:
    x = _v1_conv(_v1_conv(x, 16, "conv2d"), 32, "conv2d_1")
    return _v1_dense(tf.reshape(x, [-1, 5 * 5 * 32]), CLASSES, "dense")


_LSTM_UNITS = 32


def _lstm() -> list[Any]:
    return [keras.Input((20, 16)), keras.layers.LSTM(_LSTM_UNITS), keras.layers.Dense(CLASSES)]


class _LSTMCell:
    """An LSTM cell as `tf.nn.dynamic_rnn` wants it: `tf.nn.rnn_cell` is no longer part of TensorFlow."""

    state_size = (_LSTM_UNITS, _LSTM_UNITS)
    output_size = _LSTM_UNITS

    def zero_state(self, batch_size: Any, dtype: tf.DType) -> tuple[tf.Tensor, tf.Tensor]:
        zeros = tf.zeros([batch_size, _LSTM_UNITS], dtype)
        return zeros, zeros

    def __call__(self, inputs: tf.Tensor, state: Any, scope: Any = None) -> tuple[tf.Tensor, Any]:
        del scope
        cell, hidden = state
        kernel, bias = _v1_variables(inputs.shape[-1] + _LSTM_UNITS, 4 * _LSTM_UNITS)
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, hidden], 1), kernel), bias)
        into, forget, candidate, out = tf.split(gates, 4, 1)
        cell = tf.sigmoid(forget + 1.0) * cell + tf.sigmoid(into) * tf.tanh(candidate)
        hidden = tf.sigmoid(out) * tf.tanh(cell)
        return hidden, (cell, hidden)


def _v1_lstm(x: tf.Tensor) -> tf.Tensor:
    _, (_, hidden) = tf1.nn.dynamic_rnn(_LSTMCell(), x, dtype=tf.float32)
    return _v1_dense(hidden, CLASSES, "dense")


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("mlp", (32,), _mlp, _v1_mlp, 200, "dense"),
        Workload("cnn", (28, 28, 1), _cnn, _v1_cnn, 100, "conv2d"),
        Workload("lstm", (20, 16), _lstm, _v1_lstm, 100, "lstm"),
    )
}
