"""What contrib had and TensorFlow or the bridge has now is written with its present name.

## What it does
Writes the present name of functions and classes of `tf.contrib` that live on: the global step and checkpoint functions of
`contrib.framework`, `contrib.data` (as `tf.data.experimental`), `contrib.lookup`, `contrib.signal`, `contrib.linalg`,
`contrib.distributions` and others; `contrib.seq2seq.sequence_loss` as `bridge.seq2seq.sequence_loss`; `contrib.training.HParams` as `bridge.hparams.HParams`; and
`dataset.apply(tf.contrib.data.batch_and_drop_remainder(n))` as `dataset.batch(n, drop_remainder=True)`.

## Why
`tf.contrib` was removed with TensorFlow 2. These parts of it moved on, or have a class of the same behaviour here.

## Before
```python
import tensorflow as tf
from tensorflow.contrib.training import HParams

hparams = HParams(rate=0.1)


def input_fn(words):
    table = tf.contrib.lookup.index_table_from_tensor(["good", "bad"])
    dataset = tf.data.Dataset.from_tensor_slices(words).map(table.lookup)
    return dataset.apply(tf.contrib.data.batch_and_drop_remainder(8))


def step():
    return tf.contrib.framework.get_or_create_global_step()
```

## After
```python
import bridge.lookup
import tensorflow.compat.v1 as tf
from bridge.hparams import HParams

hparams = HParams(rate=0.1)


def input_fn(words):
    table = bridge.lookup.index_table_from_tensor(["good", "bad"])
    dataset = tf.data.Dataset.from_tensor_slices(words).map(table.lookup)
    return dataset.batch(8, drop_remainder=True)


def step():
    return tf.train.get_or_create_global_step()
```

## Is it safe?
Safe: the same functions and classes, or ones of the same behaviour.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.names import Use
from codemod.proposals import Make, Proposal
from codemod.rules._moved import Find, Target, moves

if TYPE_CHECKING:
    import libcst as cst

CODE = "TFB304"
TRIGGER = r"contrib"

# Namespaces that TensorFlow took in; a name has moved if it is found there.
_TAKEN_IN = {
    "tf.contrib.data": "tf.data.experimental",
    "tf.contrib.distributions": "tf.distributions",
    "tf.contrib.signal": "tf.signal",
    "tf.contrib.linalg": "tf.linalg",
    "tf.contrib.cluster_resolver": "tf.distribute.cluster_resolver",
    "tf.contrib.autograph": "tf.autograph",
    "tf.contrib.framework.nest": "tf.nest",
    "tf.contrib.learn.python.learn.monitored_session": "tf.train",
    "tf.contrib.learn.python.learn.basic_session_run_hooks": "tf.train",
    "tf.contrib.learn.python.learn.session_run_hook": "tf.train",
}

_TRAIN = """
    assert_global_step create_global_step get_global_step get_or_create_global_step init_from_checkpoint list_variables
    load_checkpoint load_variable
"""
_LOOKUP = """
    index_table_from_tensor index_table_from_file index_to_string_table_from_tensor index_to_string_table_from_file
