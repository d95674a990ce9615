"""Which names of a file the installed TensorFlow lacks: asked of TensorFlow itself, not of the codemod's tables.

Run as a program in a process of its own, `python -m tests.corpus.missing`: reads paths from standard input, one a line,
and prints one line of JSON for each. What is never reached on today's TensorFlow does not count: the branch of an `if`
that asks for an older release or for an attribute that is not there, and what stands in a `try` whose handlers are for
exactly that.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import importlib
import json
import os
import re
import sys
import warnings
from collections.abc import Iterable
from typing import Any

PACKAGES = ("tensorflow", "keras", "tf_keras", "tf_slim", "bridge", "tensorflow_estimator")

_MISSING = object()
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})
_ANY_ERROR = frozenset({"Exception", "BaseException"})


def missing_names(source: str | bytes) -> list[tuple[int, str]]:
    """Finds the names that do not exist.

    A name counts if it begins with something that the file imports from TensorFlow or its kin and that nothing else in
    the same scope binds.

    Args:
      source: A Python file's text.

    Returns:
      Pairs of line and name, sorted.

    Raises:
      SyntaxError: if it is no Python.
    """
    file = _File()
    file.visit(ast.parse(source), file.module)
    return sorted({*file.lost, *file.missing_chains()})


# ---------------------------------------------------------------------------------------------------------------------
# What a file imports and reads.


@dataclasses.dataclass
class _Scope:
    """Names of one scope: the paths that imports bind them to, with None for any other binding."""

    outer: _Scope | None = None
    is_class: bool = False
    names: dict[str, list[str | None]] = dataclasses.field(default_factory=dict)

    def bind(self, name: str, path: str | None = None) -> None:
        self.names.setdefault(name, []).append(path)

    def paths(self, name: str) -> list[str | None]:
        """Looks a name up as Python does: a class's names are not seen from its methods."""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or not scope.is_class):
                return scope.names[name]
            scope = scope.outer
        return []


@dataclasses.dataclass(frozen=True)
class _Guard:
    """Which errors the code around a place waits for."""

    imports: bool = False
    attributes: bool = False


