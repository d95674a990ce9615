"""Names of Keras that have moved are written as Keras 3 has them.

## What it does
Writes the present place of classes and functions that programs took from Keras's inner modules
(`keras.layers.core.Dense`, `keras.utils.np_utils.to_categorical`, `keras.engine.topology.Layer`), and
`mixed_precision.set_global_policy` for the experimental `set_policy`. `CuDNNLSTM` and `CuDNNGRU` are `LSTM` and `GRU`.

## Why
Keras 3 hides its inner modules; the public names were there in Keras 2 already.

## Before
```python
import tensorflow as tf
from keras.layers.core import Dense, Dropout
from keras.utils import np_utils


def layers(labels):
    return Dense(3), Dropout(0.5), tf.constant(np_utils.to_categorical(labels))
```

## After
```python
import tensorflow as tf
from keras.layers import Dense, Dropout
from keras import utils as np_utils


def layers(labels):
    return Dense(3), Dropout(0.5), tf.constant(np_utils.to_categorical(labels))
```

## Is it safe?
Safe: the same things. The layers for cuDNN are an unsafe fix, since they were for GPUs only and their weights have another form.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.proposals import Proposal
from codemod.rules._moved import Find, Target, moves
from codemod.rules.legacy_layers import chooses_legacy_keras

CODE = "TFB504"
TRIGGER = r"keras"

# Inner modules, below `keras` or `tf.keras`, and the public module that has what they held.
_INNER = {
    "backend.tensorflow_backend": "backend",
    "engine.base_layer": "layers",
    "engine.topology": "layers",
    "layers.advanced_activations": "layers",
    "layers.convolutional": "layers",
    "layers.core": "layers",
    "layers.embeddings": "layers",
    "layers.merge": "layers",
    "layers.noise": "layers",
    "layers.normalization": "layers",
    "layers.pooling": "layers",
    "layers.recurrent": "layers",
    "layers.wrappers": "layers",
    "utils.data_utils": "utils",
    "utils.io_utils": "utils",
    "utils.np_utils": "utils",
    "utils.vis_utils": "utils",
    "utils.generic_utils": "utils",
}
_ONE_BY_ONE = {
    "engine.Input": "Input",
    "engine.InputSpec": "layers.InputSpec",
    "engine.Layer": "layers.Layer",
    "engine.Model": "Model",
    "engine.topology.Input": "Input",
    "engine.topology.Layer": "layers.Layer",
    "engine.training.Model": "Model",
    "mixed_precision.experimental.global_policy": "mixed_precision.dtype_policy",
    "mixed_precision.experimental.set_policy": "mixed_precision.set_global_policy",
}
_FOR_GPUS = {"layers.CuDNNLSTM": "layers.LSTM", "layers.CuDNNGRU": "layers.GRU"}


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the present name of each use; files of Keras 2 keep theirs."""
    if not chooses_legacy_keras(file):
        yield from moves(file, lambda name: name.startswith(("keras.", "tf.keras.")), _find(file))


def _find(file: FileFacts) -> Find:
    def find(name: str) -> Target | None:
        package, rest = ("tf.keras", name[9:]) if name.startswith("tf.keras.") else ("keras", name[6:])
        if file.tables.exists(name):
            return None
        if rest in _FOR_GPUS:
            why = "It was for GPUs only, and its weights have another form."
            return Target(f"{package}.{_FOR_GPUS[rest]}", fix="unsafe", why=why)
        if rest in _INNER:
            return Target(f"{package}.{_INNER[rest]}", namespace=True)
        home, _, leaf = rest.rpartition(".")
        new = _ONE_BY_ONE.get(rest) or (f"{_INNER[home]}.{leaf}" if home in _INNER else "")
        return Target(f"{package}.{new}") if new and file.tables.exists(f"{package}.{new}") else None

    return find
