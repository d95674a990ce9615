"""Whether a file is a program: run by itself, and not only imported by others."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemod.file_tree import FileTree

_RUNS = re.compile(r"__name__\s*==\s*['\"]__main__|['\"]__main__['\"]\s*==\s*__name__")

# What trains, evaluates or predicts in graphs of its own, before and after the migration.
ESTIMATORS = (
    *(
        f"{package}.{name}"
        for package in ("tf.estimator", "bridge.estimator")
        for name in (
            "Estimator",
            "train_and_evaluate",
            "DNNClassifier",
            "DNNLinearCombinedClassifier",
            "DNNLinearCombinedRegressor",
            "DNNRegressor",
            "LinearClassifier",
            "LinearRegressor",
            "tpu.TPUEstimator",
        )
    ),
    "tf.contrib.tpu.TPUEstimator",
)
_SESSIONS = (
    "tf.Session",
    "tf.InteractiveSession",
    "tf.train.MonitoredTrainingSession",
    "tf.train.MonitoredSession",
    "tf.train.SingularMonitoredSession",
    "tf.train.Supervisor",
    "tf.keras.backend.get_session",
    "keras.backend.get_session",
    "tensorflow.python.keras.backend.get_session",
)


def is_program(file: FileTree) -> bool:
    """Whether a file is run: it asks for `__main__`, calls `app.run`, or comes to a session or Estimator from its top level.

    Args:
      file: The file.
    """
    if file.notebook or ("__main__" in file.text and _RUNS.search(file.text)):
        return True
    runs = [
        use.node
        for use in file.all_uses("tf.app.run", "tf.test.main", "absl.app.run", *_SESSIONS, *ESTIMATORS)
        if use.call
    ]
    reached = {_function(file, node) for node in runs}
    return bool(runs) and (None in reached or bool(reached & _called_from_top(file)))


def _function(file: FileTree, node: ast.AST) -> ast.AST | None:
    """The outermost function or class that a node is in; None at the top level."""
    found = None
    for ancestor in file.ancestors(node):
        if isinstance(ancestor, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            found = ancestor
    return found


def _called_from_top(file: FileTree) -> set[ast.AST | None]:
    """The file's own functions and classes that its top-level code calls, and those that they call or hand on."""
    own = {
        s.name: s
        for s in file.tree.body
        if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    calls: dict[ast.AST | None, set[str]] = {}
    for name in own:
        for node, _ in file.names.loads(name):
            parent, place = file.parent(node), _function(file, node)
            if place is not None or (isinstance(parent, ast.Call) and parent.func is node):
                calls.setdefault(place, set()).add(name)
    called: set[ast.AST | None] = set()
    waiting: list[ast.AST | None] = [None]
    while waiting:
        fresh = {own[name] for name in calls.get(waiting.pop(), ())} - called
        called |= fresh
        waiting += fresh
    return called
