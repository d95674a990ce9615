"""Names that NumPy has dropped since are written as they are called today.

## What it does
Writes `float`, `int`, `bool`, `object` and `str` for `np.float`, `np.int`, `np.bool`, `np.object` and `np.str`, and the present
names of what NumPy 2 renamed: `np.float_`, `np.NaN`, `np.product`, … `np.asscalar(x)` becomes `np.asarray(x).item()`, and
`np.reshape(x, newshape=s)` gives the shape by position.

## Why
Today's TensorFlow brings a NumPy that has none of them: `AttributeError: module 'numpy' has no attribute 'float'`. They
are found in most code of TensorFlow 1's years.

## Before
```python
import numpy as np
import tensorflow as tf


def constant(values):
    return tf.constant(np.asarray(values, dtype=np.float))
```

## After
```python
import numpy as np
import tensorflow as tf


def constant(values):
    return tf.constant(np.asarray(values, dtype=float))
```

## Is it safe?
Safe: the old names were aliases of the new, or did the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemod.facts import FileFacts
from codemod.names import Scope
from codemod.proposals import Make, Proposal
from codemod.rules._moved import written

if TYPE_CHECKING:
    import libcst as cst

CODE = "TFB306"
TRIGGER = r"numpy"

_BUILTINS = {
    "bool": "bool",
    "complex": "complex",
    "float": "float",
    "int": "int",
    "long": "int",
    "object": "object",
    "str": "str",
    "unicode": "str",
}
_RENAMED = {
    "Inf": "inf",
    "Infinity": "inf",
    "NaN": "nan",
    "PINF": "inf",
    "alltrue": "all",
    "bool8": "bool_",
    "cfloat": "complex128",
    "complex_": "complex128",
    "cumproduct": "cumprod",
    "float_": "float64",
    "infty": "inf",
    "int0": "intp",
    "longfloat": "longdouble",
    "mat": "asmatrix",
    "product": "prod",
    "round_": "round",
    "row_stack": "vstack",
    "singlecomplex": "complex64",
    "sometrue": "any",
    "string_": "bytes_",
    "uint0": "uintp",
    "unicode_": "str_",
}


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the present name of each."""
    names = {i.binding.name for i in file.names.imports if i.raw == "numpy" and i.binding is not None}
    for name in sorted(names):
        for load, scope in file.names.loads(name):
            meaning = file.names.meaning(name, scope)
            attribute = file.parent(load)
            if meaning is not None and meaning[0] == "numpy" and isinstance(attribute, ast.Attribute):
                yield from _attribute(file, attribute, name, scope)


def _attribute(file: FileFacts, node: ast.Attribute, local: str, scope: Scope) -> Iterator[Proposal]:
    call = file.parent(node)
    if isinstance(call, ast.Call) and call.func is node:
        yield from _call(file, call, node.attr, local)
    new = _BUILTINS.get(node.attr, "")
    if new and file.names.lookup(new, scope):
        new = ""  # The file calls something else by the builtin's name.
    if not new and _RENAMED.get(node.attr):
        new = f"{local}.{_RENAMED[node.attr]}"
    if new:
        yield file.edit(node, f"np.{node.attr} went away with NumPy 2: {new}", written(new))
    elif node.attr in _BUILTINS or node.attr in _RENAMED:
        yield file.finding(
            node,
            f"np.{node.attr} does not exist any more",
            why="NumPy removed it.",
            remedy="Write the builtin type; the file has another thing of its name.",
        )


def _call(file: FileFacts, call: ast.Call, function: str, local: str) -> Iterator[Proposal]:
    """Calls of which more than the name has changed."""
    first = call.keywords[0] if call.keywords else None
    if function == "reshape" and len(call.args) == 1 and first is not None and first.arg == "newshape":
        yield file.edit(first, "np.reshape has no argument newshape any more: by position", _by_position)
    if function == "asscalar" and len(call.args) == 1 and not call.keywords:
        message = f"np.asscalar went away: {local}.asarray(...).item()"
        yield file.edit(call, message, _item_of(f"{local}.asarray"))


def _by_position(node: cst.CSTNode) -> cst.CSTNode:
    import libcst as cst

    default = cst.MaybeSentinel.DEFAULT
    return cst.ensure_type(node, cst.Arg).with_changes(keyword=None, equal=default)


def _item_of(function: str) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        from codemod import cst_tools

        call = cst.ensure_type(node, cst.Call)
        array = cst_tools.with_callee(call.with_changes(lpar=[], rpar=[]), function)
        item = cst.Call(cst.Attribute(array, cst.Name("item")))
        return item.with_changes(lpar=call.lpar, rpar=call.rpar)

    return make