class _File:
    """One walk over a file: its scopes, its imports of what is gone, and what it reads."""

    def __init__(self) -> None:
        self.module = _Scope()
        self.lost: set[tuple[int, str]] = set()
        self._gone: set[str] = set()
        self._chains: list[tuple[int, list[str], _Scope]] = []
        self._guard = _Guard()

    def visit(self, node: ast.AST, scope: _Scope) -> None:
        visitor = getattr(self, f"_{type(node).__name__.lower()}", None)
        if visitor is not None:
            visitor(node, scope)
        else:
            self._children(node, scope)

    def _children(self, node: ast.AST, scope: _Scope) -> None:
        self._all(ast.iter_child_nodes(node), scope)

    def _all(self, nodes: Iterable[ast.AST | None], scope: _Scope) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node, scope)

    # -- Imports ---------------------------------------------------------------------------------------------------

    def _import(self, node: ast.Import, scope: _Scope) -> None:
        for alias in node.names:
            top = alias.name.split(".")[0]
            scope.bind(alias.asname or top, alias.name if alias.asname else top)
            self._imported(node, alias.name)

    def _importfrom(self, node: ast.ImportFrom, scope: _Scope) -> None:
        for alias in node.names:
            if node.level or not node.module:
                scope.bind(alias.asname or alias.name, ".")
            elif alias.name == "*":
                self._imported(node, node.module)
            else:
                scope.bind(alias.asname or alias.name, f"{node.module}.{alias.name}")
                self._imported(node, f"{node.module}.{alias.name}")

    def _imported(self, node: ast.stmt, path: str) -> None:
        if _is_ours(path) and _lookup(path) is _MISSING:
            self._gone.add(path)
            if not self._guard.imports:
                self.lost.add((node.lineno, path))

    # -- Other bindings --------------------------------------------------------------------------------------------

    def _name(self, node: ast.Name, scope: _Scope) -> None:
        if not isinstance(node.ctx, ast.Load):
            scope.bind(node.id)

    def _assign(self, node: ast.Assign, scope: _Scope) -> None:
        if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._children(node, scope)  # `tf = None` is what is left where the import has failed.

    def _excepthandler(self, node: ast.ExceptHandler, scope: _Scope) -> None:
        if node.name:
            scope.bind(node.name)
        self._children(node, scope)

    def _functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: _Scope) -> None:
        scope.bind(node.name)
        self._all([*node.decorator_list, node.returns], scope)
        self._function(node.args, node.body, scope)

    _asyncfunctiondef = _functiondef

    def _lambda(self, node: ast.Lambda, scope: _Scope) -> None:
        self._function(node.args, [node.body], scope)

    def _function(self, args: ast.arguments, body: Iterable[ast.AST], scope: _Scope) -> None:
        inner = _Scope(scope)
        parameters = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        for parameter in filter(None, parameters):
            inner.bind(parameter.arg)
            self._all([parameter.annotation], scope)
        self._all([*args.defaults, *args.kw_defaults], scope)
        self._later(body, inner)

    def _later(self, body: Iterable[ast.AST], scope: _Scope) -> None:
        """What a function does, it does when it is called: outside of the `try` around its definition."""
        guard, self._guard = self._guard, _Guard()
        self._all(body, scope)
        self._guard = guard

    def _classdef(self, node: ast.ClassDef, scope: _Scope) -> None:
        scope.bind(node.name)
        self._all([*node.decorator_list, *node.bases, *node.keywords], scope)
        self._all(node.body, _Scope(scope, is_class=True))

    def _comprehension_(self, node: Any, scope: _Scope) -> None:
        inner = _Scope(scope)
        for generator in node.generators:
            self._all([generator.target, generator.iter, *generator.ifs], inner)
        self._all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], inner)

    _listcomp = _setcomp = _generatorexp = _dictcomp = _comprehension_

    def _global(self, node: ast.Global, scope: _Scope) -> None:
        for name in node.names:
            scope.names[name] = self.module.names.setdefault(name, [])

    # -- What is not reached ---------------------------------------------------------------------------------------

    def _try(self, node: ast.Try, scope: _Scope) -> None:
        caught = {name for handler in node.handlers for name in _caught(handler)}
        outer = self._guard
        for statement in node.body:
            direct = isinstance(statement, ast.Import | ast.ImportFrom) and caught & _ANY_ERROR
            self._guard = _Guard(
                outer.imports or bool(caught & _IMPORT_ERRORS or direct),
                outer.attributes or "AttributeError" in caught,
            )
            self.visit(statement, scope)
        self._guard = outer
        self._all([*node.handlers, *node.orelse, *node.finalbody], scope)

    _trystar = _try

    def _if(self, node: ast.If | ast.IfExp, scope: _Scope) -> None:
        truth = _truth(node.test, scope)
        self._all([node.test], scope)
        for branch, taken in ((node.body, truth is not False), (node.orelse, truth is not True)):
            if taken:
                self._all(branch if isinstance(branch, list) else [branch], scope)

    _ifexp = _if

    def _boolop(self, node: ast.BoolOp, scope: _Scope) -> None:
        """`hasattr(tf, "x") and tf.x`."""
        for value in node.values:
            self.visit(value, scope)
            if _truth(value, scope) is isinstance(node.op, ast.Or):
                break

    # -- Names that are read ---------------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, scope: _Scope) -> None:
        parts = _parts(node)
        if parts is None:
            self._children(node, scope)
        elif not self._guard.attributes:
            self._chains.append((node.lineno, parts, scope))

    def missing_chains(self) -> Iterable[tuple[int, str]]:
        """Of all that the file reads, what is not there."""
        for line, (root, *rest), scope in self._chains:
            paths = [path for path in scope.paths(root) if path != "."]
            if not paths or None in paths or not all(_is_ours(path) for path in paths if path):
                continue
            alive = [path for path in paths if path and path not in self._gone]
            lost = [_first_missing(path, rest) for path in alive]
            if lost and all(lost):
                yield line, str(lost[0])


def _is_ours(path: str) -> bool:
    return path.split(".", maxsplit=1)[0] in PACKAGES


def _parts(node: ast.expr) -> list[str] | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else None


