"""Programs that build graphs turn TensorFlow 2's behaviour off.

## What it does
Adds `tf.disable_v2_behavior()` behind the TensorFlow import of a program that builds a TF1 graph. A program is a file that
is run: it asks for `__main__`, calls `tf.app.run`, or opens a session at its top level. Modules that are only imported are
left alone, because the program's call counts for them too; so are programs that turn eager execution on or TF2's
behaviour on or off themselves, and programs that only train Keras models.

## Why
With TF2's behaviour on, placeholders, v1 optimizers and iterators fail, and variables are not the ones that v1 hooks know.

## Before
```python
import tensorflow as tf

with tf.Session() as sess:
    print(sess.run(tf.constant(3) + 4))
```

## After
```python
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

with tf.Session() as sess:
    print(sess.run(tf.constant(3) + 4))
```

## Is it safe?
Safe: the program was written for this behaviour.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemod.facts import ESTIMATORS, FileFacts
from codemod.names import PACKAGES, Import, Use
from codemod.proposals import Insertion, Proposal
from codemod.rules import _keras

CODE = "TFB102"
TRIGGER = r"tensorflow"
ORDER = 1

_CHOSEN = (
    "tf.disable_v2_behavior",
    "tf.enable_v2_behavior",
    "tf.enable_eager_execution",
    "tf.disable_eager_execution",
)

# TF1 names that work the same with or without TF2's behaviour: files, logs, flags.
_INDIFFERENT = (
    "tf.gfile",
    "tf.logging",
    "tf.python_io",
    "tf.flags",
    "tf.app.flags",
    "tf.resource_loader",
    "tf.sysconfig",
    "tf.compat",
    "tf.io",
    "tf.summary",
    "tf.train.Example",
    "tf.train.Feature",
    "tf.ConfigProto",
    "tf.GPUOptions",
)

# What cannot be without a graph. Code that has moved to `tensorflow.compat.v1` by itself is only touched for these.
_GRAPH_ONLY = (
    "tf.placeholder",
    "tf.placeholder_with_default",
    "tf.Session",
    "tf.InteractiveSession",
    "tf.global_variables_initializer",
    "tf.train.MonitoredTrainingSession",
    "tf.train.MonitoredSession",
    "tf.train.SingularMonitoredSession",
    "tf.train.Supervisor",
)
# What runs a graph and nothing else, though its name goes.
_RUNS_GRAPH = tuple(name for name in _GRAPH_ONLY if "Monitored" in name)

_KERAS_SIGNS = (
    "tf.keras.estimator.model_to_estimator",
    "bridge.estimator.model_to_estimator",
    "bridge.apply_session_config",
    *_keras.backend("set_session"),
)
_EAGER = ("tf.function", "tf.GradientTape", "tf.executing_eagerly")


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the call, once."""
    if not file.is_program or any(True for _ in file.all_uses(*_CHOSEN)):
        return
    if file.namespace == "plain":
        builds = any(True for _ in file.all_uses(*_GRAPH_ONLY)) and not any(
            True for _ in file.all_uses(*_EAGER)
        )
    else:
        # In the explicit style a name that stays TF1's is written anew too.
        gone = set() if file.settings.style == "explicit" else file.replaced
        builds = any(_builds_graph(file, use) for use in file.names.chains if use.root not in gone)
        builds = builds or any(True for _ in file.all_uses(*ESTIMATORS, *_RUNS_GRAPH))
    if not builds or _is_keras_program(file):
        return
    anchor = _anchor(file)
    spelled = file.spell("tf.disable_v2_behavior", anchor)
    anchor, call = _bound_by(file, spelled.partition(".")[0], anchor), f"{spelled}()"
    yield file.edit(anchor, f"TF1 program: {call}", None, inserts=(Insertion(call, anchor, after=True),))


def _is_keras_program(file: FileFacts) -> bool:
    """Whether the file leaves training to Keras, and what it has of TF1 is options, hooks and initializers."""
    if any(not use.name.endswith(".train_and_evaluate") for use in file.all_uses(*ESTIMATORS)):
        return False  # Their model_fn builds a graph, of Keras's layers too.
    methods = _keras.TRAINING | _keras.INFERENCE
    keras = any(True for _ in file.all_uses(*_KERAS_SIGNS)) or (
        _keras.uses_keras(file) and any(_keras.method_calls(file, methods))
    )
    return keras and not any(_keras.graph_uses(file))


def _builds_graph(file: FileFacts, use: Use) -> bool:
    """Whether a use is of something that TensorFlow 2 itself no longer has, and that needs a graph."""
    if (
        not use.name.startswith("tf.")
        or not file.tables.exists(use.name)
        or file.tables.exists_in_v2(use.name[3:])
    ):
        return False
    return not any(use.name == name or use.name.startswith(f"{name}.") for name in _INDIFFERENT)


def _anchor(file: FileFacts) -> ast.stmt:
    """The import of TensorFlow that runs first: at the file's top level, if there is one."""
    imports = [i for i in file.names.imports if i.raw.partition(".")[0] in PACKAGES]
    first = next((i for i in imports if i.scope.kind == "module"), None)
    if first is None:
        imports = [i for i in imports if i.raw.partition(".")[0] == "tensorflow"]
        first = _first_to_run(file, imports) or imports[0]
    return _with_its_try(file, first.statement)


def _first_to_run(file: FileFacts, imports: list[Import]) -> Import | None:
    """The first import that the top level comes to, by way of the file's own functions in the order of their names there."""
    functions = {s.name: s for s in file.tree.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)}
    by_statement = {i.statement: i for i in imports}
    seen: set[str] = set()

    def search(node: ast.AST) -> Import | None:
        found = by_statement.get(node) if isinstance(node, ast.Import | ast.ImportFrom) else None
        if found is not None:
            return found
        if isinstance(node, ast.Name) and node.id in functions and node.id not in seen:
            seen.add(node.id)
            return search(functions[node.id])
        return next((f for child in ast.iter_child_nodes(node) if (f := search(child))), None)

    top = (s for s in file.tree.body if s not in functions.values())
    return next((found for statement in top if (found := search(statement))), None)


def _with_its_try(file: FileFacts, statement: ast.stmt) -> ast.stmt:
    """An import, or the `try` that it is tried in."""
    while isinstance(parent := file.parent(statement), ast.Try) and parent.handlers:
        statement = parent
    return statement


def _bound_by(file: FileFacts, name: str, anchor: ast.stmt) -> ast.stmt:
    """The first top-level import that gives a name to TensorFlow, where that comes only behind another import of it."""
    statements = [
        _with_its_try(file, i.statement)
        for i in file.names.imports
        if i.scope.kind == "module" and i.binding is not None and i.binding.name == name
    ]
    return max(anchor, statements[0], key=lambda s: s.lineno) if statements else anchor
