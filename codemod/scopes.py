"""Python's scopes in a file: which of them binds which name, who imports what, and where names are read.

One walk over the `ast` finds all of it. A comprehension has a scope of its own, a class body's names are not seen from its
methods, `global` and `nonlocal` give a name to another scope.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

_SKIPPED_FIELDS = frozenset(
    [
        "ctx",
        "op",
        "ops",
        "id",
        "attr",
        "arg",
        "name",
        "kind",
        "type_comment",
        "level",
        "module",
        "conversion",
        "is_async",
        "simple",
        "asname",
        "rest",
        "kwd_attrs",
        "type_ignores",
        "str",
    ]
)
# From the last to the first, as they go onto a stack.
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    cls: tuple(f for f in reversed(cls._fields) if f not in _SKIPPED_FIELDS or cls.__name__ == "TypeAlias")
    for cls in vars(ast).values()
    if isinstance(cls, type) and issubclass(cls, ast.AST)
}
ScopeKind = Literal["module", "function", "class", "comprehension"]
ImportStatement = ast.Import | ast.ImportFrom


@dataclass(slots=True, eq=False)
class Binding:
    """One way in which a scope binds a name.

    Attributes:
      name: The name that is bound.
      kind: `import`; `alias` (`layers = tf.layers`); `none` (`tf = None`); `other` for all that hides or is unknown.
      node: The node that binds it.
      raw: For an import, the path that the name stands for; begins with `.` if it is relative.
      value: For an alias, the expression.
      statement: For an import, its statement.
      scope: Where.
    """

    name: str
    kind: Literal["import", "alias", "none", "other"]
    node: ast.AST
    scope: Scope
    raw: str = ""
    value: ast.expr | None = None
    statement: ImportStatement | None = None


@dataclass(slots=True, eq=False)
class Scope:
    """A scope of Python: its names, and the scope around it.

    Attributes:
      kind: What makes it.
      node: The node that makes it.
      parent: The scope around it.
      names: The names that are bound in it. Most of them nobody asks about: what binds one in some other way is only its
        node until `bindings` is asked.
      elsewhere: The names that a `global` or `nonlocal` statement says are another scope's.
      loads: Where names are read in it.
    """

    kind: ScopeKind
    node: ast.AST
    parent: Scope | None
    names: dict[str, list[Binding | ast.AST]] = field(default_factory=dict)
    elsewhere: dict[str, Literal["global", "nonlocal"]] = field(default_factory=dict)
    loads: list[ast.Name] = field(default_factory=list)

    def bindings(self, name: str) -> list[Binding]:
        """What binds a name here, in the order of the file."""
        found: list[Any] = self.names.get(name, [])
        for index, item in enumerate(found):
            if not isinstance(item, Binding):
                found[index] = Binding(name, "other", item, self)
        return found


@dataclass(slots=True, eq=False)
class Import:
    """One imported thing, or one `import *`.

    Attributes:
      statement: The statement that it is part of.
      alias: Its part of the statement.
      raw: The path that is imported; the module for `import *`.
      binding: What it binds; None for `import *`.
      scope: Where it stands.
    """

    statement: ImportStatement
    alias: ast.alias
    raw: str
    binding: Binding | None
    scope: Scope


def walked(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree in the order of `ast.walk`, without those that say how a name is used, and operators."""
    found = [tree]
    for node in found:
        for name in reversed(_FIELDS[node.__class__]):
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


