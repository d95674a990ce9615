"""Names that NumPy has dropped since are written as they are called today.

## What it does
Writes `float`, `int`, `bool`, `object` and `str` for `np.float`, `np.int`, `np.bool`, `np.object` and `np.str`, and the present
names of what NumPy 2 renamed: `np.float_`, `np.NaN`, `np.product`, … `np.asscalar(x)` becomes `np.asarray(x).item()`,
`np.fromstring(bytes, dtype)` becomes `np.frombuffer(bytes, dtype).copy()`, `array.tostring()` becomes `array.tobytes()`, and
`np.reshape(x, newshape=s)` gives the shape by position. What has no such successor is reported.

## Why
Today's TensorFlow brings a NumPy that has none of them: `AttributeError: module 'numpy' has no attribute 'float'`. They
are found in most code of TensorFlow 1's years.

## Before
```python
import numpy as np
import tensorflow as tf


def constant(values):
    return tf.constant(np.asarray(values, dtype=np.float))


def feature(image):
    return tf.train.BytesList(value=[image.astype(np.uint8).tostring()])
```

## After
```python
import numpy as np
import tensorflow as tf


def constant(values):
    return tf.constant(np.asarray(values, dtype=float))


def feature(image):
    return tf.train.BytesList(value=[image.astype(np.uint8).tobytes()])
```

## Is it safe?
Safe: the old names were aliases of the new, or did the same. Where it cannot be seen that something with a method `tostring`
is an array, and for `np.in1d` of arrays of more than one dimension, it is an unsafe fix.
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
    "AxisError": "exceptions.AxisError",
    "ComplexWarning": "exceptions.ComplexWarning",
    "Inf": "inf",
    "Infinity": "inf",
    "NAN": "nan",
    "NaN": "nan",
    "PINF": "inf",
    "VisibleDeprecationWarning": "exceptions.VisibleDeprecationWarning",
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
# What the way on is for the rest, as far as it was in use.
_GONE = {
    "NINF": "Write -np.inf.",
    "alen": "Use len(np.asarray(x)).",
    "cast": "Use np.asarray(x, dtype=...).",
    "compat": "Use what Python 3 has itself.",
    "disp": "Use print.",
    "find_common_type": "Use np.promote_types or np.result_type.",
    "issubclass_": "Use issubclass.",
    "loads": "Use pickle.loads.",
    "math": "Import math, and use it.",
    "msort": "Use np.sort(x, axis=0).",
    "obj2sctype": "Use np.dtype(x).type.",
    "rank": "Use np.ndim.",
    "sctypes": "List the types that you mean.",
    "trapz": "Use np.trapezoid (from NumPy 2 on) or scipy.integrate.trapezoid.",
    "typeDict": "Use np.sctypeDict.",
}
# Methods of arrays that return arrays: what calls them is one.
_OF_ARRAYS = frozenset({"astype", "flatten", "ravel", "reshape", "squeeze", "transpose"})


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the present name of each."""
    names = {i.binding.name for i in file.names.imports if i.raw == "numpy" and i.binding is not None}
    for name in sorted(names):
        for load, scope in file.names.loads(name):
            attribute = file.parent(load)
            if _is_numpy(file, load) and isinstance(attribute, ast.Attribute):
                yield from _attribute(file, attribute, name, scope)
    if names and "tostring" in file.text:
        yield from _tostring(file)


def _is_numpy(file: FileFacts, node: ast.expr) -> bool:
    if not isinstance(node, ast.Name):
        return False
    meaning = file.names.meaning(node.id, file.names.scope_of(node))
    return meaning is not None and meaning[0] == "numpy"


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
    elif node.attr in _BUILTINS:
        yield file.finding(
            node,
            f"np.{node.attr} does not exist any more",
            why="NumPy removed it.",
            remedy="Write the builtin type; the file has another thing of its name.",
        )
    elif node.attr in _GONE:
        yield file.finding(
            node, f"np.{node.attr} does not exist any more", why="NumPy removed it.", remedy=_GONE[node.attr]
        )


