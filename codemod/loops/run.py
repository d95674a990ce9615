"""The run of each round: which statement it is, what it fetches, and where the results go."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemod.loops.flow import attributes_of, attributes_set, loaded, own_ways, stored
from codemod.loops.header import Header
from codemod.loops.place import Place
from codemod.loops.plan import Kept, KeptError, demand


def find_run(place: Place, body: Sequence[ast.stmt]) -> int:
    """Which statement runs the session: the only one that has to do with it.

    Raises:
      KeptError: there is none, or more than that.
    """
    file, name = place.file, place.session.name
    uses = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name]
    runs = [use for use in uses if _is_run(place, use)]
    demand(bool(uses), Kept.NO_RUN)
    nodes = (node for statement in body for node in ast.walk(statement))
    demand(not any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in nodes), Kept.ASYNCHRONOUS)
    others = [use for use in uses if use not in runs]
    if any(_is_asked(place, use) for use in others):
        raise KeptError(Kept.CONDITION)
    demand(not others, Kept.SESSION_USED if runs else Kept.NO_RUN)
    demand(len(runs) == 1, Kept.SEVERAL_RUNS)
    at = next(i for i, s in enumerate(body) if any(n is runs[0] for n in ast.walk(s)))
    _check_ways(body[:at], body[at + 1 :])
    statement = body[at]
    demand(not any(isinstance(n, ast.Return | ast.Raise) for n in ast.walk(statement)), Kept.LEAVES)
    method = file.parent(runs[0])
    call = file.parent(method) if method is not None else None
    demand(isinstance(statement, ast.Expr | ast.Assign) and statement.value is call, Kept.PART)
    return at


def _check_ways(before: Sequence[ast.stmt], action: Sequence[ast.stmt]) -> None:
    """Each round must come to the run; break and continue in what follows end the action."""
    demand(not any(own_ways(before)), Kept.LEAVES)
    demand(not any(isinstance(s, ast.Break | ast.Continue) for s in action), Kept.LEAVES)
    leaves = (n for s in (*before, *action) for n in ast.walk(s))
    demand(not any(isinstance(n, ast.Return | ast.Raise) for n in leaves), Kept.LEAVES)


def _is_run(place: Place, use: ast.Name) -> bool:
    parent = place.file.parent(use)
    call = place.file.parent(parent) if parent is not None else None
    return (
        isinstance(parent, ast.Attribute)
        and parent.attr == "run"
        and isinstance(call, ast.Call)
        and call.func is parent
    )


def _is_asked(place: Place, use: ast.Name) -> bool:
    parent = place.file.parent(use)
    return isinstance(parent, ast.Attribute) and parent.attr == "should_stop"


def call_of(run: ast.stmt) -> ast.Call:
    """The call of a statement that runs the session."""
    assert isinstance(run, ast.Expr | ast.Assign)
    assert isinstance(run.value, ast.Call)
    return run.value


def arguments(place: Place, header: Header, call: ast.Call) -> tuple[ast.expr, ast.expr | None]:
    """What is fetched, and what is fed.

    Raises:
      KeptError: there are other arguments, or what is fetched may change from round to round.
    """
    given: dict[str | None, ast.expr] = dict(zip(("fetches", "feed_dict"), call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords}
    is_plain = len(call.args) <= 2 and len(given) == len(call.args) + len(call.keywords)
    demand(is_plain and not any(isinstance(a, ast.Starred) for a in call.args), Kept.ARGUMENTS)
    demand(set(given) <= {"fetches", "feed_dict"} and "fetches" in given, Kept.ARGUMENTS)
    fetches, feed = given["fetches"], given.get("feed_dict")
    assigned = stored(place.loop.body) | ({header.counter} if header.counter else set())
    demand(_is_fixed(fetches) and not assigned & loaded([ast.Expr(fetches)]), Kept.FETCHES)
    demand(not attributes_set(header.body) & attributes_of(fetches), Kept.FETCHES)
    for name in loaded([ast.Expr(fetches)]):
        demand(all(name not in s.elsewhere for s in place.file.names.scopes.values()), Kept.FETCHES)
    if isinstance(feed, ast.Constant) and feed.value is None:
        feed = None
    return fetches, feed


def targets_of(run: ast.stmt, fetches: ast.expr) -> dict[str, int | None]:
    """The names that the results get, each with its place in the list of fetches; None for all of what is fetched.

    Raises:
      KeptError: the results go elsewhere.
    """
    if isinstance(run, ast.Expr):
        return {}
    assert isinstance(run, ast.Assign)
    demand(len(run.targets) == 1, Kept.RESULTS)
    target = run.targets[0]
    # A name like __this means another one in a class, but not as a key.
    names = [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
    demand(not any(name.startswith("__") for name in names), Kept.RESULTS)
    if isinstance(target, ast.Name):
        return {target.id: None}
    demand(isinstance(target, ast.Tuple | ast.List), Kept.RESULTS)
    assert isinstance(target, ast.Tuple | ast.List)
    is_list = isinstance(fetches, ast.List | ast.Tuple) and len(fetches.elts) == len(target.elts)
    demand(is_list and all(isinstance(name, ast.Name) for name in target.elts), Kept.RESULTS)
    # Of two results with one name the last one stays.
    return {name.id: index for index, name in enumerate(target.elts) if isinstance(name, ast.Name)}


def only_run(fetches: ast.expr, indices: Sequence[int | None]) -> tuple[int, ...] | None:
    """The elements of a list whose values nobody looks at; None for all of what is fetched."""
    if not indices or None in indices or not isinstance(fetches, ast.List | ast.Tuple):
        return None
    return tuple(index for index in range(len(fetches.elts)) if index not in indices) or (0,)


def _is_fixed(fetches: ast.expr) -> bool:
    """Whether an expression is the same thing each time: names, attributes, constant keys, and literals of them."""
    if isinstance(fetches, ast.Name | ast.Constant):
        return True
    if isinstance(fetches, ast.Attribute):
        return _is_fixed(fetches.value)
    if isinstance(fetches, ast.Subscript):
        return isinstance(fetches.slice, ast.Constant) and _is_fixed(fetches.value)
    if isinstance(fetches, ast.List | ast.Tuple):
        return bool(fetches.elts) and all(_is_fixed(element) for element in fetches.elts)
    if isinstance(fetches, ast.Dict):
        keys = all(key is not None and _is_fixed(key) for key in fetches.keys)
        return keys and bool(fetches.values) and all(_is_fixed(value) for value in fetches.values)
    return False
