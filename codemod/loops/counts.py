"""How many rounds a `for` over a range has, as far as it can be told before it begins."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from codemod.loops.effects import effects_of
from codemod.loops.flow import loaded, stored
from codemod.loops.place import Place
from codemod.loops.plan import Kept, Rounds, demand
from codemod.loops.values import value_of

_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_RANGES = ("six.moves.range", "six.moves.xrange")


def count(place: Place, iterated: ast.expr) -> Rounds:
    """The rounds of `range(number)` or `range(first, number)`.

    Args:
      place: The loop.
      iterated: What it goes over.

    Raises:
      KeptError: it is something else, or cannot be told.
    """
    demand(isinstance(iterated, ast.Call) and _is_range(place, iterated.func), Kept.CONDITION)
    assert isinstance(iterated, ast.Call)
    demand(len(iterated.args) in (1, 2) and not iterated.keywords, Kept.CONDITION)
    demand(not any(isinstance(arg, ast.Starred) for arg in iterated.args), Kept.CONDITION)
    first = iterated.args[0] if len(iterated.args) == 2 else ast.Constant(0)
    end = iterated.args[-1]
    # They are written twice where there may be none, and the first one once for each round.
    demand(_is_lasting(place, end) and _is_lasting(place, first), Kept.COUNT)
    # Those of the callback that adds the first one.
    demand(not {*stored(place.loop.body), "batch", "logs"} & loaded([first]), Kept.COUNT)
    demand(
        not effects_of(place.file, place.loop.body, place.session.name).touch(place.file, first), Kept.COUNT
    )
    start, number = _number(place, first), _number(place, end)
    for value, found in ((first, start), (end, number)):
        is_other = isinstance(value_of(place.file, value, place.scope), ast.Constant)
        demand(found is not None or not is_other, Kept.COUNT)
    is_known = start is not None and number is not None
    demand(not is_known or (number or 0) > (start or 0), Kept.COUNT)
    return Rounds(start if isinstance(first, ast.Constant) else None, is_known, None)


def _number(place: Place, expression: ast.expr) -> int | None:
    """The whole number that an expression is, if it can be told."""
    value = value_of(place.file, expression, place.scope)
    if isinstance(value, ast.Constant):
        return value.value if type(value.value) is int else None
    compute = _ARITHMETIC.get(type(value.op)) if isinstance(value, ast.BinOp) else None
    if not isinstance(value, ast.BinOp) or compute is None:
        return None
    left, right = _number(place, value.left), _number(place, value.right)
    return None if left is None or right is None else compute(left, right)


def _is_range(place: Place, function: ast.expr) -> bool:
    is_builtin = isinstance(function, ast.Name) and function.id == "range"
    if is_builtin and not place.file.names.lookup("range", place.scope):
        return True
    return place.file.name_of(function) in _RANGES


def _is_lasting(place: Place, number: ast.expr) -> bool:
    """Whether an expression is the same twice: names, attributes, numbers, and what is computed of them."""
    if isinstance(number, ast.Name | ast.Constant):
        return True
    if isinstance(number, ast.Attribute):
        return _is_lasting(place, number.value)
    if isinstance(number, ast.BinOp):
        # Whatever else binds less than the minus that may come behind it.
        is_plain = isinstance(number.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod)
        return is_plain and _is_lasting(place, number.left) and _is_lasting(place, number.right)
    if not isinstance(number, ast.Call) or len(number.args) != 1 or number.keywords:
        return False
    is_int = isinstance(number.func, ast.Name) and number.func.id == "int"
    return is_int and not place.file.names.lookup("int", place.scope) and _is_lasting(place, number.args[0])
