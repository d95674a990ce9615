"""Writes the edits into a file's text with libcst, and leaves everything else byte for byte.

What turns one dotted name into another is written into the text as it is. Only the statements that hold any other edit are
parsed: a statement's lines, or just the header of a compound statement, are
cut out, given the `if 1:` or `try:` that their indentation or keyword needs, and parsed. The `ast` nodes of the edits are
found again by their position, which both trees agree on. One transformer then applies the edits from the inside out.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from codemod.layout import begins_line, first_line, indent_step, line_statement, siblings
from codemod.proposals import Make, Written

if TYPE_CHECKING:
    from codemod.facts import FileFacts

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

Span: TypeAlias = tuple[int, int, int, int]
Edit: TypeAlias = tuple[ast.AST, Make]


_END = re.compile(r"[ \t]*(?:\r\n|\r|\n)?\Z")


class RewriteError(Exception):
    """A file whose edits cannot be written; it stays as it is."""


@dataclass(slots=True)
class _Unit:
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


def _plain(facts: FileFacts, edits: Sequence[Edit]) -> dict[ast.AST, tuple[int, int, str]]:
    """The edits that need no tree, with the places and texts that they change; without those that lie in each other."""
    found: list[tuple[int, int, str, ast.AST]] = []
    for node, make in edits:
        if not isinstance(make, Written) or in_f_string(facts, node):
            continue
        line, column, end, end_column = facts.layout.span(node)
        start = facts.layout.offset(line, column)
        source = facts.layout.text[start : facts.layout.offset(end, end_column)]
        new = make.text(node, source)
        if new is not None:
            found.append((start, start + len(source), new, node))
    found.sort(key=lambda place: place[:2])
    if any(later[0] < former[1] for former, later in itertools.pairwise(found)):
        return {}
    return {node: (start, end, new) for start, end, new, node in found}


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
    plain = _plain(facts, edits)
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
    config: cst.PartialParserConfig = cst.PartialParserConfig(
        default_indent=indent_step(facts.tree, layout), default_newline=newline
    )
    pieces += [(unit.start, unit.end, _rewritten(facts, unit, config)) for unit in units]
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

    def unit(self, node: ast.AST) -> _Unit:
        if not isinstance(node, ast.stmt):
            header = self._header(node)
            if header is not None:
                return header
        return self.whole(self.facts.statement(node))

    def whole(self, statement: ast.stmt) -> _Unit:
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
        return _Unit(
            self.layout.starts[line - 1],
            self.layout.next_line(block[last].end_lineno or line),
            line,
            before=f"if 1:{newline}" if indent.strip("\f") else "",
            alone=first == 0 and last == len(block) - 1,
        )

    def _header(self, node: ast.AST) -> _Unit | None:
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
        return _Unit(
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

    def unit(self, node: ast.AST) -> _Unit:
        return self.whole(self.facts.top_statement(node))


def _merged(units: _Units, edits: Sequence[Edit]) -> list[_Unit]:
    """One unit for edits whose lines overlap."""
    found: list[_Unit] = []
    for node, make in edits:
        unit = units.unit(node)
        unit.edits.append((node, make))
        found.append(unit)
    return _united(found)


def _united(found: list[_Unit]) -> list[_Unit]:
    found.sort(key=lambda unit: (unit.start, -unit.end))
    result: list[_Unit] = []
    for unit in found:
        if result and unit.start < result[-1].end:
            result[-1].edits += unit.edits
            if unit.end > result[-1].end:
                raise RewriteError(f"edits overlap in line {unit.line}")
        else:
            result.append(unit)
    return result


# ---------------------------------------------------------------------------------------------------------------------
# Parsing them and finding the places again.


def _rewritten(facts: FileFacts, unit: _Unit, config: cst.PartialParserConfig) -> str:
    text = facts.layout.text[unit.start : unit.end]
    # A form feed at the start of a line is nothing to Python, and libcst loses one at the start of a text.
    feeds = text[: len(text) - len(text.lstrip("\f"))]
    source = unit.before + text[len(feeds) :] + unit.after
    if unit.after and not text.endswith(("\n", "\r")):
        raise RewriteError(f"the statement in line {unit.line} ends without a line end")
    # libcst takes a lone carriage return for the end of a line and writes another: give it what it knows.
    lone = "\r" in source and "\n" not in source
    if lone:
        source = source.replace("\r", "\n")
        config = dataclasses.replace(config, default_newline="\n")
    module = _parse(source, config, unit)
    positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    finder = _Finder(facts, unit, positions, len(feeds))
    targets: dict[cst.CSTNode, list[Make]] = {}
    for node, make in unit.edits:
        targets.setdefault(finder.find(node), []).append(make)
    for statement, lines in unit.comments:
        targets.setdefault(finder.find(statement), []).append(_commented(lines))
    editor = _Editor(targets, positions)
    changed = module.visit(editor)
    if len(editor.reached) < len(targets):
        raise RewriteError(f"an edit of the statement in line {unit.line} was not reached")
    code = changed.code.replace("\n", "\r") if lone else changed.code
    if not unit.before and not changed.body:
        return feeds  # libcst would leave an empty line.
    if unit.before and not unit.alone and isinstance(changed.body[0], cst.If) and not _inner(changed.body[0]):
        return feeds  # Nor does a block that has other statements need a `pass`.
    if not code.startswith(unit.before) or not code.endswith(unit.after):
        raise RewriteError(f"the statement in line {unit.line} did not keep its surroundings")
    return feeds + _ending_as(text, code[len(unit.before) : len(code) - len(unit.after)])


def _ending_as(old: str, new: str) -> str:
    """Gives replaced lines the end that the old ones had: blanks, another line end than the file's, or none."""
    end, ours = _END.search(old), _END.search(new)
    return new[: ours.start()] + end[0] if new and end and ours else new


