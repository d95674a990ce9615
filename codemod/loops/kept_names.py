"""Names that must stay those of the scope around a loop, though the statements that set them move into functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemod.loops.flow import is_read_elsewhere, is_read_first, loaded, stored
from codemod.loops.header import Header
from codemod.loops.place import Place
from codemod.loops.plan import Kept, demand


class KeptNames:
    """What others read, and what is kept from step to step.

    Args:
      place: The loop.
      header: By what it goes on.
      others: The file's other loops over sessions, which may become fits, too.
    """

    def __init__(self, place: Place, header: Header, others: Sequence[ast.While | ast.For]) -> None:
        self._place, self._header, self._others = place, header, others

    def all(self, before: Sequence[ast.stmt], action: Sequence[ast.stmt], results: set[str]) -> set[str]:
        """The names.

        Args:
          before: The statements before the run.
          action: Those behind it.
          results: The names of the run's results.

        Raises:
          KeptError: one of them cannot be kept so.
        """
        place, header = self._place, self._header
        kept: set[str] = set()
        across = stored(before) & loaded([*action, *header.conditions])
        whole = [*map(ast.Expr, header.conditions), *header.body]
        caught = loaded(header.handlers) | stored(header.handlers)
        for name in stored(before) | stored(action) | results:
            demand(name not in place.scope.elsewhere, Kept.GLOBALS)
            if (
                is_read_first(whole, name)
                or name in across
                or name in caught
                or is_read_elsewhere(place.file, place.loop, place.scope, name)
            ):
                self._check_annotations(name)
                kept.add(name)
        return kept

    def begun(self, kept: set[str]) -> tuple[str, ...]:
        """The names that a function must know before a function in it can set them."""
        if self._place.scope.kind == "module":
            return ()
        return tuple(sorted(name for name in kept if not self._is_bound_outside(name)))

    def check_counter(self, before: Sequence[ast.AST], action: Sequence[ast.stmt], results: set[str]) -> None:
        """Checks that the number of the round is known to the action only.

        Args:
          before: What comes before the run, and what is fed.
          action: The statements behind it.
          results: The names of the run's results.

        Raises:
          KeptError: it is not.
        """
        place, name = self._place, self._header.counter
        if name is None:
            return
        demand(name not in loaded(before), Kept.FEEDS)
        if name in stored(before) | stored(action) | results:
            demand(name not in loaded(action), Kept.STATEMENTS)
        demand(name not in place.scope.elsewhere, Kept.GLOBALS)
        demand(name not in loaded(self._header.handlers), Kept.READ_AFTER)
        demand(not is_read_elsewhere(place.file, place.loop, place.scope, name), Kept.READ_AFTER)

    def _is_bound_outside(self, name: str) -> bool:
        """Whether a name is bound where no loop is that moves into functions."""
        inside = self._inside() | {node for other in self._others for node in ast.walk(other)}
        return any(node not in inside for node in self._bindings(name))

    def _bindings(self, name: str) -> list[ast.AST]:
        return [binding.node for binding in self._place.scope.bindings(name)]

    def _inside(self) -> set[ast.AST]:
        """What moves into functions: the loop without its handlers."""
        handlers = {n for handler in self._header.handlers for n in ast.walk(handler)}
        return set(ast.walk(self._place.loop)) - handlers

    def _check_annotations(self, name: str) -> None:
        """Python takes no annotation for names of another scope."""
        inside = self._inside()
        annotated = (
            isinstance(self._place.file.parent(node), ast.AnnAssign)
            for node in self._bindings(name)
            if node in inside or self._place.scope.kind == "module"
        )
        demand(not any(annotated), Kept.STATEMENTS)
