"""Arguments, methods and metrics of Keras that Keras 3 has changed are written as they are today, or reported.

## What it does
- `metrics=["accuracy"]` becomes `metrics=["acc"]` where the file goes on to speak of `acc` or `val_acc`: Keras 3 reports a metric
  under the name that it is given, and TensorFlow 1's Keras reported accuracy as `acc`.
- Arguments that say nothing any more go: `batch_size`, `write_grads` and the like of `TensorBoard`, `period=1` of `ModelCheckpoint`.
  `l1(l=…)` and `l2(l=…)` get the present names.
- `predict_proba` of a Sequential model is `predict`.
- It reports `predict_classes`, other periods, and file names that Keras 3 refuses: `save_weights` wants `.weights.h5`, whole models
  want `.keras` or `.h5`.

## Why
They raise `TypeError`, `ValueError` or `AttributeError`, or, worst, a `ModelCheckpoint` that watches `val_acc` saves nothing.

## Before
```python
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
best = keras.callbacks.ModelCheckpoint("best.h5", monitor="val_acc", save_best_only=True, period=1)
board = keras.callbacks.TensorBoard("logs", batch_size=32, write_grads=False)


def classes(images):
    return model.predict_classes(images)
```

## After
```python
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
model.compile("sgd", "categorical_crossentropy", metrics=["acc"])
best = keras.callbacks.ModelCheckpoint("best.h5", monitor="val_acc", save_best_only=True)
board = keras.callbacks.TensorBoard("logs")


def classes(images):
    # TODO(codemod TFB507): predict_classes does not exist any more. Use model.predict(x).argmax(axis=-1) for softmax, and (model.predict(x) > 0.5).astype('int32') for sigmoid
    return model.predict_classes(images)
```

## Is it safe?
Safe, except for arguments that asked for something which Keras 3 does not do: `write_grads=True`, embeddings of named layers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.names import Use
from codemod.proposals import Make, Proposal
from codemod.results import Fix
from codemod.rules import _keras
from codemod.rules.legacy_layers import chooses_legacy_keras

if TYPE_CHECKING:
    import libcst as cst

CODE = "TFB507"
TRIGGER = (
    r"acc\b|predict_classes|predict_proba|TensorBoard|ModelCheckpoint|save_weights|regularizers|\bl[12]\b"
)

_ACC = re.compile(r"(?:val_)?acc|.*\{(?:val_)?acc[:}].*")
_ACCURACY = re.compile(r"(?:val_)?accuracy|.*\{(?:val_)?accuracy[:}].*")
_BOARD_DROPPED = ("batch_size", "write_grads", "embeddings_layer_names", "embeddings_data")
_MODELS = ("Sequential", "models.Sequential", "models.load_model", "Model", "models.Model")
_CLASSES = "Use model.predict(x).argmax(axis=-1) for softmax, and (model.predict(x) > 0.5).astype('int32') for sigmoid."


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes what Keras 3 takes; files of Keras 2 only lack the methods that it dropped, too."""
    if not _keras.uses_keras(file):
        return
    yield from _methods(file)
    if chooses_legacy_keras(file):
        return
    yield from _accuracy(file)
    for use in file.calls(*_both("callbacks.TensorBoard")):
        yield from _board(file, use)
    for use in file.calls(*_both("callbacks.ModelCheckpoint")):
        yield from _checkpoint(file, use)
    for use in file.calls(*_both("regularizers.l1", "regularizers.l2")):
        yield from _regularizer(use, file)
    for call in _keras.method_calls(file, frozenset({"save_weights"})):
        path = call.args[0] if call.args else _keras.keyword(call, "filepath")
        if _ends_otherwise(path, ".weights.h5"):
            yield file.finding(
                call,
                "Keras 3 writes weights to files that end with .weights.h5 only",
                why="It raises ValueError for another name.",
                remedy="Give the file such a name, here and where it is loaded.",
            )


