"""Keras 3 does not take optimizers of `tf.train`.

## What it does
Reports `model.compile` with an optimizer of `tf.train`, in the call or in a variable that it names, with the optimizer of
Keras that stands for it: one that takes the same steps, except for RMSProp, whose averages began at 1, and Ftrl.

## Why
Keras 3 raises `ValueError: Could not interpret optimizer identifier`; TensorFlow 1's Keras wrapped such an optimizer.

## Before
```python
import tensorflow as tf


def compiled(model):
    model.compile(optimizer=tf.train.MomentumOptimizer(0.1, 0.9), loss="mse")
    return model
```

## After
```python
import tensorflow.compat.v1 as tf


def compiled(model):
    # TODO(codemod TFB505): Keras 3 does not take tf.train.MomentumOptimizer. Use keras.optimizers.SGD(rate, momentum=momentum)
    model.compile(optimizer=tf.train.MomentumOptimizer(0.1, 0.9), loss="mse")
    return model
```

## Is it safe?
Only a comment is written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.names import Use
from codemod.proposals import Proposal
from codemod.rules import _keras
from codemod.rules.legacy_layers import chooses_legacy_keras

CODE = "TFB505"
TRIGGER = r"\.compile\b"

_KERAS = {
    "tf.train.AdadeltaOptimizer": "keras.optimizers.Adadelta(rate, epsilon=1e-8)",
    "tf.train.AdagradOptimizer": "keras.optimizers.Adagrad(rate, epsilon=0.0)",
    "tf.train.AdamOptimizer": "keras.optimizers.Adam(rate, epsilon=1e-8)",
    "tf.train.FtrlOptimizer": "keras.optimizers.Ftrl(rate)",
    "tf.train.GradientDescentOptimizer": "keras.optimizers.SGD(rate)",
    "tf.train.MomentumOptimizer": "keras.optimizers.SGD(rate, momentum=momentum)",
    "tf.train.RMSPropOptimizer": "keras.optimizers.RMSprop(rate, epsilon=1e-10), whose averages begin at 0 and not at 1",
}


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes a finding for each such call."""
    if chooses_legacy_keras(file):
        return
    for call in _keras.method_calls(file, frozenset({"compile"})):
        given = _keras.keyword(call, "optimizer") or (call.args[0] if call.args else None)
        use = _optimizer(file, given)
        if use is not None:
            yield file.finding(
                call,
                f"Keras 3 does not take {use.name}",
                why="TensorFlow 1's Keras wrapped optimizers of tf.train; Keras 3 raises ValueError.",
                remedy=f"Use {_KERAS[use.name]}.",
            )


def _optimizer(file: FileFacts, node: ast.expr | None) -> Use | None:
    """The optimizer that an argument is, or names."""
    if isinstance(node, ast.Name):
        bindings = file.names.lookup(node.id, file.names.scope_of(node))
        assigned = file.parent(bindings[0].node) if len(bindings) == 1 else None
        node = assigned.value if isinstance(assigned, ast.Assign) else None
    if not isinstance(node, ast.Call):
        return None
    use = file.use_of(node.func)
    return use if use is not None and use.name in _KERAS else None
