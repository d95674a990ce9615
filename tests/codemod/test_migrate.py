"""One text's way through: TODO comments, suppressions, Python 2, what is left alone."""

from __future__ import annotations

import json

import pytest

from codemod.migrate import migrate_bytes
from codemod.settings import Settings
from codemod.source import SourceError
from tests.codemod.conftest import migrate

GONE = "import tensorflow.compat.v1 as tf\n\n\ndef f(x):\n    return tf.contrib.crf.decode(x, 3)\n"
TODO = "# TODO(codemod TFB901): "


def test_a_place_that_is_left_gets_one_comment_and_never_a_second() -> None:
    once = migrate(GONE)
    assert once.text.count(TODO) == 1
    assert f"\n    {TODO}tf.contrib.crf.decode does not exist any more." in once.text
    again = migrate(once.text)
    assert again.text == once.text
    assert [f.code for f in again.findings] == ["TFB901"]


def test_a_comment_goes_when_its_place_is_settled() -> None:
    done = migrate(GONE).text.replace("tf.contrib.crf.decode(x, 3)", "x")
    assert TODO not in migrate(done).text


def test_a_text_that_looks_like_our_comment_stays_inside_a_string() -> None:
    text = f'import tensorflow.compat.v1 as tf\nx = """\n{TODO}gone\n"""\ntf.log\n'
    assert migrate(text).text == text


def test_without_todo_nothing_is_written_for_hand_work() -> None:
    outcome = migrate(GONE, todo=False)
    assert outcome.text == GONE
    assert len(outcome.findings) == 1


def test_a_scan_finds_the_same_and_writes_nothing() -> None:
    outcome = migrate(GONE, scan=True)
    assert outcome.text == GONE
    assert [f.fixed for f in outcome.findings] == [False]


def test_an_unsafe_fix_is_a_finding_until_it_is_asked_for() -> None:
    text = "import tensorflow.compat.v1 as tf\n\ntf.scalar_summary('a', 1)\n"
    careful = migrate(text)
    assert "--unsafe-fixes rewrites it" in careful.text
    assert "tf.scalar_summary('a', 1)" in careful.text
    [finding] = careful.findings
    assert (finding.fix, finding.fixed) == ("unsafe", False)
    bold = migrate(careful.text, unsafe_fixes=True)
    assert bold.text == "import tensorflow.compat.v1 as tf\n\ntf.summary.scalar('a', 1)\n"


@pytest.mark.parametrize(
    "comment", ["# codemod: ignore[TFB901]", "# codemod: ignore", "# codemod: ignore[TFB9, TFB901]"]
)
def test_a_comment_holds_a_finding_back(comment: str) -> None:
    text = GONE.replace("(x, 3)", f"(x, 3)  {comment}")
    outcome = migrate(text)
    assert outcome.text == text
    assert [f.code for f in outcome.findings] in ([], ["TFB002"])


def test_a_comment_that_holds_nothing_back_is_reported() -> None:
    text = "import tensorflow.compat.v1 as tf  # codemod: ignore[TFB201]\n\ntf.log\n"
    [finding] = migrate(text).findings
    assert (finding.code, finding.line, finding.column) == ("TFB002", 1, 36)


def test_a_suppressed_import_stays_and_names_are_written_accordingly() -> None:
    text = "import tensorflow as tf  # codemod: ignore[TFB101]\n\ntf.log\n"
    assert "import tensorflow as tf  #" in migrate(text).text


def test_a_file_that_asks_to_be_skipped_is_skipped() -> None:
    result, new = migrate_bytes("a.py", f"# codemod: skip-file\n{GONE}".encode(), Settings())
    assert (result.status, new) == ("skipped", None)
    assert result.reason


