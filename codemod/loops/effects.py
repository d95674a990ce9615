"""What statements may change: attributes, and objects in place, also through the file's own functions that they reach.

Functions are followed by their names, whatever object they are called on; all that a file can tell about them is there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from codemod.facts import FileFacts
from codemod.loops.values import is_named, value_at

# Methods that change a list, dict, set or deque.
_CHANGING = frozenset(
    [
        "append",
        "appendleft",
        "extend",
        "extendleft",
        "insert",
        "add",
        "update",
        "setdefault",
        "pop",
        "popitem",
        "popleft",
        "clear",
        "sort",
        "reverse",
        "remove",
        "discard",
        "__setitem__",
        "__delitem__",
    ]
)


@dataclass(slots=True)
class Effects:
    """What is changed.

    Attributes:
      attributes: Attributes that are set, of whatever object.
      changed: Names and attributes whose objects are changed in place.
      is_open: Whether attributes are set by names that are computed.
    """

    attributes: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    is_open: bool = False

    def touch(self, file: FileFacts, expression: ast.expr) -> bool:
        """Whether an expression of names, attributes and keys may mean something else afterwards."""
        parts = [node for node in ast.walk(expression) if isinstance(node, ast.Name | ast.Attribute)]
        attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
        if attributes & self.attributes or (attributes and self.is_open):
            return True
        return bool(self.changed) and bool(_also(file, {_last_name(part) for part in parts}) & self.changed)


def effects_of(file: FileFacts, statements: Iterable[ast.AST], session: str) -> Effects:
    """Finds what statements may change.

    Args:
      file: The file.
      statements: Statements or expressions.
      session: What they call the session, whose methods are not the file's.
    """
    found = Effects()
    own = _functions(file)
    seen: set[ast.AST] = set()
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        _note(node, found)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Attribute) and is_named(inner.value, session):
                continue
            name = _last_name(inner) if isinstance(inner, ast.Name | ast.Attribute) else ""
            waiting += own.get(name, ())
        for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
            if _changes_parameters(own.get(_last_name(call.func), ())):
                given = [*call.args, *(keyword.value for keyword in call.keywords)]
                found.changed |= {_last_name(n) for arg in given for n in ast.walk(arg)} - {""}
    return found


def _functions(file: FileFacts) -> dict[str, list[ast.AST]]:
    """The file's functions by name; a class by its own name, as calling it calls what it has."""
    found: dict[str, list[ast.AST]] = {}
    made = (*file.nodes(ast.FunctionDef), *file.nodes(ast.AsyncFunctionDef), *file.nodes(ast.ClassDef))
    for node in made:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.setdefault(node.name, []).append(node)
    return found


def _note(node: ast.AST, found: Effects) -> None:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and not isinstance(inner.ctx, ast.Load):
            found.attributes.add(inner.attr)
        elif isinstance(inner, ast.Subscript) and not isinstance(inner.ctx, ast.Load):
            found.changed.add(_last_name(inner.value))
        elif isinstance(inner, ast.AugAssign):
            found.changed.add(_last_name(inner.target))
        elif isinstance(inner, ast.Call):
            if isinstance(inner.func, ast.Attribute) and inner.func.attr in _CHANGING:
                found.changed.add(_last_name(inner.func.value))
            found.is_open |= _last_name(inner.func) in ("setattr", "delattr", "__setattr__", "__dict__")
    found.changed.discard("")


def _changes_parameters(functions: Iterable[ast.AST]) -> bool:
    """Whether one of some functions changes what it is given."""
    for function in functions:
        names = {arg.arg for node in ast.walk(function) for arg in _arguments(node)} - {"self"}
        inner = Effects()
        _note(function, inner)
        if inner.changed & names:
            return True
    return False


def _arguments(node: ast.AST) -> list[ast.arg]:
    return [inner for inner in ast.walk(node) if isinstance(inner, ast.arg)] if _is_function(node) else []


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _also(file: FileFacts, names: set[str]) -> set[str]:
    """The names, and those that the file gives the same objects by assignments of a name to a name."""
    pairs: list[tuple[str, str]] = []
    for node in (*file.nodes(ast.Name), *file.nodes(ast.Attribute)):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            value = value_at(file, node)
            parent = file.parent(node)
            if value is not None and _last_name(value):
                pairs.append((_last_name(node), _last_name(value)))
            if isinstance(parent, ast.Assign) and len(parent.targets) > 1:
                pairs.append((_last_name(node), _last_name(parent.targets[0])))
    found = set(names)
    while fresh := {b for pair in pairs for a, b in (pair, pair[::-1]) if a in found} - found:
        found |= fresh
    return found


def _last_name(node: ast.AST) -> str:
    """The last name of an expression: of `self.ops["a"]`, `ops`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
