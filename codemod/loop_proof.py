"""The proof that a loop is a fit: of its place, its header, its run, what comes before it, and what follows it.

Each check names what it demands, and the reason for which the loop stays otherwise. Nothing is guessed: a name that may be
read elsewhere, a call that may do anything, an error that may be caught somewhere else end the proof.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence

from codemod import after_step
from codemod.facts import FileFacts
from codemod.flow import is_read_elsewhere, is_read_first, loaded, stored
from codemod.loop_plan import Kept, KeptError, Plan, Rounds, Value, demand
from codemod.loop_sessions import BRIDGE_SESSION, LOOPS, Session, is_placement, mentions

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# Hooks that never ask a session to stop; those that raise are none the less errors.
_GOES_ON = frozenset(
    f"tf.{package}.{name}"
    for package in ("train", "estimator")
    for name in (
        "LoggingTensorHook",
        "StepCounterHook",
        "SummarySaverHook",
        "ProfilerHook",
        "CheckpointSaverHook",
        "NanTensorHook",
        "FinalOpsHook",
        "FeedFnHook",
        "GlobalStepWaiterHook",
    )
)
_MAY_STOP_BY = frozenset({"listeners", "fail_on_nan_loss", None})

_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_RANGES = ("six.moves.range", "six.moves.xrange")


class Proof:
    """The proof that a loop is a fit.

    Args:
      file: The file.
      loop: The loop.
      session: What it runs.
      others: The file's other loops over sessions, which may become fits, too.
    """

    def __init__(
        self,
        file: FileFacts,
        loop: ast.While | ast.For,
        session: Session,
        others: Sequence[ast.While | ast.For] = (),
    ) -> None:
        self.file, self.loop, self.session, self.others = file, loop, session, others
        self.scope = file.names.scope_of(loop)
        self.asked = -1
        self.conditions: list[ast.expr] = []
        self.guards = 0
        self.is_in_else = False
        self.counter: str | None = None
        self.rounds: Rounds | None = None
        self.body: list[ast.stmt] = loop.body
        self.handlers: list[ast.ExceptHandler] = []
        self.raises = False

    def plan(self) -> Plan:
        """Looks at everything.

        Raises:
          KeptError: the loop stays.
        """
        self._check_place()
        self._check_header()
        self._open_try()
        at = self._find_run()
        before, run, action = self.body[:at], self.body[at], self.body[at + 1 :]
        call = self._call(run)
        fetches, feed = self._arguments(call)
        targets = self._targets(run, fetches)
        self._check_before(before, feed)
        self._check_action(action, targets)
        self._check_conditions(action, targets)
        self._check_counter(before, feed, action, targets)
        kept = self._kept_names(before, action, targets)
        begun = self._begun(kept)
        used = loaded([*action, *self.conditions])
        values = tuple(
            Value(name, index, self._parameter(name) if name in kept else name)
            for name, index in targets.items()
            if name in used or name in kept
        )
        counter = self.counter if self.counter in used else None
        return Plan(
            session=self.session.name,
            asked=self.asked,
            has_condition=bool(self.conditions),
            guards=self.guards,
            is_in_else=self.is_in_else,
            is_in_try=bool(self.handlers),
            before=len(before),
            rounds=self.rounds and Rounds(self.rounds.first, self.rounds.is_some, counter),
            train=self._only_run(fetches, [value.index for value in values]),
            values=values,
            feeds=feed is not None,
            kept_before=tuple(sorted(kept & stored(before))),
            kept_after=tuple(sorted(kept & (stored(action) | set(targets)))),
            begun=begun,
            is_global=self.scope.kind == "module",
            stops=bool(self.conditions) or any(isinstance(n, ast.Break) for n in _own_ways(action)),
            has_action=bool(action) or bool(kept & set(targets)),
            raises=self.raises or bool(self.handlers),
        )

    # -- Around it -------------------------------------------------------------------------------------------------

    def _check_place(self) -> None:
        file, name = self.file, self.session.name
        demand("original_args" not in file.text, Kept.ORIGINAL_ARGUMENTS)
        demand(self.scope.kind in ("module", "function"), Kept.CONTEXT)
        function = self.scope.node
        demand(not isinstance(function, ast.AsyncFunctionDef), Kept.ASYNCHRONOUS)
        if isinstance(function, ast.FunctionDef):
            demand(not _yields(function), Kept.ASYNCHRONOUS)
        if self.session.home is self.session.block:
            for node in ast.walk(self.session.home):
                is_other = (
                    isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
                )
                if is_other and node is not self.session.block.items[-1].optional_vars:
                    raise KeptError(Kept.REBOUND)
        for other in self.session.names:
            demand(all(other not in scope.elsewhere for scope in file.names.scopes.values()), Kept.REBOUND)
            demand(other == name or not mentions(self.loop, other), Kept.SESSION_USED)
        self._check_around()

    def _check_around(self) -> None:
        """Nothing around the loop may repeat it, or change what it means; what follows it the end of the input skips."""
        self.raises = self.session.block is None
        node: ast.AST = self.loop
        is_closed = False
        while node is not self.session.home:
            parent = self.file.parent(node)
            if parent is self.session.home and parent is not self.session.block:
                break
            if isinstance(parent, LOOPS):
                raise KeptError(Kept.NESTED)
            if not isinstance(parent, ast.With | ast.If | ast.Try):
                raise KeptError(Kept.CONTEXT)
            if isinstance(parent, ast.With) and parent is not self.session.block:
                demand(all(is_placement(self.file, item) for item in parent.items), Kept.CONTEXT)
            if not is_closed:
                block = parent.orelse if isinstance(parent, ast.If) and node in parent.orelse else parent.body
                self.raises |= isinstance(parent, ast.Try) or block[-1] is not node
            is_closed |= parent is self.session.block
            node = parent

    # -- Its header ------------------------------------------------------------------------------------------------

    def _check_header(self) -> None:
        loop = self.loop
        inner = (n for s in loop.body for n in ast.walk(s) if isinstance(n, (*LOOPS, ast.AsyncFor)))
        demand(not any(mentions(node, self.session.name) for node in inner), Kept.NESTED)
        demand(not loop.orelse, Kept.CONDITION)
        guarded = self._open_guard(loop.body[0])
        if isinstance(loop, ast.While):
            is_and = isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.And)
            parts = loop.test.values if isinstance(loop.test, ast.BoolOp) and is_and else [loop.test]
            asks = [i for i, part in enumerate(parts) if self._asks(part, negated=True)]
            if asks:
                self._close_guard()
            self.asked = asks[0] if asks else -1
            self.conditions = [part for i, part in enumerate(parts) if i != self.asked]
            if len(self.conditions) == 1 and _is_true(self.conditions[0]):
                self.conditions = []
            demand(bool(asks) or guarded or self._never_stops(), Kept.CONDITION)
            return
        demand(isinstance(loop.target, ast.Name), Kept.COUNT)
        assert isinstance(loop.target, ast.Name)
        self.counter, self.rounds = loop.target.id, self._count(loop.iter)
        demand(guarded or self._never_stops(), Kept.UNGUARDED)

    def _open_guard(self, statement: ast.stmt) -> bool:
        """Takes `if sess.should_stop(): break` from the body, with the `else` that the rest may stand in."""
        if not (
            isinstance(statement, ast.If)
            and len(statement.body) == 1
            and isinstance(statement.body[0], ast.Break)
            and self._asks(statement.test, negated=False)
        ):
            return False
        self.guards, self.is_in_else = 1, bool(statement.orelse)
        self.body = [*statement.orelse, *self.loop.body[1:]]
        demand(bool(self.body), Kept.NO_RUN)
        return True

    def _close_guard(self) -> None:
        """Asked twice is a question of the body's own."""
        self.guards, self.is_in_else, self.body = 0, False, self.loop.body

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

    def _count(self, iterated: ast.expr) -> Rounds:
        """The rounds of `range(number)` or `range(first, number)`."""
        demand(isinstance(iterated, ast.Call) and self._is_range(iterated.func), Kept.CONDITION)
        assert isinstance(iterated, ast.Call)
        demand(len(iterated.args) in (1, 2) and not iterated.keywords, Kept.CONDITION)
        demand(not any(isinstance(arg, ast.Starred) for arg in iterated.args), Kept.CONDITION)
        first = iterated.args[0] if len(iterated.args) == 2 else ast.Constant(0)
        end = iterated.args[-1]
        # They are written twice where there may be none, and the first one once for each round.
        demand(_is_lasting(end) and _is_lasting(first), Kept.COUNT)
        demand(not loaded([ast.Expr(first)]) & stored(self.loop.body), Kept.COUNT)
        demand(not _attributes_of(first) & _attributes_set(self.loop.body), Kept.COUNT)
        start, number = self._number(first), self._number(end)
        for value, found in ((first, start), (end, number)):
            demand(found is not None or not isinstance(self._value_of(value), ast.Constant), Kept.COUNT)
        is_known = start is not None and number is not None
        demand(not is_known or (number or 0) > (start or 0), Kept.COUNT)
        return Rounds(start if isinstance(first, ast.Constant) else None, is_known, None)

    def _number(self, expression: ast.expr) -> int | None:
        """The whole number that an expression is, if it can be told."""
        value = self._value_of(expression)
        if isinstance(value, ast.Constant):
            return value.value if type(value.value) is int else None
        compute = _ARITHMETIC.get(type(value.op)) if isinstance(value, ast.BinOp) else None
        if not isinstance(value, ast.BinOp) or compute is None:
            return None
        left, right = self._number(value.left), self._number(value.right)
        return None if left is None or right is None else compute(left, right)

    def _is_range(self, function: ast.expr) -> bool:
        is_builtin = isinstance(function, ast.Name) and function.id == "range"
        if is_builtin and not self.file.names.lookup("range", self.scope):
            return True
        return self.file.name_of(function) in _RANGES

    def _value_of(self, number: ast.expr) -> ast.expr:
        """What a name is, if it is one thing only."""
        if isinstance(number, ast.Name):
            bindings = self.file.names.lookup(number.id, self.scope)
            if len(bindings) == 1:
                parent = self.file.parent(bindings[0].node)
                if isinstance(parent, ast.Assign) and bindings[0].node in parent.targets:
                    return parent.value
        return number

    def _never_stops(self) -> bool:
        """Whether the session has no hooks that could stop it."""
        return all(self._opens_without_end(call) for call in self.session.calls)

    def _opens_without_end(self, call: ast.Call) -> bool:
        name = self.file.name_of(call.func)
        if len(call.args) > (3 if name in (BRIDGE_SESSION, "tf.train.MonitoredTrainingSession") else 0):
            return False
        if any(isinstance(arg, ast.Starred) for arg in call.args):
            return False
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        hooks = (given.get("hooks"), given.get("chief_only_hooks"))
        return not {None, "scaffold", "session_creator"} & set(given) and all(
            self._go_on(value) for value in hooks
        )

    def _list_of(self, name: ast.Name) -> ast.expr:
        """The list that a name is, if nothing is added to it: it is given to sessions and no more."""
        value = self._value_of(name)
        for load, where in self.file.names.loads(name.id):
            is_given = isinstance(self.file.parent(load), ast.keyword | ast.Subscript)
            if not is_given and self.file.names.lookup(name.id, where) == self.file.names.lookup(
                name.id, self.scope
            ):
                return name
        return value

    def _go_on(self, hooks: ast.expr | None) -> bool:
        """Whether hooks are a list of such that never ask for a stop."""
        if hooks is None:
            return True
        if isinstance(hooks, ast.Name):
            hooks = self._list_of(hooks)
        if not isinstance(hooks, ast.List | ast.Tuple):
            return isinstance(hooks, ast.Constant) and hooks.value is None
        for hook in hooks.elts:
            if not isinstance(hook, ast.Call) or self.file.name_of(hook.func) not in _GOES_ON:
                return False
            if _MAY_STOP_BY & {keyword.arg for keyword in hook.keywords} or len(hook.args) > 3:
                return False
            if len(hook.args) > 1 and str(self.file.name_of(hook.func)).endswith("NanTensorHook"):
                return False
            if any(isinstance(arg, ast.Starred) for arg in hook.args):
                return False
        return True

    def _open_try(self) -> None:
        """Takes the body out of `try: ... except tf.errors.X: ... break`."""
        first = self.body[0]
        if not isinstance(first, ast.Try) or not mentions(ast.Module(first.body, []), self.session.name):
            return
        demand(not first.orelse and not first.finalbody and bool(first.handlers), Kept.HANDLERS)
        for handler in first.handlers:
            demand(self._is_of_the_run(handler.type), Kept.HANDLERS)
            *others, last = handler.body
            demand(isinstance(last, ast.Break | ast.Return | ast.Raise), Kept.HANDLERS)
            demand(not any(isinstance(n, ast.Break | ast.Continue) for n in _own_ways(others)), Kept.HANDLERS)
        self.handlers = first.handlers
        self.body = [*first.body, *self.body[1:]]

    def _is_of_the_run(self, error: ast.expr | None) -> bool:
        """Whether errors come from a run or from what it is fed, and from nothing that looks at results."""
        if isinstance(error, ast.Tuple):
            return bool(error.elts) and all(self._is_of_the_run(element) for element in error.elts)
        if error is None:
            return False
        if isinstance(error, ast.Name) and error.id == "StopIteration":
            return not self.file.names.lookup(error.id, self.scope)
        return (self.file.name_of(error) or "").startswith("tf.errors.")

    # -- The run ---------------------------------------------------------------------------------------------------

    def _find_run(self) -> int:
        """Which statement runs the session: the only one that has to do with it."""
        body, name = self.body, self.session.name
        uses = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name]
        runs = [use for use in uses if self._is_run(use)]
        demand(bool(uses), Kept.NO_RUN)
        nodes = (node for statement in body for node in ast.walk(statement))
        demand(
            not any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in nodes), Kept.ASYNCHRONOUS
        )
        others = [use for use in uses if use not in runs]
        if any(self._is_asked(use) for use in others):
            raise KeptError(Kept.CONDITION)
        demand(not others, Kept.SESSION_USED if runs else Kept.NO_RUN)
        demand(len(runs) == 1, Kept.SEVERAL_RUNS)
        at = next(i for i, s in enumerate(body) if any(n is runs[0] for n in ast.walk(s)))
        self._check_ways(body[:at], body[at + 1 :])
        call = self._call_of(runs[0])
        statement = body[at]
        demand(not any(isinstance(n, ast.Return | ast.Raise) for n in ast.walk(statement)), Kept.LEAVES)
        is_own = isinstance(statement, ast.Expr | ast.Assign) and statement.value is call
        demand(is_own, Kept.PART)
        return at

    @staticmethod
    def _check_ways(before: Sequence[ast.stmt], action: Sequence[ast.stmt]) -> None:
        """Each round must come to the run; break and continue in what follows end the action."""
        demand(not any(_own_ways(before)), Kept.LEAVES)
        demand(not any(isinstance(s, ast.Break | ast.Continue) for s in action), Kept.LEAVES)
        leaves = (n for s in (*before, *action) for n in ast.walk(s))
        demand(not any(isinstance(n, ast.Return | ast.Raise) for n in leaves), Kept.LEAVES)

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
        demand(is_plain and not any(isinstance(a, ast.Starred) for a in call.args), Kept.ARGUMENTS)
        demand(set(given) <= {"fetches", "feed_dict"} and "fetches" in given, Kept.ARGUMENTS)
        fetches, feed = given["fetches"], given.get("feed_dict")
        assigned = stored(self.loop.body) | ({self.counter} if self.counter else set())
        demand(_is_fixed(fetches) and not assigned & loaded([ast.Expr(fetches)]), Kept.FETCHES)
        demand(not _attributes_set(self.body) & _attributes_of(fetches), Kept.FETCHES)
        for name in loaded([ast.Expr(fetches)]):
            demand(all(name not in s.elsewhere for s in self.file.names.scopes.values()), Kept.FETCHES)
        if isinstance(feed, ast.Constant) and feed.value is None:
            feed = None
        return fetches, feed

    def _targets(self, run: ast.stmt, fetches: ast.expr) -> dict[str, int | None]:
        """The names that the results get, each with its place in the list of fetches."""
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

    @staticmethod
    def _only_run(fetches: ast.expr, indices: Sequence[int | None]) -> tuple[int, ...] | None:
        """The elements of a list whose values nobody looks at."""
        if not indices or None in indices or not isinstance(fetches, ast.List | ast.Tuple):
            return None
        return tuple(index for index in range(len(fetches.elts)) if index not in indices) or (0,)

    # -- Before and after it ---------------------------------------------------------------------------------------

    def _check_before(self, before: Sequence[ast.stmt], feed: ast.expr | None) -> None:
        for statement in before:
            demand(_is_preparation(statement), Kept.BEFORE)
        if feed is None:
            # It goes into a callback, which runs in another mode.
            demand(after_step.refusal(self.file, before, stored(before)) is None, Kept.BEFORE)
        parts = [*before, *([ast.Expr(feed)] if feed is not None else [])]
        for node in (n for part in parts for n in ast.walk(part)):
            demand(not isinstance(node, ast.NamedExpr | ast.AnnAssign), Kept.BEFORE)
        function = [self.scope.node] if self.scope.kind == "function" else []
        demand(not any(_is_dynamic(part) for part in [*self.loop.body, *function]), Kept.DYNAMIC)

    def _check_action(self, action: Sequence[ast.stmt], targets: dict[str, int | None]) -> None:
        """Checks that the action only looks."""
        refusal = after_step.refusal(self.file, action, stored(action) | set(targets))
        if refusal is not None:
            raise KeptError(Kept[refusal])

    def _check_conditions(self, action: Sequence[ast.stmt], targets: dict[str, int | None]) -> None:
        """What else the loop goes on by is asked before the first step, and after each one."""
        asked = [ast.Expr(condition) for condition in self.conditions]
        refusal = after_step.refusal(self.file, asked, stored(action) | set(targets))
        demand(refusal is None, Kept.CONDITION)
        if asked:
            demand(not any(isinstance(n, ast.Continue) for n in _own_ways(action)), Kept.CONDITION)

    def _check_counter(
        self,
        before: Sequence[ast.stmt],
        feed: ast.expr | None,
        action: Sequence[ast.stmt],
        targets: dict[str, int | None],
    ) -> None:
        """The number of the round is known to the action only."""
        name = self.counter
        if name is None:
            return
        demand(name not in loaded([*before, *([ast.Expr(feed)] if feed is not None else [])]), Kept.FEEDS)
        if name in stored(before) | stored(action) | set(targets):
            demand(name not in loaded(action), Kept.STATEMENTS)
        demand(name not in self.scope.elsewhere, Kept.GLOBALS)
        demand(name not in loaded(self.handlers), Kept.READ_AFTER)
        demand(not is_read_elsewhere(self.file, self.loop, self.scope, name), Kept.READ_AFTER)

    def _kept_names(
        self, before: Sequence[ast.stmt], action: Sequence[ast.stmt], targets: dict[str, int | None]
    ) -> set[str]:
        """The names that must stay those of the scope around: what others read, and what is kept from step to step."""
        kept: set[str] = set()
        across = stored(before) & loaded([*action, *self.conditions])
        whole = [*map(ast.Expr, self.conditions), *self.body]
        caught = loaded(self.handlers) | stored(self.handlers)
        for name in stored(before) | stored(action) | set(targets):
            demand(name not in self.scope.elsewhere, Kept.GLOBALS)
            is_carried = is_read_first(whole, name)
            if (
                is_carried
                or name in across
                or name in caught
                or is_read_elsewhere(self.file, self.loop, self.scope, name)
            ):
                self._check_beginning(name, is_carried=is_carried)
                self._check_annotations(name)
                kept.add(name)
        return kept

    def _begun(self, kept: set[str]) -> tuple[str, ...]:
        """The names that a function must know before a function in it can set them."""
        if self.scope.kind == "module":
            return ()
        return tuple(sorted(name for name in kept if not self._is_bound_outside(name)))

    def _check_beginning(self, name: str, *, is_carried: bool) -> None:
        """What is kept from step to step must have a value before, and a function's name one home."""
        if self._is_bound_outside(name):
            return
        demand(not is_carried, Kept.STATEMENTS)
        inside = self._inside()
        is_own = all(node in inside for node in self._bindings(name))
        demand(is_own or self.scope.kind == "module", Kept.STATEMENTS)

    def _is_bound_outside(self, name: str) -> bool:
        """Whether a name is bound where no loop is that moves into functions."""
        inside = self._inside() | {node for other in self.others for node in ast.walk(other)}
        return any(node not in inside for node in self._bindings(name))

    def _bindings(self, name: str) -> list[ast.AST]:
        return [binding.node for binding in self.scope.bindings(name)]

    def _inside(self) -> set[ast.AST]:
        """What moves into functions: the loop without its handlers."""
        return set(ast.walk(self.loop)) - {n for handler in self.handlers for n in ast.walk(handler)}

    def _check_annotations(self, name: str) -> None:
        """Python takes no annotation for names of another scope."""
        inside = self._inside()
        annotated = (
            isinstance(self.file.parent(node), ast.AnnAssign)
            for node in self._bindings(name)
            if node in inside or self.scope.kind == "module"
        )
        demand(not any(annotated), Kept.STATEMENTS)

    def _parameter(self, name: str) -> str:
        choice, number = f"new_{name}", 1
        while choice in self.file.text:
            number += 1
            choice = f"new_{name}_{number}"
        return choice


