"""Recurrent layers of Keras 3 compute with other functions than those of TensorFlow 1.

## What it does
Reports `LSTM`, `GRU`, `ConvLSTM2D` and their cells, of `tf.keras`, without `recurrent_activation` (and `reset_after`, of GRU)
in files that otherwise use TensorFlow 1. In a file that stays on Keras 2 and has a session, the layer is taken from TensorFlow 1's
Keras.

## Why
In TensorFlow 1 the default of `recurrent_activation` was a hard sigmoid of its own slope, and GRU had `reset_after=False`. Keras 3
has a sigmoid, and `reset_after=True`, which gives GRU a bias of another shape. The program runs, and trains to other numbers;
weights of before give other predictions.

## Before
```python
import tensorflow as tf

tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))
layer = tf.keras.layers.LSTM(8)
```

## After
```python
import bridge
import tensorflow.compat.v1 as tf

bridge.apply_session_config(tf.ConfigProto(allow_soft_placement=True))
# TODO(codemod TFB702): tf.keras.layers.LSTM has another recurrent_activation in Keras 3. Pass recurrent_activation=lambda x: tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0) to compute as before, or import bridge.legacy_keras first
layer = tf.keras.layers.LSTM(8)
```

## Is it safe?
Safe: a comment is written, or the layer of before.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.proposals import Proposal
from codemod.rules import _keras
from codemod.rules.legacy_layers import chooses_legacy_keras, through_tensorflow_1

CODE = "TFB702"
TRIGGER = r"LSTM|GRU"

_LAYERS = ("LSTM", "LSTMCell", "GRU", "GRUCell", "ConvLSTM2D")
_ACTIVATION = "recurrent_activation=lambda x: tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)"


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes a finding for each such layer in files of TensorFlow 1; or TensorFlow 1's own layer, if they choose Keras 2."""
    if chooses_legacy_keras(file):
        yield from through_tensorflow_1(file, *(f"tf.keras.layers.{name}" for name in _LAYERS))
        return
    if not any(_is_of_tensorflow_1(file, use.name) for use in file.names.chains):
        return
    for use in file.calls(*(f"tf.keras.layers.{name}" for name in _LAYERS)):
        assert use.call is not None
        resets = "GRU" in use.name and _keras.keyword(use.call, "reset_after") is None
        given = _keras.keyword(use.call, "recurrent_activation") is not None
        if any(keyword.arg is None for keyword in use.call.keywords) or (given and not resets):
            continue
        lacking = ["recurrent_activation"] * (not given) + ["reset_after"] * resets
        passed = [_ACTIVATION] * (not given) + ["reset_after=False"] * resets
        yield file.finding(
            use.node,
            f"{use.name} has another {' and '.join(lacking)} in Keras 3",
            why="Its defaults are not those of TensorFlow 1: it trains to other numbers, and loaded weights predict others.",
            remedy=f"Pass {' and '.join(passed)} to compute as before, or import bridge.legacy_keras first.",
        )


def _is_of_tensorflow_1(file: FileFacts, name: str) -> bool:
    """Whether a use is of something that only TensorFlow 1 had."""
    return (
        name.startswith("tf.") and not name.startswith("tf.keras.") and not file.tables.exists_in_v2(name[3:])
    )
