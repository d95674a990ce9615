"""By what a loop goes on: its condition or count, the question whether to stop, and the errors that end it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from codemod.loops.counts import count
from codemod.loops.flow import own_ways
from codemod.loops.hooks import never_stops
from codemod.loops.place import Place
from codemod.loops.plan import Kept, Rounds, demand
from codemod.loops.sessions import mentions
from codemod.loops.values import is_named


@dataclass(slots=True)
class Header:
    """What is found out about it.

    Attributes:
      body: The statements of each round, without the questions and the `try` around them.
      asked: Which part of the condition asks should_stop(), where there are others; -1 for none.
      conditions: The others.
      guards: How many statements at the beginning of the body only ask should_stop().
      is_in_else: Whether the rest of the body is the `else` of that question.
      counter: The name of the number of the round.
      rounds: How many rounds there are, if they are counted.
      handlers: What is done about errors of the run, before they end the loop.
    """

    body: list[ast.stmt]
    asked: int = -1
    conditions: list[ast.expr] = field(default_factory=list)
    guards: int = 0
    is_in_else: bool = False
    counter: str | None = None
    rounds: Rounds | None = None
    handlers: list[ast.ExceptHandler] = field(default_factory=list)


def read_header(place: Place) -> Header:
    """Finds out by what a loop goes on.

    Raises:
      KeptError: by something that fit does not know.
    """
    loop, name = place.loop, place.session.name
    demand(not loop.orelse, Kept.CONDITION)
    header = Header(loop.body)
    is_guarded = _open_guard(header, name)
    if isinstance(loop, ast.While):
        _read_condition(header, loop, name)
        is_asked = header.asked >= 0 or is_guarded
        demand(is_asked or never_stops(place), Kept.CONDITION)
    else:
        demand(isinstance(loop.target, ast.Name), Kept.COUNT)
        assert isinstance(loop.target, ast.Name)
        header.counter, header.rounds = loop.target.id, count(place, loop.iter)
        demand(is_guarded or never_stops(place), Kept.UNGUARDED)
    _open_try(header, place)
    return header


def _read_condition(header: Header, loop: ast.While, name: str) -> None:
    is_and = isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.And)
    parts = loop.test.values if isinstance(loop.test, ast.BoolOp) and is_and else [loop.test]
    asks = [index for index, part in enumerate(parts) if _asks_to_go_on(part, name)]
    if asks:
        # Asked twice is a question of the body's own.
        header.guards, header.is_in_else, header.body = 0, False, loop.body
    header.asked = asks[0] if asks else -1
    header.conditions = [part for index, part in enumerate(parts) if index != header.asked]
    if len(header.conditions) == 1 and _is_true(header.conditions[0]):
        header.conditions = []


def _open_guard(header: Header, name: str) -> bool:
    """Takes `if sess.should_stop(): break` from the body, with the `else` that the rest may stand in."""
    statement, *others = header.body
    if not (
        isinstance(statement, ast.If)
        and len(statement.body) == 1
        and isinstance(statement.body[0], ast.Break)
        and _asks_to_stop(statement.test, name)
    ):
        return False
    header.guards, header.is_in_else = 1, bool(statement.orelse)
    header.body = [*statement.orelse, *others]
    demand(bool(header.body), Kept.NO_RUN)
    return True


def _asks_to_go_on(test: ast.expr, name: str) -> bool:
    return (
        isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and _asks_to_stop(test.operand, name)
    )


def _asks_to_stop(test: ast.expr, name: str) -> bool:
    return (
        isinstance(test, ast.Call)
        and not test.args
        and not test.keywords
        and isinstance(test.func, ast.Attribute)
        and test.func.attr == "should_stop"
        and is_named(test.func.value, name)
    )


def _is_true(condition: ast.expr) -> bool:
    return isinstance(condition, ast.Constant) and bool(condition.value)


def _open_try(header: Header, place: Place) -> None:
    """Takes the body out of `try: ... except tf.errors.X: ... break`."""
    first, *others = header.body
    if not isinstance(first, ast.Try) or not mentions(ast.Module(first.body, []), place.session.name):
        return
    demand(not first.orelse and not first.finalbody and bool(first.handlers), Kept.HANDLERS)
    demand(not any(mentions(other, place.session.name) for other in others), Kept.HANDLERS)
    for handler in first.handlers:
        demand(_is_of_the_run(place, handler.type, any_error=not others), Kept.HANDLERS)
        *lines, last = handler.body
        demand(isinstance(last, ast.Break | ast.Return | ast.Raise), Kept.HANDLERS)
        demand(not any(own_ways(lines)), Kept.HANDLERS)
    header.handlers = first.handlers
    header.body = [*first.body, *others]


def _is_of_the_run(place: Place, error: ast.expr | None, *, any_error: bool) -> bool:
    """Whether errors come from a run or from what it is fed, and from nothing that looks at results.

    What is written to files may raise other errors of TensorFlow's, if it stands behind the `try`.
    """
    if isinstance(error, ast.Tuple):
        parts = (_is_of_the_run(place, element, any_error=any_error) for element in error.elts)
        return bool(error.elts) and all(parts)
    if error is None:
        return False
    if isinstance(error, ast.Name) and error.id == "StopIteration":
        return not place.file.names.lookup(error.id, place.scope)
    name = place.file.name_of(error) or ""
    return name.startswith("tf.errors.") and (any_error or name == "tf.errors.OutOfRangeError")