def _inner(wrapper: cst.If) -> Sequence[cst.CSTNode]:
    return wrapper.body.body


def _parse(source: str, config: cst.PartialParserConfig, unit: _Unit) -> cst.Module:
    try:
        module = cst.parse_module(source, config)
    except (cst.ParserSyntaxError, RecursionError) as error:
        raise RewriteError(
            f"libcst cannot read the statement in line {unit.line}: {_first_line(error)}"
        ) from error
    if module.code != source:
        raise RewriteError(f"libcst does not give back the statement in line {unit.line} as it was")
    return module


def _first_line(error: BaseException) -> str:
    return getattr(error, "message", str(error)).partition("\n")[0]


_STATEMENTS: dict[type[ast.AST], tuple[type[cst.CSTNode], ...]] = {
    ast.FunctionDef: (cst.FunctionDef,),
    ast.AsyncFunctionDef: (cst.FunctionDef,),
    ast.ClassDef: (cst.ClassDef,),
    ast.For: (cst.For,),
    ast.AsyncFor: (cst.For,),
    ast.While: (cst.While,),
    ast.If: (cst.If,),
    ast.With: (cst.With,),
    ast.AsyncWith: (cst.With,),
    ast.Try: (cst.Try,),
    ast.Match: (cst.Match,),
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = (cst.TryStar,)


class _Finder:
    """Finds the libcst node that stands where an `ast` node stands."""

    def __init__(
        self, facts: FileFacts, unit: _Unit, positions: Mapping[cst.CSTNode, CodeRange], feeds: int
    ) -> None:
        self.facts = facts
        self.unit = unit
        self.feeds = feeds
        self.lines_before = unit.before.count("\n") or unit.before.count("\r")
        self.by_span: dict[Span, list[cst.CSTNode]] = {}
        self.by_start: dict[tuple[int, int], list[cst.CSTNode]] = {}
        for node, where in positions.items():
            span = (where.start.line, where.start.column, where.end.line, where.end.column)
            self.by_span.setdefault(span, []).append(node)
            self.by_start.setdefault(span[:2], []).append(node)
        self.positions = positions

    def find(self, node: ast.AST) -> cst.CSTNode:
        line, column, end, end_column = self.facts.layout.span(node)
        column -= self.feeds if line == self.unit.line else 0
        end_column -= self.feeds if end == self.unit.line else 0
        shift = self.lines_before + 1 - self.unit.line
        if isinstance(node, ast.stmt):
            kinds = _STATEMENTS.get(type(node), (cst.SimpleStatementLine,))
            found = self._of_kind(self.by_start.get((line + shift, column), ()), kinds)
        elif in_f_string(self.facts, node):
            found = self._by_order(node)
        else:
            span = (line + shift, column, end + shift, end_column)
            found = self._of_kind(self.by_span.get(span, ()), self._kinds(node))
        if found is None:
            raise RewriteError(f"the place in line {line}, column {column + 1} is not found again")
        return found

    def _kinds(self, node: ast.AST) -> tuple[type[cst.CSTNode], ...]:
        if isinstance(node, ast.keyword):
            return (cst.Arg,)
        if isinstance(node, ast.alias):
            return (cst.ImportAlias,)
        if isinstance(node, ast.withitem):
            return (cst.WithItem,)
        if isinstance(node, ast.arg):
            return (cst.Param,)
        known = getattr(cst, type(node).__name__, None)
        return (
            (known,)
            if isinstance(known, type) and issubclass(known, cst.BaseExpression)
            else (cst.BaseExpression,)
        )

    def _of_kind(
        self, nodes: Iterable[cst.CSTNode], kinds: tuple[type[cst.CSTNode], ...]
    ) -> cst.CSTNode | None:
        return next((n for n in nodes if isinstance(n, kinds)), None)

    def _by_order(self, node: ast.AST) -> cst.CSTNode | None:
        """Before Python 3.12 `ast` has no true positions inside f-strings: take the n-th of the same text there."""
        text = ast.unparse(node)
        strings = [n for n in self._f_strings() if self._inside_unit(n)]
        same = [
            n
            for string in strings
            for n in _depth_first(string)
            if type(n) is type(node) and ast.unparse(n) == text
        ]
        kind = self._kinds(node)
        module = cst.Module([])
        candidates: list[cst.CSTNode] = []
        for string in self.positions:
            if isinstance(string, cst.FormattedString):
                candidates += [n for n in _cst_depth_first(string) if isinstance(n, kind)]
        wanted = re.sub(r"\s", "", text)
        spelled = [n for n in candidates if _squeezed(module.code_for_node(n)) == _squeezed(wanted)]
        return spelled[same.index(node)] if node in same and len(spelled) == len(same) else None

    def _f_strings(self) -> Iterator[ast.JoinedStr]:
        for node in _depth_first(self.facts.tree):
            if isinstance(node, ast.JoinedStr) and not in_f_string(self.facts, node):
                yield node

    def _inside_unit(self, node: ast.AST) -> bool:
        offset = self.facts.layout.starts[getattr(node, "lineno", 1) - 1]
        return self.unit.start <= offset < self.unit.end


def _squeezed(code: str) -> str:
    return re.sub(r"\s", "", code).replace('"', "'").strip("()")


def _depth_first(node: ast.AST) -> Iterator[ast.AST]:
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(ast.iter_child_nodes(current))))


