"""The comments by which a file speaks to the codemod: `# codemod: ignore[CODE]`, `# codemod: skip-file`, and its TODOs."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass, field

_COMMENT = re.compile(r"#\s*codemod:\s*(skip-file|ignore)\b\s*(?:\[([^\]]*)\])?", re.IGNORECASE)
TODO = "# TODO(codemod {code}): {message}"
_TODO = re.compile(r"#\s*TODO\(codemod (TFB\d+)\):\s*(.*\S)")


@dataclass(slots=True)
class Suppression:
    """One `# codemod: ignore` comment.

    Attributes:
      line: Its line.
      column: Its first character, counted from 0.
      end_column: Behind its last character.
      codes: The codes, upper case; empty for all.
      used: The codes that it has held back; "" stands for any, where it names none.
    """

    line: int
    column: int
    end_column: int
    codes: tuple[str, ...]
    used: set[str] = field(default_factory=set)

    def matches(self, code: str) -> bool:
        """Whether it holds back a finding of `code`; a prefix such as `TFB2` stands for all that begin so."""
        for wanted in self.codes:
            if code.startswith(wanted):
                self.used.add(wanted)
                return True
        if not self.codes:
            self.used.add("")
        return not self.codes

    @property
    def unused(self) -> tuple[str, ...]:
        """The codes that held nothing back; `("",)` for a comment without codes that did not."""
        if not self.codes:
            return () if self.used else ("",)
        return tuple(code for code in self.codes if code not in self.used)


@dataclass(slots=True)
class Comments:
    """What a file's comments say to the codemod.

    Attributes:
      skip_file: Whether it wants to be left alone.
      by_line: The suppressions, by line.
    """

    skip_file: bool = False
    by_line: dict[int, Suppression] = field(default_factory=dict)

    def suppresses(self, code: str, lines: set[int]) -> bool:
        """Whether a comment on one of the lines holds back a finding of `code`."""
        return any(self.by_line[line].matches(code) for line in sorted(lines) if line in self.by_line)


def read_comments(text: str) -> Comments:
    """Reads the comments; a text of that kind inside a string is none."""
    comments = Comments()
    if not _COMMENT.search(text):
        return comments
    try:
        for token in tokenize.generate_tokens(
            io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n"), newline="\n").readline
        ):
            if token.type != tokenize.COMMENT:
                continue
            match = _COMMENT.search(token.string)
            if match is None:
                continue
            if match[1].lower() == "skip-file":
                comments.skip_file = True
                continue
            codes = tuple(code.strip().upper() for code in (match[2] or "").split(",") if code.strip())
            line, column = token.start
            comments.by_line[line] = Suppression(line, column + match.start(), column + match.end(), codes)
    except (
        tokenize.TokenError,
        SyntaxError,
    ):  # What Python's own parser says about the file is reported instead.
        return comments
    return comments


def todo(code: str, message: str) -> str:
    """The comment that marks a place where there is work left."""
    return TODO.format(code=code, message=message)


def read_todo(line: str) -> tuple[str, str] | None:
    """The code and the message of a comment line, if it is one of ours."""
    match = _TODO.search(line)
    return (match[1], match[2]) if match else None
