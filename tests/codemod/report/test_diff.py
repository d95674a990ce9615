"""Diffs that git and patch apply to the very bytes, whatever the lines, the encoding and the name."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codemod.report import render
from codemod.report.diff import encoded
from codemod.report.lines import blocks, hunks
from codemod.results import FileResult, RunResult
from tests.codemod.report.samples import changed, hostile, ordinary

git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
patch = pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")


def apply(folder, diff, *command):
    done = subprocess.run(command, cwd=folder, input=diff, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, (diff, done.stderr)


def assert_applies(
    folder, name, before, after, encoding="utf-8", command=("git", "apply", "--whitespace=nowarn")
):
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(before.encode(encoding))
    diff = encoded(RunResult(files=(changed(name, before, after, encoding=encoding),)))
    apply(folder, diff, *command)
    assert target.read_bytes() == after.encode(encoding)


TEXTS = {
    "lines added": ("a\nb\n", "x\na\ny\nb\nz\n"),
    "lines taken": ("x\na\ny\nb\nz\n", "a\nb\n"),
    "far apart": ("".join(f"{n}\n" for n in range(99)), "".join(f"{n * (n % 30 > 0)}\n" for n in range(99))),
    "CRLF": ("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"),
    "line ends mixed": ("a\r\nb\nc\rd\n", "a\r\nB\nc\rd\r\n"),
    "lone CR": ("a\rb\rc", "a\rB\rc"),
    "form feed": ("a\n\x0c\nb\n", "A\n\x0c\nb\n"),
    "no end before": ("a\nb", "a\nB\n"),
    "no end after": ("a\nb\n", "a\nB"),
    "no end at all": ("a\nb\nc\nd\ne", "A\nb\nc\nd\ne"),
    "end only": ("a", "a\n"),
    "empty before": ("", "a\n"),
    "empty after": ("a\n", ""),
    "byte-order mark": ("\ufeffa\nb\n", "\ufeffA\nb\n"),
    "separators of Unicode": ("a\u2028b\x85c\x1cd\n", "a\u2028B\x85c\x1cd\n"),
    "lines like a diff's": ("--- a\n+++ b\n@@ -1 +1 @@\n", "--- b\n+++ a\n@@ -1 +1 @@\n\\ No newline\n"),
    "NUL": ("a\0\nb\n", "a\0\nB\n"),
}


@git
@pytest.mark.parametrize("texts", TEXTS.values(), ids=TEXTS)
def test_git_applies_it(tmp_path, texts):
    assert_applies(tmp_path, "x.py", *texts)


@patch
@pytest.mark.parametrize("texts", [TEXTS["far apart"], TEXTS["no end before"], TEXTS["no end after"]])
def test_patch_applies_it(tmp_path, texts):
    assert_applies(tmp_path, "d/x y.py", *texts, command=("patch", "-p1", "--binary"))


@git
@pytest.mark.parametrize(
    "name",
    [
        "a b.py",
        " a.py",
        "a .py ",
        "d e/f g.py",
        "a\tb.py",
        "a\nb.py",
        'a"b.py',
        "a\\b.py",
        "ä.py",
        "日本.py",
        "\u202ea.py",
        "a\u00a0b.py",
        "\udcff.py",
        "-x.py",
        "a 2020-01-01 00:00:00 +0000.py",
        "b/a/b.py",
    ],
)
def test_git_applies_it_to_any_name(tmp_path, name):
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        pytest.skip("this system cannot name the file")
    assert_applies(tmp_path, name, "a\nb\n", "a\nc\n")


@git
@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "cp1252", "euc-jp", "koi8-r"])
def test_the_diff_is_in_the_encoding_of_the_file(tmp_path, encoding):
    text = {"euc-jp": "日本", "koi8-r": "да"}.get(encoding, "é")
    assert_applies(tmp_path, "x.py", f"# {text}\nb\n", f"# {text}\nc # {text}\n", encoding)


@git
def test_git_applies_it_in_a_folder_of_a_repository(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True, timeout=60)
    (tmp_path / "sub").mkdir()
    assert_applies(tmp_path / "sub", "x.py", "a\n", "b\n")


@git
def test_several_files_are_one_diff(tmp_path):
    names = ["a.py", "b c.py", "d/e.py"]
    (tmp_path / "d").mkdir()
    for name in names:
        (tmp_path / name).write_text("1\n2\n")
    files = tuple(changed(name, "1\n2\n", "1\n3\n") for name in names)
    apply(tmp_path, encoded(RunResult(files=files)), "git", "apply")
    assert {(tmp_path / name).read_text() for name in names} == {"1\n3\n"}


LINE = st.sampled_from(["a", "b", "c", "", " ", "\r", "é"]).map(lambda text: text + "\n")
TEXT = st.builds(
    lambda lines, end: "".join(lines) + end, st.lists(LINE, max_size=30), st.sampled_from(["", "end"])
)


@git
@given(TEXT, TEXT)
@example("a\nb\n", "a\nb\nc\n")
@example("x\na\nb\n", "y\na\nb\nc\n")
def test_git_applies_any_change(tmp_path_factory, before, after):
    if before != after:
        folder = tmp_path_factory.getbasetemp() / "any"
        assert_applies(folder, "x.py", before, after)


@given(st.lists(LINE, max_size=40), st.lists(LINE, max_size=40), st.integers(0, 4))
def test_blocks_cover_both_texts_and_hunks_never_overlap(before, after, context):
    a = b = 0
    for tag, a0, a1, b0, b1 in blocks(before, after):
        assert (a0, b0) == (a, b)
        assert (before[a0:a1] == after[b0:b1]) == (tag == "equal")
        a, b = a1, b1
    assert (a, b) == (len(before), len(after))
    end = -1
    for hunk in hunks(before, after, context):
        assert hunk[0].a0 > end or (hunk[0].a0 == end == 0)
        end = hunk[-1].a1
        assert any(block.tag != "equal" for block in hunk)


def test_unchanged_skipped_and_failed_files_are_not_in_it():
    assert render("diff", ordinary()).count("--- ") == 1


def test_a_changed_file_without_its_texts_is_an_error_and_not_an_empty_diff():
    with pytest.raises(ValueError, match=r"'x\.py' were not kept"):
        render("diff", RunResult(files=(FileResult("x.py", "changed"),)))


def test_in_colour_nothing_but_the_colours_reaches_the_terminal():
    text = render("diff", hostile(), color=True)
    for code in ("\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"):
        text = text.replace(code, "")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert r"\x1b[31mred" in text


def test_a_file_of_twenty_thousand_lines_is_compared_line_by_line():
    lines = [f"x{n} = tf.layer{n % 7}({n})\n" if n % 3 else "\n" for n in range(20_000)]
    after = ["import bridge\n", *(line.replace("tf.layer3", "tf.new") for line in lines), "end\n"]
    diff = render("diff", RunResult(files=(changed("x.py", "".join(lines), "".join(after)),)))
    removed = [line for line in diff.splitlines() if line.startswith("-x")]
    assert len(removed) == sum("tf.layer3" in line for line in lines)
    assert diff.count("\n+") == len(removed) + 3
