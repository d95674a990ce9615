"""Annotations: one command a line, and nothing in a message can be a command itself."""

from __future__ import annotations

import re
from urllib.parse import unquote

from codemod.report import render
from codemod.results import FileResult, RunResult
from tests.codemod.report.samples import finding, hostile, ordinary


def test_what_is_open_becomes_annotations_by_who_has_to_act():
    assert render("github", ordinary()).splitlines() == [
        "::notice file=src/a b.py,line=1,endLine=1,col=5,endColumn=20,title=codemod TFB101::the import",
        "::notice file=src/a b.py,line=4,endLine=4,col=5,endColumn=20,title=codemod TFB201::tf.train.X is gone",
        (
            "::warning file=src/a b.py,line=6,endLine=6,col=5,endColumn=20,title=codemod TFB999::"
            "tf.train.X is gone%0ANo successor%0AWrite it anew%0Ahttps://example.org/x"
        ),
        "::warning file=src/e.ipynb,title=codemod TFB310::cell 3, line 2: renamed",
        "::error file=src/bad.py,line=7,col=2,title=codemod%3A not processed::not Python: invalid syntax",
    ]


def test_what_was_written_needs_no_annotation():
    assert "TFB101" not in render("github", ordinary(written=True))


def test_columns_are_given_only_where_the_place_is_in_one_line():
    result = RunResult(files=(FileResult("a.py", "unchanged", findings=(finding("a.py", 3, end_line=5),)),))
    assert (
        render("github", result)
        == "::warning file=a.py,line=3,endLine=5,title=codemod TFB201::tf.train.X is gone\n"
    )


def test_names_with_commas_colons_and_percents_are_escaped():
    result = RunResult(files=(FileResult("a,b:c%2C.py", "failed", "100% wrong"),))
    assert render("github", result) == (
        "::error file=a%2Cb%3Ac%252C.py,title=codemod%3A not processed::100%25 wrong\n"
    )


def test_hostile_text_stays_inside_its_command():
    text = render("github", hostile())
    lines = text.split("\n")
    assert lines.pop() == ""
    assert len(lines) == 4
    for line in lines:
        assert re.fullmatch(r"::(notice|warning|error) [^:]*::.*", line)
        assert line.isprintable()
        assert r"\x1b[31mred" in unquote(line)
    text.encode()