class Walk:
    """The walk over one file.

    Attributes:
      parents: What holds each node.
      imports: What is imported.
      module: The outermost scope.
      scopes: All scopes, by the nodes that make them.
      followed: Names that an import or a shorter name binds somewhere.
    """

    def __init__(self, tree: ast.Module) -> None:
        """Walks.

        Args:
          tree: The parsed file.
        """
        self.parents: dict[ast.AST, ast.AST] = {}
        self.imports: list[Import] = []
        self.module = Scope("module", tree, None)
        self.scopes: dict[ast.AST, Scope] = {tree: self.module}
        self.followed: set[str] = set()
        self._scope = self.module
        self._coming: list[ast.AST | Scope] = []
        self._walk(tree)
        self._give_to_owners()

    def _walk(self, tree: ast.Module) -> None:
        """Visits the nodes in the order in which Python would come to them.

        Most of the time that the codemod takes for a file goes by here: no call for a node that has no part in names, and
        what is still to come lies on a stack. A scope on the stack means that from here on names are its.
        """
        parents, coming, visitors = self.parents, self._coming, _VISITORS
        attribute, name, load, call, constant = ast.Attribute, ast.Name, ast.Load, ast.Call, ast.Constant
        push, pop = coming.append, coming.pop
        read = self._scope.loads.append
        push(tree)
        while coming:
            node: Any = pop()
            kind = node.__class__
            while kind is attribute:
                value = node.value
                parents[value] = node
                node, kind = value, value.__class__
            if kind is name:
                if node.ctx.__class__ is load:
                    read(node)
                else:
                    self._bind(node.id, node)
            elif kind is call:
                for keyword in reversed(node.keywords):
                    value = keyword.value
                    parents[keyword], parents[value] = node, keyword
                    if value.__class__ is not constant:
                        push(value)
                for value in reversed(node.args):
                    parents[value] = node
                    if value.__class__ is not constant:
                        push(value)
                value = node.func
                parents[value] = node
                push(value)
            elif kind is Scope:
                self._scope = node
                read = node.loads.append
            elif (visitor := visitors.get(kind)) is not None:
                visitor(self, node)
            else:
                for field_name in _FIELDS[kind]:
                    value = getattr(node, field_name, None)
                    if value.__class__ is list:
                        for item in reversed(value):
                            if isinstance(item, ast.AST):
                                parents[item] = node
                                push(item)
                    elif isinstance(value, ast.AST):
                        parents[value] = node
                        if value.__class__ is not constant:
                            push(value)

    def _come(self, node: ast.AST, *children: ast.AST | None) -> None:
        """Puts children on the stack, so that the first is the next."""
        for child in reversed(children):
            if child is not None:
                self.parents[child] = node
                self._coming.append(child)

    def _come_all(self, node: ast.AST) -> None:
        for name in _FIELDS[node.__class__]:
            value = getattr(node, name, None)
            self._come(node, *(value if isinstance(value, list) else [value]))

    def _bind(self, name: str, node: ast.AST, scope: Scope | None = None) -> None:
        scope = scope or self._scope
        if scope.elsewhere and scope.elsewhere.get(name) == "global":
            scope = self.module
        known = scope.names.get(name)
        if known is None:
            scope.names[name] = [node]
        else:
            known.append(node)

    def _add(self, binding: Binding) -> None:
        scope = binding.scope
        if scope.elsewhere and scope.elsewhere.get(binding.name) == "global":
            scope = binding.scope = self.module
        scope.names.setdefault(binding.name, []).append(binding)
        if binding.kind != "none":
            self.followed.add(binding.name)

    def _give_to_owners(self) -> None:
        """What binds a name that is `nonlocal` binds it in the function around that has it, which may come later."""
        for scope in self.scopes.values():
            for name, place in scope.elsewhere.items():
                if place == "nonlocal" and name in scope.names:
                    owner = _owner(scope, name)
                    if owner is not None:
                        moved = scope.names.pop(name)
                        for item in moved:
                            if isinstance(item, Binding):
                                item.scope = owner
                        owner.names.setdefault(name, []).extend(moved)

    def _constant(self, node: ast.Constant) -> None:
        """Nothing is named in one."""

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.parents[alias] = node
            raw = alias.name if alias.asname else alias.name.partition(".")[0]
            binding = Binding(alias.asname or raw, "import", alias, self._scope, raw, statement=node)
            self._add(binding)
            self.imports.append(Import(node, alias, alias.name, binding, self._scope))

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            self.parents[alias] = node
            if alias.name == "*":
                self.imports.append(Import(node, alias, module, None, self._scope))
                continue
            raw = f"{module}.{alias.name}"
            binding = Binding(alias.asname or alias.name, "import", alias, self._scope, raw, statement=node)
            self._add(binding)
            self.imports.append(Import(node, alias, raw, binding, self._scope))

    def _assign(self, node: ast.Assign) -> None:
        for target in reversed(node.targets):
            if not isinstance(target, ast.Name):
                self._come(node, target)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.parents[target] = node
                self._bind_value(target, node.value)
        self._come(node, node.value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.parents[node.target] = node
            self._bind_value(node.target, node.value)
            self._come(node, node.annotation, node.value)
        else:
            self._come(node, node.annotation, node.value, node.target)

    def _bind_value(self, target: ast.Name, value: ast.expr | None) -> None:
        if isinstance(value, ast.Constant) and value.value is None:
            self._add(Binding(target.id, "none", target, self._scope, value=value))
        elif isinstance(value, ast.Name | ast.Attribute) and is_chain(value):
            self._add(Binding(target.id, "alias", target, self._scope, value=value))
        else:
            self._bind(target.id, target)

    def _walrus(self, node: ast.NamedExpr) -> None:
        scope = self._scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        self.parents[node.target] = node
        self._bind(node.target.id, node.target, scope)
        self._come(node, node.value)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind(node.name, node)
        inner = self._inner_scope("function", node)
        parameters = getattr(node, "type_params", ())
        for parameter in parameters:
            self._bind(parameter.name, parameter, inner)
        self._bind_parameters(node.args, inner)
        self._come(node, *parameters, *node.body)
        self._coming.append(inner)
        self._parameters(node, node.args)
        self._come(node, *node.decorator_list, node.returns)

    def _lambda(self, node: ast.Lambda) -> None:
        inner = self._inner_scope("function", node)
        self._bind_parameters(node.args, inner)
        self._come(node, node.body)
        self._coming.append(inner)
        self._parameters(node, node.args)

    def _parameters(self, node: ast.AST, args: ast.arguments) -> None:
        """Defaults and annotations are evaluated outside of the function."""
        self.parents[args] = node
        self._come(args, *args.defaults, *args.kw_defaults)
        for arg in reversed(_all_parameters(args)):
            self.parents[arg] = args
            if arg.annotation is not None:
                self._come(arg, arg.annotation)

    def _bind_parameters(self, args: ast.arguments, scope: Scope) -> None:
        for arg in _all_parameters(args):
            self._bind(arg.arg, arg, scope)

    def _class(self, node: ast.ClassDef) -> None:
        self._bind(node.name, node)
        inner = self._inner_scope("class", node)
        for parameter in getattr(node, "type_params", ()):
            self._bind(parameter.name, parameter, inner)
        self._come(node, *node.body)
        self._coming.append(inner)
        self._come(node, *node.decorator_list, *node.bases, *node.keywords)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        first = node.generators[0]
        inner = self._inner_scope("comprehension", node)
        if isinstance(node, ast.DictComp):
            self._come(node, node.key, node.value)
        else:
            self._come(node, node.elt)
        for generator in reversed(node.generators):
            self.parents[generator] = node
            self._come(
                generator, generator.target, None if generator is first else generator.iter, *generator.ifs
            )
        self._coming.append(inner)
        self._come(first, first.iter)  # Evaluated in the scope around.

    def _handler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._bind(node.name, node)
        self._come_all(node)

    def _global(self, node: ast.Global | ast.Nonlocal) -> None:
        for name in node.names:
            self._scope.elsewhere[name] = "global" if isinstance(node, ast.Global) else "nonlocal"

    def _match(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            self._bind(name, node)
        self._come_all(node)

    def _inner_scope(self, kind: ScopeKind, node: ast.AST) -> Scope:
        """A scope inside the present one, which goes on when all that is now put on the stack is done."""
        scope = self.scopes[node] = Scope(kind, node, self._scope)
        self._coming.append(self._scope)
        return scope


def _owner(scope: Scope, name: str) -> Scope | None:
    """The function around a scope that a `nonlocal` name belongs to."""
    current = scope.parent
    while current is not None and current.kind != "module":
        if current.kind == "function" and name in current.names and name not in current.elsewhere:
            return current
        current = current.parent
    return None


def _all_parameters(args: ast.arguments) -> list[ast.arg]:
    extra = [a for a in (args.vararg, args.kwarg) if a is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *extra]


def is_chain(node: ast.expr) -> bool:
    """Whether an expression is a name, or attributes of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


_VISITORS: dict[type[ast.AST], Callable[[Walk, Any], None]] = {}
_VISITORS.update(
    {
        ast.Constant: Walk._constant,
        ast.Import: Walk._import,
        ast.ImportFrom: Walk._import_from,
        ast.Assign: Walk._assign,
        ast.AnnAssign: Walk._annotated,
        ast.NamedExpr: Walk._walrus,
        ast.FunctionDef: Walk._function,
        ast.AsyncFunctionDef: Walk._function,
        ast.Lambda: Walk._lambda,
        ast.ClassDef: Walk._class,
        ast.ListComp: Walk._comprehension,
        ast.SetComp: Walk._comprehension,
        ast.GeneratorExp: Walk._comprehension,
        ast.DictComp: Walk._comprehension,
        ast.ExceptHandler: Walk._handler,
        ast.Global: Walk._global,
        ast.Nonlocal: Walk._global,
        ast.MatchAs: Walk._match,
        ast.MatchStar: Walk._match,
        ast.MatchMapping: Walk._match,
    }
)
