"""What every report needs: text that does nothing to the terminal or page it is shown on, and places in words."""

from __future__ import annotations

import re

from codemod.results import FileResult, Finding, RunResult

# Control characters, the Unicode controls that turn the direction of what follows, what ends a line in some viewers
# only, and lone surrogates, which no encoding takes.
_INVISIBLE = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
UNSAFE = re.compile(f"[{_INVISIBLE}]")
_UNSAFE_IN_LINE = re.compile(f"[\t\n{_INVISIBLE}]")


def escape(char: str) -> str:
    """Returns a character as Python's string literals escape it."""
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def visible(text: str) -> str:
    r"""Returns one line of text in which nothing is hidden: control characters and the like as `\x1b` or `\u202e`."""
    return _UNSAFE_IN_LINE.sub(lambda match: escape(match[0]), text)


def place(finding: Finding) -> str:
    """Returns `path:line:column`, for a notebook `path:cell 3:line:column`."""
    cell = f"cell {finding.cell}:" if finding.cell else ""
    return f"{visible(finding.path)}:{cell}{finding.line}:{finding.column}"


def file_place(result: FileResult) -> str:
    """Returns `path`, with line and column where they are known."""
    line = f":{result.line}" + (f":{result.column}" if result.column else "") if result.line else ""
    return visible(result.path) + line


def is_fixable(finding: Finding, unsafe: bool) -> bool:
    """Tells whether the codemod has rewritten the place, or would with no (`unsafe`: only with) `--unsafe-fixes`."""
    if finding.fixed:
        return not unsafe
    return finding.fix == ("unsafe" if unsafe else "safe")


def counted(number: int, noun: str) -> str:
    """Returns `1 file`, `2 files`, `1,234 files`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def summary(result: RunResult) -> str:
    """Returns the run in one line: files by how they ended, findings by who has to act."""
    changed = "changed" if result.written else "would change"
    files = [
        f"{counted(result.count('changed'), 'file')} {changed}",
        f"{result.count('unchanged'):,} unchanged",
    ]
    files += [
        f"{result.count(status):,} {status}" for status in ("skipped", "failed") if result.count(status)
    ]
    findings = result.findings
    if not findings:
        return f"{', '.join(files)}; no findings"
    fixed = sum(finding.fixed for finding in findings)
    safe = sum(is_fixable(finding, unsafe=False) for finding in findings) - fixed
    unsafe = sum(is_fixable(finding, unsafe=True) for finding in findings)
    kinds = [
        (fixed, "fixed" if result.written else "fixable"),
        (safe, "fixable"),
        (unsafe, "with --unsafe-fixes"),
        (len(findings) - fixed - safe - unsafe, "by hand"),
    ]
    if not result.written:  # what is rewritten in the new text and what would be is one thing then
        kinds[:2] = [(fixed + safe, "fixable")]
    told = ", ".join(f"{number:,} {kind}" for number, kind in kinds if number)
    return f"{', '.join(files)}; {counted(len(findings), 'finding')}: {told}"
