"""Layouts that differ between TF1 and Keras, and the conversions that are exact.

`tf.layers` and Keras lay out dense layers, convolutions and batch normalisation alike. Recurrent cells differ: TF1
keeps one fused kernel for input and state, has its gates in another order, and adds the forget bias when it runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

Array = np.ndarray
Convert = Callable[..., Array]


@dataclasses.dataclass(frozen=True)
class Converted:
    """A value in `name_map`: which entries of the checkpoint a variable is made of, and how.

    Attributes:
      sources: The entries' names, one or more.
      convert: Is given the variable's shape and then the entries' arrays, and returns the variable's value.
      convert_slots: The same for optimizer slots of the variable, which may need another conversion (a constant that
        is added to a weight is not added to its moments). None: its slots are reported as not convertible.
    """

    sources: str | tuple[str, ...]
    convert: Convert
    convert_slots: Convert | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The entries' names as a tuple."""
        return (self.sources,) if isinstance(self.sources, str) else tuple(self.sources)


def lstm(layer: str, cell: str, forget_bias: float = 1.0) -> dict[str, Converted]:
    """Maps a Keras LSTM on the variables of a v1 LSTM cell.

    Args:
      layer: The v1 name of the Keras cell, as `load_v1`'s report and `bridge.describe` show it (`lstm/lstm_cell`).
      cell: The cell's scope in the checkpoint (`rnn/basic_lstm_cell`). `tf.compat.v1.nn.rnn_cell.BasicLSTMCell`,
        `LSTMCell` without peepholes and projection, and `tf.contrib.rnn.LSTMBlockCell` keep their variables so.
      forget_bias: The cell's `forget_bias`, which TF1 adds when it runs and does not save; Keras has it in its bias.

    Returns:
      A dict to give, or to merge into, `name_map`. It is exact, optimizer slots included.
    """

    def gates(
        value: Array,
    ) -> Array:  # TF1: input, new input, forget, output. Keras: input, forget, new input, output.
        i, j, f, o = np.split(value, 4, axis=-1)
        return np.concatenate([i, f, j, o], axis=-1)

    def kernel(shape: tuple[int, ...], value: Array) -> Array:
        return gates(value)[: shape[0]]

    def recurrent(shape: tuple[int, ...], value: Array) -> Array:
        return gates(value)[-shape[0] :]

    def bias_slots(shape: tuple[int, ...], value: Array) -> Array:
        return gates(value)

    def bias(shape: tuple[int, ...], value: Array) -> Array:
        i, f, j, o = np.split(gates(value), 4)
        return np.concatenate([i, f + np.asarray(forget_bias, value.dtype), j, o])

    return {
        f"{layer}/kernel": Converted(f"{cell}/kernel", kernel, kernel),
        f"{layer}/recurrent_kernel": Converted(f"{cell}/kernel", recurrent, recurrent),
        f"{layer}/bias": Converted(f"{cell}/bias", bias, bias_slots),
    }


def gru(layer: str, cell: str) -> dict[str, Converted]:
    """Maps a Keras GRU with `reset_after=False` on the variables of `tf.compat.v1.nn.rnn_cell.GRUCell`.

    Args:
      layer: The v1 name of the Keras cell (`gru/gru_cell`).
      cell: The cell's scope in the checkpoint (`rnn/gru_cell`).

    Returns:
      A dict to give, or to merge into, `name_map`. It is exact, optimizer slots included. A Keras GRU with
      `reset_after=True` computes another function, and its bias has another shape.
    """

    def joined(
        gates: Array, candidate: Array
    ) -> Array:  # TF1: reset, update. Keras: update, reset, candidate.
        reset, update = np.split(gates, 2, axis=-1)
        return np.concatenate([update, reset, candidate], axis=-1)

    def kernel(shape: tuple[int, ...], gates: Array, candidate: Array) -> Array:
        return joined(gates, candidate)[: shape[0]]

    def recurrent(shape: tuple[int, ...], gates: Array, candidate: Array) -> Array:
        return joined(gates, candidate)[-shape[0] :]

    def bias(shape: tuple[int, ...], gates: Array, candidate: Array) -> Array:
        return joined(gates, candidate)

    kernels = (f"{cell}/gates/kernel", f"{cell}/candidate/kernel")
    biases = (f"{cell}/gates/bias", f"{cell}/candidate/bias")
    return {
        f"{layer}/kernel": Converted(kernels, kernel, kernel),
        f"{layer}/recurrent_kernel": Converted(kernels, recurrent, recurrent),
        f"{layer}/bias": Converted(biases, bias, bias),
    }
