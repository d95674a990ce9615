"""Tells Python 2 from a plain syntax error, and says so with the place."""

from __future__ import annotations

import re

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
        return Python2Error(f"Python 2: {error.msg}; convert it to Python 3 first", line, column)
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
        remedy="Convert the file first, for instance with 2to3, and run the codemod again.",
    )
