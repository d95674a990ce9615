"""Slim, and what contrib shared with it, is in the package tf_slim.

## What it does
Writes `tf_slim` for `tf.contrib.slim`, and for those parts of `tf.contrib.layers`, `tf.contrib.framework`,
`tf.contrib.losses`, `tf.contrib.metrics` and `tf.contrib.training` that went there: layers, arg_scope, initializers,
regularizers, streaming metrics, `create_train_op`, evaluation. Where the file imports slim or gives it a name, only that
line changes.

## Why
`tf.contrib` was removed with TensorFlow 2. The package `tf_slim` (`pip install tf_slim`) holds the same code and imports on
today's TensorFlow. Some of its functions, `batch_norm` the most used of them, look for names that TensorFlow has moved since:
files that use one of those get `import bridge.legacy_slim`, which lets them find these. So do files that had moved to tf_slim by
themselves.

## Before
```python
import tensorflow as tf

slim = tf.contrib.slim


def network(images):
    net = slim.conv2d(images, 32, [3, 3], weights_regularizer=tf.contrib.layers.l2_regularizer(0.0005))
    net = slim.batch_norm(net, is_training=True)
    return slim.fully_connected(slim.flatten(net), 10)
```

## After
```python
import tf_slim
import bridge.legacy_slim
import tensorflow.compat.v1 as tf

slim = tf_slim


def network(images):
    net = slim.conv2d(images, 32, [3, 3], weights_regularizer=tf_slim.l2_regularizer(0.0005))
    net = slim.batch_norm(net, is_training=True)
    return slim.fully_connected(slim.flatten(net), 10)
```

## Is it safe?
Safe: the functions, their arguments and the names of their variables are the same. The program needs the package.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.proposals import Insertion, Proposal
from codemod.rules import _slim_names
from codemod.rules._moved import Target, moves

CODE = "TFB303"
TRIGGER = r"contrib|tf_slim"
LEGACY_SLIM = "bridge.legacy_slim"

# Inner modules that programs import from, with the public namespace that holds the same names.
_INNER = (
    ("tf.contrib.layers.python.layers.layers", "tf.contrib.layers"),
    ("tf.contrib.layers.python.layers.initializers", "tf.contrib.layers"),
    ("tf.contrib.layers.python.layers.regularizers", "tf.contrib.layers"),
    ("tf.contrib.layers.python.layers.optimizers", "tf.contrib.layers"),
    ("tf.contrib.layers.python.layers.normalization", "tf.contrib.layers"),
    ("tf.contrib.layers.python.layers.summaries", "tf.contrib.layers"),
    ("tf.contrib.layers.python.layers", "tf.contrib.layers"),
    ("tf.contrib.framework.python.ops.arg_scope", "tf.contrib.framework"),
    ("tf.contrib.framework.python.ops.variables", "tf.contrib.framework"),
    ("tf.contrib.framework.python.ops", "tf.contrib.framework"),
    ("tf.contrib.losses.python.losses.loss_ops", "tf.contrib.losses"),
    ("tf.contrib.losses.python.losses", "tf.contrib.losses"),
    ("tf.contrib.losses.python.metric_learning", "tf.contrib.losses.metric_learning"),
    ("tf.contrib.metrics.python.ops.metric_ops", "tf.contrib.metrics"),
    ("tf.contrib.training.python.training.training", "tf.contrib.training"),
    ("tf.contrib.training.python.training.evaluation", "tf.contrib.training"),
    ("tf.contrib.slim.python.slim.nets", "tf.contrib.slim.nets"),
    ("tf.contrib.slim.python.slim", "tf.contrib.slim"),
)

# Modules whose names tf_slim has at its top, not in a module that an alias could stand for.
_SCATTERED = tuple(
    f"tf.contrib.layers.python.layers.{name}"
    for name in ("initializers", "normalization", "optimizers", "regularizers", "summaries")
)


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes tf_slim for each use of what it took over, and what some of it needs besides."""
    yield from _legacy_slim(file)
    yield from moves(file, lambda name: name.startswith("tf.contrib."), find)


def _legacy_slim(file: FileFacts) -> Iterator[Proposal]:
    """The import that lets tf_slim find what TensorFlow has moved, where something looks for that."""
    if any(imported.raw == LEGACY_SLIM for imported in file.names.imports):
        return
    for use in file.names.chains:
        name = _name_in_slim(use.name)
        if name and _looks_for_what_has_moved(name):
            anchor = file.first_import or file.statement(use.root)
            yield file.edit(
                anchor,
                f"{name} looks for names that TensorFlow has moved: import {LEGACY_SLIM}",
                None,
                inserts=(Insertion(f"import {LEGACY_SLIM}", anchor),),
            )
            return


