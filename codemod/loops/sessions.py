"""Which loops of a file run monitored sessions, and by which names and `with` statements they have them.

A session of the bridge is opened by a `with`, or assigned to a name and closed by hand, or assigned first and given to a
`with` later; or it is a parameter for which the file gives only such sessions, or an attribute that the file sets to such.
A name counts as a session if every value that the file gives it is one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemod.facts import FileFacts
from codemod.loops.values import is_named, value_at, values_of
from codemod.names import Scope

BRIDGE_SESSION = "bridge.MonitoredTrainingSession"
SESSIONS = (
    "tf.train.MonitoredTrainingSession",
    "tf.train.MonitoredSession",
    "tf.train.SingularMonitoredSession",
)
LOOPS = (ast.While, ast.For)

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Session:
    """A session that a loop runs.

    Attributes:
      name: The name that the loop has it by; with a dot for an attribute.
      calls: The calls that open it: one, or one for each branch of an `if`.
      block: The `with` that closes it; None if it is closed by hand, or not at all.
      names: All names for it in its scope.
      home: The innermost statement list's owner that holds all that opens it, and the loop.
      is_handed_in: Whether it was opened elsewhere, perhaps in another graph, and may be closed already.
    """

    name: str
    calls: tuple[ast.Call, ...]
    block: ast.With | None
    names: frozenset[str]
    home: ast.AST
    is_handed_in: bool = False


def loops_of(file: FileFacts) -> Iterator[tuple[ast.While | ast.For, Session | None]]:
    """The loops over monitored sessions, with the session if it is the bridge's; the outermost of nested ones only."""
    opening = {node for node in file.nodes(ast.Call) if _opens(file, node)}
    counted: set[ast.AST] = set()
    for node in file.walked:  # From the outside in.
        if not isinstance(node, LOOPS):
            continue
        session = _session_of(file, node) if opening else None
        around = list(file.ancestors(node))
        inside = around[: around.index(session.home)] if session is not None else around
        if any(ancestor in counted for ancestor in inside):
            continue
        if opening and any(inner in opening for inner in ast.walk(node)):
            continue  # A session of its own for each round.
        if session is not None or _is_over_another_session(file, node):
            counted.add(node)
            yield node, session


def loops_inside(loop: ast.While | ast.For, session: Session) -> list[ast.While | ast.For]:
    """The outermost of the loops inside another one that run its session."""
    found: list[ast.While | ast.For] = []
    waiting: list[ast.AST] = [*reversed(loop.body)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, LOOPS) and _runs(node, session.name):
            found.append(node)
        elif not isinstance(node, _Function | ast.ClassDef):
            waiting += reversed(list(ast.iter_child_nodes(node)))
    return found


def _rounds_of(loop: ast.While | ast.For) -> list[ast.AST]:
    """What a loop does in each round; what a `for` goes over is looked up before."""
    return [*([loop.test] if isinstance(loop, ast.While) else []), *loop.body, *loop.orelse]


def _runs(loop: ast.While | ast.For, name: str) -> bool:
    return any(mentions(part, name) for part in _rounds_of(loop))


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a name occurs anywhere inside."""
    return any(is_named(n, name) for n in ast.walk(node))


def is_placement(file: FileFacts, item: ast.withitem) -> bool:
    """Whether a `with` only says where operations go, and lets errors through."""
    call = item.context_expr
    if not isinstance(call, ast.Call) or item.optional_vars is not None:
        return False
    return file.name_of(call.func) in ("tf.device", "tf.name_scope", "tf.variable_scope")


def _opens(file: FileFacts, call: ast.expr | None) -> bool:
    """Whether an expression makes a session of the bridge, in the file's new text."""
    if not isinstance(call, ast.Call):
        return False
    name = file.name_of(call.func)
    return name == BRIDGE_SESSION or (name in SESSIONS and _root(call.func) in file.replaced)


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


# ---------------------------------------------------------------------------------------------------------------------
# The session of a loop.


def _session_of(file: FileFacts, loop: ast.While | ast.For) -> Session | None:
    scope = file.names.scope_of(loop)
    return (
        _opened_around(file, loop)
        or _assigned(file, loop, scope)
        or _parameter(file, loop, scope)
        or _attribute(file, loop, scope)
    )


