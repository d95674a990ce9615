"""Which training loops can become `sess.fit(bridge.GraphModel(...))`, and why the others cannot.

`fit` runs the train op until the session stops or the input ends. A loop may become that only if nothing else happens in
it, or if what else happens is provably an action after the step that looks at the step's results: then it moves into a
function that a callback calls. The proof is static, and gives up at whatever it does not know: a loop that stays goes on
working on the bridge's session, with a reason for those who ask.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from codemod import after_step
from codemod.facts import FileFacts
from codemod.flow import is_read_elsewhere, is_read_first, loaded, stored
from codemod.results import Loop

BRIDGE_SESSION = "bridge.MonitoredTrainingSession"
_SESSIONS = (
    "tf.train.MonitoredTrainingSession",
    "tf.train.MonitoredSession",
    "tf.train.SingularMonitoredSession",
)

BARE_LOOPS = "TFB202"
STEP_LOOPS = "TFB203"

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_LOOPS = (ast.While, ast.For)


class Kept(enum.Enum):
    """Why a loop stays as it is. The value is what is printed."""

    ASKED = "loops are kept, as asked"
    SUPPRESSED = "a comment, --select or --ignore holds its rule back"
    ELSEWHERE = "its session is not opened by a `with` of the bridge's session around it"
    REBOUND = "the session's name is given to something else"
    CONTEXT = "another `with` or a class stands between the session and it"
    NESTED = "loops in loops"
    CONDITION = "it goes on by another condition than should_stop()"
    COUNT = "its number of rounds is not a known number"
    UNGUARDED = "it counts rounds without should_stop(), and hooks may stop the session"
    LEAVES = "break, continue, return or raise leave it"
    SEVERAL_RUNS = "several runs in one round"
    NO_RUN = "the session is run by something else than the loop's own statements"
    SESSION_USED = "the session is used for more than run"
    PART = "the run is inside another statement or expression"
    ARGUMENTS = "the run has options, run_metadata or unknown arguments"
    FETCHES = "what is fetched is computed in the loop"
    RESULTS = "the run's results go to more than plain names"
    FEEDS = "what is fed depends on values that the loop keeps from round to round"
    BEFORE = "statements before the run do more than prepare what is fed"
    ACROSS = "names are set before the run and used after it"
    READ_AFTER = "names that it assigns are read after it"
    GLOBALS = "it assigns names of another scope"
    CALLS = "it calls what is not known to look at the results only"
    STATEMENTS = "statements in it are of a kind that cannot move into a callback"
    ORIGINAL_ARGUMENTS = "hooks in the file look at the arguments of the run"
    DYNAMIC = "the names in use cannot be told: locals(), eval, exec, super() without arguments"
    ASYNCHRONOUS = "it is part of a generator or coroutine"


class _KeptError(Exception):
    """Ends a proof: the loop stays."""

    def __init__(self, reason: Kept) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Plan:
    """How a loop becomes a fit.

    Attributes:
      session: The session's name.
      guards: How many statements at the beginning of the body only ask should_stop().
      before: How many statements follow that prepare what is fed.
      count: The number of rounds, as an expression; None for as long as the session wants.
      counter: The name that counts the rounds, if the action reads it.
      train: Which elements of the run's list are run only; None for all of what is fetched.
      values: Names and the elements of the list that they stand for; None for all of what is fetched.
      feeds: Whether the run has a feed_dict.
      carried: Names that the action keeps from step to step.
      is_global: Whether they are the module's.
      has_action: Whether statements follow the run.
      raises: Whether statements follow the loop, which the end of the input skips.
    """

    session: str
    guards: int
    before: int
    count: ast.expr | None
    counter: str | None
    train: tuple[int, ...] | None
    values: tuple[tuple[str, int | None], ...]
    feeds: bool
    carried: tuple[str, ...]
    is_global: bool
    has_action: bool
    raises: bool

    @property
    def code(self) -> str:
        """The rule that writes it."""
        return STEP_LOOPS if self.has_action else BARE_LOOPS


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to become of a loop: a plan, or the reason why it stays."""

    loop: ast.While | ast.For
    plan: Plan | None = None
    kept: Kept | None = None


