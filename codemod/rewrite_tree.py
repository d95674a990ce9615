"""Writes edits into statements with libcst.

The `ast` nodes of the edits are found again by their position, which both trees agree on. One transformer then applies the
edits from the inside out.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from codemod.layout import indent_step, siblings
from codemod.rewrite import RewriteError, Unit, in_f_string

if TYPE_CHECKING:
    from codemod.facts import FileFacts
    from codemod.proposals import Make

Span: TypeAlias = tuple[int, int, int, int]

_END = re.compile(r"[ \t]*(?:\r\n|\r|\n)?\Z")


def rewritten(facts: FileFacts, unit: Unit) -> str:
    """The new text of a unit.

    Raises:
      RewriteError: If libcst cannot read it, or a place is not found again.
    """
    config: cst.PartialParserConfig = cst.PartialParserConfig(
        default_indent=indent_step(facts.tree, facts.layout), default_newline=facts.layout.newline()
    )
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
    parts: dict[cst.CSTNode, dict[int, list[Make]]] = {}
    for node, make in unit.edits:
        found, part = finder.part(node)
        if part is None:
            targets.setdefault(found, []).append(make)
        else:
            parts.setdefault(found, {}).setdefault(part, []).append(make)
    for found, makes in parts.items():
        targets.setdefault(found, []).insert(0, _Parts(makes))
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


def _parse(source: str, config: cst.PartialParserConfig, unit: Unit) -> cst.Module:
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
        self, facts: FileFacts, unit: Unit, positions: Mapping[cst.CSTNode, CodeRange], feeds: int
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
            kinds = _STATEMENTS.get(type(node), (cst.SimpleStatementLine, cst.SimpleStatementSuite))
            found = self._of_kind(self.by_start.get((line + shift, column), ()), kinds)
        elif in_f_string(self.facts, node):
            found = self._by_order(node)
        else:
            span = (line + shift, column, end + shift, end_column)
            found = self._of_kind(self.by_span.get(span, ()), self._kinds(node))
        if found is None:
            raise RewriteError(f"the place in line {line}, column {column + 1} is not found again")
        return found

    def part(self, node: ast.AST) -> tuple[cst.CSTNode, int | None]:
        """The node; of a statement that shares its line with others, the line and the place on it."""
        if not isinstance(node, ast.stmt) or type(node) in _STATEMENTS:
            return self.find(node), None
        block = siblings(self.facts, node)
        at = first = block.index(node)
        while first and block[first - 1].end_lineno == block[first].lineno:
            first -= 1
        line = self.find(block[first])
        shared = isinstance(line, cst.SimpleStatementSuite) or len(getattr(line, "body", ())) > 1
        return line, at - first if shared else None

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


class _Parts:
    """Applies edits to statements that share a line: to each as if it stood alone."""

    def __init__(self, makes: Mapping[int, Sequence[Make]]) -> None:
        self.makes = makes

    def __call__(self, line: cst.CSTNode) -> cst.CSTNode | cst.RemovalSentinel:
        assert isinstance(line, cst.SimpleStatementLine | cst.SimpleStatementSuite)
        body: list[cst.BaseSmallStatement] = []
        for index, small in enumerate(line.body):
            body += self._made(small, self.makes[index]) if index in self.makes else [small]
        if not body and isinstance(line, cst.SimpleStatementLine):
            return cst.RemoveFromParent()
        body = body or [cst.Pass()]
        body[-1] = body[-1].with_changes(semicolon=line.body[-1].semicolon)
        return line.with_changes(body=body)

    @staticmethod
    def _made(small: cst.BaseSmallStatement, makes: Sequence[Make]) -> list[cst.BaseSmallStatement]:
        alone = small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
        result: cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]
        result = cst.SimpleStatementLine([alone])
        for make in makes:
            if isinstance(result, cst.CSTNode):
                result = make(result)
        if isinstance(result, cst.RemovalSentinel):
            return []
        made: list[cst.BaseSmallStatement] = []
        for line in result if isinstance(result, cst.FlattenSentinel) else [result]:
            if not isinstance(line, cst.SimpleStatementLine) or line.leading_lines:
                raise RewriteError("what becomes of a statement does not fit on the line that it shares")
            made += line.body
        between = cst.Semicolon(whitespace_after=cst.SimpleWhitespace(" "))
        made[:-1] = [one.with_changes(semicolon=between) for one in made[:-1]]
        made[-1] = made[-1].with_changes(semicolon=small.semicolon)
        return made


def _ordered(where: CodeRange) -> tuple[tuple[int, int], tuple[int, int]]:
    return (where.start.line, where.start.column), (where.end.line, where.end.column)


def _commented(lines: list[str]) -> Make:
    def make(node: cst.CSTNode) -> cst.CSTNode:
        leading: Sequence[cst.EmptyLine] = getattr(node, "leading_lines", ())
        new = [cst.EmptyLine(comment=cst.Comment(line)) for line in lines]
        return node.with_changes(leading_lines=[*leading, *new])

    return make