def _opened_around(file: FileFacts, loop: ast.While | ast.For) -> Session | None:
    for block in _blocks_around(file, loop):
        item = block.items[-1]
        given = item.optional_vars
        if isinstance(given, ast.Name) and _opens(file, item.context_expr) and _runs(loop, given.id):
            assert isinstance(item.context_expr, ast.Call)
            return Session(given.id, (item.context_expr,), block, frozenset((given.id,)), block)
    return None


def _assigned(file: FileFacts, loop: ast.While | ast.For, scope: Scope) -> Session | None:
    for name in dict.fromkeys(n.id for n in ast.walk(loop) if isinstance(n, ast.Name)):
        found = _Assigned(file, scope).session(name, loop) if _runs(loop, name) else None
        if found is not None:
            return found
    return None


def _blocks_around(file: FileFacts, loop: ast.AST) -> Iterator[ast.With]:
    for ancestor in file.ancestors(loop):
        if isinstance(ancestor, _Function):
            return
        if isinstance(ancestor, ast.With):
            yield ancestor


class _Assigned:
    """The sessions that are assigned to names of one scope."""

    def __init__(self, file: FileFacts, scope: Scope) -> None:
        self._file, self._scope = file, scope

    def session(self, name: str, loop: ast.While | ast.For) -> Session | None:
        """The session that a name stands for, where the loop is; None if it is not always one, or of another graph."""
        names: set[str] = set()
        calls: list[ast.Call] = []
        if not self._collect(name, names, calls):
            return None
        home = self._home([*calls, loop])
        if home is None or any(self._contexts(call, home, names) for call in calls):
            return None  # Made in a graph that the loop is not in.
        around = list(_blocks_around(self._file, loop))
        if self._is_closed_before(loop, names, calls, around):
            return None
        block = next((b for b in around if self._closes(b, names)), None)
        return Session(name, tuple(calls), block, frozenset(names), home)

    def _collect(self, name: str, names: set[str], calls: list[ast.Call]) -> bool:
        """Gathers what opens a session by a name, and its other names; whether the name is nothing else."""
        if name in names:
            return True
        names.add(name)
        bindings = self._scope.bindings(name)
        if not bindings or name in self._scope.elsewhere:
            return False
        for binding in bindings:
            value = value_at(self._file, binding.node)
            is_assigned = not isinstance(self._file.parent(binding.node), ast.withitem)
            if isinstance(value, ast.Call) and is_assigned and _opens(self._file, value):
                calls.append(value)
            elif not (isinstance(value, ast.Name) and self._collect(value.id, names, calls)):
                return False
        return True

    def _home(self, nodes: Sequence[ast.AST]) -> ast.AST | None:
        first, *others = ([*self._file.ancestors(node)] for node in nodes)
        return next((node for node in first if all(node in other for other in others)), None)

    def _contexts(self, call: ast.Call, home: ast.AST, names: set[str]) -> list[ast.AST]:
        """The `with` statements around a call that opens, which the loop is not in, and which may choose another graph."""
        found: list[ast.AST] = []
        for node in self._file.ancestors(call):
            if node is home:
                break
            if isinstance(node, ast.With) and not self._closes(node, names):
                found += [item for item in node.items if not is_placement(self._file, item)]
        return found

    def _is_closed_before(
        self, loop: ast.While | ast.For, names: set[str], calls: list[ast.Call], around: list[ast.With]
    ) -> bool:
        """Whether the session may be closed when the loop begins: such a loop runs no round, and a fit is an error."""
        begin = loop.lineno
        opened = max((call.lineno for call in calls if call.lineno < begin), default=0)
        for node in ast.walk(self._scope.node):
            if isinstance(node, ast.With) and self._closes(node, names) and node not in around:
                return True
            if isinstance(node, ast.Attribute) and node.attr in ("close", "__exit__"):
                is_own = any(mentions(node, name) for name in names)
                if is_own and opened < node.lineno < begin:
                    return True
        return not opened

    @staticmethod
    def _closes(block: ast.With, names: set[str]) -> bool:
        item = block.items[-1]
        return isinstance(item.context_expr, ast.Name) and item.context_expr.id in names


# ---------------------------------------------------------------------------------------------------------------------
# Sessions that are handed in.


def _parameter(file: FileFacts, loop: ast.While | ast.For, scope: Scope) -> Session | None:
    """A parameter of the function that the loop is in, for which all of the file's calls give a session of the bridge."""
    function = scope.node
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return None
    for place, arg in enumerate(function.args.args):
        if _runs(loop, arg.arg) and len(scope.bindings(arg.arg)) == 1:
            calls = _given(file, function, place)
            if calls:
                return Session(arg.arg, calls, None, frozenset((arg.arg,)), function, is_handed_in=True)
    return None