_known: WeakKeyDictionary[FileFacts, tuple[Verdict, ...]] = WeakKeyDictionary()


def verdicts(file: FileFacts) -> tuple[Verdict, ...]:
    """Judges the loops over monitored sessions in a file, once; the outermost of nested ones only."""
    found = _known.get(file)
    if found is None:
        found = _known[file] = tuple(_judge(file, loop, session) for loop, session in _loops(file))
        file.loops = tuple(_noted(file, verdict) for verdict in found)
    return found


def _noted(file: FileFacts, verdict: Verdict) -> Loop:
    line, column, _, _ = file.layout.span(verdict.loop)
    kept = verdict.kept
    return Loop(
        line, column + 1, "" if kept is None else kept.name.lower(), "" if kept is None else kept.value
    )


# ---------------------------------------------------------------------------------------------------------------------
# Which loops.


@dataclass(frozen=True, slots=True)
class _Session:
    """The `with` statement that opens a session of the bridge, under a name."""

    block: ast.With
    name: str
    call: ast.Call


def _loops(file: FileFacts) -> Iterator[tuple[ast.While | ast.For, _Session | None]]:
    sessions = list(_sessions(file))
    by_block: dict[ast.AST, _Session] = {session.block: session for session in sessions}
    counted: set[ast.AST] = set()
    for node in ast.walk(file.tree):  # From the outside in.
        if not isinstance(node, _LOOPS):
            continue
        around = list(file.ancestors(node))
        session = _around(around, by_block)
        inside = around[: around.index(session.block)] if session is not None else around
        if any(ancestor in counted for ancestor in inside):
            continue
        if any(inner in by_block for inner in ast.walk(node)):
            continue  # A session of its own for each round.
        if session is not None and _mentions(node, session.name):
            counted.add(node)
            yield node, session
        elif _is_over_another_session(file, node):
            counted.add(node)
            yield node, None


def _sessions(file: FileFacts) -> Iterator[_Session]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.With):
            item = node.items[-1]
            call, name = item.context_expr, item.optional_vars
            if isinstance(call, ast.Call) and isinstance(name, ast.Name) and _opens(file, call):
                yield _Session(node, name.id, call)


def _opens(file: FileFacts, call: ast.Call) -> bool:
    """Whether a call makes a session of the bridge, in the file's new text."""
    name = file.name_of(call.func)
    return name == BRIDGE_SESSION or (name in _SESSIONS and _root(call.func) in file.replaced)


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _around(around: Sequence[ast.AST], sessions: dict[ast.AST, _Session]) -> _Session | None:
    for ancestor in around:
        if isinstance(ancestor, _Function):
            return None
        if ancestor in sessions:
            return sessions[ancestor]
    return None


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _is_over_another_session(file: FileFacts, loop: ast.While | ast.For) -> bool:
    """Whether a loop asks something's should_stop() that is no coordinator, or runs a monitored session held otherwise."""
    for node in ast.walk(loop):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        owner = node.func.value
        if node.func.attr == "should_stop" and not _is_made_by(file, owner, ("tf.train.Coordinator",)):
            return not ast.unparse(owner).endswith(("coord", "coordinator"))
        if node.func.attr in ("run", "run_step_fn") and _is_made_by(
            file, owner, (BRIDGE_SESSION, *_SESSIONS)
        ):
            return True
    return False


def _is_made_by(file: FileFacts, owner: ast.expr, names: tuple[str, ...]) -> bool:
    """Whether the file gives an expression (a name, `self.x`) a value that one of the functions makes."""
    return any(
        isinstance(value, ast.Call) and file.name_of(value.func) in names
        for value in after_step.values_of(file, owner)
    )


# ---------------------------------------------------------------------------------------------------------------------
# The proof.


