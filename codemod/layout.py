"""Where things are in a file's text: lines, offsets, indentation, line ends.

`ast` counts columns in UTF-8 bytes and takes a lone carriage return for a line end, as Python's tokenizer does; form feeds
and the separators that `str.splitlines` knows end no line.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemod.file_tree import FileTree

LINE_END = re.compile(r"\r\n|\r|\n")


class Layout:
    """The lines of one text.

    Args:
      text: The decoded text, with its own line ends.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._ascii = text.isascii()
        self._newline = ""

    @functools.cached_property
    def starts(self) -> list[int]:
        """The offsets at which the lines start."""
        if "\r" in self.text:
            return [0, *(match.end() for match in LINE_END.finditer(self.text))]
        return [0, *itertools.accumulate(len(line) + 1 for line in self.text.split("\n")[:-1])]

    def newline(self) -> str:
        """The line end that the text uses most; a line feed if it has none."""
        if not self._newline:
            counts = Counter(LINE_END.findall(self.text) if "\r" in self.text else ())
            self._newline = counts.most_common(1)[0][0] if counts else "\n"
        return self._newline

    def line(self, number: int) -> str:
        """A line by its number, counted from 1, without its end."""
        return self.text[self.starts[number - 1] : self.line_end(number)]

    def line_end(self, number: int) -> int:
        """The offset behind the last character of a line, before its line end."""
        if number >= len(self.starts):
            return len(self.text)
        end = self.starts[number]
        return end - 2 if self.text.startswith("\r\n", end - 2) else end - 1

    def line_of(self, offset: int) -> int:
        """The number of the line that an offset is in."""
        return bisect_right(self.starts, offset)

    def next_line(self, number: int) -> int:
        """The offset at which the following line starts."""
        return self.starts[number] if number < len(self.starts) else len(self.text)

    def column(self, line: int, utf8_column: int) -> int:
        """Turns a column of `ast` into a number of characters."""
        if self._ascii:
            return utf8_column
        text = self.line(line)
        if text.isascii():
            return utf8_column
        return len(text.encode("utf-8", "surrogatepass")[:utf8_column].decode("utf-8", "surrogatepass"))

    def span(self, node: ast.AST) -> tuple[int, int, int, int]:
        """First line, first column, last line and the column behind the last character; columns counted from 0."""
        line = int(getattr(node, "lineno", 1))
        end = int(getattr(node, "end_lineno", line))
        start_column = int(getattr(node, "col_offset", 0))
        end_column = int(getattr(node, "end_col_offset", 0))
        return line, self.column(line, start_column), end, self.column(end, end_column)

    def offset(self, line: int, column: int) -> int:
        """The offset of a character."""
        return self.starts[line - 1] + column

    def indent(self, line: int) -> str:
        """The blanks that a line begins with."""
        text = self.line(line)
        return text[: len(text) - len(text.lstrip(" \t\f"))]


def first_line(statement: ast.stmt) -> int:
    """The line on which a statement begins, decorators included."""
    decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", ())
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def indent_step(tree: ast.Module, layout: Layout) -> str:
    """The blanks by which the file indents its blocks; four spaces if it has none."""
    for statement in tree.body:
        body: list[ast.stmt] = getattr(statement, "body", [])
        if body and body[0].lineno > statement.lineno:
            indent = layout.indent(first_line(body[0]))
            if indent and not indent.strip(" \t"):
                return indent
    return "    "


def begins_line(layout: Layout, node: ast.AST, line: int) -> bool:
    """Whether a statement or handler is the first thing on its first line.

    Args:
      layout: The text.
      node: The statement or handler.
      line: Its first line, as `first_line` says.
    """
    text = layout.line(line)
    if line != getattr(node, "lineno", 0):
        return text.lstrip(" \t\f").startswith("@")
    return not text[: layout.column(line, getattr(node, "col_offset", 0))].strip(" \t\f")


def line_statement(facts: FileTree, statement: ast.stmt) -> ast.stmt:
    """The innermost statement around (or the statement itself), above which a line of its own can stand."""
    current = statement
    while not begins_line(facts.layout, current, first_line(current)):
        neighbours = [s for s in siblings(facts, current) if s.lineno == current.lineno]
        if neighbours and begins_line(facts.layout, neighbours[0], first_line(neighbours[0])):
            return neighbours[0]  # `a; b` is one line.
        parent = facts.parent(current)
        if parent is None or isinstance(parent, ast.Module):
            break
        current = facts.statement(parent)
    return current


def siblings(facts: FileTree, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of the block that a statement is in."""
    parent = facts.parent(statement)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return [statement]
