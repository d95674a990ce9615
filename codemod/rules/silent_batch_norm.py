"""Batch normalization of Keras 3 in a graph of TensorFlow 1 never updates its averages.

## What it does
Reports `tf.keras.layers.BatchNormalization` in files that build a graph and train it themselves, without `fit` and without
Keras 2.

## Why
In a graph of TensorFlow 1 somebody has to run the update ops of the moving averages: those in
`tf.GraphKeys.UPDATE_OPS`, or `model.updates`. Layers of Keras 3 make neither. The program trains without an error, and
evaluates with the averages that it began with.

## Before
```python
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
y = tf.keras.layers.BatchNormalization()(x, training=True)
train_op = tf.train.AdamOptimizer().minimize(tf.reduce_sum(y))
```

## After
```python
import tensorflow.compat.v1 as tf

x = tf.placeholder(tf.float32, [None, 3])
# TODO(codemod TFB701): the moving averages of this layer are never updated in a TF1 graph under Keras 3. Import bridge.legacy_keras first, which makes tf.keras Keras 2, or train with fit
y = tf.keras.layers.BatchNormalization()(x, training=True)
train_op = tf.train.AdamOptimizer().minimize(tf.reduce_sum(y))
```

## Is it safe?
Only a comment is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.proposals import Proposal
from codemod.rules import _keras
from codemod.rules.legacy_layers import chooses_legacy_keras, is_legacy

CODE = "TFB701"
TRIGGER = r"BatchNormalization"

_LAYERS = tuple(
    f"{home}.{name}"
    for home in ("tf.keras.layers", "keras.layers")
    for name in ("BatchNormalization", "SpectralNormalization")
)


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes a finding for each such layer."""
    if chooses_legacy_keras(file) or any(is_legacy(use.name) for use in file.names.chains):
        return
    if any(_keras.method_calls(file, _keras.TRAINING)) or not any(_keras.graph_uses(file)):
        return
    for use in file.calls(*_LAYERS):
        yield file.finding(
            use.node,
            "the moving averages of this layer are never updated in a TF1 graph under Keras 3",
            why="Layers of Keras 3 put nothing in tf.GraphKeys.UPDATE_OPS and have no updates; the program trains on without an error.",
            remedy="Import bridge.legacy_keras first, which makes tf.keras Keras 2, or train with fit.",
        )
