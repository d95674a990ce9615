"""The report for people at a terminal: one line a finding, what to do by hand below it, a summary at the end.

The plain form needs nothing but Python. Colours and the table of `--statistics` are drawn by rich.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from codemod.report.plain import counted, file_place, is_fixable, place, summary, visible
from codemod.results import Finding, RunResult

if TYPE_CHECKING:
    from rich.console import Console

# A piece of a line, and the style that it has in colour.
_Piece = tuple[str, str]


def render(
    result: RunResult,
    *,
    color: bool = False,
    width: int = 100,
    quiet: bool = False,
    statistics: bool = False,
    pages: Mapping[str, str] | None = None,
) -> str:
    """Writes the findings that are still open, the files that failed, and a summary.

    Args:
      result: The run.
      color: Whether the text may hold ANSI colours.
      width: Columns of the terminal, for the table; the lines of findings are never broken.
      quiet: Only findings and failures, one line each: no hints, no skipped files, no summary.
      statistics: A table of findings by rule in place of the single findings.
      pages: Rule pages by code; the first line of a page is the rule's title in the table.

    Returns:
      The text, which ends with a line feed unless it is empty.
    """
    lines = [] if statistics else list(_finding_lines(result, hints=not quiet))
    lines += _file_lines(result, skipped=not quiet)
    output = io.StringIO()
    if color:
        console = _console(output, width, color=True)
        for line in lines:
            console.print(_styled(line), soft_wrap=True)
    else:
        output.writelines("".join(text for text, _ in line) + "\n" for line in lines)
    if statistics and result.findings:
        _print_table(_console(output, width, color=color), result, pages or {})
    if statistics and result.loops:
        output.writelines(f"{line}\n" for line in _loop_lines(result))
    if not quiet:
        output.write(f"{summary(result)}.\n")
    return output.getvalue()


def _finding_lines(result: RunResult, *, hints: bool) -> Iterator[list[_Piece]]:
    for finding in result.open_findings:
        mark = " [*]" if is_fixable(finding, unsafe=False) else ""
        message = f" {visible(finding.message)}"
        yield [
            (place(finding), "bold"),
            (": ", "dim"),
            (visible(finding.code), "bold red"),
            (mark, "cyan"),
            (message, ""),
        ]
        hint = _hint(finding) if hints else ""
        if hint:
            yield [("    = ", "dim"), (hint, "dim")]


def _hint(finding: Finding) -> str:
    """What helps whoever has to act; nothing where the codemod acts by itself."""
    if is_fixable(finding, unsafe=False):
        return ""
    parts = [visible(part) for part in (finding.why, finding.remedy, finding.url) if part]
    if is_fixable(finding, unsafe=True):
        parts.append("Rewritten with --unsafe-fixes")
    return " ".join(
        part if part.endswith((".", "/")) or part == finding.url else f"{part}." for part in parts
    )


def _file_lines(result: RunResult, *, skipped: bool) -> Iterator[list[_Piece]]:
    for file in result.files:
        if file.status == "failed":
            yield [
                (file_place(file), "bold"),
                (": ", "dim"),
                ("failed", "bold red"),
                (f": {visible(file.reason)}", ""),
            ]
        elif file.status == "skipped" and skipped:
            yield [
                (file_place(file), "bold"),
                (": ", "dim"),
                ("skipped", "yellow"),
                (f": {visible(file.reason)}", ""),
            ]
    for error in result.errors:
        yield [("error", "bold red"), (f": {visible(error)}", "")]


def _loop_lines(result: RunResult) -> Iterator[str]:
    """How many training loops became a fit, and why the others stay."""
    kept = result.kept_loops()
    fits = len(result.loops) - sum(kept.values())
    yield f"loops made into fit: {fits:,}; kept: {sum(kept.values()):,}"
    for reason, number in kept.items():
        yield f"  {number:,}  {reason}"


def _console(output: io.StringIO, width: int, *, color: bool) -> Console:
    from rich.console import Console

    # Without a colour system of its own, rich would look at the process's terminal and not at what we were told.
    return Console(
        file=output,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        legacy_windows=False,
    )


def _styled(line: list[_Piece]) -> object:
    from rich.text import Text

    # Text, not markup: brackets in a message are the message's.
    return Text.assemble(*line, end="")


def _print_table(console: Console, result: RunResult, pages: Mapping[str, str]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title, justify in (
        ("code", "left"),
        ("findings", "right"),
        ("files", "right"),
        ("fixed", "right"),
        ("by hand", "right"),
    ):
        table.add_column(title, justify=justify, no_wrap=True)  # type: ignore[arg-type]  # a literal, to rich
    table.add_column("rule", overflow="fold")
    findings = result.findings
    for code in result.by_code():
        own = [finding for finding in findings if finding.code == code]
        title = pages.get(code, "").strip().partition("\n")[0].rstrip(".") or own[0].message
        hand = sum(finding.fix is None and not finding.fixed for finding in own)
        numbers = (
            len(own),
            len({finding.path for finding in own}),
            sum(finding.fixed for finding in own),
            hand,
        )
        table.add_row(Text(visible(code)), *(f"{number:,}" for number in numbers), Text(visible(title)))
    console.print(table)
    console.print(
        f"{counted(len(findings), 'finding')} of {counted(len(result.by_code()), 'rule')}", soft_wrap=True
    )