def _judge(file: FileFacts, loop: ast.While | ast.For, session: _Session | None) -> Verdict:
    try:
        if file.settings.loops == "keep":
            raise _KeptError(Kept.ASKED)
        if session is None:
            raise _KeptError(Kept.ELSEWHERE)
        plan = _Proof(file, loop, session).plan()
        if file.is_suppressed(loop, plan.code) or not file.settings.wants(plan.code):
            raise _KeptError(Kept.SUPPRESSED)
    except _KeptError as kept:
        return Verdict(loop, kept=kept.reason)
    return Verdict(loop, plan)


def _demand(condition: bool, otherwise: Kept) -> None:
    if not condition:
        raise _KeptError(otherwise)


class _Proof:
    """The proof that a loop is a fit."""

    def __init__(self, file: FileFacts, loop: ast.While | ast.For, session: _Session) -> None:
        self.file, self.loop, self.session = file, loop, session
        self.scope = file.names.scope_of(loop)
        self.guards = 0
        self.count: ast.expr | None = None
        self.counter: str | None = None
        self.raises = False

    def plan(self) -> Plan:
        self._check_place()
        self._check_header()
        body = self.loop.body[self.guards :]
        at = self._find_run(body)
        before, run, action = body[:at], body[at], body[at + 1 :]
        call = self._call(run)
        fetches, feed = self._arguments(call)
        targets = self._targets(run, fetches)
        self._check_before(before, feed)
        self._check_feeds(before, feed, targets, action)
        for name in (
            stored(before) | stored(action) | set(targets) | ({self.counter} if self.counter else set())
        ):
            _demand(name not in self.scope.elsewhere, Kept.GLOBALS)
            _demand(not is_read_elsewhere(self.file, self.loop, self.scope, name), Kept.READ_AFTER)
        carried = self._check_action(before, action, targets)
        used = loaded(action)
        values = tuple((name, index) for name, index in targets.items() if name in used)
        return Plan(
            session=self.session.name,
            guards=self.guards,
            before=len(before),
            count=self.count,
            counter=self.counter if self.counter in used else None,
            train=self._only_run(fetches, values),
            values=values,
            feeds=feed is not None,
            carried=carried,
            is_global=self.scope.kind == "module",
            has_action=bool(action),
            raises=self.raises,
        )

    # -- Around it -------------------------------------------------------------------------------------------------

    def _check_place(self) -> None:
        file, name = self.file, self.session.name
        _demand("original_args" not in file.text, Kept.ORIGINAL_ARGUMENTS)
        _demand(self.scope.kind in ("module", "function"), Kept.CONTEXT)
        function = self.scope.node
        _demand(not isinstance(function, ast.AsyncFunctionDef), Kept.ASYNCHRONOUS)
        if isinstance(function, ast.FunctionDef):
            _demand(not _yields(function), Kept.ASYNCHRONOUS)
        for node in ast.walk(self.session.block):
            is_other = isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
            if is_other and node is not self.session.block.items[-1].optional_vars:
                raise _KeptError(Kept.REBOUND)
        _demand(all(name not in scope.elsewhere for scope in file.names.scopes.values()), Kept.REBOUND)
        self._check_around()

    def _check_around(self) -> None:
        """Nothing around the loop may repeat it, or change what it means; what follows it the end of the input skips."""
        node: ast.AST = self.loop
        while node is not self.session.block:
            parent = self.file.parent(node)
            if isinstance(parent, _LOOPS):
                raise _KeptError(Kept.NESTED)
            if not isinstance(parent, ast.With | ast.If | ast.Try):
                raise _KeptError(Kept.CONTEXT)
            block = parent.orelse if isinstance(parent, ast.If) and node in parent.orelse else parent.body
            self.raises |= isinstance(parent, ast.Try) or block[-1] is not node
            if isinstance(parent, ast.With) and parent is not self.session.block:
                _demand(all(_is_placement(self.file, item) for item in parent.items), Kept.CONTEXT)
            node = parent

    def _check_header(self) -> None:
        loop = self.loop
        inner = (n for s in loop.body for n in ast.walk(s) if isinstance(n, (*_LOOPS, ast.AsyncFor)))
        _demand(not any(_mentions(node, self.session.name) for node in inner), Kept.NESTED)
        _demand(not loop.orelse, Kept.CONDITION)
        guarded = self._is_guard(loop.body[0])
        if isinstance(loop, ast.While):
            if self._asks(loop.test, negated=True):
                return
            _demand(isinstance(loop.test, ast.Constant) and bool(loop.test.value), Kept.CONDITION)
            _demand(guarded, Kept.LEAVES if _leaves(loop.body) else Kept.CONDITION)
            self.guards = 1
            return
        self.guards = int(guarded)
        _demand(isinstance(loop.target, ast.Name), Kept.COUNT)
        assert isinstance(loop.target, ast.Name)
        self.counter, self.count = loop.target.id, self._rounds(loop.iter)
        _demand(guarded or self._never_stops(), Kept.UNGUARDED)

    def _is_guard(self, statement: ast.stmt) -> bool:
        """`if sess.should_stop(): break`."""
        return (
            isinstance(statement, ast.If)
            and not statement.orelse
            and len(statement.body) == 1
            and isinstance(statement.body[0], ast.Break)
            and self._asks(statement.test, negated=False)
        )

    def _asks(self, test: ast.expr, *, negated: bool) -> bool:
        if negated:
            if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
                return False
            test = test.operand
        return (
            isinstance(test, ast.Call)
            and not test.args
            and not test.keywords
            and isinstance(test.func, ast.Attribute)
            and test.func.attr == "should_stop"
            and isinstance(test.func.value, ast.Name)
            and test.func.value.id == self.session.name
        )

    def _rounds(self, iterated: ast.expr) -> ast.expr:
        """The number in `range(number)`: at least 1, for fit knows no training of no steps."""
        is_range = (
            isinstance(iterated, ast.Call)
            and isinstance(iterated.func, ast.Name)
            and iterated.func.id == "range"
            and not self.file.names.lookup("range", self.scope)
            and len(iterated.args) == 1
            and not iterated.keywords
        )
        _demand(is_range, Kept.CONDITION)
        assert isinstance(iterated, ast.Call)
        number = iterated.args[0]
        value = number
        if isinstance(number, ast.Name):
            bindings = self.file.names.lookup(number.id, self.scope)
            _demand(len(bindings) == 1, Kept.COUNT)
            parent = self.file.parent(bindings[0].node)
            _demand(isinstance(parent, ast.Assign) and bindings[0].node in parent.targets, Kept.COUNT)
            assert isinstance(parent, ast.Assign)
            value = parent.value
        is_known = isinstance(value, ast.Constant) and type(value.value) is int and value.value >= 1
        _demand(is_known, Kept.COUNT)
        return number

    def _never_stops(self) -> bool:
        """Whether the session has no hooks that could stop it."""
        call = self.session.call
        name = self.file.name_of(call.func)
        if name not in (BRIDGE_SESSION, "tf.train.MonitoredTrainingSession") or len(call.args) > 3:
            return False
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        return not any(isinstance(arg, ast.Starred) for arg in call.args) and not (
            {None, "hooks", "chief_only_hooks", "scaffold"} & set(given)
        )

    # -- The run ---------------------------------------------------------------------------------------------------

    def _find_run(self, body: list[ast.stmt]) -> int:
        """Which statement runs the session: the only one that has to do with it."""
        name = self.session.name
        uses = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name]
        runs = [use for use in uses if self._is_run(use)]
        _demand(bool(uses), Kept.NO_RUN)
        self._check_ways(body)
        others = [use for use in uses if use not in runs]
        if any(self._is_asked(use) for use in others):
            raise _KeptError(Kept.CONDITION)
        _demand(not others, Kept.SESSION_USED if runs else Kept.NO_RUN)
        _demand(len(runs) == 1, Kept.SEVERAL_RUNS)
        at = next(i for i, s in enumerate(body) if any(n is runs[0] for n in ast.walk(s)))
        call = self._call_of(runs[0])
        statement = body[at]
        is_own = isinstance(statement, ast.Expr | ast.Assign) and statement.value is call
        _demand(is_own, Kept.PART)
        return at

    def _check_ways(self, body: list[ast.stmt]) -> None:
        """Each round must run to the end of the body."""
        nodes = (node for statement in body for node in ast.walk(statement))
        _demand(
            not any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in nodes), Kept.ASYNCHRONOUS
        )
        _demand(not _leaves(body), Kept.LEAVES)

    def _is_run(self, use: ast.Name) -> bool:
        parent = self.file.parent(use)
        call = self.file.parent(parent) if parent is not None else None
        return (
            isinstance(parent, ast.Attribute)
            and parent.attr == "run"
            and isinstance(call, ast.Call)
            and call.func is parent
        )

    def _is_asked(self, use: ast.Name) -> bool:
        parent = self.file.parent(use)
        return isinstance(parent, ast.Attribute) and parent.attr == "should_stop"

    def _call_of(self, use: ast.Name) -> ast.AST | None:
        parent = self.file.parent(use)
        return self.file.parent(parent) if parent is not None else None

    def _call(self, run: ast.stmt) -> ast.Call:
        assert isinstance(run, ast.Expr | ast.Assign)
        assert isinstance(run.value, ast.Call)
        return run.value

    def _arguments(self, call: ast.Call) -> tuple[ast.expr, ast.expr | None]:
        given: dict[str | None, ast.expr] = dict(zip(("fetches", "feed_dict"), call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords}
        is_plain = len(call.args) <= 2 and len(given) == len(call.args) + len(call.keywords)
        _demand(is_plain and not any(isinstance(a, ast.Starred) for a in call.args), Kept.ARGUMENTS)
        _demand(set(given) <= {"fetches", "feed_dict"} and "fetches" in given, Kept.ARGUMENTS)
        fetches, feed = given["fetches"], given.get("feed_dict")
        assigned = stored(self.loop.body) | ({self.counter} if self.counter else set())
        _demand(_is_fixed(fetches) and not assigned & loaded([ast.Expr(fetches)]), Kept.FETCHES)
        for name in loaded([ast.Expr(fetches)]):
            _demand(all(name not in s.elsewhere for s in self.file.names.scopes.values()), Kept.FETCHES)
        if isinstance(feed, ast.Constant) and feed.value is None:
            feed = None
        return fetches, feed

    def _targets(self, run: ast.stmt, fetches: ast.expr) -> dict[str, int | None]:
        """The names that the results get, each with its place in the list of fetches."""
        if isinstance(run, ast.Expr):
            return {}
        assert isinstance(run, ast.Assign)
        _demand(len(run.targets) == 1, Kept.RESULTS)
        target = run.targets[0]
        # A name like __this means another one in a class, but not as a key.
        names = [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
        _demand(not any(name.startswith("__") for name in names), Kept.RESULTS)
        if isinstance(target, ast.Name):
            return {target.id: None}
        _demand(isinstance(target, ast.Tuple | ast.List), Kept.RESULTS)
        assert isinstance(target, ast.Tuple | ast.List)
        is_list = isinstance(fetches, ast.List | ast.Tuple) and len(fetches.elts) == len(target.elts)
        _demand(is_list and all(isinstance(name, ast.Name) for name in target.elts), Kept.RESULTS)
        # Of two results with one name the last one stays.
        return {name.id: index for index, name in enumerate(target.elts) if isinstance(name, ast.Name)}

    @staticmethod
    def _only_run(fetches: ast.expr, values: Sequence[tuple[str, int | None]]) -> tuple[int, ...] | None:
        """The elements of a list whose values nobody looks at."""
        taken = {index for _, index in values}
        if not taken or None in taken or not isinstance(fetches, ast.List | ast.Tuple):
            return None
        return tuple(index for index in range(len(fetches.elts)) if index not in taken) or (0,)

    # -- Before and after it ---------------------------------------------------------------------------------------

    def _check_before(self, before: Sequence[ast.stmt], feed: ast.expr | None) -> None:
        for statement in before:
            _demand(isinstance(statement, ast.Assign), Kept.BEFORE)
            assert isinstance(statement, ast.Assign)
            _demand(all(_is_name_or_names(target) for target in statement.targets), Kept.BEFORE)
        _demand(not before or feed is not None, Kept.BEFORE)
        parts = [*before, *([ast.Expr(feed)] if feed is not None else [])]
        for node in (n for part in parts for n in ast.walk(part)):
            _demand(not isinstance(node, ast.NamedExpr), Kept.BEFORE)
        function = [self.scope.node] if self.scope.kind == "function" else []
        _demand(not any(_is_dynamic(part) for part in [*self.loop.body, *function]), Kept.DYNAMIC)

    def _check_feeds(
        self,
        before: Sequence[ast.stmt],
        feed: ast.expr | None,
        targets: dict[str, int | None],
        action: Sequence[ast.stmt],
    ) -> None:
        """What is fed may depend on nothing that the loop itself has set in an earlier round, or counts."""
        if feed is None:
            return
        parts = [*before, ast.Expr(feed)]
        kept = set(targets) | stored(action) | ({self.counter} if self.counter else set())
        own = stored(before)
        _demand(not own & loaded(action), Kept.ACROSS)
        _demand(not kept & loaded(parts), Kept.FEEDS)
        _demand(not any(is_read_first(parts, name) for name in own), Kept.FEEDS)

    def _check_action(
        self, before: Sequence[ast.stmt], action: Sequence[ast.stmt], targets: dict[str, int | None]
    ) -> tuple[str, ...]:
        """Checks that the action only looks; returns the names that it keeps from step to step."""
        own = stored(action)
        refusal = after_step.refusal(self.file, action, own | set(targets))
        if refusal is not None:
            raise _KeptError(Kept[refusal])
        if self.counter in own | set(targets):
            _demand(self.counter not in loaded(action), Kept.STATEMENTS)
        carried = sorted(n for n in own - set(targets) if is_read_first(action, n))
        for name in carried:
            inside = set(ast.walk(self.loop))
            bindings = self.scope.names.get(name, ())
            _demand(any(b.node not in inside for b in bindings), Kept.STATEMENTS)
            # Python takes no annotation for names of another scope.
            annotated = (
                isinstance(self.file.parent(b.node), ast.AnnAssign) for b in bindings if b.node in inside
            )
            _demand(not any(annotated), Kept.STATEMENTS)
        return tuple(carried)


def _yields(function: ast.FunctionDef) -> bool:
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, _Function | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    return False


def _is_placement(file: FileFacts, item: ast.withitem) -> bool:
    """Whether a `with` only says where operations go, and lets errors through."""
    call = item.context_expr
    if not isinstance(call, ast.Call) or item.optional_vars is not None:
        return False
    return file.name_of(call.func) in ("tf.device", "tf.name_scope", "tf.variable_scope")


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether statements leave the loop, or one inside of it, other than by running to the end."""
    kinds = (ast.Break, ast.Continue, ast.Return, ast.Raise)
    return any(isinstance(node, kinds) for statement in body for node in ast.walk(statement))


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


def _is_name_or_names(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(_is_name_or_names(element) for element in target.elts)
    return isinstance(target, ast.Name)


def _is_dynamic(statement: ast.AST) -> bool:
    """Whether names are looked up in a way that a function of its own would change."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("locals", "globals", "vars", "dir", "eval", "exec"):
                return True
            if node.func.id == "super" and not node.args:
                return True
    return False
