"""Unified diffs that `git apply` and `patch -p1` take, whatever the file's line ends, encoding and name."""

from __future__ import annotations

import os
from collections.abc import Iterator

from codemod.report.lines import Block, hunks
from codemod.report.plain import UNSAFE, escape
from codemod.results import FileResult, RunResult

_RED, _GREEN, _CYAN, _BOLD, _RESET = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"
_COLORS = {"-": _RED, "+": _GREEN, "@": _CYAN}


def render(result: RunResult, *, color: bool = False, context: int = 3) -> str:
    """Writes the changes of all changed files.

    Names are relative to the folder in which the command ran; there is no `diff --git` line, because git takes the
    names below one as relative to the top of the repository.

    Args:
      result: The run, with the texts of its changed files.
      color: For a terminal: coloured, and with control characters made visible, so not to be applied.
      context: Equal lines around a change.

    Returns:
      The diff. Bytes that are not UTF-8 stand in it as surrogates: write it with `errors="surrogateescape"`.

    Raises:
      ValueError: A file is changed and its texts were not kept.
    """
    lines = (line for file in result.files if file.status == "changed" for line in _file(file, context))
    return "".join(map(_colored, lines) if color else lines)


def encoded(result: RunResult, *, context: int = 3) -> bytes:
    """Returns the diff as the bytes that belong into a file or a pipe.

    Args:
      result: The run, with the texts of its changed files.
      context: Equal lines around a change.

    Raises:
      ValueError: A file is changed and its texts were not kept.
    """
    return render(result, context=context).encode("utf-8", "surrogateescape")


def _file(file: FileResult, context: int) -> Iterator[str]:
    if file.before is None or file.after is None:
        raise ValueError(f"The texts of {file.path!r} were not kept, so there is no diff of it.")
    before, after = _lines(file.before, file.encoding), _lines(file.after, file.encoding)
    if before == after:
        return
    yield f"--- {_name('a/', file.path)}\n"
    yield f"+++ {_name('b/', file.path)}\n"
    for hunk in hunks(before, after, context):
        yield from _hunk(hunk, before, after)


def _lines(text: str, encoding: str) -> list[str]:
    """Splits where git does, at line feeds only, into lines that encode to the file's own bytes."""
    data = text.encode(encoding).decode("utf-8", "surrogateescape")
    lines = data.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _hunk(hunk: list[Block], before: list[str], after: list[str]) -> Iterator[str]:
    yield f"@@ -{_range(hunk[0].a0, hunk[-1].a1)} +{_range(hunk[0].b0, hunk[-1].b1)} @@\n"
    for tag, a0, a1, b0, b1 in hunk:
        if tag == "equal":
            yield from (_line(" ", line) for line in before[a0:a1])
        else:
            yield from (_line("-", line) for line in before[a0:a1])
            yield from (_line("+", line) for line in after[b0:b1])


def _range(start: int, end: int) -> str:
    """A range of lines; an empty one is named by the line before it."""
    length = end - start
    return f"{start + 1 if length else start}" + ("" if length == 1 else f",{length}")


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"


def _name(prefix: str, path: str) -> str:
    """A file's name as git writes it: in quotes if it has to be, followed by a tab if it holds a space."""
    data = os.fsencode(prefix + path.removeprefix("./").replace(os.sep, "/").lstrip("/"))
    text = data.decode("utf-8", "surrogateescape")
    if any(char in '"\\' or (not char.isprintable() and char != " ") for char in text):
        return f'"{"".join(map(_quoted_byte, data))}"'
    return f"{text}\t" if any(char.isspace() for char in text) else text


def _quoted_byte(byte: int) -> str:
    char = chr(byte)
    if char in '"\\':
        return f"\\{char}"
    return char if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _colored(line: str) -> str:
    text = UNSAFE.sub(lambda match: escape(match[0]), line.removesuffix("\n"))
    style = _BOLD if line.startswith(("--- ", "+++ ")) else _COLORS.get(line[:1], "")
    return f"{style}{text}{_RESET}\n" if style else f"{text}\n"
