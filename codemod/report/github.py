"""Annotations for GitHub Actions: workflow commands, which the runner turns into remarks on the changed lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codemod.report.plain import is_fixable, visible
from codemod.results import FileResult, Finding, RunResult


def render(result: RunResult) -> str:
    """Writes one annotation for each finding that is still open, each file that failed, and each error of the run.

    What has to be done by hand is a warning, what the codemod can rewrite a notice, what was not processed an error.

    Args:
      result: The run.

    Returns:
      One workflow command a line; empty if there is nothing to say.
    """
    lines = [_finding(finding) for finding in result.open_findings]
    lines += _failures(result)
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Finding) -> str:
    level = "notice" if is_fixable(finding, unsafe=False) else "warning"
    properties: dict[str, object] = {"file": finding.path}
    message = visible(finding.message)
    if finding.cell:  # the lines of a cell are no lines of the file
        message = f"cell {finding.cell}, line {finding.line}: {message}"
    else:
        properties |= {"line": finding.line, "endLine": finding.end_line}
        if finding.line == finding.end_line:  # columns of two lines are refused
            properties |= {"col": finding.column, "endColumn": finding.end_column}
    properties["title"] = f"codemod {finding.code}"
    extra = [visible(part) for part in (finding.why, finding.remedy, finding.url) if part]
    return _command(level, properties, "\n".join([message, *extra]))


def _failures(result: RunResult) -> Iterator[str]:
    for file in result.files:
        if file.status == "failed":
            yield _command("error", _where(file), visible(file.reason))
    for error in result.errors:
        yield _command("error", {"title": "codemod"}, visible(error))


def _where(file: FileResult) -> Mapping[str, object]:
    place = {"line": file.line, "col": file.column}
    return {
        "file": file.path,
        **{key: value for key, value in place.items() if value},
        "title": "codemod: not processed",
    }


def _command(level: str, properties: Mapping[str, object], message: str) -> str:
    listed = ",".join(f"{key}={_escape_property(visible(str(value)))}" for key, value in properties.items())
    return f"::{level} {listed}::{_escape(message)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
