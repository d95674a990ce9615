"""What the names in a file mean: an import table of our own, over Python's scopes (`codemod.scopes`).

What `tf.train.X` means is looked up as Python would: a parameter called `tf` hides the module, an import inside a function
is seen there only. Names that are bound in ways that nobody can follow statically mean nothing here, so that nothing is
rewritten on a guess.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from codemod.release import Tables
from codemod.scopes import Binding, Import, Scope, Walk, is_chain, walked

__all__ = ["PACKAGES", "Binding", "Import", "Names", "Scope", "Use", "walked"]

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


_BUILTINS = frozenset(dir(builtins))


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


class Names:
    """The import table and the scopes of one file.

    Args:
      tree: The parsed file.
      tables: What exists, to choose between several imports of one name.
    """

    def __init__(self, tree: ast.Module, tables: Tables) -> None:
        self.tables = tables
        self.tree = tree
        walk = Walk(tree)
        self.parents = walk.parents
        self.imports = walk.imports
        self.module = walk.module
        self.scopes = walk.scopes
        self._followed = walk.followed
        self._texts: list[tuple[int, int]] | None = None
        self._loads: dict[str, list[tuple[ast.Name, Scope]]] = {}
        self._meanings: dict[tuple[str, int], tuple[str, Binding | None] | None] = {}
        self._part_names: dict[tuple[str, int], tuple[str, ...]] = {}
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

    def is_in_string(self, line: int) -> bool:
        """Whether a line is inside a string of several lines."""
        if self._texts is None:
            self._texts = [
                (node.lineno, node.end_lineno or node.lineno)
                for node in self.parents
                if isinstance(node, ast.Constant | ast.JoinedStr)
            ]
        return any(first < line <= last for first, last in self._texts)

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
        previous, before = node, node
        while current is not None:
            scope = self.scopes.get(current)
            if scope is not None and _is_inside(current, previous, before):
                return scope
            previous, before, current = current, previous, self.parents.get(current)
        return self.module

    def raw_of(self, node: ast.AST) -> str | None:
        """The import path behind an expression, or None."""
        if not isinstance(node, ast.Name | ast.Attribute) or not is_chain(node):
            return None
        root = _root(node)
        found = self.meaning(root.id, self.scope_of(node))
        return found[0] + _tail(node) if found else None

    def use_of(self, node: ast.AST) -> Use | None:
        """The use that an expression is, if it is one; for an attribute of a longer chain one is made."""
        use = self._by_node.get(node)
        if use is None and isinstance(node, ast.Name | ast.Attribute) and is_chain(node):
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


def _is_inside(owner: ast.AST, child: ast.AST, grandchild: ast.AST) -> bool:
    """Whether a child of a scope's node, and what is in it, is evaluated in that scope, not around it."""
    if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return child in owner.body
    if isinstance(owner, ast.Lambda):
        return child is owner.body
    if isinstance(owner, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return child is not owner.generators[0] or grandchild is not owner.generators[0].iter
    return True


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