def _both(*names: str) -> tuple[str, ...]:
    return tuple(f"{home}.{name}" for home in ("tf.keras", "keras") for name in names)


# -- Accuracy --------------------------------------------------------------------------------------------------------


def _accuracy(file: FileFacts) -> Iterator[Proposal]:
    given = [node for call in _keras.method_calls(file, frozenset({"compile"})) for node in _metrics(call)]
    texts = [node for node in file.nodes(ast.Constant) if isinstance(node.value, str) and node not in given]
    spoken_of = [node for node in texts if _ACC.fullmatch(str(node.value))]
    if not spoken_of or any(node.value == "acc" for node in given):
        return
    named = [node for node in given if node.value == "accuracy"]
    if named and not any(_ACCURACY.fullmatch(str(node.value)) for node in texts):
        for node in named:
            message = "Keras 3 reports accuracy under the name given: acc, of which the file goes on to speak"
            yield file.edit(node, message, _acc)
        return
    for node in spoken_of:
        if _is_of_history(file, node) or _is_monitored(file, node):
            yield file.finding(
                node,
                f"Keras 3 reports accuracy as {str(node.value).replace('acc', 'accuracy')}",
                why="A metric has the name that it is given in compile.",
                remedy='Compile with metrics=["acc"], or use the longer name.',
            )


def _metrics(call: ast.Call) -> list[ast.Constant]:
    """The texts in a call's `metrics`: in a list, or in a list of a dict."""
    value = _keras.keyword(call, "metrics")
    return [n for n in ast.walk(value) if isinstance(n, ast.Constant)] if value is not None else []


def _is_of_history(file: FileFacts, node: ast.Constant) -> bool:
    outer = file.parent(node)
    return (
        isinstance(outer, ast.Subscript)
        and isinstance(outer.value, ast.Attribute)
        and outer.value.attr == "history"
    )


def _is_monitored(file: FileFacts, node: ast.Constant) -> bool:
    keyword = file.parent(node)
    call = file.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "monitor" else None
    name = file.name_of(call.func) if isinstance(call, ast.Call) else None
    return name is not None and name.startswith(("tf.keras.callbacks.", "keras.callbacks."))


def _acc(node: cst.CSTNode) -> cst.CSTNode:
    import libcst as cst

    text = cst.ensure_type(node, cst.SimpleString)
    return text.with_changes(value=text.value.replace("accuracy", "acc"))


# -- Methods ---------------------------------------------------------------------------------------------------------


def _methods(file: FileFacts) -> Iterator[Proposal]:
    own = {node.name for node in file.nodes(ast.FunctionDef)}
    for call in _keras.method_calls(file, frozenset({"predict_classes", "predict_proba"}) - own):
        assert isinstance(call.func, ast.Attribute)
        if call.func.attr == "predict_classes":
            yield file.finding(
                call,
                "predict_classes does not exist any more",
                why="Keras removed it from Sequential.",
                remedy=_CLASSES,
            )
        elif _is_model(file, call.func.value):
            yield file.edit(call, "predict_proba of a model is predict", _predict)


def _is_model(file: FileFacts, node: ast.expr) -> bool:
    """Whether an expression is a model of Keras's, as far as the assignments to its name tell."""
    if isinstance(node, ast.Call):
        return (file.name_of(node.func) or "") in _both(*_MODELS)
    if not isinstance(node, ast.Name):
        return False
    bindings = file.names.lookup(node.id, file.names.scope_of(node))
    values = [file.parent(binding.node) for binding in bindings]
    return bool(values) and all(
        isinstance(v, ast.Assign) and isinstance(v.value, ast.Call) and _is_model(file, v.value)
        for v in values
    )


