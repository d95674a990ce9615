"""What the names in a file mean: an import table of our own, with Python's scopes.

One walk over the `ast` notes who imports what, which scope binds which name, and where names are read. What `tf.train.X`
means is then looked up as Python would: a parameter called `tf` hides the module, a class body's names are not seen from
its methods, a comprehension has a scope of its own, an import inside a function is seen there only. Names that are
bound in ways that nobody can follow statically mean nothing here, so that nothing is rewritten on a guess.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from codemod.release import Tables

# Packages whose names rules are interested in. Chains that begin elsewhere are not recorded.
PACKAGES = frozenset(
    {
        "tensorflow",
        "keras",
        "tf_keras",
        "tf_slim",
        "tensorflow_estimator",
        "tensorflow_core",
        "tensorflow_gan",
        "tensorflow_addons",
        "tensorflow_probability",
        "tensorflow_hub",
        "horovod",
        "bridge",
    }
)

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
_BUILTINS = frozenset(dir(builtins))

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


@dataclass(slots=True, eq=False)
class Use:
    """An expression that means a name of one of the packages.

    Attributes:
      node: The expression: a name, or attributes of one.
      name: What it means, as `Tables.canonical` writes it.
      raw: The path behind it, as Python would import it.
      root: The plain name that the expression begins with.
      binding: What binds the root; None if it comes from `import *`.
      call: The call, if the expression is called.
    """

    node: ast.Attribute | ast.Name
    name: str
    raw: str
    root: ast.Name
    binding: Binding | None
    call: ast.Call | None = None


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


class Names:
    """The import table and the scopes of one file.

    Args:
      tree: The parsed file.
      tables: What exists, to choose between several imports of one name.
    """

    def __init__(self, tree: ast.Module, tables: Tables) -> None:
        self.tables = tables
        self.tree = tree
        self.parents: dict[ast.AST, ast.AST] = {}
        self.imports: list[Import] = []
        self.module = Scope("module", tree, None)
        self.scopes: dict[ast.AST, Scope] = {tree: self.module}
        self._scope = self.module
        self._coming: list[ast.AST | Scope] = []
        self._followed: set[str] = set()  # Names that an import or a shorter name binds somewhere.
        self._texts: list[tuple[int, int]] | None = None
        self._loads: dict[str, list[tuple[ast.Name, Scope]]] = {}
        self._meanings: dict[tuple[str, int], tuple[str, Binding | None] | None] = {}
        self._part_names: dict[tuple[str, int], tuple[str, ...]] = {}
        self._walk(tree)
        self.stars = [i.raw for i in self.imports if i.binding is None]
        self.chains: list[Use] = sorted(
            self._find_chains(), key=lambda use: (use.node.lineno, use.node.col_offset)
        )
        self._by_node: dict[ast.AST, Use] = {use.node: use for use in self.chains}

    def release(self) -> None:
        """Lets go of what refers to each other, so that a file's memory is free at once and no collector is needed."""
        for scope in self.scopes.values():
            scope.names.clear()
            scope.loads.clear()
        self._meanings.clear()

    def forget(self, nodes: set[ast.AST]) -> None:
        """Leaves out what is never run: nobody looks for it, and nothing is done to it.

        Args:
          nodes: All that is in such code.
        """
        if nodes:
            self.chains = [use for use in self.chains if use.node not in nodes]
            self.imports = [imported for imported in self.imports if imported.statement not in nodes]

    # -- The walk --------------------------------------------------------------------------------------------------

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

    def is_in_string(self, line: int) -> bool:
        """Whether a line is inside a string of several lines."""
        if self._texts is None:
            self._texts = [
                (node.lineno, node.end_lineno or node.lineno)
                for node in self.parents
                if isinstance(node, ast.Constant | ast.JoinedStr)
            ]
        return any(first < line <= last for first, last in self._texts)

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
            self._followed.add(binding.name)

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
        elif isinstance(value, ast.Name | ast.Attribute) and _is_chain(value):
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

    # -- Meaning ---------------------------------------------------------------------------------------------------

    def lookup(self, name: str, scope: Scope) -> list[Binding]:
        """The bindings that `name` may have in `scope`, as Python finds them; empty for a builtin or unknown name."""
        current: Scope | None = scope
        first = True
        while current is not None:
            if first or current.kind != "class":
                place = current.elsewhere.get(name)
                if place == "global":
                    return self.module.bindings(name)
                if name in current.names and place != "nonlocal":
                    return current.bindings(name)
            first = False
            current = current.parent
        return []

    def meaning(self, name: str, scope: Scope) -> tuple[str, Binding | None] | None:
        """What `name` stands for in `scope`.

        Returns:
          The import path, and the binding it comes from (None for `import *`); None if it is no import or unclear.
        """
        key = (name, id(scope))
        if key not in self._meanings:
            self._meanings[key] = None  # An alias of itself means nothing.
            self._meanings[key] = self._decide(name, self.lookup(name, scope))
        return self._meanings[key]

    def _decide(self, name: str, bindings: list[Binding]) -> tuple[str, Binding | None] | None:
        if not bindings:
            return self._from_star(name)
        candidates: list[tuple[str, Binding | None]] = []
        for binding in bindings:
            if binding.kind == "other":
                return None
            if binding.kind == "import":
                candidates.append((binding.raw, binding))
            elif binding.kind == "alias" and binding.value is not None:
                if (
                    _root(binding.value).id == name
                ):  # `tf = tf.compat.v1`: what it was before, in another spelling.
                    imported = [b for b in bindings if b.kind == "import"]
                    if imported:
                        return imported[0].raw + _tail(binding.value), binding
                raw = self.raw_of(binding.value)
                if raw is None or raw.split(".", 1)[0] not in PACKAGES:
                    return None
                candidates.append((raw, binding))
        if len(bindings) > 1 and not any(b.kind == "import" for b in bindings):
            return None  # Several aliases: which one holds depends on what runs.
        for candidate in candidates:
            if self.tables.exists(self.tables.canonical(candidate[0])):
                return candidate
        return candidates[0] if candidates else None

    def _from_star(self, name: str) -> tuple[str, Binding | None] | None:
        if name in _BUILTINS:
            return None
        for module in self.stars:
            canonical = self.tables.canonical(f"{module}.{name}")
            if canonical.startswith("tf.") and (
                self.tables.exists(canonical) or canonical.startswith("tf.contrib.")
            ):
                return f"{module}.{name}", None
        return None

    def loads(self, name: str) -> list[tuple[ast.Name, Scope]]:
        """Where a name is read, and in which scope."""
        found = self._loads.get(name)
        if found is None:
            found = [
                (node, scope) for scope in self.scopes.values() for node in scope.loads if node.id == name
            ]
            found.sort(key=lambda load: (load[0].lineno, load[0].col_offset))
            self._loads[name] = found
        return found

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope in which an expression or statement is evaluated (near enough: of what stands around it)."""
        current = self.parents.get(node)
        previous = node
        while current is not None:
            scope = self.scopes.get(current)
            if scope is not None and _is_inside(current, previous):
                return scope
            previous, current = current, self.parents.get(current)
        return self.module

    def raw_of(self, node: ast.AST) -> str | None:
        """The import path behind an expression, or None."""
        if not isinstance(node, ast.Name | ast.Attribute) or not _is_chain(node):
            return None
        root = _root(node)
        found = self.meaning(root.id, self.scope_of(node))
        return found[0] + _tail(node) if found else None

    def use_of(self, node: ast.AST) -> Use | None:
        """The use that an expression is, if it is one; for an attribute of a longer chain one is made."""
        use = self._by_node.get(node)
        if use is None and isinstance(node, ast.Name | ast.Attribute) and _is_chain(node):
            top: ast.AST = node
            while isinstance(parent := self.parents.get(top), ast.Attribute):
                top = parent
            longest = self._by_node.get(top)
            if longest is not None:
                return next(part for part in self.parts(longest) if part.node is node)
        return use

    def parts(self, use: Use) -> Iterator[Use]:
        """The use and the shorter ones inside it: of `tf.train.Saver` also `tf.train` and `tf`."""
        yield use
        node, raw = use.node, use.raw
        while isinstance(node, ast.Attribute):
            raw = raw[: -1 - len(node.attr)]
            assert isinstance(node.value, ast.Name | ast.Attribute)
            node = node.value
            yield Use(node, self.tables.canonical(raw), raw, use.root, use.binding)

    def part_names(self, use: Use) -> tuple[str, ...]:
        """The names of the parts of a use, without the parts."""
        depth, node = 0, use.node
        while node is not use.root:
            assert isinstance(node, ast.Attribute)
            assert isinstance(node.value, ast.Name | ast.Attribute)
            depth, node = depth + 1, node.value
        found = self._part_names.get((use.raw, depth))
        if found is None:
            pieces = use.raw.split(".")
            raws = (".".join(pieces[: len(pieces) - cut]) for cut in range(depth + 1))
            found = self._part_names[use.raw, depth] = tuple(map(self.tables.canonical, raws))
        return found

    def _find_chains(self) -> Iterator[Use]:
        for scope in self.scopes.values():
            known: dict[str, tuple[str, Binding | None] | None] = {}
            for root in scope.loads:
                name = root.id
                if name not in self._followed and not self.stars:
                    continue
                if name in known:
                    found = known[name]
                else:
                    found = self.meaning(name, scope)
                    if found is not None and found[0].partition(".")[0] not in PACKAGES:
                        found = None
                    known[name] = found
                if found is not None:
                    yield self._chain(root, *found)

    def _chain(self, root: ast.Name, raw: str, binding: Binding | None) -> Use:
        node: ast.Attribute | ast.Name = root
        parent = self.parents.get(node)
        while isinstance(parent, ast.Attribute):
            raw += f".{parent.attr}"
            node, parent = parent, self.parents.get(parent)
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        return Use(node, self.tables.canonical(raw), raw, root, binding, call)


def _is_inside(owner: ast.AST, child: ast.AST) -> bool:
    """Whether `child` of a scope's node is evaluated in that scope, not around it."""
    if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return child in owner.body
    if isinstance(owner, ast.Lambda):
        return child is owner.body
    return True


