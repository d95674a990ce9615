"""Which code is never reached on today's TensorFlow, because the file itself asks for the release or for what it has.

Only conditions that say nothing but that are decided: comparisons of `tf.__version__`, `hasattr(tf, ...)`, `"x" in dir(tf)`, `six.PY2`, and
functions and names of the file's own that stand for them. Whatever else is in a condition leaves it open.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from codemod.layout import siblings

if TYPE_CHECKING:
    from codemod.file_tree import FileTree


class _Unknown(Exception):  # noqa: N818 -- it is no error, and never leaves this module.
    """Nobody can tell."""


_VERSIONS = ("tf.__version__", "tf.VERSION", "tf.version.VERSION", "tf.compat.v2.__version__")
_PYTHON = {"six.PY2": False, "six.PY3": True, "sys.version_info.major": 3}
_PARSERS: Final = re.compile(
    r"(?:distutils\.version|packaging\.version|pkg_resources|distutils|packaging)\.(?:version\.)?"
    r"(?:LooseVersion|StrictVersion|Version|parse|parse_version)"
)
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_METHODS = frozenset({"split", "startswith", "replace", "strip", "find"})
_BUILTINS: dict[str, Callable[..., Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "tuple": tuple,
    "list": list,
}
_WAYS_OUT = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


_EVERYTHING = frozenset({"Exception", "BaseException"})
_ASKS = ("hasattr", "dir(", "__version__", "VERSION", "PY2", "PY3", "version_info")


def unreached(file: FileTree) -> set[ast.AST]:
    """Everything in a file that is never run on today's TensorFlow: branches for another release, or for names that are gone.

    Args:
      file: The file.
    """
    if not any(word in file.text for word in _ASKS):
        return set()
    found: set[ast.AST] = set()
    for node in file.names.parents:
        if isinstance(node, ast.If | ast.IfExp | ast.BoolOp) and node not in found:
            for part in _never(file, node):
                found.update(ast.walk(part))
    return found


def _never(file: FileTree, node: ast.If | ast.IfExp | ast.BoolOp) -> Iterator[ast.AST]:
    """The parts of a node that are never run, and what is never run behind an `if` that always leaves its block."""
    if isinstance(node, ast.BoolOp):
        ends = isinstance(node.op, ast.Or)
        at = next((i for i, value in enumerate(node.values) if truth(file, value) is ends), None)
        yield from () if at is None else node.values[at + 1 :]
        return
    said = truth(file, node.test)
    if said is not None:
        left = node.orelse if said else node.body
        yield from left if isinstance(left, list) else [left]
    if said and isinstance(node, ast.If) and isinstance(node.body[-1], _WAYS_OUT):
        block = siblings(file, node)
        yield from block[block.index(node) + 1 :]


def is_awaited(file: FileTree, node: ast.AST) -> bool:
    """Whether code stands in a `try` that waits for names that are not there, or where it goes on although they are.

    One that catches everything does so if there is nothing else in it, and another name of TensorFlow's where it goes on.
    """
    child: ast.AST = node
    for parent in file.ancestors(node):
        if isinstance(parent, _Function):
            return False
        if isinstance(parent, ast.Try) and child in parent.body:
            caught = {name for handler in parent.handlers for name in _caught(handler)}
            if "AttributeError" in caught or (caught & _EVERYTHING and _chooses(file, parent)):
                return True
        if (
            isinstance(parent, ast.Try)
            and isinstance(child, ast.ExceptHandler)
            and _is_needless(file, parent, child)
        ):
            return True
        child = parent
    return False


def _is_needless(file: FileTree, node: ast.Try, handler: ast.ExceptHandler) -> bool:
    """Whether a handler waits for names that are not there, and all of them are."""
    names = [file.name_of(n) for s in node.body for n in ast.walk(s) if isinstance(n, ast.Attribute)]
    ours = [name for name in names if name is not None and name.startswith("tf.")]
    return _caught(handler) == {"AttributeError"} and bool(ours) and all(map(file.tables.exists, ours))


def _caught(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"BaseException"}
    return {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}


def _chooses(file: FileTree, node: ast.Try) -> bool:
    """Whether a `try` only takes one of two names."""
    simple = all(
        isinstance(s, ast.Assign | ast.Expr | ast.Return | ast.Import | ast.ImportFrom) for s in node.body
    )
    others = (
        n
        for handler in node.handlers
        for s in handler.body
        for n in ast.walk(s)
        if isinstance(n, ast.Attribute)
    )
    return simple and any((file.name_of(other) or "").startswith("tf.") for other in others)


def truth(file: FileTree, test: ast.expr) -> bool | None:
    """What a condition says on today's TensorFlow; None if nobody can tell."""
    try:
        return bool(_Value(file).of(test))
    except _Unknown:
        return None


