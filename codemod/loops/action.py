"""Whether statements are only an action after a step: they look at its results, print, note and log.

What is allowed is listed, and all else is refused: calls of functions that nobody knows may run the session, stop it, or
build into the graph, and would do so at another moment, or in another mode, in a callback.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from codemod.facts import FileFacts
from codemod.loops.flow import stored
from codemod.loops.values import values_of

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


def refusal(file: FileFacts, statements: Iterable[ast.stmt], values: Collection[str]) -> str | None:
    """Says why statements are more than an action after a step.

    Args:
      file: The file.
      statements: What follows the run in the loop.
      values: Names that hold results of the run, or what the statements made of them.

    Returns:
      The name of a reason in `codemod.loops.Kept`; None if they are just that.
    """
    statements = list(statements)
    return _Look(file, {*values, *_iterated(statements)}).at_all(statements)


class _Look:
    """Looks at statements, and into the file's own functions that they call.

    Args:
      file: The file.
      values: Names that hold results, or what was made of them.
      callers: The functions that are being looked into.
    """

    def __init__(self, file: FileFacts, values: Collection[str], callers: tuple[ast.AST, ...] = ()) -> None:
        self._file, self._values, self._callers = file, values, callers

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
        if isinstance(node, ast.Call):
            if not self._is_harmless(node):
                return "CALLS"
        elif not isinstance(node, _PLAIN):
            return "STATEMENTS"
        return next(filter(None, map(self._within, ast.iter_child_nodes(node))), None)

    def _is_harmless(self, call: ast.Call) -> bool:
        """Whether a call knows nothing of sessions and graphs; its arguments are looked at by themselves."""
        function = call.func
        if isinstance(function, ast.Name) and _is_builtin(self._file, function):
            return function.id in _BUILTINS
        name = _name_of(self._file, function)
        if name.startswith((*_MODULES, *_TENSORFLOW)):
            return True
        if isinstance(function, ast.Name):
            return self._only_looks(function)
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

    def _only_looks(self, function: ast.Name) -> bool:
        """Whether a function of the file's own does no more than an action may."""
        bindings = self._file.names.lookup(function.id, self._file.names.scope_of(function))
        if len(bindings) != 1 or bindings[0].scope.kind != "module":
            return False
        node = bindings[0].node
        if not isinstance(node, ast.FunctionDef) or node.decorator_list or node in self._callers:
            return False
        if any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in ast.walk(node)):
            return False
        parameters = {inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)}
        return (
            _Look(
                self._file, parameters | stored(node.body) | _iterated(node.body), (*self._callers, node)
            ).at_all(node.body)
            is None
        )


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
