"""SARIF 2.1.0, which code-scanning services read: rules, results, and what was not processed as notifications."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import pathlib
import urllib.parse
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from codemod.report.plain import is_fixable, visible
from codemod.results import FileResult, Finding, RunResult

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_DISTRIBUTION = "keras-hook-bridge"


def render(result: RunResult, *, pages: Mapping[str, str] | None = None, indent: int | None = 2) -> str:
    """Writes a run as a SARIF log with one run, whose results are the findings that are still open.

    Findings of a notebook have no region, because SARIF knows no cells: the message, a logical location and the
    properties `cell`, `line` and `column` name the place.

    Args:
      result: The run.
      pages: Rule pages by code, in Markdown: the help of the rules.
      indent: Spaces of indentation; None for one line.

    Returns:
      ASCII text with a line feed at its end.
    """
    findings = result.open_findings
    codes = sorted({finding.code for finding in findings})
    run = {
        "tool": {"driver": _driver(codes, findings, pages or {})},
        "invocations": [_invocation(result)],
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": _location(path)} for path in sorted({file.path for file in result.files})],
        "results": _results(findings, {code: index for index, code in enumerate(codes)}),
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=indent) + "\n"


def _driver(codes: list[str], findings: Iterable[Finding], pages: Mapping[str, str]) -> dict[str, Any]:
    examples: dict[str, Finding] = {}
    for finding in findings:
        examples.setdefault(finding.code, finding)
    driver: dict[str, Any] = {
        "name": "codemod",
        "rules": [_rule(code, examples[code], pages) for code in codes],
    }
    with contextlib.suppress(
        importlib.metadata.PackageNotFoundError
    ):  # run from a tree that is not installed
        driver["version"] = importlib.metadata.version(_DISTRIBUTION)
    return driver


def _rule(code: str, example: Finding, pages: Mapping[str, str]) -> dict[str, Any]:
    page = pages.get(code, "").strip()
    title = page.partition("\n")[0] or example.message
    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": title}}
    if page:
        rule["help"] = {"text": page, "markdown": page}
    return rule


def _results(findings: Iterable[Finding], indices: Mapping[str, int]) -> list[dict[str, Any]]:
    seen: Counter[tuple[str, ...]] = Counter()
    results = []
    for finding in findings:
        key = (finding.path, finding.code, finding.message)
        seen[key] += 1
        results.append(_result(finding, indices[finding.code], _fingerprint(*key, str(seen[key]))))
    return results


def _result(finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    properties: dict[str, Any] = {"fix": finding.fix or "none", "fixed": finding.fixed}
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": _location(finding.path)}}
    message = finding.message
    if finding.cell:
        message = f"cell {finding.cell}, line {finding.line}: {message}"
        location["logicalLocations"] = [{"name": f"cell {finding.cell}", "kind": "module"}]
        properties |= {"cell": finding.cell, "line": finding.line, "column": finding.column}
    else:
        location["physicalLocation"]["region"] = {
            "startLine": finding.line,
            "startColumn": finding.column,
            "endLine": finding.end_line,
            "endColumn": finding.end_column,
        }
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": "note" if is_fixable(finding, unsafe=False) else "warning",
        "message": {"text": _message(message, finding.why, finding.remedy, finding.url)},
        "locations": [location],
        "partialFingerprints": {"codemod/v1": fingerprint},
        "properties": properties,
    }


def _message(*parts: str) -> str:
    sentences = (visible(part) for part in parts if part)
    text = " ".join(part if part.endswith(".") or "://" in part else f"{part}." for part in sentences)
    # Brackets are links in a SARIF message unless they are escaped.
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _fingerprint(*parts: str) -> str:
    """The same for a finding whose line has moved, so that a service does not report it anew."""
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:32]


def _invocation(result: RunResult) -> dict[str, Any]:
    notes = [_notification("error", visible(error)) for error in result.errors]
    levels = {"failed": "error", "skipped": "note"}
    notes += [
        _notification(levels[file.status], visible(file.reason), file)
        for file in result.files
        if file.status in levels
    ]
    return {
        "executionSuccessful": result.exit_code != 2,
        "exitCode": result.exit_code,
        "toolExecutionNotifications": notes,
    }


def _notification(level: str, text: str, file: FileResult | None = None) -> dict[str, Any]:
    note: dict[str, Any] = {"level": level, "message": {"text": text}}
    if file:
        physical: dict[str, Any] = {"artifactLocation": _location(file.path)}
        if file.line:
            physical["region"] = {
                "startLine": file.line,
                **({"startColumn": file.column} if file.column else {}),
            }
        note["locations"] = [{"physicalLocation": physical}]
    return note


def _location(path: str) -> dict[str, Any]:
    if pathlib.PurePath(path).is_absolute():
        return {"uri": pathlib.PurePath(path).as_uri()}
    uri = urllib.parse.quote(os.fsencode(path.replace(os.sep, "/")))
    # A colon in the first segment would be read as the end of a scheme; `quote` has escaped it.
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}
