"""Run configurations and input functions of `tf.contrib.learn` are those of `bridge.estimator`.

## What it does
Writes `bridge.estimator.RunConfig` for `tf.contrib.learn.RunConfig` where every argument is one that both have, and
`bridge.estimator.inputs.numpy_input_fn` and `pandas_input_fn` for those of `tf.contrib.learn`, with the `shuffle=True` that
was their default.

## Why
`tf.contrib` was removed with TensorFlow 2. `tf.estimator` took these over long before that.

## Before
```python
from tensorflow.contrib import learn
from tensorflow.contrib.learn.python.learn.learn_io import numpy_io


def make(x, y):
    config = learn.RunConfig(save_checkpoints_steps=100, tf_random_seed=3)
    return config, numpy_io.numpy_input_fn({"x": x}, y, batch_size=8)
```

## After
```python
import bridge


def make(x, y):
    config = bridge.estimator.RunConfig(save_checkpoints_steps=100, tf_random_seed=3)
    return config, bridge.estimator.inputs.numpy_input_fn({"x": x}, y, batch_size=8, shuffle=True)
```

## Is it safe?
Safe: both had the same defaults, but for the one that is written out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.names import Use
from codemod.proposals import Make, Proposal
from codemod.rules._estimator_names import learn_name

if TYPE_CHECKING:
    import libcst as cst

CODE = "TFB603"
TRIGGER = r"RunConfig|numpy_input_fn|pandas_input_fn"

# What `tf.contrib.learn.RunConfig` had in common with its successor. The others described a cluster and its session.
_SHARED = """
    keep_checkpoint_every_n_hours keep_checkpoint_max log_step_count_steps model_dir protocol save_checkpoints_secs
    save_checkpoints_steps save_summary_steps session_config session_creation_timeout_secs tf_random_seed
"""
_SHUFFLE = 4  # x, y, batch_size, num_epochs, shuffle


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the bridge's name for each call that means the same there."""
    for use in file.names.chains:
        name = learn_name(use.name)
        if use.root in file.taken or use.call is None or name is None:
            continue
        if name == "RunConfig" and _is_shared(use.call):
            yield file.rename(use, "bridge.estimator.RunConfig", f"{use.name} is bridge.estimator.RunConfig")
        leaf = name.rpartition(".")[2]
        if leaf in ("numpy_input_fn", "pandas_input_fn") and not _has_stars(use.call):
            yield _input_fn(file, use, use.call, f"bridge.estimator.inputs.{leaf}")


def _is_shared(call: ast.Call) -> bool:
    return not call.args and all(keyword.arg in _SHARED.split() for keyword in call.keywords)


def _has_stars(call: ast.Call) -> bool:
    return any(keyword.arg is None for keyword in call.keywords) or any(
        isinstance(a, ast.Starred) for a in call.args
    )


def _input_fn(file: FileFacts, use: Use, call: ast.Call, new: str) -> Proposal:
    given = len(call.args) > _SHUFFLE or any(keyword.arg == "shuffle" for keyword in call.keywords)
    make = _called(file.spell(new, use.node), shuffle=not given)
    return file.edit(call, f"{use.name} is {new}", make)


def _called(spelled: str, *, shuffle: bool) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        from codemod import cst_tools

        new = cst_tools.with_callee(node, spelled)
        return cst_tools.with_argument(new, "shuffle", "True") if shuffle else new

    return make
