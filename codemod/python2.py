"""Tells Python 2 from a plain syntax error, and says so with the place."""

from __future__ import annotations

import ast
import functools
import importlib.util
import logging
import re
import warnings
from typing import Any

from codemod.results import Finding
from codemod.source import SourceError

CODE = "TFB001"

# What Python 3's parser complains about in Python 2 text: in its message, or in the line that it stopped at.
_MESSAGES = re.compile(
    r"Missing parentheses in call to '(?:print|exec)'|multiple exception types must be parenthesized|"
    r"leading zeros in decimal integer literals|Did you mean print\(|inconsistent use of tabs"
)
_LINES = re.compile(
    r"^\s*print\s+[^(=\s]|^\s*print\s*>>|^\s*exec\s+['\"\w]|^\s*raise\s+[\w.]+\s*,|^\s*except\s+[^:]+,\s*\w+\s*:|<>|`[^`]+`|"
    r"\b0[0-7]+\b|\b\d+[lL]\b|\b[uU][rR]['\"]|\blambda\s*\(|^\s*def\s+\w+\(.*\([^)=]*\)"
)


# fissix's rewrites that leave what runs as it was; not those that are a matter of taste.
_LEFT_OUT = ("asserts", "buffer", "future", "idioms", "set_literal", "ws_comma")


class Python2Error(SourceError):
    """A text that Python 2 reads and Python 3 does not."""


def explain(text: str, error: SyntaxError) -> SourceError:
    """Turns a parser's error into one that says whether the file is Python 2.

    Args:
      text: The text that was parsed.
      error: What the parser raised.
    """
    line, column = error.lineno or 0, error.offset or 0
    lines = re.split(r"\r\n|\r|\n", text)
    found = lines[line - 1] if 0 < line <= len(lines) else ""
    if _MESSAGES.search(error.msg or "") or _LINES.search(found):
        return Python2Error(f"Python 2: {error.msg}; --py2 converts it first", line, column)
    return SourceError(f"not Python: {error.msg}", line, column)


def finding(path: str, error: SourceError) -> Finding:
    """The finding for a Python 2 file."""
    line, column = max(error.line, 1), max(error.column, 1)
    return Finding(
        path,
        line,
        column,
        line,
        column + 1,
        CODE,
        error.reason.partition(";")[0],
        why="Today's TensorFlow runs on Python 3 only.",
        remedy="Run the codemod with --py2 (it needs the extra 'py2'), or convert the file by hand first.",
    )


def convert(text: str, error: Python2Error) -> str:
    """Writes a text of Python 2 as Python 3, with the fixers of fissix, which goes on where lib2to3 ended.

    Args:
      text: The text.
      error: Why it is no Python 3; kept if the text cannot be converted.

    Raises:
      Python2Error: If fissix is not installed, or cannot read the text either.
    """
    if importlib.util.find_spec("fissix") is None:
        raise Python2Error(
            f"{error.reason.partition(';')[0]}; --py2 needs the package fissix: pip install 'keras-hook-bridge[py2]'",
            error.line,
            error.column,
        )
    newline = "\r\n" if "\r\n" in text else "\n"
    plain = text.replace("\r\n", "\n")
    ended = plain if plain.endswith("\n") else f"{plain}\n"
    try:
        new = str(_fixers().refactor_string(ended, "<text>"))
    except Exception as problem:  # fissix raises its parser's and tokenizer's errors, of no common class
        raise Python2Error(
            f"{error.reason.partition(';')[0]}; it cannot be converted: {str(problem).partition(chr(10))[0]}",
            error.line,
            error.column,
        ) from problem
    if not plain.endswith("\n"):
        new = new.removesuffix("\n")
    return new.replace("\n", newline)


@functools.cache
def _fixers() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from fissix import refactor
    logging.getLogger("RefactoringTool").setLevel(
        logging.ERROR
    )  # It logs each fixer that it loads or warns with.
    names = refactor.get_fixers_from_package("fissix.fixes")
    left_out = {f"fissix.fixes.fix_{name}" for name in _LEFT_OUT}
    return refactor.RefactoringTool([name for name in names if name not in left_out])


def findings_of_conversion(path: str, error: Python2Error, old: str, new: str) -> list[Finding]:
    """What is to be said about a text that has been converted.

    Args:
      path: The file's name.
      error: Why it was no Python 3.
      old: Its text in Python 2.
      new: Its text in Python 3.
    """
    line, column = max(error.line, 1), max(error.column, 1)
    what = error.reason.partition(";")[0]
    found = [
        Finding(
            path,
            line,
            column,
            line,
            column + 1,
            CODE,
            f"{what}: converted to Python 3",
            why="Today's TensorFlow runs on Python 3 only.",
            remedy="Read the diff.",
            fix="unsafe",
            fixed=True,
        )
    ]
    divisions = [] if _DIVISION_IS_TRUE.search(old) else _divisions(new)
    if divisions:
        first = divisions[0]
        found.append(
            Finding(
                path,
                first.lineno,
                first.col_offset + 1,
                first.lineno,
                first.col_offset + 2,
                CODE,
                f"in Python 2 '/' between integers rounded down: {len(divisions)} to look at, from line {first.lineno} on",
                why="Nobody can tell from the text whether the numbers are integers.",
                remedy="Write // where they are.",
            )
        )
    return found


_DIVISION_IS_TRUE = re.compile(r"^from __future__ import .*\bdivision\b", re.MULTILINE)


def _divisions(text: str) -> list[ast.expr | ast.stmt]:
    """The divisions of which no side is plainly a float."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    found: list[ast.expr | ast.stmt] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
            if not any(_is_float(side) for side in sides):
                found.append(node)
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _is_float(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"