def _is_true(condition: ast.expr) -> bool:
    return isinstance(condition, ast.Constant) and bool(condition.value)


def _own_ways(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The `break` and `continue` of the loop itself, not those of loops inside."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Break | ast.Continue):
            yield node
        if isinstance(node, (*LOOPS, ast.AsyncFor)):
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)


def _yields(function: ast.FunctionDef) -> bool:
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, _Function | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    return False


def _is_lasting(number: ast.expr) -> bool:
    """Whether an expression is the same twice: names, attributes, numbers, and what is computed of them."""
    if isinstance(number, ast.Name | ast.Constant):
        return True
    if isinstance(number, ast.Attribute):
        return _is_lasting(number.value)
    if isinstance(number, ast.BinOp):
        # Whatever else binds less than the minus that may come behind it.
        is_plain = isinstance(number.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod)
        return is_plain and _is_lasting(number.left) and _is_lasting(number.right)
    is_int = isinstance(number, ast.Call) and isinstance(number.func, ast.Name) and number.func.id == "int"
    return is_int and isinstance(number, ast.Call) and len(number.args) == 1 and _is_lasting(number.args[0])


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


def _attributes_of(expression: ast.expr) -> set[str]:
    return {node.attr for node in ast.walk(expression) if isinstance(node, ast.Attribute)}


def _attributes_set(statements: Sequence[ast.stmt]) -> set[str]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return {
        node.attr for node in nodes if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    }


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