def test_a_comment_in_a_string_is_no_comment() -> None:
    result, _ = migrate_bytes("a.py", f'"""\n# codemod: skip-file\n"""\n{GONE}'.encode(), Settings())
    assert result.status == "changed"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import tensorflow\nprint 'a'\n", 2),
        ("import tensorflow\ntry:\n  pass\nexcept ValueError, e:\n  pass\n", 4),
        ("import tensorflow\nraise ValueError, 'a'\n", 2),
        ("import tensorflow\nx = 0777\n", 2),
    ],
)
def test_python_2_fails_with_a_finding_that_names_the_line(text: str, line: int) -> None:
    result, new = migrate_bytes("a.py", text.encode(), Settings())
    assert (result.status, new, result.line) == ("failed", None, line)
    assert [(f.code, f.line) for f in result.findings] == [("TFB001", line)]


def test_a_plain_syntax_error_is_not_python_2() -> None:
    with pytest.raises(SourceError, match="not Python"):
        migrate("import tensorflow\nx = = 1\n")


def test_a_file_without_the_packages_is_not_even_decoded() -> None:
    result, _ = migrate_bytes("a.py", b"\xff\xfe no text", Settings())
    assert (result.status, result.reason) == ("unchanged", "mentions no TensorFlow")


def test_select_and_ignore_choose_rules_by_the_longest_prefix() -> None:
    assert Settings(select=("TFB1",)).wants("TFB101")
    assert not Settings(select=("TFB1",)).wants("TFB201")
    assert not Settings(ignore=("TFB1",)).wants("TFB101")
    assert Settings(select=("TFB101",), ignore=("TFB1",)).wants("TFB101")


def test_texts_travel_only_if_asked_for() -> None:
    data = b"import tensorflow as tf\ntf.log\n"
    assert migrate_bytes("a.py", data, Settings())[0].before is None
    kept, new = migrate_bytes("a.py", data, Settings(), keep_texts=True)
    assert (kept.before, kept.after) == (data.decode(), (new or b"").decode())


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_line_ends_and_form_feeds_stay_and_new_lines_have_the_same_ends(ends: str) -> None:
    text = "\x0cimport tensorflow as tf\n\x0c\ndef f():\n    return tf.contrib.crf.flatten(tf.placeholder(1))\n\x0c\ny = tf.Session()\n"
    new = migrate(text.replace("\n", ends)).text
    assert new.replace(ends, "\n").splitlines()[:2] == ["", "import tensorflow.compat.v1 as tf"]
    assert new.count("\x0c") == text.count("\x0c")
    assert len(new.split(ends)) == len(text.split("\n")) + 2
    assert not set(new.replace(ends, "")) & {"\r", "\n"}


def test_the_magic_that_chose_tensorflow_1_is_a_finding_with_its_cell_and_line() -> None:
    cells = [
        ["import os\n"],
        ["# first\n", "%tensorflow_version 1.x\n", "import tensorflow as tf\n", "tf.placeholder(1)"],
    ]
    data = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
            for source in cells
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    result, new = migrate_bytes("a.ipynb", json.dumps(data).encode(), Settings())
    assert [(f.cell, f.line) for f in result.findings if f.code == "TFB103"] == [(2, 2)]
    assert b"%tensorflow_version 1.x" in (new or b"")


HOOK = "session_run_hook"
FROM = f"from tensorflow.python.training import {HOOK}"


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        (f"x = 1; {FROM}", "x = 1"),
        (f"{FROM}; x = 1", "x = 1"),
        (f"x = [\n    1]; {FROM}; y = 2;", "x = [\n    1]; y = 2;"),
        (f"if x: {FROM}", "if x: pass"),
        (f"if x: {FROM}; y = 2", "if x: y = 2"),
        ("x = 1; from tensorflow import placeholder", "x = 1; from tensorflow.compat.v1 import placeholder"),
        (
            "from tensorflow import placeholder; from tensorflow import Session",
            "from tensorflow.compat.v1 import placeholder; from tensorflow.compat.v1 import Session",
        ),
    ],
)
def test_a_statement_that_shares_its_line_changes_and_the_others_stay(line: str, becomes: str) -> None:
    hooks = f"class Stop({HOOK}.SessionRunHook): pass\n" if HOOK in line else ""
    done = migrate(f"import tensorflow as tf\ntf.Session()\n{line}\n{hooks}")
    assert f"\n{becomes}\n" in done.text
    assert HOOK not in done.text