def _all_parameters(args: ast.arguments) -> list[ast.arg]:
    extra = [a for a in (args.vararg, args.kwarg) if a is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *extra]


def _is_chain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _root(node: ast.expr) -> ast.Name:
    while isinstance(node, ast.Attribute):
        node = node.value
    assert isinstance(node, ast.Name)
    return node


def _tail(node: ast.expr) -> str:
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(f".{node.attr}")
        node = node.value
    return "".join(reversed(attributes))


_VISITORS: dict[type[ast.AST], Callable[[Names, Any], None]] = {}
_VISITORS.update(
    {
        ast.Constant: Names._constant,
        ast.Import: Names._import,
        ast.ImportFrom: Names._import_from,
        ast.Assign: Names._assign,
        ast.AnnAssign: Names._annotated,
        ast.NamedExpr: Names._walrus,
        ast.FunctionDef: Names._function,
        ast.AsyncFunctionDef: Names._function,
        ast.Lambda: Names._lambda,
        ast.ClassDef: Names._class,
        ast.ListComp: Names._comprehension,
        ast.SetComp: Names._comprehension,
        ast.GeneratorExp: Names._comprehension,
        ast.DictComp: Names._comprehension,
        ast.ExceptHandler: Names._handler,
        ast.Global: Names._global,
        ast.Nonlocal: Names._global,
        ast.MatchAs: Names._match,
        ast.MatchStar: Names._match,
        ast.MatchMapping: Names._match,
    }
)
