"""Where a loop stands: what is around it must not change what it means."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemod.facts import FileFacts
from codemod.loops.plan import Kept, KeptError, demand
from codemod.loops.sessions import LOOPS, Session, is_placement, mentions
from codemod.names import Scope

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Place:
    """A loop, and where it stands.

    Attributes:
      file: The file.
      loop: The loop.
      session: What it runs.
      scope: The scope that it is in.
    """

    file: FileFacts
    loop: ast.While | ast.For
    session: Session
    scope: Scope


def check_place(place: Place) -> bool:
    """Checks what is around a loop.

    Returns:
      Whether the end of the input skips something that follows the loop, or is caught.

    Raises:
      KeptError: the loop stays.
    """
    file = place.file
    demand("original_args" not in file.text, Kept.ORIGINAL_ARGUMENTS)
    demand(place.scope.kind in ("module", "function"), Kept.CONTEXT)
    function = place.scope.node
    demand(not isinstance(function, ast.AsyncFunctionDef), Kept.ASYNCHRONOUS)
    if isinstance(function, ast.FunctionDef):
        demand(not _yields(function), Kept.ASYNCHRONOUS)
    _check_session(place)
    return _check_around(place)


def _check_session(place: Place) -> None:
    """The session's name must mean it wherever it is used."""
    file, session = place.file, place.session
    if session.home is session.block:
        for node in ast.walk(session.home):
            is_other = (
                isinstance(node, ast.Name) and node.id == session.name and not isinstance(node.ctx, ast.Load)
            )
            if is_other and node is not session.block.items[-1].optional_vars:
                raise KeptError(Kept.REBOUND)
    for other in session.names:
        demand(all(other not in scope.elsewhere for scope in file.names.scopes.values()), Kept.REBOUND)
        demand(other == session.name or not mentions(place.loop, other), Kept.SESSION_USED)


def _check_around(place: Place) -> bool:
    file, session = place.file, place.session
    raises = session.block is None
    node: ast.AST = place.loop
    is_closed = False
    while node is not session.home:
        parent = file.parent(node)
        if parent is session.home and parent is not session.block:
            break
        if not isinstance(parent, (ast.With, ast.If, ast.Try, *LOOPS)):
            raise KeptError(Kept.CONTEXT)
        if isinstance(parent, ast.With) and parent is not session.block:
            demand(all(is_placement(file, item) for item in parent.items), Kept.CONTEXT)
        if not is_closed:
            block = parent.orelse if isinstance(parent, ast.If) and node in parent.orelse else parent.body
            # Another round follows, or what handles errors, or another statement.
            raises |= isinstance(parent, (ast.Try, *LOOPS)) or block[-1] is not node
        is_closed |= parent is session.block
        node = parent
    return raises


def _yields(function: ast.FunctionDef) -> bool:
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False
