"""Whether statements are only an action after a step: they look at its results, print, note and log.

What is allowed is listed, and all else is refused: calls of functions that nobody knows may run the session, stop it, or
build into the graph, and would do so at another moment, or in another mode, in a callback.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from codemod.facts import FileFacts
from codemod.loops.fetched import trains
from codemod.loops.flow import stored
from codemod.loops.values import is_named, values_of

_BUILTINS = frozenset(
    [
        "print",
        "len",
        "float",
        "int",
        "str",
        "repr",
        "bool",
        "round",
        "min",
        "max",
        "sum",
        "abs",
        "divmod",
        "pow",
        "format",
        "list",
        "tuple",
        "dict",
        "set",
        "sorted",
        "reversed",
        "range",
        "zip",
        "enumerate",
        "isinstance",
        "any",
        "all",
    ]
)
# Modules whose functions know nothing of graphs and sessions.
_MODULES = (
    "numpy.",
    "math.",
    "time.",
    "datetime.",
    "statistics.",
    "random.",
    "copy.",
    "collections.",
    "json.dumps",
    "json.dump",
    "pprint.",
    "logging.",
    "absl.logging.",
    "os.path.",
    "sys.stdout.",
    "sys.stderr.",
)
_TENSORFLOW = ("tf.logging.", "tf.Summary", "tf.summary.Summary", "tf.HistogramProto")

# Methods of what a step has returned: numbers, arrays, bytes, and lists of them.
_VALUE_METHODS = frozenset(
    [
        "item",
        "mean",
        "sum",
        "std",
        "var",
        "min",
        "max",
        "any",
        "all",
        "argmax",
        "argmin",
        "tolist",
        "astype",
        "round",
        "copy",
        "reshape",
        "ravel",
        "flatten",
        "squeeze",
        "decode",
        "format",
        "join",
        "items",
        "keys",
        "values",
        "get",
        "count",
        "index",
        "strip",
        "split",
        "total_seconds",
        "isoformat",
        "strftime",
    ]
)
# Methods of what the file makes itself, by what makes it.
_METHODS: dict[str, frozenset[str]] = {
    "container": frozenset(
        [
            "append",
            "appendleft",
            "extend",
            "insert",
            "add",
            "update",
            "setdefault",
            "pop",
            "popleft",
            "clear",
            "get",
            "items",
            "keys",
            "values",
            "count",
            "index",
            "copy",
            "sort",
            "remove",
            "discard",
        ]
    ),
    "file": frozenset(("write", "writelines", "flush")),
    "csv": frozenset(("writerow", "writerows")),
    "logger": frozenset(["debug", "info", "warning", "warn", "error", "critical", "exception", "log"]),
    "writer": frozenset(("add_summary", "flush")),
}
_MAKERS: dict[str, str] = {
    "list": "container",
    "dict": "container",
    "set": "container",
    "collections.deque": "container",
    "collections.defaultdict": "container",
    "collections.OrderedDict": "container",
    "collections.Counter": "container",
    "open": "file",
    "io.open": "file",
    "codecs.open": "file",
    "tf.gfile.Open": "file",
    "tf.gfile.GFile": "file",
    "tf.gfile.FastGFile": "file",
    "tf.io.gfile.GFile": "file",
    "csv.writer": "csv",
    "csv.DictWriter": "csv",
    "logging.getLogger": "logger",
    "tf.get_logger": "logger",
    "tf.summary.FileWriter": "writer",
    "tf.summary.FileWriterCache.get": "writer",
    "tf.train.SummaryWriter": "writer",
    "tf.contrib.summary.SummaryWriter": "writer",
}
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)

_PLAIN = (
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Set,
    ast.Starred,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.comprehension,
    ast.keyword,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)


def refusal(
    file: FileFacts, statements: Iterable[ast.stmt], values: Collection[str], session: str = ""
) -> str | None:
    """Says why statements are more than an action after a step.

    Args:
      file: The file.
      statements: What follows the run in the loop.
      values: Names that hold results of the run, or what the statements made of them.
      session: What the session is called, if it may be run and asked.

    Returns:
      The name of a reason in `codemod.loops.Kept`; None if they are just that.
    """
    statements = list(statements)
    return _Look(file, {*values, *_iterated(statements)}, session).at_all(statements)


class _Look:
    """Looks at statements, and into the file's own functions that they call.

    Args:
      file: The file.
      values: Names that hold results, or what was made of them.
      session: What the session is called; nothing if it is not known.
      callers: The functions that are being looked into.
    """

    def __init__(
        self, file: FileFacts, values: Collection[str], session: str, callers: tuple[ast.AST, ...] = ()
    ) -> None:
        self._file, self._values, self._session, self._callers = file, values, session, callers

    def at_all(self, statements: Iterable[ast.stmt]) -> str | None:
        """The first reason against any of several statements."""
        return next(filter(None, map(self._at, statements)), None)

    def _at(self, statement: ast.stmt) -> str | None:
        if isinstance(statement, ast.While | ast.AsyncFor):
            return "NESTED"
        if isinstance(statement, ast.For):
            own = self._within(statement.target) or self._within(statement.iter)
            return own or self.at_all([*statement.body, *statement.orelse])
        if isinstance(statement, ast.If):
            return self._within(statement.test) or self.at_all([*statement.body, *statement.orelse])
        if isinstance(statement, ast.With):
            return self._at_with(statement)
        if isinstance(statement, ast.Pass | ast.Break | ast.Continue):
            return None
        if isinstance(statement, ast.Return) and self._callers:
            return self._within(statement.value) if statement.value is not None else None
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Assert):
            return next(filter(None, map(self._within, ast.iter_child_nodes(statement))), None)
        return "STATEMENTS"

    def _at_with(self, statement: ast.With) -> str | None:
        """A `with` may open files; what others do with errors and graphs is not known."""
        for item in statement.items:
            call = item.context_expr
            if not isinstance(call, ast.Call) or _MAKERS.get(_name_of(self._file, call.func)) != "file":
                return "STATEMENTS"
            for part in (*call.args, *(keyword.value for keyword in call.keywords)):
                reason = self._within(part)
                if reason is not None:
                    return reason
        return self.at_all(statement.body)

    def _within(self, node: ast.AST) -> str | None:
        if self._is_session(node):
            return "SESSION_USED"
        parts: Iterable[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if self._is_of_session(node.func):
                parts = given
            elif not self._is_harmless(node):
                used = (*given, node.func.value) if isinstance(node.func, ast.Attribute) else given
                return "SESSION_USED" if any(map(self._is_session, used)) else "CALLS"
            elif isinstance(node.func, ast.Name):
                parts = [part for part in given if not self._is_session(part)]
        elif not isinstance(node, _PLAIN):
            return "STATEMENTS"
        return next(filter(None, map(self._within, parts)), None)

    def _is_session(self, node: ast.AST) -> bool:
        return bool(self._session) and is_named(node, self._session)

    def _is_of_session(self, function: ast.expr) -> bool:
        """Whether a function is one of the session's that an action may call: it does the same there."""
        is_method = isinstance(function, ast.Attribute) and function.attr in ("run", "should_stop")
        return is_method and isinstance(function, ast.Attribute) and self._is_session(function.value)

    def _is_harmless(self, call: ast.Call) -> bool:
        """Whether a call knows nothing of sessions and graphs; its arguments are looked at by themselves."""
        function = call.func
        if isinstance(function, ast.Name) and _is_builtin(self._file, function):
            return function.id in _BUILTINS and not self._gives_session(call)
        name = _name_of(self._file, function)
        if name.startswith((*_MODULES, *_TENSORFLOW)):
            return not self._gives_session(call)
        if isinstance(function, ast.Name):
            return self._only_looks(function, call)
        if not isinstance(function, ast.Attribute):
            return False
        owner, method = function.value, function.attr
        if isinstance(owner, ast.Constant | ast.JoinedStr):
            return True
        if method == "add_summary":  # Nothing else has it: FileWriter, whoever holds it.
            return True
        kind = _kind_of(self._file, owner)
        if kind is not None:
            return method in _METHODS[kind]
        return method in _VALUE_METHODS and _is_of_values(owner, self._values)

    def _gives_session(self, call: ast.Call) -> bool:
        return any(map(self._is_session, [*call.args, *(keyword.value for keyword in call.keywords)]))

    def _session_inside(self, node: ast.FunctionDef, call: ast.Call) -> str | None:
        """What a function calls the session that it is given; nothing if it is given none, None if it cannot be told."""
        parameters = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
        given = [*zip(parameters, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
        names = [name for name, value in given if self._is_session(value)]
        if not self._gives_session(call):
            return ""
        is_plain = len(names) == 1 and not any(isinstance(arg, ast.Starred) for arg in call.args)
        return names[0] if is_plain and names[0] not in stored(node.body) else None

    def _only_looks(self, function: ast.Name, call: ast.Call) -> bool:
        """Whether a function of the file's own does no more than an action may."""
        bindings = self._file.names.lookup(function.id, self._file.names.scope_of(function))
        if len(bindings) != 1 or bindings[0].scope.kind != "module":
            return False
        node = bindings[0].node
        if not isinstance(node, ast.FunctionDef) or node.decorator_list or node in self._callers:
            return False
        if any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in ast.walk(node)):
            return False
        session = self._session_inside(node, call)
        if session is None or (session and any(trains(self._file, run) for run in _runs_of(node, session))):
            return False
        parameters = {inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)}
        values = parameters | stored(node.body) | _iterated(node.body)
        return _Look(self._file, values, session, (*self._callers, node)).at_all(node.body) is None


