"""The report for programs: the whole run as one JSON object, whose keys are a promise (see `render`)."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from codemod.report.plain import is_fixable
from codemod.results import STATUSES, FileResult, Finding, RunResult

# Raised when a key goes away or changes its meaning; new keys may come at any time.
VERSION = 1


def render(result: RunResult, *, indent: int | None = 2) -> str:
    r"""Writes a run as JSON.

    Keys: `version` of this layout, `command`, `tensorflow`, `written`, `seconds`, `exit_code`, `errors`; `summary` with
    `files` by status, `findings` (`total`, `fixed`, `safe`, `unsafe`, `hand`), `by_code`, `loops` (`fit`: how many became
    a fit, `kept`: how many stay, by reason); `files`, each with `path`, `status`, `reason`, `lines`, `line`, `column`,
    `encoding`, `findings`, which have the attributes of `codemod.results.Finding` without `path`, and `loops`, which have
    those of `codemod.results.Loop`.

    Args:
      result: The run.
      indent: Spaces of indentation; None for one line.

    Returns:
      ASCII text with a line feed at its end. Bytes of a path that are not UTF-8 are escaped as Python does (`\udc80`).
    """
    data = {
        "version": VERSION,
        "command": result.command,
        "tensorflow": result.tensorflow,
        "written": result.written,
        "seconds": round(result.seconds, 3),
        "exit_code": result.exit_code,
        "errors": list(result.errors),
        "summary": _summary(result),
        "files": [_file(file) for file in result.files],
    }
    return json.dumps(data, indent=indent) + "\n"


def _summary(result: RunResult) -> dict[str, Any]:
    findings = result.findings
    fixed = sum(finding.fixed for finding in findings)
    counts = {
        "total": len(findings),
        "fixed": fixed,
        "safe": sum(is_fixable(finding, unsafe=False) for finding in findings) - fixed,
        "unsafe": sum(is_fixable(finding, unsafe=True) for finding in findings),
    }
    counts["hand"] = counts["total"] - counts["fixed"] - counts["safe"] - counts["unsafe"]
    return {
        "files": {status: result.count(status) for status in STATUSES},
        "findings": counts,
        "by_code": result.by_code(),
        "loops": {"fit": sum(not loop.kept for loop in result.loops), "kept": result.kept_loops()},
    }


def _file(file: FileResult) -> dict[str, Any]:
    keys = ("path", "status", "reason", "lines", "line", "column", "encoding")
    return {
        **{key: getattr(file, key) for key in keys},
        "findings": [_finding(finding) for finding in file.findings],
        "loops": [dataclasses.asdict(loop) for loop in file.loops],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    data = dataclasses.asdict(finding)
    del data["path"]
    return data