"""
# Where these took `hasher_spec`.
_HASHERS = {"index_table_from_tensor": 3, "index_table_from_file": 4}
_ONE_BY_ONE = {
    **{f"tf.contrib.framework.{name}": f"tf.train.{name}" for name in _TRAIN.split()},
    **{f"tf.contrib.framework.python.ops.variables.{name}": f"tf.train.{name}" for name in _TRAIN.split()},
    **{f"tf.contrib.lookup.{name}": f"bridge.lookup.{name}" for name in _LOOKUP.split()},
    "tf.contrib.lookup.HashTable": "tf.lookup.StaticHashTable",
    "tf.contrib.lookup.KeyValueTensorInitializer": "tf.lookup.KeyValueTensorInitializer",
    "tf.contrib.lookup.TextFileInitializer": "tf.lookup.TextFileInitializer",
    "tf.contrib.lookup.TextFileIndex": "tf.lookup.TextFileIndex",
    "tf.contrib.lookup.MutableHashTable": "tf.lookup.experimental.MutableHashTable",
    "tf.contrib.lookup.MutableDenseHashTable": "tf.lookup.experimental.DenseHashTable",
    "tf.contrib.data.Dataset": "tf.data.Dataset",
    "tf.contrib.data.Iterator": "tf.data.Iterator",
    "tf.contrib.data.TFRecordDataset": "tf.data.TFRecordDataset",
    "tf.contrib.data.TextLineDataset": "tf.data.TextLineDataset",
    "tf.contrib.data.FixedLengthRecordDataset": "tf.data.FixedLengthRecordDataset",
    "tf.contrib.framework.nest.is_sequence": "tf.nest.is_nested",
    "tf.contrib.framework.is_tensor": "tf.is_tensor",
    "tf.contrib.framework.TensorSpec": "tf.TensorSpec",
    "tf.contrib.layers.safe_embedding_lookup_sparse": "tf.nn.safe_embedding_lookup_sparse",
    "tf.contrib.metrics.confusion_matrix": "tf.confusion_matrix",
    "tf.contrib.metrics.set_difference": "tf.sets.set_difference",
    "tf.contrib.metrics.set_intersection": "tf.sets.set_intersection",
    "tf.contrib.metrics.set_size": "tf.sets.set_size",
    "tf.contrib.metrics.set_union": "tf.sets.set_union",
    "tf.contrib.stateless.stateless_random_normal": "tf.random.stateless_normal",
    "tf.contrib.stateless.stateless_random_uniform": "tf.random.stateless_uniform",
    "tf.contrib.stateless.stateless_truncated_normal": "tf.random.stateless_truncated_normal",
    "tf.contrib.util.constant_value": "tf.get_static_value",
    "tf.contrib.util.make_ndarray": "tf.make_ndarray",
    "tf.contrib.util.make_tensor_proto": "tf.make_tensor_proto",
    "tf.contrib.training.HParams": "bridge.hparams.HParams",
    "tf.contrib.training.python.training.hparam.HParams": "bridge.hparams.HParams",
    "tf.contrib.seq2seq.sequence_loss": "bridge.seq2seq.sequence_loss",
    "tf.contrib.training.checkpoints_iterator": "tf.train.checkpoints_iterator",
    "tf.contrib.training.python.training.evaluation.checkpoints_iterator": "tf.train.checkpoints_iterator",
    "tf.contrib.hooks.ProfilerHook": "tf.train.ProfilerHook",
    "tf.contrib.eager.enable_eager_execution": "tf.enable_eager_execution",
    "tf.contrib.eager.executing_eagerly": "tf.executing_eagerly",
}

# `dataset.apply(tf.contrib.data.X(…))` as a method of the data set; the arguments are the same, in the same order.
_METHODS = {
    "tf.contrib.data.batch_and_drop_remainder": "batch",
    "tf.contrib.data.padded_batch_and_drop_remainder": "padded_batch",
}


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the present name of each use."""
    for use in file.calls(*_METHODS):
        yield from _as_method(file, use)
    for use in file.calls(*(f"tf.contrib.lookup.{name}" for name in _LOOKUP.split())):
        yield from _old_arguments(file, use)
    yield from moves(file, lambda name: name.startswith("tf.contrib."), _find(file))


def _find(file: FileFacts) -> Find:
    def find(name: str) -> Target | None:
        if name in _TAKEN_IN:
            return Target(_TAKEN_IN[name], namespace=True)
        if name == "tf.contrib.lookup":
            return Target("bridge.lookup", "bridge.lookup", namespace=True)
        new = _ONE_BY_ONE.get(name, "")
        if not new:
            home, _, leaf = name.rpartition(".")
            new = f"{_TAKEN_IN[home]}.{leaf}" if home in _TAKEN_IN else ""
        if new.startswith("tf.") and not file.tables.exists(new):
            return None
        return Target(new, new.rpartition(".")[0] if new.startswith("bridge.") else "") if new else None

    return find


def _old_arguments(file: FileFacts, use: Use) -> Iterator[Proposal]:
    """Old contrib called the first argument `mapping`, and took the way in which words hash."""
    assert use.call is not None
    place = _HASHERS.get(use.name.rpartition(".")[2])
    names = {keyword.arg for keyword in use.call.keywords}
    if "hasher_spec" in names or None in names or (place is not None and len(use.call.args) > place):
        yield file.finding(
            use.node,
            f"{use.name} has no argument 'hasher_spec' in its successor",
            remedy=f"Call bridge.lookup.{use.name.rpartition('.')[2]} without it; words hash as by default.",
        )
        return
    for keyword in use.call.keywords:
        if keyword.arg == "mapping":
            yield file.edit(
                keyword, "bridge.lookup calls the mapping of a table its vocabulary_list", _vocabulary_list
            )


def _vocabulary_list(node: cst.CSTNode) -> cst.CSTNode:
    import libcst as cst

    return cst.ensure_type(node, cst.Arg).with_changes(keyword=cst.Name("vocabulary_list"))


def _as_method(file: FileFacts, use: Use) -> Iterator[Proposal]:
    outer = file.parent(use.call) if use.call is not None else None
    if not (
        isinstance(outer, ast.Call)
        and isinstance(outer.func, ast.Attribute)
        and outer.func.attr == "apply"
        and outer.args == [use.call]
        and not outer.keywords
    ):
        return
    method = _METHODS[use.name]
    inside = file.source(outer)[len(file.source(outer.func)) :]
    yield file.edit(
        outer,
        f"{use.name} is the data set's method: {method}(…, drop_remainder=True)",
        _call_of_method(method),
        takes=(use,),
        fix="unsafe" if "#" in inside else "safe",
    )


def _call_of_method(method: str) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        from codemod import cst_tools

        outer = cst.ensure_type(node, cst.Call)
        inner = cst.ensure_type(outer.args[0].value, cst.Call)
        func = cst.ensure_type(outer.func, cst.Attribute).with_changes(attr=cst.Name(method))
        return cst_tools.with_argument(
            outer.with_changes(func=func, args=inner.args), "drop_remainder", "True"
        )

    return make