def _runs_of(function: ast.FunctionDef, session: str) -> list[ast.expr]:
    """What a function fetches by the session that it is given."""
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call) and node.args)
    return [
        call.args[0]
        for call in calls
        if isinstance(call.func, ast.Attribute) and is_named(call.func.value, session)
    ]


def _iterated(statements: Iterable[ast.stmt]) -> set[str]:
    """The names of comprehensions."""
    targets = (n.target for s in statements for n in ast.walk(s) if isinstance(n, ast.comprehension))
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def _is_of_values(node: ast.expr, values: Collection[str]) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return (isinstance(node, ast.Name) and node.id in values) or isinstance(node, ast.BinOp)


def _is_builtin(file: FileFacts, name: ast.Name) -> bool:
    return not file.names.lookup(name.id, file.names.scope_of(name)) and not file.names.stars


def _name_of(file: FileFacts, node: ast.expr) -> str:
    """The canonical name of a function, of whatever module; the builtin's own name; or nothing."""
    name = file.name_of(node)
    if name is not None:
        return name
    return node.id if isinstance(node, ast.Name) and _is_builtin(file, node) else ""


def _kind_of(file: FileFacts, owner: ast.expr) -> str | None:
    """What something is by all the values that the file gives it: a container, a file, a writer and so on."""
    kinds = {_kind_of_value(file, value) for value in values_of(file, owner)}
    return next(iter(kinds)) if len(kinds) == 1 else None


def _kind_of_value(file: FileFacts, value: ast.expr | None) -> str | None:
    if isinstance(value, _DISPLAYS):
        return "container"
    if isinstance(value, ast.Call):
        return _MAKERS.get(_name_of(file, value.func))
    return None
