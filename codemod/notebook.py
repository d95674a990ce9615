"""Notebooks: the code cells of an `.ipynb` as one Python module, and the migrated module back into the cells.

The whole notebook is migrated as one module, so that an import in one cell counts for the next. Between two cells stands
a statement that names the boundary; what only IPython understands (`%magic`, `!shell`, `name?`) is replaced by a
placeholder on the same lines, and is put back unread. The file itself is never re-serialised: only the `source` values
of the changed cells are spliced into the JSON text, so indentation, key order, outputs and line ends stay.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


class NotebookError(ValueError):
    """A notebook, or one of its cells, that cannot be migrated.

    Attributes:
      message: What is wrong and the way out, without the place.
      cell: The number of the cell, counted from 1 over all cells; None if it is not about one cell.
      line: The line in that cell (or in the file, if `cell` is None), counted from 1; 0 if unknown.
      column: The column in that line, counted from 1; 0 if unknown.
    """

    def __init__(self, message: str, cell: int | None = None, line: int = 0, column: int = 0) -> None:
        place = ", ".join(
            f"{what} {number}"
            for what, number in (("cell", cell), ("line", line), ("column", column))
            if number
        )
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.cell = cell
        self.line = line
        self.column = column


# ---------------------------------------------------------------------------------------------------------------------
# IPython's own syntax

# Cell magics whose body is Python that runs in the notebook's own namespace.
_PYTHON_CELL_MAGICS = frozenset(
    {"time", "timeit", "capture", "prun", "snakeviz", "scalene", "memit", "mprun"}
)

# Line magics whose argument is a Python statement; what stands before the statement is kept as it is.
_STATEMENT_MAGIC = re.compile(r"%(?:time|timeit|prun|memit)[ \t]+(?:-\w+(?:[ \t]*\d+)?[ \t]+)*")

# A character that starts a line in IPython's language and no statement of Python's.
_ESCAPES = frozenset("%!?,;/")

_CELL_MAGIC = re.compile(r"\s*%%(!|[\w.]+)?[^\n]*(?:\n|\Z)")
_ASSIGNED = re.compile(r"=[ \t]*(?=[%!])")


@dataclass(frozen=True, slots=True)
class _Mask:
    """A piece of a cell that is not Python, by its offsets; `statement` tells that Python follows on its line."""

    start: int
    end: int
    statement: bool = False


def _tree(code: str) -> ast.Module:
    with warnings.catch_warnings():
        # An invalid escape in somebody's string is not this tool's business.
        warnings.simplefilter("ignore")
        return ast.parse(code)


def _is_python(code: str) -> bool:
    try:
        _tree(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _end_of_string(text: str, start: int) -> int:
    """Returns the offset after the string literal whose opening quote is at `start`."""
    quote = text[start : start + 3] if text.startswith(("'''", '"""'), start) else text[start]
    at = start + len(quote)
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith(quote, at):
            return at + len(quote)
        elif text[at] == "\n" and len(quote) == 1:
            return at
        else:
            at += 1
    return len(text)


def _end_of_magic(text: str, start: int) -> int:
    """Returns the offset of the line end of a magic, which a backslash carries on to the next line."""
    end = start
    while True:
        end = text.find("\n", end)
        if end < 0:
            return len(text)
        if not text[:end].rstrip("\r").endswith("\\"):
            return end - 1 if text[end - 1] == "\r" else end
        end += 1


def _logical_line(text: str, start: int) -> tuple[int, _Mask | None]:
    """Reads the logical line at `start`: returns the offset after it, and what of it is not Python.

    Brackets and strings are tracked only as far as needed to know where the line ends; `?` is no character of Python's
    outside a string or a comment, and a `%` or `!` behind an assignment's `=` is none either.
    """
    if text[start] in _ESCAPES:
        end = _end_of_magic(text, start)
        lead = _STATEMENT_MAGIC.match(text, start)
        if lead and _is_python(f"_; {text[lead.end() : end]}"):
            return end + 1, _Mask(start, lead.end(), statement=True)
        return end + 1, _Mask(start, end)
    at, depth, last = start, 0, start
    while at < len(text):
        char = text[at]
        if char == "\n" and depth == 0:
            break
        if char in "'\"":
            at = last = _end_of_string(text, at)
            continue
        if char == "#":
            at = text.find("\n", at) % (len(text) + 1)
            continue
        if char == "\\":
            at += 3 if text.startswith("\r\n", at + 1) else 2
            continue
        if char == "=" and depth == 0 and (lead := _ASSIGNED.match(text, at)):
            end = _end_of_magic(text, lead.end())
            return end + 1, _Mask(lead.end(), end)
        depth = max(0, depth + (char in "([{") - (char in ")]}"))
        if not char.isspace():
            last = at
        at += 1
    if text[last : last + 1] == "?":
        return at + 1, _Mask(start, last + 1)
    return at + 1, None


