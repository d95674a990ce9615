"""One file's text, tree and names: what stands where, what it means, and what holds it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import TypeVar

from codemod.layout import Layout, first_line
from codemod.names import PACKAGES, Names, Use, walked
from codemod.programs import is_program
from codemod.reached import unreached
from codemod.release import Tables
from codemod.settings import Settings
from codemod.suppressions import Comments

_Node = TypeVar("_Node", bound=ast.AST)


class FileTree:
    """One file, as it is.

    Args:
      path: The file's name, for messages.
      text: Its decoded text, with its own line ends.
      tree: The `ast` of it.
      tables: What exists on the installed TensorFlow.
      settings: What the user asked for.
      notebook: Whether the text is the code of a notebook, which is always run and never imported.
    """

    def __init__(
        self,
        path: str,
        text: str,
        tree: ast.Module,
        tables: Tables,
        settings: Settings,
        *,
        notebook: bool = False,
    ) -> None:
        self.path = path
        self.text = text
        self.tree = tree
        self.tables = tables
        self.settings = settings
        self.notebook = notebook
        self.layout = Layout(text)
        self.comments = Comments()
        self.names = Names(tree, tables)
        self._nodes: dict[type[ast.AST], list[ast.AST]] = {}
        self.names.forget(unreached(self))
        self.taken: set[ast.AST] = set()
        self._parts: dict[str, list[Use]] = {}

    # -- Names -----------------------------------------------------------------------------------------------------

    def uses(self, *names: str) -> Iterator[Use]:
        """The expressions that mean one of `names`, in the order of the file, unless an earlier rule has taken them.

        Args:
          *names: Canonical names; one that ends in `.*` stands for all that is below it.
        """
        found: dict[ast.AST, Use] = {}
        for name in names:
            if name.endswith(".*"):
                prefix = name[:-1]
                found.update({u.node: u for u in self.names.chains if u.name.startswith(prefix)})
            else:
                found.update({u.node: u for u in self._uses_of(name)})
        for use in sorted(found.values(), key=lambda u: (u.node.lineno, u.node.col_offset)):
            if use.root not in self.taken:
                yield use

    def calls(self, *names: str) -> Iterator[Use]:
        """The same as `uses`, only those that are called; each has its `call`."""
        return (use for use in self.uses(*names) if use.call is not None)

    def _uses_of(self, name: str) -> list[Use]:
        """The uses of one name, and the parts of longer ones that mean it."""
        found = self._parts.get(name)
        if found is None:
            chains = self._chains_by_part.get(name, {})
            found = [part for chain in chains for part in self.names.parts(chain) if part.name == name]
            self._parts[name] = found
        return found

    @functools.cached_property
    def _chains_by_part(self) -> dict[str, dict[Use, None]]:
        index: dict[str, dict[Use, None]] = {}
        for chain in self.names.chains:
            for name in self.names.part_names(chain):
                index.setdefault(name, {})[chain] = None
        return index

    def name_of(self, node: ast.AST | None) -> str | None:
        """The canonical name that an expression means, or None."""
        raw = self.names.raw_of(node) if node is not None else None
        return self.tables.canonical(raw) if raw is not None else None

    def use_of(self, node: ast.AST) -> Use | None:
        """The use that an expression is, or None."""
        return self.names.use_of(node)

    # -- The tree --------------------------------------------------------------------------------------------------

    def nodes(self, kind: type[_Node]) -> list[_Node]:
        """All nodes of one class, in the order of `ast.walk`."""
        found = self._nodes.get(kind)
        if found is None:
            found = self._nodes[kind] = [node for node in self.walked if node.__class__ is kind]
        return found  # type: ignore[return-value]

    @functools.cached_property
    def walked(self) -> list[ast.AST]:
        """What `ast.walk` yields for the whole file, without operators; found once."""
        return walked(self.tree)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """What holds `node`; None for the module."""
        return self.names.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """What holds `node`, from the inside out."""
        current = self.names.parents.get(node)
        while current is not None:
            yield current
            current = self.names.parents.get(current)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that `node` is part of, or is."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.names.parents.get(current)
        if current is None:
            raise ValueError(f"{type(node).__name__} is no part of a statement of {self.path}.")
        return current

    def source(self, node: ast.AST) -> str:
        """The text of a node, as it is in the file."""
        line, column, end_line, end_column = self.layout.span(node)
        return self.text[self.layout.offset(line, column) : self.layout.offset(end_line, end_column)]

    @functools.cached_property
    def is_program(self) -> bool:
        """Whether the file is run, and not only imported."""
        return is_program(self)

    def all_uses(self, *names: str) -> Iterator[Use]:
        """The expressions that mean one of `names`, taken or not."""
        return (use for name in names for use in self._uses_of(name))

    @property
    def first_use(self) -> bool:
        """Whether the file has to do with any of the packages at all."""
        return bool(self.names.chains) or any(i.raw.partition(".")[0] in PACKAGES for i in self.names.imports)

    @functools.cached_property
    def first_import(self) -> ast.stmt | None:
        """The first import of one of the packages at the file's top level, or what further imports may stand before instead.

        Where the import is part of a `try`, that is the `try`; where it is part of a longer block, such as the one that asks
        for `__main__`, that is the last import above the block, or the block.
        """
        for imported in self.names.imports:
            if imported.scope.kind == "module" and imported.raw.partition(".")[0] in PACKAGES:
                statement = self.top_statement(imported.statement)
                if isinstance(statement, ast.Import | ast.ImportFrom | ast.Try):
                    return statement
                above = self.tree.body[: self.tree.body.index(statement)]
                imports = [s for s in above if _is_import(s)]
                return imports[-1] if imports else statement
        return None

    def top_statement(self, node: ast.AST) -> ast.stmt:
        """The statement at the file's top level that `node` is in."""
        statement = self.statement(node)
        for ancestor in self.ancestors(statement):
            if isinstance(ancestor, ast.stmt):
                statement = ancestor
        return statement

    def comments_above(self, statement: ast.stmt) -> list[tuple[int, str]]:
        """The comment lines that stand directly above a statement, with their numbers."""
        number = first_line(statement) - 1
        lines = []
        while number >= 1 and self.layout.line(number).lstrip(" \t\f").startswith("#"):
            lines.append((number, self.layout.line(number)))
            number -= 1
        return lines

    def is_suppressed(self, node: ast.AST, code: str) -> bool:
        """Whether a comment on the lines of `node`, or where its statement begins, holds back findings of `code`."""
        if not self.comments.by_line:
            return False
        statement = self.statement(node)
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        if node is statement and getattr(node, "body", None):
            end = line
        return self.comments.suppresses(code, {statement.lineno, *range(line, end + 1)})


def _is_import(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module != "__future__"
    return isinstance(statement, ast.Import)
