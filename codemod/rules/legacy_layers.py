"""`tf.layers` and `tf.nn.rnn_cell` work under tf_keras, which `bridge.legacy_keras` chooses.

## What it does
Adds `import bridge.legacy_keras` before the TensorFlow import of a file that uses `tf.layers` or the cells of
`tf.nn.rnn_cell`; those uses stay as they are. Cells and functions of `tf.contrib.rnn` that `tf.nn` has too are written with
that name.

## Why
Under Keras 3, which today's TensorFlow brings, `tf.layers.dense` and `tf.nn.rnn_cell.LSTMCell` raise. The package tf_keras
(`pip install tf_keras`) has them, with the variables, names and update ops of TensorFlow 1. Which of the two it is gets
decided when Keras is first used in a process: so the line stands first.

## Before
```python
import tensorflow as tf


def network(images, training):
    net = tf.layers.dense(images, 32)
    net = tf.layers.batch_normalization(net, training=training)
    return tf.nn.dynamic_rnn(tf.contrib.rnn.GRUCell(16), net[:, None], dtype=tf.float32)
```

## After
```python
import bridge.legacy_keras
import tensorflow.compat.v1 as tf


def network(images, training):
    net = tf.layers.dense(images, 32)
    net = tf.layers.batch_normalization(net, training=training)
    return tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(16), net[:, None], dtype=tf.float32)
```

## Is it safe?
Safe: it is the code of TensorFlow 1. The program needs the package, and `tf.keras` is Keras 2 in all of it; a program
that has used Keras 3 before gets an error that says so.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.names import Use
from codemod.proposals import Insertion, Proposal
from codemod.rules._moved import Target, moves, written

CODE = "TFB302"
TRIGGER = r"layers|rnn"
LEGACY_KERAS = "bridge.legacy_keras"
_WITHOUT_EAGER = (
    "tf.Session",
    "tf.InteractiveSession",
    "tf.disable_v2_behavior",
    "tf.disable_eager_execution",
)
_CHOSEN: weakref.WeakSet[FileFacts] = weakref.WeakSet()


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CELLS = _names(
    """
    BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell LSTMStateTuple MultiRNNCell RNNCell
    ResidualWrapper
    """
)
_FUNCTIONS = _names(
    "static_rnn static_bidirectional_rnn static_state_saving_rnn dynamic_rnn bidirectional_dynamic_rnn raw_rnn"
)
_LAYERS = _names(
    """
    AveragePooling1D AveragePooling2D AveragePooling3D BatchNormalization Conv1D Conv2D Conv2DTranspose Conv3D
    Conv3DTranspose Dense Dropout Flatten InputSpec Layer MaxPooling1D MaxPooling2D MaxPooling3D SeparableConv1D
    SeparableConv2D average_pooling1d average_pooling2d average_pooling3d batch_normalization conv1d conv2d
    conv2d_transpose conv3d conv3d_transpose dense dropout experimental flatten max_pooling1d max_pooling2d max_pooling3d
    separable_conv1d separable_conv2d
    """
)


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the names of `tf.nn`, and the choice of tf_keras."""
    yield from moves(file, _belongs, _moved)
    legacy = [use for use in file.names.chains if is_legacy(use.name) or _is_moved_to_legacy(use)]
    if not legacy:
        return
    for use in legacy:
        if use.root not in file.taken and use.binding is not None and use.binding.kind == "import":
            spelled = file.spell(use.name, use.node)
            if spelled != file.source(use.node):
                yield file.rename(use, use.name, f"{use.raw} is {use.name}")
    if not imports_legacy_keras(file):
        note_choice(file)
        anchor = file.first_import or file.statement(legacy[0].root)
        insertion = Insertion(f"import {LEGACY_KERAS}", anchor)
        yield file.edit(
            anchor,
            f"tf.layers and tf.nn.rnn_cell need Keras 2: import {LEGACY_KERAS}",
            None,
            takes=tuple(legacy),
            inserts=(insertion,),
        )


def is_legacy(name: str) -> bool:
    """Whether a canonical name is there under tf_keras and not under Keras 3."""
    for namespace, members in (("tf.layers", _LAYERS), ("tf.nn.rnn_cell", _CELLS)):
        if name == namespace:
            return True
        if name.startswith(f"{namespace}."):
            return name[len(namespace) + 1 :].partition(".")[0] in members
    return False


def chooses_legacy_keras(file: FileFacts) -> bool:
    """Whether the file imports `bridge.legacy_keras`, or an earlier rule has proposed that it do."""
    return file in _CHOSEN or imports_legacy_keras(file)


def note_choice(file: FileFacts) -> None:
    """Notes that a rule has proposed to import `bridge.legacy_keras`."""
    _CHOSEN.add(file)


def through_tensorflow_1(file: FileFacts, *names: str) -> Iterator[Proposal]:
    """Takes names of `tf.keras` from TensorFlow 1's Keras, in a file of Keras 2 that has a session.

    Imported from `tensorflow.keras` they are those of TensorFlow 2's: the optimizers need eager execution, and the recurrent layers
    have other defaults.
    """
    if not any(True for _ in file.all_uses(*_WITHOUT_EAGER)):
        return
    prefix = ""
    for use in file.uses(*names):
        if use.binding is None or use.binding.kind != "import" or file.means_v1(use.binding):
            continue
        prefix = prefix or file.spell("tf.Session", use.node).removesuffix("Session")
        new = f"{prefix}{use.name[3:]}"
        yield file.edit(use.node, f"{use.name} of TensorFlow 1's Keras is {new} under Keras 2", written(new))


def imports_legacy_keras(file: FileFacts) -> bool:
    """Whether the file imports `bridge.legacy_keras` already."""
    return any(imported.raw == LEGACY_KERAS for imported in file.names.imports)


def _belongs(name: str) -> bool:
    return name.startswith(("tf.contrib.rnn", "tf.contrib.layers.python.layers.rnn"))


def _is_moved_to_legacy(use: Use) -> bool:
    if not _belongs(use.name):
        return False
    target = _moved(use.name)
    return target is not None and is_legacy(target.name)


def _moved(name: str) -> Target | None:
    parts = name.split(".")
    if parts[:3] != ["tf", "contrib", "rnn"] or len(parts) < 4:
        return None
    leaf = parts[-1]
    if len(parts) > 4 and "core_rnn_cell" not in parts and "rnn_cell" not in parts and "rnn" not in parts[3:]:
        return None
    if leaf in _CELLS:
        return Target(f"tf.nn.rnn_cell.{leaf}")
    if leaf in _FUNCTIONS:
        return Target(f"tf.nn.{leaf}")
    return None
