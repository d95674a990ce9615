"""Names that TensorFlow has moved are written as they are called today.

## What it does
Writes the new name where TensorFlow's own table of renames (read from the installed package) knows one for a name that is
gone: `tf.contrib.data.Counter` is `tf.data.experimental.Counter`, `tf.contrib.framework.sort` is `tf.sort`. A few names from
before TensorFlow 1.0 are known besides.

The table also renames names that still exist in `tensorflow.compat.v1`. Those stay: fewer lines change, and TF1's own
functions have TF1's arguments, so nothing has to be reordered.

## Why
The old name raises `AttributeError` on today's TensorFlow.

## Before
```python
import tensorflow as tf


def order(values):
    return tf.contrib.framework.sort(tf.placeholder_with_default(values, [None]))
```

## After
```python
import tensorflow.compat.v1 as tf


def order(values):
    return tf.sort(tf.placeholder_with_default(values, [None]))
```

## Is it safe?
Safe: same function, same arguments. Keras losses and metrics that changed their name are an unsafe fix, because Keras 3 has
its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.names import Use
from codemod.proposals import Proposal
from codemod.reached import is_awaited
from codemod.results import Fix

CODE = "TFB301"
TRIGGER = r"tensorflow"

# From before TensorFlow 1.0; same arguments.
_ANCIENT = {
    "tf.pack": "tf.stack",
    "tf.unpack": "tf.unstack",
    "tf.mul": "tf.multiply",
    "tf.sub": "tf.subtract",
    "tf.neg": "tf.negative",
    "tf.select": "tf.where",
    "tf.complex_abs": "tf.abs",
    "tf.merge_all_summaries": "tf.summary.merge_all",
    "tf.merge_summary": "tf.summary.merge",
    "tf.scalar_summary": "tf.summary.scalar",
    "tf.histogram_summary": "tf.summary.histogram",
    "tf.train.SummaryWriter": "tf.summary.FileWriter",
    "tf.train.SummaryWriterCache": "tf.summary.FileWriterCache",
    "tf.initialize_tables": "tf.tables_initializer",
}

# The table knows a name for these, but a function that wants other arguments: a step, for instance.
_OTHERS = ("tf.contrib.summary.",)

# These took the tag as it is; today's make a name of it, and scope it.
_UNSAFE = frozenset({"tf.scalar_summary", "tf.histogram_summary"})


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the new name of each use of a name that is gone and that a table knows."""
    for use in file.names.chains:
        if use.root in file.taken or not use.name.startswith("tf.") or file.tables.exists(use.name):
            continue
        for part in file.names.parts(use):
            target = _target(file, part)
            if target and not is_awaited(file, part.node):
                yield file.rename(part, target, f"{part.name} is {target}", fix=_fix(part.name))
                break


def _target(file: FileFacts, use: Use) -> str:
    """The canonical name that a use has today, or an empty string."""
    new = _ANCIENT.get(use.name) or file.tables.renames.get(use.name, "")
    if not new or file.tables.exists(use.name) or use.name.startswith(_OTHERS):
        return ""
    name = file.tables.canonical("tensorflow" + new[2:])
    if file.tables.exists(name):
        return name
    return f"tf.compat.v2.{name[3:]}" if file.tables.exists_in_v2(name[3:]) else ""


def _fix(name: str) -> Fix:
    return "unsafe" if name in _UNSAFE or name.startswith(("tf.keras.", "tf.layers.")) else "safe"
