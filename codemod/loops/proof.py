"""The proof that a loop is a fit: of its place, its header, its run, what comes before it, and what follows it.

Each check names what it demands, and the reason for which the loop stays otherwise. Nothing is guessed: a name that may be
read elsewhere, a call that may do anything, an error that may be caught somewhere else end the proof.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemod.facts import FileFacts
from codemod.loops.action import refusal
from codemod.loops.flow import loaded, own_ways, stored
from codemod.loops.header import Header, read_header
from codemod.loops.kept_names import KeptNames
from codemod.loops.place import Place, check_place
from codemod.loops.plan import Kept, KeptError, Plan, Rounds, Value, demand
from codemod.loops.run import arguments, call_of, find_run, only_run, targets_of
from codemod.loops.sessions import Session, mentions


def prove(
    file: FileFacts,
    loop: ast.While | ast.For,
    session: Session,
    others: Sequence[ast.While | ast.For] = (),
) -> Plan:
    """Proves that a loop is a fit.

    Args:
      file: The file.
      loop: The loop.
      session: What it runs.
      others: The file's other loops over sessions, which may become fits, too.

    Returns:
      How it becomes one.

    Raises:
      KeptError: the loop stays.
    """
    place = Place(file, loop, session, file.names.scope_of(loop))
    raises = check_place(place)
    header = read_header(place)
    at = find_run(place, header.body)
    before, run, action = header.body[:at], header.body[at], header.body[at + 1 :]
    is_asked = header.asked >= 0 or bool(header.guards)
    asks_again = is_asked and any(mentions(statement, session.name) for statement in action)
    if asks_again:
        demand(not any(isinstance(n, ast.Continue) for n in own_ways(action)), Kept.SEVERAL_RUNS)
    fetches, feed = arguments(place, header, call_of(run))
    targets = targets_of(run, fetches)
    results = set(targets)
    fed: list[ast.AST] = [*before, *([feed] if feed is not None else [])]
    _check_before(place, before, feed)
    _check_action(place, header, action, results)
    names = KeptNames(place, header, others)
    names.check_counter(fed, action, results)
    kept = names.all(before, action, results)
    used = loaded([*action, *header.conditions])
    values = tuple(
        Value(name, index, _parameter(file, name) if name in kept else name)
        for name, index in targets.items()
        if name in used or name in kept
    )
    counter = header.counter if header.counter in used else None
    return Plan(
        session=session.name,
        asked=header.asked,
        has_condition=bool(header.conditions),
        guards=header.guards,
        is_in_else=header.is_in_else,
        is_in_try=bool(header.handlers),
        before=len(before),
        rounds=header.rounds and Rounds(header.rounds.first, header.rounds.is_some, counter),
        train=only_run(fetches, [value.index for value in values]),
        values=values,
        feeds=feed is not None,
        kept_before=tuple(sorted(kept & stored(before))),
        kept_after=tuple(sorted(kept & (stored(action) | results))),
        begun=names.begun(kept),
        is_global=place.scope.kind == "module",
        stops=asks_again
        or bool(header.conditions)
        or any(isinstance(n, ast.Break) for n in own_ways(action)),
        has_action=bool(action) or bool(kept & results),
        raises=raises or bool(header.handlers),
        asks_again=asks_again,
        is_handed_in=session.is_handed_in,
        asks_first=session.is_handed_in and is_asked,
    )


def _check_before(place: Place, before: Sequence[ast.stmt], feed: ast.expr | None) -> None:
    """Checks that what comes before the run may move into a function."""
    for statement in before:
        demand(_is_preparation(statement), Kept.BEFORE)
    if feed is None:
        # It goes into a callback, which runs in another mode.
        reason = refusal(place.file, before, stored(before), place.session.name)
        demand(reason is None, Kept.BEFORE)
    parts: list[ast.AST] = [*before, *([feed] if feed is not None else [])]
    for node in (n for part in parts for n in ast.walk(part)):
        demand(not isinstance(node, ast.NamedExpr | ast.AnnAssign), Kept.BEFORE)
    function = [place.scope.node] if place.scope.kind == "function" else []
    demand(not any(_is_dynamic(part) for part in [*place.loop.body, *function]), Kept.DYNAMIC)


def _check_action(place: Place, header: Header, action: Sequence[ast.stmt], results: set[str]) -> None:
    """Checks that the action only looks, and that what else the loop goes on by is asked after each step."""
    values = stored(action) | results
    reason = refusal(place.file, action, values, place.session.name)
    if reason is not None:
        raise KeptError(Kept[reason])
    asked = [ast.Expr(condition) for condition in header.conditions]
    demand(refusal(place.file, asked, values) is None, Kept.CONDITION)
    demand(not any(mentions(condition, place.session.name) for condition in asked), Kept.CONDITION)
    if asked:
        demand(not any(isinstance(n, ast.Continue) for n in own_ways(action)), Kept.CONDITION)


def _parameter(file: FileFacts, name: str) -> str:
    choice, number = f"new_{name}", 1
    while choice in file.text:
        number += 1
        choice = f"new_{name}_{number}"
    return choice


def _is_preparation(statement: ast.stmt) -> bool:
    """Whether a statement before the run may move into a function: it is simple, or an `if` of such."""
    if isinstance(statement, ast.If):
        return all(map(_is_preparation, [*statement.body, *statement.orelse]))
    if isinstance(statement, ast.Assign):
        return all(_is_place(target) for target in statement.targets)
    if isinstance(statement, ast.AugAssign):
        return _is_place(statement.target)
    return isinstance(statement, ast.Expr | ast.Pass)


def _is_place(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(_is_place(element) for element in target.elts)
    return isinstance(target, ast.Name | ast.Attribute | ast.Subscript)


def _is_dynamic(statement: ast.AST) -> bool:
    """Whether names are looked up in a way that a function of its own would change."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("locals", "globals", "vars", "dir", "eval", "exec"):
                return True
            if node.func.id == "super" and not node.args:
                return True
    return False