class _Value:
    """The value of an expression that only asks for the release and for what it has."""

    def __init__(self, file: FileTree, depth: int = 0) -> None:
        self._file, self._depth = file, depth

    def of(self, node: ast.expr) -> Any:
        """The value.

        Raises:
          _Unknown: nobody can tell.
        """
        try:
            return self._of(node)
        except (TypeError, ValueError, IndexError, AttributeError) as error:
            raise _Unknown from error

    def _of(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(self._of(element) for element in node.elts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self._of(node.operand)
        if isinstance(node, ast.BoolOp):
            return self._of_several(node)
        if isinstance(node, ast.Compare):
            return self._of_comparison(node)
        if isinstance(node, ast.Subscript):
            return self._of(node.value)[self._of_slice(node.slice)]
        if isinstance(node, ast.Call):
            return self._of_call(node)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._of_name(node)
        raise _Unknown

    def _of_several(self, node: ast.BoolOp) -> bool:
        """`and` and `or`: one part may decide where others are not known."""
        decisive = isinstance(node.op, ast.Or)
        truths = [truth(self._file, value) for value in node.values]
        if decisive in truths:
            return decisive
        if None in truths:
            raise _Unknown
        return not decisive

    def _of_comparison(self, node: ast.Compare) -> bool:
        if isinstance(node.ops[0], ast.In | ast.NotIn) and len(node.ops) == 1:
            listed = node.comparators[0]
            if isinstance(listed, ast.Call) and self._is_dir(listed):
                return self._has(listed.args[0], self._text(node.left)) is isinstance(node.ops[0], ast.In)
        values = [self._of(value) for value in (node.left, *node.comparators)]
        for left, operation, right in zip(values, node.ops, values[1:], strict=False):
            compare = _COMPARISONS.get(type(operation))
            if compare is None:
                raise _Unknown
            if not compare(left, right):
                return False
        return True

    def _is_dir(self, call: ast.Call) -> bool:
        """Whether a call is `dir(x)`, of the builtin."""
        name = (
            call.func.id
            if isinstance(call.func, ast.Name) and len(call.args) == 1 and not call.keywords
            else ""
        )
        return name == "dir" and not self._file.names.lookup(name, self._file.names.scope_of(call))

    def _of_slice(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Slice):
            return self._of(node)
        return slice(*(part and self._of(part) for part in (node.lower, node.upper, node.step)))

    def _of_call(self, node: ast.Call) -> Any:
        function = node.func
        if node.keywords:
            raise _Unknown
        name = self._file.name_of(function)
        if name is not None and _PARSERS.fullmatch(name) and len(node.args) == 1:
            return _numbers(str(self._of(node.args[0])))
        if isinstance(function, ast.Attribute) and function.attr in _METHODS:
            return getattr(self._text(function.value), function.attr)(*map(self._of, node.args))
        if not isinstance(function, ast.Name):
            raise _Unknown
        bindings = self._file.names.lookup(function.id, self._file.names.scope_of(function))
        if not bindings:
            return self._of_builtin(function.id, node.args)
        made = bindings[0].node
        if len(bindings) == 1 and isinstance(made, ast.FunctionDef) and not node.args:
            return self._of_function(made)
        raise _Unknown

    def _text(self, node: ast.expr) -> str:
        value = self._of(node)
        if not isinstance(value, str):
            raise _Unknown
        return value

    def _of_builtin(self, name: str, arguments: Sequence[ast.expr]) -> Any:
        if name == "hasattr" and len(arguments) == 2:
            return self._has(arguments[0], self._text(arguments[1]))
        if name == "map" and len(arguments) == 2 and isinstance(arguments[0], ast.Name):
            function = _BUILTINS.get(arguments[0].id)
            if function is not None:
                return tuple(map(function, self._of(arguments[1])))
        if name in _BUILTINS and len(arguments) == 1:
            return _BUILTINS[name](self._of(arguments[0]))
        raise _Unknown

    def _has(self, owner: ast.expr, attribute: str) -> bool:
        """`hasattr(tf.x, "y")`, if it is the same in both namespaces."""
        raw = self._file.names.raw_of(owner)
        name = self._file.name_of(owner)
        is_ours = name is not None and (name == "tf" or name.startswith("tf."))
        if raw is None or name is None or not is_ours or name.startswith("tf.keras."):
            raise _Unknown
        tables, rest = self._file.tables, f"{name}.{attribute}"[3:]
        found = {tables.exists(f"tf.{rest}"), tables.exists_in_v2(rest)}
        if len(found) != 1 or tables.is_symbol(name):
            raise _Unknown
        return found.pop()

    def _of_function(self, function: ast.FunctionDef) -> Any:
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        if self._depth > 3 or len(body) != 1 or function.decorator_list:
            raise _Unknown
        statement = body[0]
        if not isinstance(statement, ast.Return) or statement.value is None:
            raise _Unknown
        return _Value(self._file, self._depth + 1).of(statement.value)

    def _of_name(self, node: ast.Name | ast.Attribute) -> Any:
        name = self._file.name_of(node)
        if name in _PYTHON:
            return _PYTHON[name]
        if name in _VERSIONS:
            version = self._file.tables.version
            if version == "unknown":
                raise _Unknown
            return version
        if isinstance(node, ast.Name) and self._depth <= 3:
            bindings = self._file.names.lookup(node.id, self._file.names.scope_of(node))
            parent = self._file.parent(bindings[0].node) if len(bindings) == 1 else None
            if isinstance(parent, ast.Assign) and bindings[0].node in parent.targets:
                return _Value(self._file, self._depth + 1).of(parent.value)
        raise _Unknown


def _numbers(version: str) -> tuple[int, ...]:
    """A release as numbers that compare; what comes before a release sorts with it."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", version)
    if found is None:
        raise _Unknown
    numbers = [int(part) for part in found[1].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        del numbers[-1]  # 2.0 is 2.0.0.
    return tuple(numbers)
