"""`fit_generator`, `evaluate_generator` and `predict_generator` are `fit`, `evaluate` and `predict`.

## What it does
Writes the present method, gives positional arguments their names, and leaves off `workers`, `max_queue_size` and
`use_multiprocessing`, which `fit` no longer takes; names of Keras 1 (`nb_epoch`, `nb_val_samples`, …) are written as they
are called today.

## Why
`fit` takes generators and sequences itself. Keras 3 has no other method.

## Before
```python
from tensorflow import keras


def train(model, batches):
    model.fit_generator(batches, 100, epochs=3, workers=4, use_multiprocessing=False)
    return model.evaluate_generator(batches, steps=10)
```

## After
```python
from tensorflow import keras


def train(model, batches):
    model.fit(batches, steps_per_epoch=100, epochs=3)
    return model.evaluate(batches, steps=10, verbose=0)
```

## Is it safe?
Safe: a generator is read by one thread, as before with one worker. Unsafe if the call has `**kwargs`, in which one of the
arguments may be that `fit` does not take, or loses a comment. Samples per epoch are a finding: they are not steps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.proposals import Make, Proposal
from codemod.rules import _keras

if TYPE_CHECKING:
    import libcst as cst

CODE = "TFB502"
TRIGGER = r"_generator\b"

_FIT = (
    None,
    "steps_per_epoch",
    "epochs",
    "verbose",
    "callbacks",
    "validation_data",
    "validation_steps",
)
# Behind the steps, the order changed from release to release.
_OTHERS = (None, "steps")
_METHODS = {
    "fit_generator": ("fit", _FIT),
    "evaluate_generator": ("evaluate", _OTHERS),
    "predict_generator": ("predict", _OTHERS),
}
_RENAMED = {
    "generator": "x",
    "nb_epoch": "epochs",
    "validation_batches": "validation_steps",
}
_DROPPED = (
    "workers",
    "max_queue_size",
    "max_q_size",
    "use_multiprocessing",
    "nb_worker",
    "pickle_safe",
    "wait_time",
)
_SAMPLES = ("samples_per_epoch", "nb_val_samples", "val_samples")


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the present method for each call."""
    own = {node.name for node in file.nodes(ast.FunctionDef)}
    own |= {node.name for node in file.nodes(ast.AsyncFunctionDef)}
    for call in _keras.method_calls(file, frozenset(_METHODS)):
        assert isinstance(call.func, ast.Attribute)
        if call.func.attr not in own:
            yield from _call(file, call, call.func.attr)


def _call(file: FileFacts, call: ast.Call, old: str) -> Iterator[Proposal]:
    new, positions = _METHODS[old]
    samples = [k.arg for k in call.keywords if k.arg in _SAMPLES]
    starred = any(isinstance(arg, ast.Starred) for arg in call.args)
    if samples or starred or len(call.args) > len(positions):
        what = f"{samples[0]} counts samples" if samples else "not all positional arguments can be told"
        yield file.finding(
            call,
            f"{old} is {new} in Keras 3, and {what}",
            remedy=f"Call {new} with steps: samples divided by the size of a batch."
            if samples
            else f"Call {new} with keyword arguments; it takes no workers and no queue size.",
        )
        return
    dropped = [k for k in call.keywords if k.arg in _DROPPED]
    without = f", without {', '.join(str(k.arg) for k in dropped)}" if dropped else ""
    unsafe = any(k.arg is None for k in call.keywords) or any(
        "#" in _keras.text_of_argument(file, call, k) for k in dropped
    )
    yield file.edit(
        call, f"{old} is {new}{without}", _rewritten(new, positions), fix="unsafe" if unsafe else "safe"
    )


def _rewritten(method: str, positions: tuple[str | None, ...]) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        from codemod import cst_tools

        call = cst_tools.with_keywords(node, positions)
        for name in _DROPPED:
            call = cst_tools.without_argument(call, name)
        for old, new in _RENAMED.items():
            call = cst_tools.renamed_argument(call, old, new)
        if method != "fit" and cst_tools.argument(call, "verbose") is None:
            call = cst_tools.with_argument(call, "verbose", "0")
        func = cst.ensure_type(call.func, cst.Attribute)
        return call.with_changes(func=func.with_changes(attr=cst.Name(method)))

    return make
