"""What a run hands back: one value per finding, per file and per run, for the reports and for the exit code.

All of it is frozen, small and picklable, because it travels from the worker processes to the parent, which alone
prints. A file's text is carried only where it changed and somebody asked for it (a diff, a report).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

Fix = Literal["safe", "unsafe"]
Status = Literal["changed", "unchanged", "skipped", "failed"]

STATUSES: tuple[Status, ...] = ("changed", "unchanged", "skipped", "failed")


@dataclass(frozen=True, slots=True)
class Finding:
    """One place in one file that a rule has something to say about.

    Attributes:
      path: The file as it was given or found, relative to the working directory where that is possible.
      line: The first line, counted from 1, in the text before the migration.
      column: The first character of the place in that line, counted from 1.
      end_line: The last line.
      end_column: One past the last character, counted from 1.
      code: The rule's code, such as `TFB101`.
      message: What is the matter, in one line without a full stop.
      why: Why today's TensorFlow does not take it, one sentence or empty.
      remedy: Where to go by hand, one sentence or empty. Empty where a fix says it all.
      url: A page that helps, or empty.
      fix: Whether the codemod has a rewrite for it, and of which kind; None for hand work.
      fixed: Whether that rewrite is part of the file's new text.
      cell: In a notebook, the number of the code cell, counted from 1; line and column are then in that cell.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    message: str
    why: str = ""
    remedy: str = ""
    url: str = ""
    fix: Fix | None = None
    fixed: bool = False
    cell: int | None = None

    @property
    def order(self) -> tuple[str, int, int, int, str, str]:
        """The key by which findings are sorted: as a reader meets them."""
        return (self.path, self.cell or 0, self.line, self.column, self.code, self.message)


@dataclass(frozen=True, slots=True)
class Loop:
    """What became of one training loop: information, nothing to act on.

    Attributes:
      line: Its first line, counted from 1, in the text before the migration.
      column: Its first character in that line, counted from 1.
      kept: Why it stays a loop, in a word such as `several_runs`; empty if it became a fit.
      reason: The same as a sentence.
      cell: In a notebook, the number of the code cell.
    """

    line: int
    column: int
    kept: str = ""
    reason: str = ""
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class FileResult:
    """How one file ended.

    Attributes:
      path: The file, as in its findings.
      status: `changed` (the new text differs), `unchanged` (looked at, nothing to rewrite), `skipped` (not looked at,
        on purpose), `failed` (should have been looked at and could not be).
      reason: Why it ended so, in words; never empty for `skipped` and `failed`.
      before: The text before, with its own line ends; None if it is not `changed` or nobody asked for texts.
      after: The text after, likewise.
      findings: What the rules found, sorted.
      lines: The number of lines read; 0 where the file was not decoded.
      line: Where a `failed` file could not be understood, 0 if that is not a matter of a line.
      column: The column to `line`.
      encoding: What the file is encoded in.
      loops: The training loops in it, and what became of each.
    """

    path: str
    status: Status
    reason: str = ""
    before: str | None = None
    after: str | None = None
    findings: tuple[Finding, ...] = ()
    lines: int = 0
    line: int = 0
    column: int = 0
    encoding: str = "utf-8"
    loops: tuple[Loop, ...] = ()


@dataclass(frozen=True, slots=True)
class RunResult:
    """How the whole run ended.

    Attributes:
      files: One result per file, sorted by path.
      seconds: Wall-clock time of the run.
      written: Whether changed files were written (`migrate`), or only would be (`--diff`, `--check`, `scan`).
      command: `migrate` or `scan`.
      tensorflow: The TensorFlow whose tables were used, such as `2.21.0`; `2.21.0 (built in)` if none is installed.
      errors: What went wrong that belongs to no file, in words.
    """

    files: tuple[FileResult, ...] = ()
    seconds: float = 0.0
    written: bool = False
    command: str = "migrate"
    tensorflow: str = ""
    errors: tuple[str, ...] = field(default=())

    def count(self, status: Status) -> int:
        """The number of files that ended with `status`."""
        return sum(result.status == status for result in self.files)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings of all files, in the order of the files."""
        return tuple(finding for result in self.files for finding in result.findings)

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        """The findings that this run has not fixed: hand work, unsafe fixes, and all if nothing was written."""
        return tuple(finding for finding in self.findings if not (finding.fixed and self.written))

    def by_code(self) -> dict[str, int]:
        """Number of findings per code, the most frequent first."""
        return dict(Counter(f.code for f in self.findings).most_common())

    @property
    def loops(self) -> tuple[Loop, ...]:
        """All training loops, in the order of the files."""
        return tuple(loop for result in self.files for loop in result.loops)

    def kept_loops(self) -> dict[str, int]:
        """Number of loops that stay, by the sentence that says why, the most frequent first."""
        return dict(Counter(loop.reason for loop in self.loops if loop.kept).most_common())

    @property
    def exit_code(self) -> int:
        """0: nothing left to do. 1: would change, or hand work remains. 2: something was not processed."""
        if self.errors or self.count("failed"):
            return 2
        if self.open_findings or (self.count("changed") and not self.written):
            return 1
        return 0
