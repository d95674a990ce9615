"""Arguments and attributes of Keras optimizers have their present names.

## What it does
`lr=` of an optimizer of Keras becomes `learning_rate=`, `model.optimizer.lr` becomes `model.optimizer.learning_rate`, and
`epsilon=None` and `decay=0` go. A `decay` that decays becomes a schedule that gives the same rates. In a file that stays on Keras 2
and has a session, the optimizer is taken from TensorFlow 1's Keras, which has all of these.

## Why
Keras 3 refuses `lr` (`ValueError: Argument(s) not recognized`), ignores `decay` with no more than a warning, and computes
with `epsilon=None`.

## Before
```python
from tensorflow import keras

optimizer = keras.optimizers.Adam(lr=0.001, epsilon=None, decay=0.0)
```

## After
```python
from tensorflow import keras

optimizer = keras.optimizers.Adam(learning_rate=0.001)
```

## Is it safe?
Safe, except for a `decay`: with a schedule in its place, callbacks can no longer set the rate.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.proposals import Make, Proposal
from codemod.rules import _keras
from codemod.rules.legacy_layers import chooses_legacy_keras, through_tensorflow_1

if TYPE_CHECKING:
    import libcst as cst

CODE = "TFB503"
TRIGGER = r"lr\b|decay\b|epsilon"  # Without a boundary before it, the search is five times as fast.

# The rate of each, if none is given.
_DEFAULT_RATES = {
    "Adadelta": "0.001",
    "Adagrad": "0.001",
    "Adam": "0.001",
    "Adamax": "0.001",
    "Nadam": "0.001",
    "RMSprop": "0.001",
    "SGD": "0.01",
}
_HOMES = ("tf.keras.optimizers", "keras.optimizers")


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the present arguments."""
    if chooses_legacy_keras(file):
        yield from through_tensorflow_1(file, *(f"tf.keras.optimizers.{name}" for name in _DEFAULT_RATES))
    names = [f"{home}.{name}" for home in _HOMES for name in _DEFAULT_RATES]
    for use in file.calls(*names):
        assert use.call is not None
        if chooses_legacy_keras(file) and use.name.startswith("tf."):
            continue  # Keras 2 takes them as they are.
        yield from _optimizer(file, use.call, use.name)
    if _keras.uses_keras(file):
        for node in file.nodes(ast.Attribute):
            if node.attr == "lr" and _is_optimizer(node.value):
                yield file.edit(node, "an optimizer's lr is its learning_rate", _attribute("learning_rate"))


def _is_optimizer(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "optimizer"


def _optimizer(file: FileFacts, call: ast.Call, name: str) -> Iterator[Proposal]:
    given = {k.arg: k.value for k in call.keywords if k.arg}
    dropped = [old for old, nothing in (("epsilon", None), ("decay", 0)) if _is(given.get(old), nothing)]
    decays = "decay" in given and "decay" not in dropped
    for keyword in call.keywords:
        if keyword.arg == "lr":
            yield file.edit(keyword, f"{name}: lr is learning_rate", _keyword("learning_rate"))
    commented = any("#" in _keras.text_of_argument(file, call, k) for k in call.keywords if k.arg in dropped)
    if decays:
        home = name.rpartition(".")[0]
        schedule = file.spell(f"{home}.schedules.InverseTimeDecay", call.func)
        yield file.edit(
            call,
            "Keras 3 ignores decay: a schedule has the same rates",
            _decayed(call, schedule, name.rpartition(".")[2], dropped),
            fix="unsafe",
            why="Keras 3 ignores an optimizer's decay.",
            remedy="Give it learning_rate=keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay).",
        )
        return
    if dropped:
        what = ", ".join(f"{old}={ast.unparse(given[old])}" for old in dropped)
        yield file.edit(
            call,
            f"{name}: {what} says nothing, and Keras 3 does not take it",
            _without(dropped),
            fix="unsafe" if commented else "safe",
        )


def _is(node: ast.expr | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None if value is None else node.value == value)


def _keyword(name: str) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        return cst.ensure_type(node, cst.Arg).with_changes(keyword=cst.Name(name))

    return make


def _without(dropped: list[str]) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        from codemod import cst_tools

        call = cst.ensure_type(node, cst.Call)
        for name in dropped:
            call = cst_tools.without_argument(call, name)
        return call

    return make


def _decayed(call: ast.Call, schedule: str, optimizer: str, dropped: list[str]) -> Make:
    rate = call.args[0] if call.args else None
    positional = rate is not None

    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        from codemod import cst_tools

        new = cst.ensure_type(_without(dropped)(node), cst.Call)
        module = cst.Module([])
        decay = cst_tools.argument(new, "decay")
        known = cst_tools.argument(new, "learning_rate", 0)
        assert decay is not None
        start = module.code_for_node(known.value) if known is not None else _DEFAULT_RATES[optimizer]
        text = f"{schedule}({start}, 1, {module.code_for_node(decay.value)})"
        new = cst_tools.without_argument(new, "decay")
        if not positional:
            return cst_tools.with_argument(new, "learning_rate", text)
        first = new.args[0].with_changes(value=cst_tools.expression(text))
        return new.with_changes(args=[first, *new.args[1:]])

    return make


def _attribute(name: str) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        return cst.ensure_type(node, cst.Attribute).with_changes(attr=cst.Name(name))

    return make