def _predict(node: cst.CSTNode) -> cst.CSTNode:
    import libcst as cst

    from codemod import cst_tools

    call = cst.ensure_type(node, cst.Call)
    func = cst.ensure_type(call.func, cst.Attribute).with_changes(attr=cst.Name("predict"))
    call = call.with_changes(func=func)
    quiet = cst_tools.argument(call, "verbose", 2) is None
    return cst_tools.with_argument(call, "verbose", "0") if quiet else call


# -- Arguments -------------------------------------------------------------------------------------------------------


def _board(file: FileFacts, use: Use) -> Iterator[Proposal]:
    call = use.call
    assert call is not None
    if len(call.args) > 2:
        yield file.finding(
            call,
            f"the arguments of {use.name} have another order in Keras 3",
            remedy="Give all but the first two by name; batch_size and write_grads are gone.",
        )
        return
    dropped = [k for k in call.keywords if k.arg in _BOARD_DROPPED]
    if dropped:
        asked = [k for k in dropped if k.arg != "batch_size" and not _says_nothing(k.value)]
        yield _without(
            file,
            call,
            dropped,
            f"{use.name} does not take",
            "They made what Keras 3 does not." if asked else "",
        )


def _checkpoint(file: FileFacts, use: Use) -> Iterator[Proposal]:
    call = use.call
    assert call is not None
    period = next((k for k in call.keywords if k.arg == "period"), None)
    if period is not None and isinstance(period.value, ast.Constant) and period.value.value == 1:
        yield _without(file, call, [period], f"{use.name} does not take", "")
    elif period is not None:
        yield file.finding(
            call,
            f"{use.name} has no argument period in Keras 3",
            remedy='Use save_freq, which is "epoch" or a number of batches.',
        )
    path = call.args[0] if call.args else _keras.keyword(call, "filepath")
    weights = _keras.keyword(call, "save_weights_only")
    if weights is not None and not isinstance(weights, ast.Constant):
        return
    only_weights = weights is not None and bool(weights.value)
    ends: tuple[str, ...] = (".weights.h5",) if only_weights else (".keras", ".h5")
    if _ends_otherwise(path, *ends):
        yield file.finding(
            call,
            f"{use.name} takes files that end with {' or '.join(ends)} only",
            why="Keras 3 raises ValueError for another name.",
            remedy="Give the file such a name, here and where it is loaded.",
        )


def _regularizer(use: Use, file: FileFacts) -> Iterator[Proposal]:
    assert use.call is not None
    new = use.name.rpartition(".")[2]
    for keyword in use.call.keywords:
        if keyword.arg == "l":
            yield file.edit(keyword, f"{use.name} calls its argument {new}", _keyword(new))


def _without(file: FileFacts, call: ast.Call, dropped: list[ast.keyword], message: str, why: str) -> Proposal:
    commented = any("#" in _keras.text_of_argument(file, call, keyword) for keyword in dropped)
    fix: Fix = "unsafe" if why or commented else "safe"
    names = [str(keyword.arg) for keyword in dropped]
    return file.edit(call, f"{message} {', '.join(names)} in Keras 3", _dropping(names), fix=fix, why=why)


def _dropping(names: list[str]) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        from codemod import cst_tools

        call = cst.ensure_type(node, cst.Call)
        for name in names:
            call = cst_tools.without_argument(call, name)
        return call

    return make


def _keyword(name: str) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        return cst.ensure_type(node, cst.Arg).with_changes(keyword=cst.Name(name))

    return make


def _says_nothing(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _ends_otherwise(path: ast.expr | None, *ends: str) -> bool:
    """Whether a path is a text, or ends with one, that ends in another way."""
    while isinstance(path, ast.BinOp) and isinstance(path.op, ast.Add):
        path = path.right
    if (
        isinstance(path, ast.Call)
        and isinstance(path.func, ast.Attribute)
        and path.func.attr == "join"
        and path.args
    ):
        path = path.args[-1]
    return isinstance(path, ast.Constant) and isinstance(path.value, str) and not path.value.endswith(ends)