def _call(file: FileFacts, call: ast.Call, function: str, local: str) -> Iterator[Proposal]:
    """Calls of which more than the name has changed."""
    first = call.keywords[0] if call.keywords else None
    if function == "reshape" and len(call.args) == 1 and first is not None and first.arg == "newshape":
        yield file.edit(first, "np.reshape has no argument newshape any more: by position", _by_position)
    if function == "asscalar" and len(call.args) == 1 and not call.keywords:
        message = f"np.asscalar went away: {local}.asarray(...).item()"
        yield file.edit(call, message, _item_of(f"{local}.asarray"))
    if function == "asfarray" and len(call.args) == 1 and not call.keywords:
        message = f"np.asfarray went away: {local}.asarray(..., dtype=float)"
        yield file.edit(call, message, _as_floats(f"{local}.asarray"))
    if (
        function == "fromstring"
        and len(call.args) < 4
        and not any(k.arg in ("sep", None) for k in call.keywords)
    ):
        message = f"np.fromstring reads no bytes any more: {local}.frombuffer(...).copy()"
        yield file.edit(call, message, _copy_of(f"{local}.frombuffer"))
    if function == "in1d":
        yield file.edit(
            call.func,
            f"np.in1d went away with NumPy 2: {local}.isin",
            written(f"{local}.isin"),
            fix="unsafe",
            why="np.isin keeps the shape of its first argument; np.in1d made it flat.",
        )
    for keyword in call.keywords:
        if function.startswith("histogram") and keyword.arg == "normed":
            yield file.edit(keyword, f"np.{function}: normed is called density", _density)
        if function == "set_printoptions" and keyword.arg == "threshold" and _is_nan(file, keyword.value):
            message = "np.set_printoptions takes np.inf for all that there is, no nan"
            yield file.edit(keyword.value, message, written(f"{local}.inf"))


def _is_nan(file: FileFacts, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "nan" and _is_numpy(file, node.value)


def _tostring(file: FileFacts) -> Iterator[Proposal]:
    """`array.tostring()`, which is `array.tobytes()`."""
    if any(getattr(node, "name", "") == "tostring" for node in file.nodes(ast.FunctionDef)):
        return
    for call in file.nodes(ast.Call):
        method = call.func
        if (
            isinstance(method, ast.Attribute)
            and method.attr == "tostring"
            and not call.args
            and not call.keywords
        ):
            known = _is_array(file, method.value)
            yield file.edit(
                method,
                "an array's tostring is its tobytes",
                _tobytes,
                fix="safe" if known else "unsafe",
                why="" if known else "NumPy 2.3 removed tostring of arrays, if this is one.",
            )


def _is_array(file: FileFacts, node: ast.expr) -> bool:
    """Whether an expression is a call of NumPy's or of an array's method, or a name that only such calls are given to."""
    if isinstance(node, ast.Subscript):
        return _is_array(file, node.value)
    if isinstance(node, ast.Name):
        bindings = file.names.lookup(node.id, file.names.scope_of(node))
        values = [_value_given(file, binding.node, binding.kind) for binding in bindings]
        return bool(values) and all(value is not None and _is_array(file, value) for value in values)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    root = node.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return node.func.attr in _OF_ARRAYS or _is_numpy(file, root)


def _value_given(file: FileFacts, target: ast.AST, kind: str) -> ast.expr | None:
    """What a plain assignment gives to a name, if it does not come from the name itself."""
    statement = file.statement(target) if kind == "other" else None
    if not isinstance(statement, ast.Assign) or statement.targets != [target]:
        return None
    assert isinstance(target, ast.Name)
    own = any(isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(statement.value))
    is_method = isinstance(statement.value, ast.Call) and isinstance(statement.value.func, ast.Attribute)
    return None if own and not (is_method and _is_array_call(statement.value)) else statement.value


def _is_array_call(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_ARRAYS
    )


def _tobytes(node: cst.CSTNode) -> cst.CSTNode:
    import libcst as cst

    return cst.ensure_type(node, cst.Attribute).with_changes(attr=cst.Name("tobytes"))


def _density(node: cst.CSTNode) -> cst.CSTNode:
    import libcst as cst

    return cst.ensure_type(node, cst.Arg).with_changes(keyword=cst.Name("density"))


def _by_position(node: cst.CSTNode) -> cst.CSTNode:
    import libcst as cst

    default = cst.MaybeSentinel.DEFAULT
    return cst.ensure_type(node, cst.Arg).with_changes(keyword=None, equal=default)


def _item_of(function: str) -> Make:
    return _method_of(function, "item")


def _copy_of(function: str) -> Make:
    return _method_of(function, "copy")


def _method_of(function: str, method: str) -> Make:
    """Calls another function with the arguments, and a method without any of what it returns."""

    def make(node: cst.CSTNode) -> cst.CSTNode:
        import libcst as cst

        from codemod import cst_tools

        call = cst.ensure_type(node, cst.Call)
        array = cst_tools.with_callee(call.with_changes(lpar=[], rpar=[]), function)
        item = cst.Call(cst.Attribute(array, cst.Name(method)))
        return item.with_changes(lpar=call.lpar, rpar=call.rpar)

    return make


def _as_floats(function: str) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        from codemod import cst_tools

        return cst_tools.with_argument(cst_tools.with_callee(node, function), "dtype", "float")

    return make
