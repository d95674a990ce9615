"""What a rule proposes for a place: to say something about it, and perhaps how to rewrite it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from codemod.results import Fix

if TYPE_CHECKING:
    import libcst as cst

# What stands at the place, and what shall stand there. Any libcst node, sentinel included: the engine checks that it fits.
Make: TypeAlias = (
    "Callable[[cst.CSTNode], cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]]"
)


_DOTTED = re.compile(r"\w+(?:\.\w+)*")


@dataclass(frozen=True, slots=True)
class Written:
    """Makes an expression, or the module of an import alias, another dotted name.

    By far the most edits are of this kind. Where only a dotted name stands, the file's text says all that there is to know,
    and no tree is made for it.

    Attributes:
      name: The new name.
    """

    name: str

    def __call__(self, node: cst.CSTNode) -> cst.CSTNode:
        """Does it to a libcst node."""
        import libcst as cst

        from codemod import cst_tools

        if isinstance(node, cst.ImportAlias):
            return node.with_changes(name=cst_tools.dotted(self.name))
        return cst_tools.written_as(node, self.name)

    def text(self, node: ast.AST, source: str) -> str | None:
        """The new text of a node; None if there is more to it than a dotted name."""
        dotted = _DOTTED.match(source)
        if isinstance(node, ast.alias):
            return self.name + source[dotted.end() :] if dotted and dotted[0] == node.name else None
        return self.name if dotted and dotted[0] == source else None


@dataclass(frozen=True, slots=True, eq=False)
class Restated:
    """Makes a simple statement, such as an import, others on lines of their own, or none.

    Nearly all statements that go or change stand alone on their lines: for them no tree is made either.

    Attributes:
      make: Does it to the libcst node of the statement's line, however it is written.
      lines: The statements that stand there then; none if it goes.
      plain: Whether they are right only if the old statement is written as `ast.unparse` writes it.
    """

    make: Make
    lines: tuple[str, ...] = ()
    plain: bool = True

    def __call__(
        self, node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        """Does it to a libcst node."""
        return self.make(node)

    def fits(self, node: ast.AST, source: str) -> bool:
        """Whether the lines are right for a statement with this text."""
        return not self.lines or not self.plain or ast.unparse(node) == source


@dataclass(frozen=True, slots=True)
class Insertion:
    """A line of code that goes in as it is.

    Attributes:
      line: The statement, without indentation and line end.
      anchor: The statement beside which it goes, with its indentation.
      after: Whether it goes behind the anchor rather than before it.
    """

    line: str
    anchor: ast.stmt
    after: bool = False


@dataclass(frozen=True, slots=True)
class Proposal:
    """A finding with a place, and the rewrite if there is one.

    Rules make these with the methods of `codemod.facts.FileFacts`, not by hand.

    Attributes:
      node: Where, as an `ast` node with a position.
      message: What is the matter, in one line without a full stop.
      why: Why today's TensorFlow does not take it.
      remedy: Where to go by hand.
      url: A page that helps.
      fix: Whether `make` is safe or unsafe; None for hand work.
      make: Turns the libcst node at `node` into its replacement; None for hand work.
      takes: Roots of the names that are settled by it.
      todo: Whether the place gets a TODO comment as long as it is not rewritten.
      inserts: Lines that go in together with the rewrite.
    """

    node: ast.AST
    message: str
    why: str = ""
    remedy: str = ""
    url: str = ""
    fix: Fix | None = None
    make: Make | None = None
    takes: tuple[ast.AST, ...] = ()
    todo: bool = True
    inserts: tuple[Insertion, ...] = ()

    @property
    def rewrites(self) -> bool:
        """Whether there is anything to write."""
        return self.make is not None or bool(self.inserts)
