"""`break` and `continue` of a loop, as the ways out of the function that its body becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst

from codemod.loops.texts import alone, line


class Ways(cst.CSTTransformer):
    """Writes `break` and `continue` of a loop as the ways out of the function that its body becomes."""

    def __init__(self, model: str, action: Sequence[cst.BaseStatement], indent: str) -> None:
        super().__init__()
        self._model, self._indent, self._depth = model, indent, 0
        self._last = {id(node) for node in _last_of(action)}

    def of(self, statement: cst.BaseStatement) -> cst.BaseStatement:
        """One statement of the action."""
        new = statement.visit(self)
        assert isinstance(new, cst.BaseStatement)
        return new

    def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None:
        """The ways of a loop inside are its own, but for those in its `else`."""
        self._depth += isinstance(node, cst.For) and attribute == "body"

    def on_leave_attribute(self, original_node: cst.CSTNode, attribute: str) -> None:
        """The body of a loop inside is left."""
        self._depth -= isinstance(original_node, cst.For) and attribute == "body"

    def on_leave(self, original_node: cst.CSTNode, updated_node: Any) -> Any:
        """Writes those that end a line, or a block of one line: `if done: break`."""
        if self._depth or not isinstance(original_node, cst.SimpleStatementSuite | cst.SimpleStatementLine):
            return updated_node
        way = original_node.body[-1]
        if not isinstance(way, cst.Break | cst.Continue):
            return updated_node
        others = [cst.SimpleStatementLine([alone(small)]) for small in updated_node.body[:-1]]
        lines = [*others, *self._way(way)]
        if isinstance(original_node, cst.SimpleStatementSuite):
            return cst.IndentedBlock(lines, indent=self._indent, header=original_node.trailing_whitespace)
        lines[0] = lines[0].with_changes(leading_lines=updated_node.leading_lines)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=updated_node.trailing_whitespace)
        return cst.FlattenSentinel(lines)

    def _way(self, small: cst.BaseSmallStatement) -> list[cst.BaseStatement]:
        if isinstance(small, cst.Continue):
            return [line("return")]
        stop = line(f"{self._model}.stop_training = True")
        return [stop] if id(small) in self._last else [stop, line("return")]


def _last_of(lines: Sequence[cst.BaseStatement]) -> Iterator[cst.CSTNode]:
    """The statements with which a block may end."""
    if not lines:
        return
    last = lines[-1]
    if isinstance(last, cst.SimpleStatementLine):
        yield last.body[-1]
    node: cst.BaseStatement | cst.Else | None = last
    while isinstance(node, cst.If | cst.Else):
        yield from (
            [node.body.body[-1]]
            if isinstance(node.body, cst.SimpleStatementSuite)
            else _last_of([line for line in node.body.body if isinstance(line, cst.BaseStatement)])
        )
        node = node.orelse if isinstance(node, cst.If) else None
