"""The output of a transposed convolution has no static batch size if its input has none.

## What it does
Reports `tf.nn.conv2d_transpose` where its result is reshaped to its own static shape, as programs do to add a bias.

## Why
TensorFlow 1 knew the whole shape of the result from `output_shape`. Today's leaves the batch size open where that of the input
is: `tf.reshape` raises `ValueError: Cannot convert a partially known TensorShape to a Tensor`.

## Before
```python
import tensorflow as tf


def deconv2d(images, weights, biases, shape):
    deconv = tf.nn.conv2d_transpose(images, weights, output_shape=shape, strides=[1, 2, 2, 1])
    return tf.reshape(tf.nn.bias_add(deconv, biases), deconv.get_shape())
```

## After
```python
import tensorflow as tf


def deconv2d(images, weights, biases, shape):
    # TODO(codemod TFB703): the result of tf.nn.conv2d_transpose has no static batch size if its input has none. Add deconv.set_shape(shape) behind it, if shape holds numbers only
    deconv = tf.nn.conv2d_transpose(images, weights, output_shape=shape, strides=[1, 2, 2, 1])
    return tf.reshape(tf.nn.bias_add(deconv, biases), deconv.get_shape())
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

CODE = "TFB703"
TRIGGER = r"conv[23]d_transpose"


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes a finding for each such call."""
    reshaped = None
    for use in file.calls("tf.nn.conv2d_transpose", "tf.nn.conv3d_transpose"):
        reshaped = reshaped or [call for use in file.calls("tf.reshape") if (call := use.call) is not None]
        name, shape = _target(file, use), _shape(use)
        if name is None or shape is None or _is_set(file, name.id):
            continue
        scope = file.names.scope_of(name)
        if any(_to_own_shape(call, name.id) and file.names.scope_of(call) is scope for call in reshaped):
            text = file.source(shape)
            yield file.finding(
                use.node,
                f"the result of {use.name} has no static batch size if its input has none",
                why="TensorFlow 1 took it from output_shape; today tf.reshape to the static shape raises ValueError.",
                remedy=f"Add {name.id}.set_shape({text}) behind it, if {text} holds numbers only.",
            )


def _target(file: FileFacts, use: Use) -> ast.Name | None:
    statement = file.statement(use.node)
    if isinstance(statement, ast.Assign) and statement.value is use.call and len(statement.targets) == 1:
        target = statement.targets[0]
        return target if isinstance(target, ast.Name) else None
    return None


def _is_set(file: FileFacts, name: str) -> bool:
    """Whether the file sets the static shape of something of that name."""
    attributes = (node for node in file.nodes(ast.Attribute) if node.attr == "set_shape")
    return any(isinstance(node.value, ast.Name) and node.value.id == name for node in attributes)


def _shape(use: Use) -> ast.expr | None:
    assert use.call is not None
    given = use.call.args[2] if len(use.call.args) > 2 else _keras.keyword(use.call, "output_shape")
    return given if isinstance(given, ast.Name | ast.Attribute | ast.List | ast.Tuple) else None


def _to_own_shape(call: ast.Call, name: str) -> bool:
    """Whether a call reshapes to `name.get_shape()` or `name.shape`."""
    shape = call.args[1] if len(call.args) > 1 else _keras.keyword(call, "shape")
    if isinstance(shape, ast.Call):
        shape = shape.func
    return (
        isinstance(shape, ast.Attribute)
        and shape.attr in ("get_shape", "shape")
        and isinstance(shape.value, ast.Name)
        and shape.value.id == name
    )