def _cst_depth_first(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(current.children)))


class _Editor(cst.CSTTransformer):
    """Applies the edits, from the inside out, and looks only where there are any."""

    def __init__(
        self, targets: dict[cst.CSTNode, list[Make]], positions: Mapping[cst.CSTNode, CodeRange]
    ) -> None:
        super().__init__()
        self.targets = targets
        self.positions = positions
        self.reached: set[cst.CSTNode] = set()
        self.places = [_ordered(positions[node]) for node in targets]

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.BaseParenthesizableWhitespace | cst.TrailingWhitespace):
            return False
        if not isinstance(node, cst.BaseExpression | cst.BaseSmallStatement | cst.SimpleStatementLine):
            return True  # Positions of definitions and parameter lists do not hold all that belongs to them.
        where = self.positions.get(node)
        if where is None:
            return True
        start, end = _ordered(where)
        return any(start <= a and b <= end for a, b in self.places)

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        result: cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode] = updated_node
        for make in self.targets.get(original_node, ()):
            self.reached.add(original_node)
            if not isinstance(result, cst.CSTNode):
                break
            result = make(result)
        return result


def _ordered(where: CodeRange) -> tuple[tuple[int, int], tuple[int, int]]:
    return (where.start.line, where.start.column), (where.end.line, where.end.column)


def _commented(lines: list[str]) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        leading: Sequence[cst.EmptyLine] = getattr(node, "leading_lines", ())
        new = [cst.EmptyLine(comment=cst.Comment(line)) for line in lines]
        return node.with_changes(leading_lines=[*leading, *new])

    return make