def _given(file: FileFacts, function: ast.FunctionDef, place: int) -> tuple[ast.Call, ...]:
    """What opens the sessions that a function is given; nothing if it may be given anything else."""
    owner = file.names.scope_of(function)
    if owner.kind != "module" or len(owner.bindings(function.name)) != 1:
        return ()
    found: list[ast.Call] = []
    for load, where in file.names.loads(function.name):
        if [b.node for b in file.names.lookup(function.name, where)] != [function]:
            continue
        call = file.parent(load)
        if not isinstance(call, ast.Call) or call.func is not load:
            return ()
        opened = _opened_for(file, _argument(call, function.args.args[place].arg, place), call)
        if not opened:
            return ()
        found += opened
    return tuple(dict.fromkeys(found))


def _argument(call: ast.Call, name: str, place: int) -> ast.expr | None:
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(k.arg is None for k in call.keywords):
        return None
    if place < len(call.args):
        return call.args[place]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _opened_for(file: FileFacts, given: ast.expr | None, call: ast.Call) -> list[ast.Call]:
    """The calls that open a session that is handed on; nothing if it is not always one."""
    if not isinstance(given, ast.Name):
        return []
    for block in _blocks_around(file, call):
        item = block.items[-1]
        if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == given.id:
            opens = isinstance(item.context_expr, ast.Call) and _opens(file, item.context_expr)
            return [item.context_expr] if opens and isinstance(item.context_expr, ast.Call) else []
    found: list[ast.Call] = []
    for binding in file.names.lookup(given.id, file.names.scope_of(call)):
        value = value_at(file, binding.node)
        if not isinstance(value, ast.Call) or not _opens(file, value):
            return []
        found.append(value)
    return found


def _attribute(file: FileFacts, loop: ast.While | ast.For, scope: Scope) -> Session | None:
    """An attribute such as `self.sess` that the file sets to sessions of the bridge only, or to None at first."""
    function = scope.node
    if not isinstance(function, ast.FunctionDef) or not function.args.args:
        return None
    if not isinstance(file.parent(function), ast.ClassDef) or function.decorator_list:
        return None
    owner = function.args.args[0].arg
    attributes = (n for part in _rounds_of(loop) for n in ast.walk(part) if isinstance(n, ast.Attribute))
    for attribute in dict.fromkeys(n.attr for n in attributes if is_named(n.value, owner)):
        calls = _set_to(file, attribute)
        if calls and len(scope.bindings(owner)) == 1:
            name = f"{owner}.{attribute}"
            return Session(name, calls, None, frozenset((name,)), function, is_handed_in=True)
    return None


def _set_to(file: FileFacts, attribute: str) -> tuple[ast.Call, ...]:
    """The calls that open what an attribute is set to; nothing if it may be anything else."""
    found: list[ast.Call] = []
    for node in file.nodes(ast.Attribute):
        if node.attr != attribute or isinstance(node.ctx, ast.Load):
            continue
        value = value_at(file, node)
        is_assigned = isinstance(file.parent(node), ast.Assign)
        if isinstance(value, ast.Call) and is_assigned and _opens(file, value):
            found.append(value)
        elif not (isinstance(value, ast.Constant) and value.value is None):
            return ()
    return tuple(found)


# ---------------------------------------------------------------------------------------------------------------------
# Loops that are counted only.


def _is_over_another_session(file: FileFacts, loop: ast.While | ast.For) -> bool:
    """Whether a loop asks something's should_stop() that is no coordinator, or runs a monitored session held otherwise."""
    for node in (n for part in _rounds_of(loop) for n in ast.walk(part)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        owner = node.func.value
        if node.func.attr == "should_stop" and not _is_made_by(file, owner, ("tf.train.Coordinator",)):
            return not ast.unparse(owner).endswith(("coord", "coordinator"))
        if node.func.attr in ("run", "run_step_fn") and _is_made_by(file, owner, (BRIDGE_SESSION, *SESSIONS)):
            return True
    return False


def _is_made_by(file: FileFacts, owner: ast.expr, names: tuple[str, ...]) -> bool:
    """Whether the file gives an expression (a name, `self.x`) a value that one of the functions makes."""
    return any(
        isinstance(value, ast.Call) and file.name_of(value.func) in names for value in values_of(file, owner)
    )