def _name_in_slim(name: str) -> str:
    """What a use is called in tf_slim; an empty string if it is not there."""
    if name.startswith("tf_slim."):
        return name
    target = find(name) if name.startswith("tf.contrib.") else None
    return target.name if target else ""


def _looks_for_what_has_moved(name: str) -> bool:
    return not _slim_names.NEED_LEGACY_SLIM.isdisjoint(name.split(".")[1:])


def find(name: str) -> Target | None:
    """Where a name of contrib is in tf_slim, if it is there."""
    for inner, public in _INNER:
        if name.startswith(f"{inner}.") or name == inner:
            if name == inner and inner == "tf.contrib.framework.python.ops.arg_scope":
                return Target("tf_slim.arg_scope")  # The function hides the module of its name.
            if name == inner and (public == "tf.contrib.framework" or inner in _SCATTERED):
                return None
            name = public + name[len(inner) :]
            break
    parts = name.split(".")[2:]
    handler = _NAMESPACES.get(parts[0]) if parts else None
    return handler(parts[1:]) if handler else None


def _slim(parts: list[str]) -> Target | None:
    if not parts:
        return Target("tf_slim", namespace=True)
    first, rest = parts[0], parts[1:]
    if first in _slim_names.SLIM:
        return Target(f"tf_slim.{first}") if not rest else None
    if first == "nets":
        return _nets(rest)
    handler = _NAMESPACES.get(first)
    if handler and first in _slim_names.MODULES:
        return handler(rest)
    if first in _slim_names.MODULES and len(rest) <= 1:
        return Target(".".join(["tf_slim", first, *rest]), namespace=not rest)
    return None


def _nets(parts: list[str]) -> Target | None:
    if not parts:
        return Target("tf_slim.nets", "tf_slim.nets", namespace=True)
    if parts[0] not in _slim_names.NETS or len(parts) > 2:
        return None
    return Target(".".join(["tf_slim.nets", *parts]), "tf_slim.nets", namespace=len(parts) == 1)


def _layers(parts: list[str]) -> Target | None:
    if not parts:
        return Target("tf_slim.layers", namespace=True)
    if parts[0] == "utils":
        known = len(parts) == 1 or (len(parts) == 2 and parts[1] in _slim_names.UTILS)
        name = ".".join(["tf_slim.layers.utils", *parts[1:]])
        return Target(name, namespace=len(parts) == 1) if known else None
    if len(parts) > 1 or parts[0] not in _slim_names.LAYERS:
        return None
    outside = parts[0] in _slim_names.OUTSIDE_LAYERS
    return Target(f"tf_slim.{parts[0]}" if outside else f"tf_slim.layers.{parts[0]}")


def _framework(parts: list[str]) -> Target | None:
    if parts[:1] == ["arg_scope"] and len(parts) == 2:
        parts = parts[1:]  # The module of that name.
    if len(parts) == 1 and parts[0] in _slim_names.FRAMEWORK:
        return Target(f"tf_slim.{parts[0]}")
    return None


def _losses(parts: list[str]) -> Target | None:
    if parts[:1] == ["metric_learning"]:
        known = len(parts) == 1 or (len(parts) == 2 and parts[1] in _slim_names.METRIC_LEARNING)
        return Target(".".join(["tf_slim.losses", *parts]), namespace=len(parts) == 1) if known else None
    return _member("losses", _slim_names.LOSSES, parts)


def _metrics(parts: list[str]) -> Target | None:
    return _member("metrics", _slim_names.METRICS, parts)


def _training(parts: list[str]) -> Target | None:
    if parts == ["evaluate_once"]:
        # Slim has another function of that name.
        return Target("tf_slim.evaluation.evaluation.evaluate_once")
    if len(parts) == 1 and parts[0] in _slim_names.EVALUATION - {"checkpoints_iterator"}:
        return Target(f"tf_slim.evaluation.{parts[0]}")
    if len(parts) == 1 and parts[0] in _slim_names.TRAINING:
        return Target(f"tf_slim.training.{parts[0]}")
    return None


def _member(namespace: str, names: frozenset[str], parts: list[str]) -> Target | None:
    if not parts:
        return Target(f"tf_slim.{namespace}", namespace=True)
    return Target(f"tf_slim.{namespace}.{parts[0]}") if len(parts) == 1 and parts[0] in names else None


_NAMESPACES = {
    "slim": _slim,
    "layers": _layers,
    "framework": _framework,
    "losses": _losses,
    "metrics": _metrics,
    "training": _training,
}
