"""The report for programs keeps its keys, and any text survives it."""

from __future__ import annotations

import json

from codemod.report import render
from codemod.results import STATUSES
from tests.codemod.report.samples import HOSTILE, hostile, huge, ordinary


def test_the_run_is_in_it_with_all_its_numbers():
    data = json.loads(render("json", ordinary()))
    files = data.pop("files")
    assert data == {
        "version": 1,
        "command": "migrate",
        "tensorflow": "2.21.0",
        "written": False,
        "seconds": 1.25,
        "exit_code": 2,
        "errors": [],
        "summary": {
            "files": {"changed": 1, "unchanged": 2, "skipped": 1, "failed": 1},
            "findings": {"total": 4, "fixed": 2, "safe": 0, "unsafe": 1, "hand": 1},
            "by_code": {"TFB101": 1, "TFB201": 1, "TFB999": 1, "TFB310": 1},
            "loops": {"fit": 0, "kept": {}},
        },
    }
    assert [file["status"] for file in files] == ["changed", "failed", "unchanged", "skipped", "unchanged"]
    assert files[1] == {
        "path": "src/bad.py",
        "status": "failed",
        "reason": "not Python: invalid syntax",
        "lines": 0,
        "line": 7,
        "column": 2,
        "encoding": "utf-8",
        "findings": [],
        "loops": [],
    }
    assert files[4]["findings"] == [
        {
            "line": 2,
            "column": 5,
            "end_line": 2,
            "end_column": 20,
            "code": "TFB310",
            "message": "renamed",
            "why": "",
            "remedy": "",
            "url": "",
            "fix": "unsafe",
            "fixed": False,
            "cell": 3,
        }
    ]


def test_any_text_survives_as_ascii():
    text = render("json", hostile())
    assert text.isascii()
    data = json.loads(text)
    assert data["files"][0]["findings"][0]["message"] == HOSTILE
    assert data["files"][2]["path"] == "f/\udcff.py"
    assert data["errors"] == [HOSTILE]


def test_the_parts_add_up_to_the_whole():
    summary = json.loads(render("json", huge(), indent=None))["summary"]
    total = summary["findings"].pop("total")
    assert total == 10_000 == sum(summary["findings"].values()) == sum(summary["by_code"].values())
    assert sum(summary["files"].values()) == 500
    assert list(summary["files"]) == list(STATUSES)