def _masks(text: str) -> Iterator[_Mask]:
    """Yields what IPython understands and Python does not, in the order of the text."""
    at = 0
    while at < len(text):
        if text[at] in " \t\f\r\n":
            at += 1
            continue
        at, mask = _logical_line(text, at)
        if mask:
            yield mask


# ---------------------------------------------------------------------------------------------------------------------
# The JSON text

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}]+")


@dataclass(frozen=True, slots=True)
class _Node:
    """A JSON value with its place in the text; `items` of a list, `fields` of an object."""

    start: int
    end: int
    items: list[_Node] | None = None
    fields: dict[str, _Node] | None = None


def _spans(text: str, at: int = 0) -> _Node:
    """Returns the places of all values in `text`, which is known to be valid JSON."""
    at = _skip(text, at)
    if text[at] == '"':
        return _Node(at, _match(_STRING, text, at))
    if text[at] not in "[{":
        return _Node(at, _match(_SCALAR, text, at))
    start, is_object = at, text[at] == "{"
    items: list[_Node] = []
    fields: dict[str, _Node] = {}
    at = _skip(text, at + 1)
    while text[at] not in "]}":
        key = ""
        if is_object:
            end = _match(_STRING, text, at)
            key = json.loads(text[at:end])
            at = _skip(text, end) + 1
        value = _spans(text, at)
        fields[key] = value
        items.append(value)
        at = _skip(text, value.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return _Node(start, at + 1, None if is_object else items, fields if is_object else None)


def _skip(text: str, at: int) -> int:
    return _match(_SPACE, text, at)


def _match(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    if found is None:  # json.loads has accepted the text, so this is a fault of ours: never splice on a guess
        raise NotebookError(f"the JSON at character {at} could not be followed; please report this")
    return found.end()


def _lines(source: str) -> list[str]:
    """Splits at line feeds only, as Python does: a form feed does not end a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", source)


def _encode(value: str, ascii_only: bool) -> str:
    # A lone surrogate can stand in JSON only as an escape.
    escaped = ascii_only or any("\ud800" <= char <= "\udfff" for char in value)
    return json.dumps(value, ensure_ascii=escaped)


# ---------------------------------------------------------------------------------------------------------------------
# Cells


@dataclass(slots=True)
class _Cell:
    """A code cell: its place in the file, and the Python in it.

    Attributes:
      number: Counted from 1, over all cells of the notebook.
      node: The place of its source in the JSON text.
      source: The decoded source.
      head: What stands before the Python: the line of a cell magic such as `%%time`; else empty.
      code: The Python, with placeholders.
      kept: What the placeholders stand for, by name: the text, and the text that is put back.
      first_line: The line of the module on which `code` starts.
    """

    number: int
    node: _Node
    source: str
    head: str
    code: str = ""
    kept: dict[str, tuple[str, str]] = field(default_factory=dict)
    shifts: dict[int, tuple[int, int]] = field(default_factory=dict)
    first_line: int = 0


@dataclass(frozen=True)
class Notebook:
    """A notebook as one module.

    Attributes:
      text: The file's text, as it was given to `read`.
      language: The language of its kernel, in lower case; `python` if the notebook does not say.
      opaque: Cells that are code of another language, or of a process or file of their own (`%%bash`, `%%writefile`),
        as (number, magic, text). They are never read or changed.
    """

    text: str
    language: str
    opaque: tuple[tuple[int, str, str], ...]
    _data: Any
    _cells: list[_Cell]
    _prefix: str

    @cached_property
    def code(self) -> str:
        """The module: every Python cell, in order, with what is only IPython's masked on the same lines.

        Raises:
          NotebookError: A cell is not Python; the error names cell, line and column.
        """
        pieces: list[str] = []
        line = 1
        for index, cell in enumerate(self._cells):
            if index:
                pieces.append(f"{self._boundary(cell)}\n")
                line += 1
            self._mask(cell, first=index == 0)
            cell.first_line = line
            pieces.append(cell.code + "\n")
            line += cell.code.count("\n") + 1
        return "".join(pieces)

    def locate(self, line: int) -> tuple[int, int]:
        """Returns the cell, and the line in it, that line `line` of `code` stands in; both are counted from 1."""
        cell = self._cell_at(line)
        inside = min(max(1, line - cell.first_line + 1), cell.code.count("\n") + 1)
        return cell.number, inside + cell.head.count("\n")

    def column(self, line: int, column: int) -> int:
        """Returns the column in the cell of column `column` of line `line` of `code`; both are counted from 1.

        They differ on lines such as `%time f()`, where a placeholder stands before the statement.
        """
        cell = self._cell_at(line)
        start, shift = cell.shifts.get(line - cell.first_line + 1, (0, 0))
        return max(start, column + shift) if column >= start else column

    def replaced(self, new_code: str) -> str:
        """Returns the file's text with the cells of `new_code`, a migrated `code`, in the place of the old ones.

        Args:
          new_code: The module after the migration.

        Raises:
          NotebookError: A boundary between two cells, or something of IPython's, is no longer in its place, or would no
            longer work there; nothing can be written then.
        """
        if new_code == self.code:
            return self.text
        sources = self._split(new_code)
        edits = [
            (cell.node, self._value(cell, source))
            for cell, source in zip(self._cells, sources, strict=True)
            if source != cell.source
        ]
        pieces: list[str] = []
        end = 0
        for node, value in edits:
            pieces += [self.text[end : node.start], value]
            end = node.end
        result = "".join([*pieces, self.text[end:]])
        self._check(result, sources)
        return result

    def magics(self) -> Iterator[tuple[int, int, str]]:
        """Yields each magic: its cell and the line in it, both counted from 1, and its text."""
        for cell in self._cells if self.code else []:
            for name, (_, original) in cell.kept.items():
                line = cell.code.count("\n", 0, cell.code.index(name)) + 1 + cell.head.count("\n")
                yield cell.number, line, original

    def _cell_at(self, line: int) -> _Cell:
        if not self.code:
            raise NotebookError("the notebook has no Python cell, so no line of it can be found")
        starts = [cell.first_line for cell in self._cells]
        return self._cells[max(0, bisect_right(starts, line) - 1)]

    def _boundary(self, cell: _Cell) -> str:
        return f"{self._prefix}cell_{cell.number}"

    def _mask(self, cell: _Cell, *, first: bool) -> None:
        text = cell.source[len(cell.head) :]
        if not _is_python(text):
            text = self._without_magics(cell, text)
        tree = _parse(cell, text)
        # A module may have these at its start only; in a notebook each cell is compiled by itself.
        late = [
            node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        ]
        if first:
            late = [node for node in late if node not in _future_lines(tree.body)]
        cell.code = self._without_statements(cell, text, late)

    def _without_magics(self, cell: _Cell, text: str) -> str:
        pieces: list[str] = []
        end = 0
        for mask in _masks(text):
            original = text[mask.start : mask.end]
            placeholder = self._placeholder(cell, original, statement=mask.statement)
            if mask.statement:
                line = text.count("\n", 0, mask.start) + 1
                start = mask.start - (text.rfind("\n", 0, mask.start) + 1)
                cell.shifts[line] = (start + 1, len(original) - len(placeholder))
            pieces += [text[end : mask.start], placeholder]
            end = mask.end
        return "".join([*pieces, text[end:]])

    def _without_statements(self, cell: _Cell, text: str, nodes: list[ast.ImportFrom]) -> str:
        lines = _lines(text)
        for node in nodes:
            last = node.end_lineno or node.lineno
            original = "".join(lines[node.lineno - 1 : last]).rstrip("\r\n")
            # With another statement on the line it stays; the parser will then name the cell.
            if re.match(r"from\s+__future__\b[^;]*\Z", original):
                ends = "\n" if lines[last - 1].endswith("\n") else ""
                lines[node.lineno - 1] = self._placeholder(cell, original) + ends
                lines[node.lineno : last] = [""] * (last - node.lineno)
        return "".join(lines)

    def _placeholder(self, cell: _Cell, original: str, *, statement: bool = False) -> str:
        name = f"{self._prefix}{cell.number}_{len(cell.kept)}"
        lines = original.count("\n")
        if statement:
            masked = f"{name}; " + "\\\n" * lines
        elif lines:
            masked = "(" + "\n" * lines + f"{name})"
        else:
            masked = name
        cell.kept[name] = (masked, original)
        return masked

    def _split(self, new_code: str) -> list[str]:
        """Returns the new source of each cell."""
        marks = list(re.finditer(rf"^{self._prefix}cell_(\d+)\r?\n", new_code, re.MULTILINE))
        numbers = [cell.number for cell in self._cells[1:]]
        if [int(mark[1]) for mark in marks] != numbers or new_code.count(f"{self._prefix}cell_") != len(
            numbers
        ):
            raise NotebookError("the migration moved code over the boundary of a cell; please report this")
        starts = [0, *(mark.end() for mark in marks)]
        ends = [*(mark.start() for mark in marks), len(new_code)]
        return [
            self._unmasked(cell, new_code[start:end])
            for cell, start, end in zip(self._cells, starts, ends, strict=True)
        ]

    def _unmasked(self, cell: _Cell, code: str) -> str:
        code = code.removesuffix("\n")
        if code == cell.code:
            return cell.source
        for name, (masked, original) in cell.kept.items():
            found = re.search(re.escape(masked) + (r"(?!\w)" if masked == name else ""), code)
            at = found.start() if found else -1
            if at < 0 or len(re.findall(rf"{name}\b", code)) != 1:
                raise NotebookError(f"the migration lost `{original}`; please report this", cell.number)
            if masked.startswith(f"{name};"):
                _check_statement(cell, code, at + len(masked), original)
            code = code[:at] + original + code[at + len(masked) :]
        return cell.head + code

    def _value(self, cell: _Cell, source: str) -> str:
        """Returns the JSON of a new source, written as the old one is: a list stays a list, with its own layout."""
        ascii_only = self.text.isascii() and re.search(r"\\u(?!00[01])", self.text) is not None
        items = cell.node.items
        if items is None:
            return _encode(source, ascii_only)
        raw = [self.text[item.start : item.end] for item in items]
        lines = [json.loads(item) for item in raw]
        known = dict(zip(lines, raw, strict=True))
        # Jupyter ends a line at every character that Unicode lets end one, others at line feeds only.
        split = (
            source.splitlines(keepends=True)
            if lines == cell.source.splitlines(keepends=True)
            else _lines(source)
        )
        new = [known.get(line) or _encode(line, ascii_only) for line in split]
        if not new or not items:
            return f"[{', '.join(new)}]"
        lead = self.text[cell.node.start + 1 : items[0].start]
        tail = self.text[items[-1].end : cell.node.end - 1]
        between = self.text[items[0].end : items[1].start] if len(items) > 1 else "," + (lead or " ")
        return f"[{lead}{between.join(new)}{tail}]"

    def _check(self, result: str, sources: list[str]) -> None:
        """Never hands back a file that differs from the old one in more than the sources."""
        data = json.loads(result)
        numbers = {cell.number: source for cell, source in zip(self._cells, sources, strict=True)}
        old, new = list(_raw_cells(self._data)), list(_raw_cells(data))
        for number, (before, after) in enumerate(zip(old, new, strict=True), 1):
            key = _source_key(before)
            expected = numbers.get(number, _joined(before.get(key, "")))
            if _joined(after.get(key, "")) != expected or {**before, key: 0} != {**after, key: 0}:
                raise NotebookError(
                    "the new text of the notebook does not read back; please report this", number
                )


def read(text: str) -> Notebook:
    """Reads a notebook.

    Args:
      text: The file's text, without a byte-order mark.

    Returns:
      The notebook; a notebook of another language than Python has no Python cells, see `Notebook.language`.

    Raises:
      NotebookError: The text is no notebook.
    """
    try:
        data = json.loads(text)
        root = _spans(text)
    except json.JSONDecodeError as error:
        raise NotebookError(
            f"not JSON ({error.msg}); open the notebook in Jupyter and save it again",
            None,
            error.lineno,
            error.colno,
        ) from error
    except ValueError as error:  # a number of more digits than Python converts
        raise NotebookError(f"not JSON that Python reads: {error}") from error
    except RecursionError as error:
        raise NotebookError("the JSON is nested too deeply for a notebook") from error
    cells = list(_raw_cells(data))
    language = _language(data)
    python: list[_Cell] = []
    opaque: list[tuple[int, str, str]] = []
    for number, (cell, node) in enumerate(zip(cells, _cell_nodes(root), strict=True), 1):
        key = _source_key(cell)
        if cell.get("cell_type") != "code" or node.fields is None or key not in node.fields:
            continue
        source = _joined(cell[key], number)
        head, magic = _cell_magic(source)
        other = _cell_language(cell) or (language if language != "python" else "")
        if other or (magic and magic not in _PYTHON_CELL_MAGICS):
            opaque.append((number, other or f"%%{magic}", source))
        else:
            python.append(_Cell(number, node.fields[key], source, head))
    return Notebook(text, language, tuple(opaque), data, python, _unused_prefix(text))


def _raw_cells(data: Any) -> Iterator[dict[str, Any]]:
    """Yields the cells of version 4, or of version 3 and older, which had work sheets."""
    if not isinstance(data, dict) or not ("cells" in data or "worksheets" in data):
        raise NotebookError("no notebook: it has neither `cells` nor `worksheets`")
    sheets = [data] if "cells" in data else data["worksheets"]
    for sheet in sheets if isinstance(sheets, list) else ():
        cells = sheet.get("cells", ()) if isinstance(sheet, dict) else ()
        for cell in cells if isinstance(cells, list) else ():
            if not isinstance(cell, dict):
                raise NotebookError("no notebook: a cell is not an object")
            yield cell


def _cell_nodes(root: _Node) -> Iterator[_Node]:
    fields = root.fields or {}
    sheets = [root] if "cells" in fields else fields["worksheets"].items or []
    for sheet in sheets:
        cells = (sheet.fields or {}).get("cells")
        yield from (cells.items if cells else None) or []


def _source_key(cell: dict[str, Any]) -> str:
    return "source" if "source" in cell else "input"


def _joined(source: Any, number: int | None = None) -> str:
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    raise NotebookError("its source is neither a string nor a list of strings", number)


def _language(data: dict[str, Any]) -> str:
    """The kernel's language; the two places that tell it are optional, and a notebook that says nothing is Python."""
    metadata = data.get("metadata")
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        entry = metadata.get(section) if isinstance(metadata, dict) else None
        name = entry.get(key) if isinstance(entry, dict) else None
        if isinstance(name, str) and name:
            return "python" if name.lower() in {"python", "ipython", "python2", "python3"} else name.lower()
    return "python"


def _cell_language(cell: dict[str, Any]) -> str:
    """The language of a single cell, where an editor or version 3 of the format notes one; empty for Python."""
    metadata = cell.get("metadata")
    vscode = metadata.get("vscode") if isinstance(metadata, dict) else None
    name = vscode.get("languageId") if isinstance(vscode, dict) else cell.get("language")
    return name if isinstance(name, str) and name.lower() not in {"", "python", "ipython"} else ""


def _cell_magic(source: str) -> tuple[str, str]:
    """Splits off the line of a cell magic: (everything up to the Python, the magic's name)."""
    at, magic = 0, ""
    while found := _CELL_MAGIC.match(source, at):
        at, magic = found.end(), found[1] or "?"
        if magic not in _PYTHON_CELL_MAGICS:
            break
    return source[:at], magic


def _unused_prefix(text: str) -> str:
    prefix = "_codemod_"
    while prefix in text:
        prefix += "_"
    return prefix


def _future_lines(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that stand where a module may have its `__future__` lines."""
    allowed: list[ast.stmt] = []
    for index, node in enumerate(body):
        docstring = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        allowed.append(node)
    return allowed


def _parse(cell: _Cell, text: str) -> ast.Module:
    try:
        return _tree(text)
    except SyntaxError as error:
        line = min(error.lineno or 1, text.count("\n") + 1) + cell.head.count("\n")
        raise NotebookError(
            f"not Python: {error.msg}", cell.number, line, max(0, error.offset or 0)
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        reason = str(error) or "it is nested too deeply"
        raise NotebookError(f"not Python: {reason}", cell.number) from error


def _check_statement(cell: _Cell, code: str, at: int, original: str) -> None:
    """A line magic takes the rest of its line and no more: what follows it must still be one line of Python."""
    end = _end_of_magic(code, at)
    if not code[at:end].strip() or not _is_python(code[at:end]):
        line = code.count("\n", 0, at) + 1
        raise NotebookError(
            f"the statement after `{original.strip()}` becomes longer than its line; put it into a cell of its own "
            f"under `%{original.strip().split()[0]}`",
            cell.number,
            line + cell.head.count("\n"),
        )
