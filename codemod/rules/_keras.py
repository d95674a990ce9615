"""What the rules about Keras ask of a file: by which names it reaches Keras, whether it trains, whether it builds a v1 graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.names import Use

TRAINING = frozenset({"fit", "fit_generator", "train_on_batch"})
INFERENCE = frozenset(
    {"evaluate", "evaluate_generator", "predict", "predict_generator", "predict_on_batch", "test_on_batch"}
)

# What cannot be without a graph of TensorFlow 1.
_GRAPH = (
    "tf.placeholder",
    "tf.placeholder_with_default",
    "tf.Session",
    "tf.InteractiveSession",
    "tf.get_default_session",
    "tf.get_default_graph",
    "tf.Graph",
    "tf.global_variables_initializer",
    "tf.initialize_all_variables",
    "tf.get_variable",
    "tf.variable_scope",
    "tf.gradients",
    "tf.train.MonitoredTrainingSession",
    "tf.train.MonitoredSession",
    "tf.train.SingularMonitoredSession",
    "tf.train.Supervisor",
    "tf.train.Saver",
    "tf.train.import_meta_graph",
    "bridge.MonitoredTrainingSession",
    "bridge.GraphModel",
    "tf.layers.*",
    "tf.nn.rnn_cell.*",
    "tf.contrib.slim.*",
    "tf.contrib.layers.*",
    "tf.keras.backend.get_session",
    "keras.backend.get_session",
)

# Of these, what goes with a session that is only made for Keras.
_FOR_KERAS = (
    "tf.Session",
    "tf.InteractiveSession",
    "tf.global_variables_initializer",
    "tf.initialize_all_variables",
)


def uses_keras(file: FileFacts) -> bool:
    """Whether the file has to do with Keras at all."""
    names = (use.name for use in file.names.chains)
    imported = (file.tables.canonical(i.raw) for i in file.names.imports)
    return any(
        name.startswith(("tf.keras", "keras", "tf_keras", "tf.contrib.keras")) for name in (*names, *imported)
    )


def backend(name: str) -> tuple[str, str]:
    """The names of a function of Keras's backend: through TensorFlow, and of the package."""
    return f"tf.keras.backend.{name}", f"keras.backend.{name}"


def graph_uses(file: FileFacts) -> Iterator[Use]:
    """The uses of names that need a graph of TensorFlow 1, without those that only serve a session for Keras."""
    for use in file.names.chains:
        for part in file.names.parts(use):
            if part.name in _FOR_KERAS and use.root in file.taken:
                break
            if part.name in _GRAPH or f"{part.name}.*" in _GRAPH:
                yield use
                break


def method_calls(file: FileFacts, names: frozenset[str]) -> Iterator[ast.Call]:
    """The calls of methods of these names, of whatever object."""
    for node in file.nodes(ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in names:
            yield node


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument, or None."""
    return next((k.value for k in call.keywords if k.arg == name), None)


def text_of_argument(file: FileFacts, call: ast.Call, argument: ast.keyword) -> str:
    """The text of a keyword argument with what stands before the next one: its comma, and a comment."""
    others: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    behind = [node for node in others if _place(node) > _place(argument)]
    line, column, _, _ = file.layout.span(argument)
    if behind:
        end_line, end_column, _, _ = file.layout.span(min(behind, key=_place))
    else:
        _, _, end_line, end_column = file.layout.span(call)
    return file.text[file.layout.offset(line, column) : file.layout.offset(end_line, end_column)]


def _place(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset
