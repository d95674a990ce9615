"""What a person reads: findings a line each, what to do by hand, a summary with numbers."""

from __future__ import annotations

import re

import pytest

from codemod.report import FORMATS, render
from codemod.results import FileResult, RunResult
from tests.codemod.report.samples import HOSTILE, PAGES, finding, hostile, huge, ordinary

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def test_a_run_that_writes_nothing_lists_every_finding_and_what_to_do_by_hand():
    assert render("text", ordinary()) == (
        "src/a b.py:1:5: TFB101 [*] the import\n"
        "src/a b.py:4:5: TFB201 [*] tf.train.X is gone\n"
        "src/a b.py:6:5: TFB999 tf.train.X is gone\n"
        "    = No successor. Write it anew. https://example.org/x\n"
        "src/e.ipynb:cell 3:2:5: TFB310 renamed\n"
        "    = Rewritten with --unsafe-fixes.\n"
        "src/bad.py:7:2: failed: not Python: invalid syntax\n"
        "src/d.py: skipped: generated\n"
        "1 file would change, 2 unchanged, 1 skipped, 1 failed; 4 findings: 2 fixable, 1 with --unsafe-fixes, 1 by hand.\n"
    )


def test_a_run_that_writes_lists_what_is_left():
    text = render("text", ordinary(written=True))
    assert "TFB101" not in text
    assert "TFB999" in text
    assert text.endswith(
        "1 file changed, 2 unchanged, 1 skipped, 1 failed; 4 findings: 2 fixed, 1 with --unsafe-fixes, 1 by hand.\n"
    )


def test_quiet_is_one_line_for_each_finding_and_failure():
    assert [line.split(": ")[0] for line in render("text", ordinary(), quiet=True).splitlines()] == [
        "src/a b.py:1:5",
        "src/a b.py:4:5",
        "src/a b.py:6:5",
        "src/e.ipynb:cell 3:2:5",
        "src/bad.py:7:2",
    ]


def test_quiet_says_nothing_when_there_is_nothing():
    assert render("text", RunResult(files=(FileResult("a.py", "unchanged"),)), quiet=True) == ""


def test_a_clean_run_is_one_line():
    clean = RunResult(files=(FileResult("a.py", "unchanged"),), written=True)
    assert render("text", clean) == "0 files changed, 1 unchanged; no findings.\n"


def test_a_file_that_was_not_understood_is_never_no_findings_alone():
    text = render("text", RunResult(files=(FileResult("a.py", "failed", "no Python"),)))
    assert text == "a.py: failed: no Python\n0 files would change, 0 unchanged, 1 failed; no findings.\n"


def test_errors_of_the_run_are_told():
    assert "error: no such path: 'x'\n" in render(
        "text", RunResult(errors=("no such path: 'x'",)), quiet=True
    )


def test_numbers_in_the_summary_add_up():
    text = render("text", huge())
    assert text.endswith("500 unchanged; 10,000 findings: 10,000 by hand.\n")
    assert text.count("\n") == 10_001


def test_statistics_are_a_table_by_rule_instead_of_the_findings():
    text = render("text", ordinary(), statistics=True, pages=PAGES)
    rows = {
        line.split()[0]: line.split()[1:] for line in text.splitlines() if line.startswith((" TFB", "TFB"))
    }
    assert rows["TFB201"][:4] == ["1", "1", "1", "0"]
    assert rows["TFB999"][:4] == ["1", "1", "0", "1"]
    assert "MonitoredTrainingSession becomes the bridge's" in text
    assert "src/a b.py:1" not in text
    assert "failed: not Python" in text
    assert "\x1b" not in text


def test_statistics_of_nothing_are_no_empty_table():
    assert render("text", RunResult(), statistics=True).count("\n") == 1


def test_colour_adds_only_escapes_of_its_own():
    plain, colored = render("text", ordinary()), render("text", ordinary(), color=True, width=20)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


def test_colour_does_not_depend_on_the_process_and_its_terminal(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" in render("text", ordinary(), color=True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in render("text", ordinary(), color=False, statistics=True)


@pytest.mark.parametrize("options", [{}, {"quiet": True}, {"statistics": True}])
def test_hostile_text_cannot_command_the_terminal_or_hide(options):
    text = render("text", hostile(), **options)
    assert not CONTROLS.search(text)
    assert r"\x1b[31m" in text
    assert "\\u202e" in text
    text.encode()


def test_hostile_text_in_colour_has_only_colours():
    text = re.sub(r"\x1b\[[0-9;]*m", "", render("text", hostile(), color=True))
    assert not CONTROLS.search(text)
    assert "[bold]not markup[/bold]" in text


def test_a_finding_is_one_line_whatever_its_message():
    result = RunResult(files=(FileResult("a", "unchanged", findings=(finding(message=HOSTILE),)),))
    assert render("text", result, quiet=True).count("\n") == 1


def test_an_unknown_format_is_an_error_that_names_the_known_ones():
    with pytest.raises(
        ValueError, match="no report format 'xml'; there are text, diff, json, sarif, github, html"
    ):
        render("xml", RunResult())


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_takes_an_empty_run(name):
    assert isinstance(render(name, RunResult()), str)
