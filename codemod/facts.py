"""What a rule is given: one file, and the words in which to propose something.

Each layer below adds one thing: what stands where (`codemod.file_tree`), what TensorFlow's names mean before and after
(`codemod.namespaces`), how names are written in the new text (`codemod.spelling`).
"""

from __future__ import annotations

import ast

from codemod.names import Use
from codemod.programs import ESTIMATORS
from codemod.proposals import Insertion, Make, Proposal, Written
from codemod.release import Tables
from codemod.results import Fix, Loop
from codemod.settings import Settings
from codemod.spelling import NeededImport, Spelling

__all__ = ["ESTIMATORS", "FileFacts", "NeededImport"]


class FileFacts(Spelling):
    """One file, as the rules see it. `codemod.rules` describes how it is used; arguments as for `FileTree`."""

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
        super().__init__(path, text, tree, tables, settings, notebook=notebook)
        self.replaced: set[ast.AST] = set()
        self.edited: set[ast.AST] = set()
        self.proposed: set[ast.AST] = set()
        self.loops: tuple[Loop, ...] = ()

    # -- What becomes of proposals ---------------------------------------------------------------------------------

    def applies(self, proposal: Proposal) -> bool:
        """Whether a proposal's rewrite is wanted."""
        return proposal.rewrites and (proposal.fix == "safe" or self.settings.unsafe_fixes)

    def settle(self, proposal: Proposal, *, suppressed: bool = False) -> None:
        """Notes that the names of a proposal are taken, and whether they are gone from the new text."""
        self.taken.update(proposal.takes)
        self.proposed.add(proposal.node)
        if not suppressed and self.applies(proposal):
            self.replaced.update(proposal.takes)
            if proposal.make is not None:
                self.edited.add(proposal.node)

    # -- Proposing -------------------------------------------------------------------------------------------------

    def finding(
        self,
        node: ast.AST,
        message: str,
        *,
        why: str = "",
        remedy: str = "",
        url: str = "",
        todo: bool = True,
    ) -> Proposal:
        """Proposes to say something: hand work for the user.

        Args:
          node: Where.
          message: What is the matter, in one line without a full stop.
          why: Why it does not work as it is.
          remedy: Where to go.
          url: A page that helps.
          todo: Whether the place gets a TODO comment.
        """
        return Proposal(node, message, why, remedy, url, takes=self._roots(node), todo=todo)

    def edit(
        self,
        node: ast.AST,
        message: str,
        make: Make | None,
        *,
        fix: Fix = "safe",
        takes: tuple[Use, ...] = (),
        inserts: tuple[Insertion, ...] = (),
        why: str = "",
        remedy: str = "",
        url: str = "",
    ) -> Proposal:
        """Proposes a rewrite.

        Args:
          node: What is replaced: an expression, keyword, import alias or statement.
          message: What is the matter, in one line without a full stop.
          make: Turns the libcst node into its replacement; None if there are only insertions.
          fix: `safe`, or `unsafe` if what runs may change or a comment is lost.
          takes: Further uses that are settled by it.
          inserts: Lines that go in with it.
          why: Why it does not work as it is.
          remedy: Where to go where the fix is not applied.
          url: A page that helps.
        """
        roots = (*self._roots(node), *(use.root for use in takes))
        return Proposal(node, message, why, remedy, url, fix, make, roots, inserts=inserts)

    def rename(
        self,
        use: Use,
        name: str,
        message: str,
        *,
        fix: Fix = "safe",
        why: str = "",
        remedy: str = "",
        module: str = "",
    ) -> Proposal:
        """Proposes to write an expression as another canonical name.

        Args:
          use: The expression.
          name: The new canonical name.
          message: What is the matter.
          fix: `safe` or `unsafe`.
          why: Why it does not work as it is.
          remedy: Where to go where the fix is not applied.
          module: What is imported for it, if that is not the first part of the name.
        """
        spelled = self.spell(name, use.node, module)
        source = self.source(use.node)
        if "#" in source and source.count(".") != spelled.count("."):
            fix = "unsafe"  # A comment between the dots would be lost.
        return self.edit(use.node, message, Written(spelled), fix=fix, why=why, remedy=remedy)

    def _roots(self, node: ast.AST) -> tuple[ast.AST, ...]:
        inner = node.func if isinstance(node, ast.Call) else node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        return (inner,) if isinstance(inner, ast.Name) else ()