def _caught(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"BaseException"}
    return {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}


# ---------------------------------------------------------------------------------------------------------------------
# What conditions say on today's Python and TensorFlow.

_VERSION = re.compile(r"__version__|\bVERSION\b|version_info|\bPY[23]\b|hasattr")


def _truth(test: ast.expr, scope: _Scope) -> bool | None:
    """What a condition says if it only asks for versions and attributes; None if nobody can tell."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        truth = _truth(test.operand, scope)
        return None if truth is None else not truth
    if isinstance(test, ast.BoolOp):
        decisive = isinstance(test.op, ast.Or)
        truths = [_truth(value, scope) for value in test.values]
        return decisive if decisive in truths else None if None in truths else not decisive
    if not _VERSION.search(ast.unparse(test)):
        return None
    names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
    known = {name: _meant(name, scope) for name in names}
    if _MISSING in known.values():
        return None
    try:
        return bool(eval(ast.unparse(test), {"__builtins__": {}}, known))  # Only names that we give it.
    except Exception:  # noqa: BLE001 - a comparison of other people's making: nobody can tell.
        return None


class _Six:
    PY2, PY3 = False, True


class _Version:
    """Stands for `distutils.version`, `packaging.version` and `pkg_resources`, whichever a file compares versions with."""

    def __init__(self) -> None:
        from packaging.version import parse

        self.parse = self.parse_version = self.LooseVersion = self.StrictVersion = self.Version = parse
        self.version = self


_HARMLESS: dict[str, Any] = {
    **{f.__name__: f for f in (hasattr, int, float, str, tuple, list, map, len)},
    "sys": sys,
    "six": _Six,
    **dict.fromkeys(("version", "packaging", "distutils", "pkg_resources"), _Version()),
    **dict.fromkeys(("LooseVersion", "StrictVersion", "Version", "parse", "parse_version"), _Version().parse),
}


def _meant(name: str, scope: _Scope) -> Any:
    paths = scope.paths(name)
    if len(paths) == 1 and paths[0] and _is_ours(paths[0]):
        return _lookup(paths[0])
    return _MISSING if None in paths else _HARMLESS.get(name, _MISSING)


# ---------------------------------------------------------------------------------------------------------------------
# Asking TensorFlow.

_known: dict[str, Any] = {}


def _lookup(name: str) -> Any:
    """Returns the module or what is in it."""
    if name not in _known:
        _known[name] = _find(name)
    return _known[name]


def _find(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception:  # noqa: BLE001 - a module of another time may raise anything when it is imported.
        head, _, last = name.rpartition(".")
    return _attribute(_lookup(head), last) if head else _MISSING


def _attribute(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except Exception:  # noqa: BLE001 - lazy modules raise what they like for what is gone.
        return _MISSING


def _first_missing(root: str, rest: list[str]) -> str | None:
    value, name = _lookup(root), root
    for part in rest:
        if not isinstance(value, (type(sys), type)) and not hasattr(value, "__path__"):
            return None  # Attributes of values are not TensorFlow's names.
        name = f"{name}.{part}"
        if name not in _known:
            _known[name] = _attribute(value, part)
        value = _known[name]
        if value is _MISSING:
            return name
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Files.


def _code(path: str) -> str | bytes:
    """A file's text; of a notebook its code, without what IPython adds to Python."""
    with open(path, "rb") as file:  # noqa: PTH123
        data = file.read()
    if not path.endswith(".ipynb"):
        return data
    cells = [cell["source"] for cell in json.loads(data)["cells"] if cell["cell_type"] == "code"]
    lines = ["".join(cell) for cell in cells if not "".join(cell).lstrip().startswith("%%")]
    return re.sub(r"(?m)^([ \t]*)[!%].*$", r"\1pass", "\n".join(lines))


def main() -> None:
    """Reads paths, prints what is missing in each; null for a file that does not compile."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.missing", description=main.__doc__)
    parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.simplefilter("ignore")
    for path in sys.stdin.read().splitlines():
        try:
            code = _code(path)
            compile(code, path, "exec", dont_inherit=True)
            result = missing_names(code)
        except (SyntaxError, ValueError, KeyError):
            result = None
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
