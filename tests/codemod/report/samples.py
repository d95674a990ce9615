"""Runs to report on: an ordinary one, and what hostile file names, messages and texts make of it."""

from __future__ import annotations

from codemod.results import FileResult, Finding, RunResult

PAGES = {
    "TFB201": "MonitoredTrainingSession becomes the bridge's.\n\n## Why\nIt is `gone`.\n\n```python\nx = 1 < 2\n```\n",
    "TFB999": "A name that is gone.\n",
}

# Markup, quotes, terminal escapes, line ends of all kinds, direction marks, controls, surrogates, workflow commands.
HOSTILE = (
    "</script><script>alert(1)</script><!-- \"'&amp; {{ 7 * 7 }} {% raw %} ]]> [link](javascript:alert(1)) "
    "\x1b[31mred\x1b]0;title\x07 \x00\x08\x7f\x9b \u202eevil\u202c \u2066x\u2069 \u200b\ufeff \u2028\u2029 \ud800 \udcff "
    "::error file=x::y %0A \r\n\t#\u05d0\u05d1 \U0001f600 [bold]not markup[/bold]"
)


def finding(path="src/train.py", line=3, code="TFB201", message="tf.train.X is gone", **more):
    place = {"column": 5, "end_line": line, "end_column": 20, **more}
    return Finding(path=path, line=line, code=code, message=message, **place)


def changed(path, before, after, *findings, **more):
    return FileResult(
        path, "changed", before=before, after=after, findings=findings, lines=before.count("\n"), **more
    )


def ordinary(*, written=False):
    before = "import tensorflow as tf\n\n\nwith tf.train.MonitoredTrainingSession() as s:\n    pass\nx = tf.gone()\n"
    after = before.replace("tensorflow as", "tensorflow.compat.v1 as").replace("tf.train.Mon", "bridge.Mon")
    return RunResult(
        files=(
            changed(
                "src/a b.py",
                before,
                after,
                finding("src/a b.py", 1, "TFB101", "the import", fix="safe", fixed=True),
                finding("src/a b.py", 4, fix="safe", fixed=True),
                finding(
                    "src/a b.py",
                    6,
                    "TFB999",
                    why="No successor",
                    remedy="Write it anew",
                    url="https://example.org/x",
                ),
            ),
            FileResult("src/bad.py", "failed", "not Python: invalid syntax", line=7, column=2),
            FileResult("src/c.py", "unchanged", lines=10),
            FileResult("src/d.py", "skipped", "generated"),
            FileResult(
                "src/e.ipynb",
                "unchanged",
                findings=(finding("src/e.ipynb", 2, "TFB310", "renamed", cell=3, fix="unsafe"),),
                lines=4,
            ),
        ),
        seconds=1.25,
        written=written,
        tensorflow="2.21.0",
    )


def hostile():
    return RunResult(
        files=(
            changed(
                "d/" + HOSTILE.replace("\r\n", "").replace("\0", "").replace("\ud800", ""),
                HOSTILE.replace("\ud800", "").replace("\udcff", "") + "\nx\n",
                "y\n" + HOSTILE.replace("\ud800", "").replace("\udcff", "") + "\nx",
                finding(
                    "d/x",
                    1,
                    "TFB201",
                    HOSTILE,
                    why=HOSTILE,
                    remedy=HOSTILE,
                    url="javascript:alert(1)//" + HOSTILE,
                ),
                finding(
                    "d/x",
                    2,
                    HOSTILE,
                    HOSTILE,
                    end_line=4,
                    cell=2,
                    url='https://example.org/"><script>alert(1)</script>',
                ),
            ),
            FileResult("e/" + HOSTILE.replace("\ud800", ""), "failed", HOSTILE, line=1),
            FileResult("f/\udcff.py", "skipped", HOSTILE),
        ),
        errors=(HOSTILE,),
        tensorflow=HOSTILE,
    )


def huge(findings=10_000, files=500):
    per_file = findings // files
    return RunResult(
        files=tuple(
            FileResult(
                f"src/pkg{index % 20}/m{index}.py",
                "unchanged",
                findings=tuple(
                    finding(f"src/pkg{index % 20}/m{index}.py", line, f"TFB{101 + line % 9}")
                    for line in range(1, per_file + 1)
                ),
                lines=400,
            )
            for index in range(files)
        )
    )
