"""Writes the edits into a file's text, and leaves everything else byte for byte.

What turns one dotted name into another, and imports that stand alone on their lines, are written into the text as they
are. Only the statements that hold any other edit are parsed by libcst (`codemod.rewrite_tree`): a statement's lines, or just
the header of a compound statement, are cut out for it, given the `if 1:` or `try:` that their indentation or keyword needs.
"""

from __future__ import annotations

import ast
import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from codemod.layout import begins_line, first_line, line_statement, siblings
from codemod.proposals import Make, Restated, Written

if TYPE_CHECKING:
    from codemod.facts import FileFacts

Edit: TypeAlias = tuple[ast.AST, Make]


_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)?\Z")


class RewriteError(Exception):
    """A file whose edits cannot be written; it stays as it is."""


@dataclass(slots=True)
class Unit:
    """Some whole lines that are parsed on their own.

    Attributes:
      start: Offset of the first character.
      end: Offset behind the last one.
      line: Number of the first line.
      before: Text that makes the lines a module, put before them.
      after: Likewise behind them.
      alone: Whether a block is left without statements if these are removed.
    """

    start: int
    end: int
    line: int
    before: str = ""
    after: str = ""
    alone: bool = True
    edits: list[Edit] = field(default_factory=list)
    comments: list[tuple[ast.stmt, list[str]]] = field(default_factory=list)


def rewrite(
    facts: FileFacts,
    edits: Sequence[Edit],
    insertions: Sequence[tuple[int, str]] = (),
    comments: Sequence[tuple[ast.stmt, list[str]]] = (),
    removals: Sequence[tuple[int, int]] = (),
) -> str:
    """Applies edits, insertions and comments to a file's text.

    Args:
      facts: The file.
      edits: Nodes with what becomes of them.
      insertions: Offsets of line starts, with the whole lines that go in there.
      comments: Statements with the comments that go above them, without indentation.
      removals: Where each of our own comment lines that are settled begins and ends.

    Returns:
      The new text.

    Raises:
      RewriteError: If libcst cannot read the statements, or a place is not found again.
    """
    for (former, _), (later, _) in itertools.pairwise(sorted(edits, key=lambda edit: id(edit[0]))):
        if former is later:
            raise RewriteError(f"two edits of one place, in line {getattr(later, 'lineno', '?')}")
    try:
        return _rewrite(facts, _Units(facts), edits, insertions, comments, removals)
    except RewriteError:
        # What stands inside a statement is not always a statement of its own to libcst: try those of the top level.
        return _rewrite(facts, _TopUnits(facts), edits, insertions, comments, removals)


_Piece: TypeAlias = tuple[int, int, str]


def _plain(facts: FileFacts, units: _Units, edits: Sequence[Edit]) -> dict[ast.AST, _Piece]:
    """The edits that need no tree, with the places and texts that they change; without those that lie in each other."""
    found: list[tuple[_Piece, ast.AST]] = []
    for node, make in edits:
        if isinstance(make, Written):
            piece = _written(facts, node, make)
        elif isinstance(make, Restated) and isinstance(node, ast.stmt):
            piece = _restated(facts, units.whole(node), node, make)
        else:
            piece = None
        if piece is not None:
            found.append((piece, node))
    found.sort(key=lambda place: place[0][:2])
    if any(later[0][0] < former[0][1] for former, later in itertools.pairwise(found)):
        return {}
    return {node: piece for piece, node in found}


def _place(facts: FileFacts, node: ast.AST) -> tuple[int, int]:
    line, column, end, end_column = facts.layout.span(node)
    return facts.layout.offset(line, column), facts.layout.offset(end, end_column)


def _written(facts: FileFacts, node: ast.AST, make: Written) -> _Piece | None:
    if in_f_string(facts, node):
        return None
    start, end = _place(facts, node)
    new = make.text(node, facts.layout.text[start:end])
    return None if new is None else (start, end, new)


def _restated(facts: FileFacts, unit: Unit, statement: ast.stmt, make: Restated) -> _Piece | None:
    text = facts.layout.text
    start, end = _place(facts, statement)
    before, after = text[unit.start : start], text[end : unit.end]
    if before.strip(" \t") or not _REST_OF_LINE.match(after) or not make.fits(statement, text[start:end]):
        return None
    if not make.lines:  # A block may not be left empty.
        return None if unit.before and unit.alone else (unit.start, unit.end, "")
    newline = facts.layout.newline()
    if len(make.lines) > 1 and after != newline:
        return None  # Something stands behind one of them.
    return start, end, f"{newline}{before}".join(make.lines)


def in_f_string(facts: FileFacts, node: ast.AST) -> bool:
    """Whether a node stands in an f-string, where `ast` has no true positions before Python 3.12."""
    return any(isinstance(ancestor, ast.JoinedStr) for ancestor in facts.ancestors(node))


