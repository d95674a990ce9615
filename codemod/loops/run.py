"""The run of each round: which statement it is, what it fetches, and where the results go."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from codemod.loops import fetched
from codemod.loops.effects import effects_of
from codemod.loops.flow import loaded, own_ways, stored
from codemod.loops.header import Header
from codemod.loops.place import Place
from codemod.loops.plan import Kept, KeptError, demand
from codemod.loops.sessions import LOOPS, mentions
from codemod.loops.values import is_named


def find_run(place: Place, body: Sequence[ast.stmt]) -> int:
    """Which statement is the step: the only run, or the one of several that does more than look.

    Raises:
      KeptError: there is none, or it cannot be told, or the session is used for more than runs.
    """
    name = place.session.name
    uses = [node for statement in body for node in ast.walk(statement) if is_named(node, name)]
    demand(bool(uses), Kept.NO_RUN)
    nodes = (node for statement in body for node in ast.walk(statement))
    demand(not any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in nodes), Kept.ASYNCHRONOUS)
    runs = {use: call for use in uses if (call := _run(place, use)) is not None}
    direct = [
        i for i, s in enumerate(body) if isinstance(s, ast.Expr | ast.Assign) and s.value in runs.values()
    ]
    if not direct:
        if any(_is_asked(place, use) for use in uses):
            raise KeptError(Kept.CONDITION)
        demand(len(runs) == len(uses), Kept.SESSION_USED if runs else Kept.NO_RUN)
        demand(not any(_in_loop(place, run) for run in runs.values()), Kept.NESTED)
        demand(len(runs) == 1, Kept.SEVERAL_RUNS)
        where = next(s for s in body if mentions(s, name))
        demand(not any(isinstance(n, ast.Return | ast.Raise) for n in ast.walk(where)), Kept.LEAVES)
        raise KeptError(Kept.PART)
    at = _step(place, body, direct)
    _check_ways(body[:at], body[at + 1 :])
    for use in (use for use in uses if use not in runs):
        is_behind = any(use in ast.walk(statement) for statement in body[at + 1 :])
        demand(is_behind, Kept.CONDITION if _is_asked(place, use) else Kept.SESSION_USED)
    others = [run for run in runs.values() if run is not call_of(body[at])]
    for run in others:
        _check_other(place, body, at, run)
    return at


def _step(place: Place, body: Sequence[ast.stmt], direct: Sequence[int]) -> int:
    """Which of the statements that run something is the step."""
    if len(direct) == 1:
        return direct[0]
    read = loaded(body)
    steps = [i for i in direct if not _looks(place, body[i], call_of(body[i]), read)]
    demand(len(steps) < 2, Kept.SEVERAL_RUNS)
    return steps[0] if steps else direct[0]


def _looks(place: Place, statement: ast.stmt | None, run: ast.Call, read: Collection[str]) -> bool:
    if not run.args or fetched.trains(place.file, run.args[0]):
        return False
    if fetched.only_looks(place.file, run.args[0]):
        return True
    return statement is not None and fetched.is_all_read(statement, run, read)


def _check_other(place: Place, body: Sequence[ast.stmt], at: int, run: ast.Call) -> None:
    """What else is run must only look; what is run now and then, as an evaluation is, must not be known to train."""
    file = place.file
    demand(bool(run.args) and not fetched.trains(file, run.args[0]), Kept.SEVERAL_RUNS)
    around = []
    for node in file.ancestors(run):
        if node is place.loop:
            break
        around.append(node)
    is_asked_for = any(isinstance(node, ast.If) and run not in ast.walk(node.test) for node in around)
    if any(isinstance(node, LOOPS) for node in around):
        step = call_of(body[at])
        demand(is_asked_for and bool(step.args), Kept.NESTED)
        demand(not fetched.only_looks(file, step.args[0]), Kept.NESTED)
    read = loaded(body)
    if not is_asked_for or _looks(place, body[at], call_of(body[at]), read):
        demand(_looks(place, file.statement(run), run, read), Kept.SEVERAL_RUNS)


def _in_loop(place: Place, node: ast.AST) -> bool:
    for ancestor in place.file.ancestors(node):
        if ancestor is place.loop:
            return False
        if isinstance(ancestor, (*LOOPS, ast.AsyncFor)):
            return True
    return False


def _check_ways(before: Sequence[ast.stmt], action: Sequence[ast.stmt]) -> None:
    """Each round must come to the run; break and continue in what follows end the action."""
    demand(not any(own_ways(before)), Kept.LEAVES)
    demand(not any(isinstance(s, ast.Break | ast.Continue) for s in action), Kept.LEAVES)
    leaves = (n for s in (*before, *action) for n in ast.walk(s))
    demand(not any(isinstance(n, ast.Return | ast.Raise) for n in leaves), Kept.LEAVES)


def _run(place: Place, use: ast.AST) -> ast.Call | None:
    """The call of `run` that a use of the session is for."""
    parent = place.file.parent(use)
    call = place.file.parent(parent) if isinstance(parent, ast.Attribute) and parent.attr == "run" else None
    return call if isinstance(call, ast.Call) and call.func is parent else None


def _is_asked(place: Place, use: ast.AST) -> bool:
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
    changes = effects_of(place.file, [*place.loop.body, *header.conditions], place.session.name)
    demand(not changes.touch(place.file, fetches), Kept.FETCHES)
    demand(place.session.name.partition(".")[2] not in changes.attributes, Kept.REBOUND)
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
