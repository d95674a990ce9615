"""What runs of a session are for: which one of several is the step, and which only look or prepare."""

from __future__ import annotations

import ast
from collections.abc import Collection

from codemod.facts import FileFacts
from codemod.loops.values import values_of

# What updates variables by gradients.
_TRAINING_METHODS = frozenset({"minimize", "apply_gradients", "optimize_loss", "create_train_op"})
_PREPARING = frozenset({"initializer", "make_initializer", "reset"})
# Functions whose result may hold what updates variables: all others of TensorFlow's only compute.
_HOLDERS = (
    "tf.group",
    "tf.tuple",
    "tf.cond",
    "tf.case",
    "tf.while_loop",
    "tf.no_op",
    "tf.identity",
    "tf.py_func",
)
_COMPUTED = (ast.BinOp, ast.UnaryOp, ast.Compare)


def parts_of(fetches: ast.expr) -> list[ast.expr]:
    """The single things that are fetched."""
    if isinstance(fetches, ast.List | ast.Tuple):
        return [part for element in fetches.elts for part in parts_of(element)]
    if isinstance(fetches, ast.Dict):
        return [part for value in fetches.values for part in parts_of(value)]
    return [fetches]


def trains(file: FileFacts, fetches: ast.expr) -> bool:
    """Whether it is known of something that is fetched that it trains."""
    return any(
        isinstance(value, ast.Call) and _last_name(value.func) in _TRAINING_METHODS
        for part in parts_of(fetches)
        for value in (part, *values_of(file, part))
    )


def only_looks(file: FileFacts, fetches: ast.expr) -> bool:
    """Whether it is known of all that is fetched that it only computes, or prepares."""
    return all(_is_looked_at(file, part) for part in parts_of(fetches))


def is_all_read(statement: ast.stmt, run: ast.Call, read: Collection[str]) -> bool:
    """Whether each single thing that a run fetches is read: what trains has nothing to read.

    Args:
      statement: The statement that the run is in.
      run: The run.
      read: The names that are read.
    """
    fetches = run.args[0]
    is_one = not isinstance(fetches, ast.List | ast.Tuple | ast.Dict)
    if not isinstance(statement, ast.Assign) or statement.value is not run:
        return is_one and not (isinstance(statement, ast.Expr) and statement.value is run)
    target = statement.targets[0] if len(statement.targets) == 1 else None
    if isinstance(target, ast.Tuple | ast.List):
        is_list = isinstance(fetches, ast.List | ast.Tuple) and len(fetches.elts) == len(target.elts)
        return is_list and all(isinstance(name, ast.Name) and name.id in read for name in target.elts)
    return is_one and isinstance(target, ast.Name) and target.id in read


def _is_looked_at(file: FileFacts, part: ast.expr) -> bool:
    if _last_name(part) in _PREPARING:
        return True
    values = list(values_of(file, part))
    return bool(values) and all(value is not None and _computes(file, value) for value in values)


def _computes(file: FileFacts, value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return isinstance(value, _COMPUTED)
    if _last_name(value.func) in _PREPARING:
        return True
    name = file.name_of(value.func) or ""
    return name.startswith("tf.") and not name.startswith((*_HOLDERS, "tf.assign", "tf.contrib."))


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