def _rewrite(
    facts: FileFacts,
    finder: _Units,
    edits: Sequence[Edit],
    insertions: Sequence[tuple[int, str]],
    comments: Sequence[tuple[ast.stmt, list[str]]],
    removals: Sequence[tuple[int, int]],
) -> str:
    layout = facts.layout
    newline = layout.newline()
    plain = _plain(facts, finder, edits)
    units = _merged(finder, [edit for edit in edits if edit[0] not in plain])
    pieces = [(start, end, "") for start, end in removals if not any(u.start < start < u.end for u in units)]
    starts = [unit.start for unit in units]
    for edit in edits:
        if edit[0] in plain:
            piece = plain[edit[0]]
            before = bisect_right(starts, piece[0]) - 1
            if before >= 0 and piece[0] < units[before].end:
                units[before].edits.append(edit)
            else:
                pieces.append(piece)
    for offset, text in insertions:
        if any(u.start < offset < u.end for u in units):
            raise RewriteError(f"an inserted line falls into a rewritten statement at offset {offset}")
        lead = (
            newline
            if offset == len(layout.text) and offset and not layout.text.endswith(("\n", "\r"))
            else ""
        )
        pieces.append((offset, offset, lead + text))
    for statement, lines in comments:
        target = line_statement(facts, statement)
        line = first_line(target)
        offset = layout.starts[line - 1]
        unit = next((u for u in units if u.start < offset < u.end), None)
        if unit is not None:
            unit.comments.append((target, lines))
        else:
            indent = layout.indent(line).lstrip("\f")
            pieces.append((offset, offset, "".join(f"{indent}{text}{newline}" for text in lines)))
    if units:
        from codemod import rewrite_tree  # libcst is only loaded for files that need it.

        pieces += [(unit.start, unit.end, rewrite_tree.rewritten(facts, unit)) for unit in units]
    return _spliced(layout.text, pieces)


def _spliced(text: str, pieces: Iterable[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(pieces, key=lambda piece: (piece[0], piece[1])):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


# ---------------------------------------------------------------------------------------------------------------------
# Which lines.


class _Units:
    """Finds the lines that have to be parsed for an edit."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.layout = facts.layout

    def unit(self, node: ast.AST) -> Unit:
        if not isinstance(node, ast.stmt):
            header = self._header(node)
            if header is not None:
                return header
        return self.whole(self.facts.statement(node))

    def whole(self, statement: ast.stmt) -> Unit:
        block = siblings(self.facts, statement)
        first = last = block.index(statement)
        while first and (block[first - 1].end_lineno or 0) >= first_line(block[first]):
            first -= 1
        while last + 1 < len(block) and first_line(block[last + 1]) <= (block[last].end_lineno or 0):
            last += 1
        line = first_line(block[first])
        parent = self.facts.parent(statement)
        begins = begins_line(self.layout, block[first], line)
        if (
            (not begins or self._is_elif(block[first]))
            and isinstance(parent, ast.AST)
            and not isinstance(parent, ast.Module)
        ):
            return self.whole(self.facts.statement(parent))
        indent = self.layout.indent(line)
        newline = self.layout.newline()
        return Unit(
            self.layout.starts[line - 1],
            self.layout.next_line(block[last].end_lineno or line),
            line,
            before=f"if 1:{newline}" if indent.strip("\f") else "",
            alone=first == 0 and last == len(block) - 1,
        )

    def _header(self, node: ast.AST) -> Unit | None:
        """The lines from a compound statement's keyword to its first inner statement, if `node` is between them."""
        owner: ast.AST | None = node
        while owner is not None and not isinstance(owner, ast.stmt | ast.ExceptHandler | ast.match_case):
            owner = self.facts.parent(owner)
        body: list[ast.stmt] = getattr(owner, "body", [])
        if owner is None or not body or isinstance(owner, ast.match_case | ast.Try | ast.Module | ast.Match):
            return None
        line = first_line(owner) if isinstance(owner, ast.stmt) else getattr(owner, "lineno", 0)
        inner = first_line(body[0])
        if (
            inner <= line
            or not begins_line(self.layout, owner, line)
            or not begins_line(self.layout, body[0], inner)
        ):
            return None
        if self._after_body(node, body):
            return None
        indent, newline = self.layout.indent(line), self.layout.newline()
        before = f"if 1:{newline}" if indent.strip("\f") else ""
        if isinstance(owner, ast.ExceptHandler):
            before += f"{indent}try:{newline}{indent} pass{newline}"
        elif self._is_elif(owner):
            before += f"{indent}if 1:{newline}{indent} pass{newline}"
        return Unit(
            self.layout.starts[line - 1],
            self.layout.starts[inner - 1],
            line,
            before,
            f"{self.layout.indent(inner)}pass{newline}",
        )

    def _after_body(self, node: ast.AST, body: list[ast.stmt]) -> bool:
        return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)) >= (
            body[0].lineno,
            body[0].col_offset,
        )

    def _is_elif(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.If):
            return False
        line, column, _, _ = self.layout.span(node)
        return self.layout.line(line).startswith("elif", column)


class _TopUnits(_Units):
    """Finds the lines of whole statements at the file's top level."""

    def unit(self, node: ast.AST) -> Unit:
        return self.whole(self.facts.top_statement(node))


def _merged(units: _Units, edits: Sequence[Edit]) -> list[Unit]:
    """One unit for edits whose lines overlap."""
    found: list[Unit] = []
    for node, make in edits:
        unit = units.unit(node)
        unit.edits.append((node, make))
        found.append(unit)
    return _united(found)


def _united(found: list[Unit]) -> list[Unit]:
    found.sort(key=lambda unit: (unit.start, -unit.end))
    result: list[Unit] = []
    for unit in found:
        if result and unit.start < result[-1].end:
            result[-1].edits += unit.edits
            if unit.end > result[-1].end:
                raise RewriteError(f"edits overlap in line {unit.line}")
        else:
            result.append(unit)
    return result
