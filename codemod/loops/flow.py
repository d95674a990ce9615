"""Which names statements set and read, and in which order: enough to tell whether a value outlives a place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from codemod.facts import FileFacts
from codemod.names import Scope

# Of a name in some statements: it may be read before it is set; it is set on every way; neither.
Fate = Literal["read", "set", "open"]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def stored(statements: Iterable[ast.AST]) -> set[str]:
    """The plain names that statements bind in their own scope."""
    found: set[str] = set()
    waiting = list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        if isinstance(node, _COMPREHENSIONS):
            waiting += [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
        elif not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    return found


def loaded(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are read anywhere inside, functions included; what `x += 1` changes is read too."""
    found: set[str] = set()
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def is_read_first(statements: Sequence[ast.stmt], name: str) -> bool:
    """Whether statements may read a name before they set it."""
    return _fate(statements, name) == "read"


def is_read_elsewhere(file: FileFacts, place: ast.stmt, scope: Scope, name: str) -> bool:
    """Whether the value that a statement gives a name may be read outside of the statement.

    Args:
      file: The file.
      place: The statement.
      scope: The scope that it is in.
      name: The name.
    """
    inside = set(ast.walk(place))
    for node, where in file.names.loads(name):
        if where is not scope and node not in inside and _is_seen(file, name, where, scope):
            return True
    return _is_read_behind(file, place, name)


def _is_seen(file: FileFacts, name: str, where: Scope, scope: Scope) -> bool:
    found = file.names.lookup(name, where)
    return not found or any(binding.scope is scope for binding in found)


def _is_read_behind(file: FileFacts, place: ast.stmt, name: str) -> bool:
    node: ast.AST = place
    while (parent := file.parent(node)) is not None:
        fate = _fate_of_rest(parent, node, name)
        if fate != "open":
            return fate == "read"
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return False
        if isinstance(parent, ast.ClassDef):
            return True
        if isinstance(parent, ast.While | ast.For | ast.AsyncFor) and _is_read_in_round(parent, place, name):
            return True
        node = parent
    return not file.is_program  # Other modules may read it from one that they import.


def _fate_of_rest(parent: ast.AST, node: ast.AST, name: str) -> Fate:
    """What becomes of a name in the rest of the block that holds a statement, and in what may follow the block."""
    if hasattr(
        parent, "handlers"
    ):  # A `try`, with or without a star: its parts may follow each other in many ways.
        rest = [n for n in ast.iter_child_nodes(parent) if n is not node]
        return "read" if name in loaded(rest) else "open"
    for block in ("body", "orelse"):
        statements = getattr(parent, block, None)
        if isinstance(statements, list) and node in statements:
            return _fate(statements[statements.index(node) + 1 :], name)
    return "open"


def _is_read_in_round(loop: ast.AST, place: ast.stmt, name: str) -> bool:
    """Whether a loop around the place reads the name anywhere else, so perhaps in the next round."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(loop))
    while waiting:
        node = waiting.pop()
        if node is place:
            continue
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return True
        waiting += ast.iter_child_nodes(node)
    return False


def _fate(statements: Sequence[ast.stmt], name: str) -> Fate:
    for statement in statements:
        fate = _fate_in(statement, name)
        if fate != "open":
            return fate
    return "open"


def _fate_in(statement: ast.stmt, name: str) -> Fate:
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return _fate_in_assignment(statement, name)
    if isinstance(statement, ast.If):
        if name in loaded([statement.test]):
            return "read"
        fates = {_fate(statement.body, name), _fate(statement.orelse, name)}
        return "read" if "read" in fates else "open" if "open" in fates else "set"
    if isinstance(statement, ast.For | ast.AsyncFor):
        if name in loaded([statement.iter]):
            return "read"
        if name in stored([statement.target]):
            return _read_or_open(statement.orelse, name)
        return "read" if "read" in (_fate(statement.body, name), _fate(statement.orelse, name)) else "open"
    if isinstance(statement, ast.While):
        blocks = (statement.body, statement.orelse)
        is_read = name in loaded([statement.test]) or any(_fate(block, name) == "read" for block in blocks)
        return "read" if is_read else "open"
    if isinstance(statement, ast.With | ast.AsyncWith):
        for item in statement.items:
            if name in loaded([item.context_expr]):
                return "read"
            if item.optional_vars is not None and name in stored([item.optional_vars]):
                return "set"
        return _read_or_open(statement.body, name)
    if isinstance(statement, ast.Delete) and name in stored([statement]):
        return "read"
    return "read" if name in loaded([statement]) else "open"


def _fate_in_assignment(statement: ast.Assign | ast.AnnAssign, name: str) -> Fate:
    if statement.value is not None and name in loaded([statement.value]):
        return "read"
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if name in loaded(targets):
        return "read"
    return "set" if statement.value is not None and name in stored(targets) else "open"


def _read_or_open(statements: Sequence[ast.stmt], name: str) -> Fate:
    return "read" if _fate(statements, name) == "read" else "open"


def own_ways(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The `break` and `continue` of the loop itself, not those of loops inside."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Break | ast.Continue):
            yield node
        if isinstance(node, ast.For | ast.While | ast.AsyncFor):
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)
