"""Files of Python 2: named as such, and with `--py2` converted first."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from codemod import python2
from codemod.migrate import migrate_bytes
from codemod.settings import Settings
from tests.codemod.conftest import Command

OLD = """\
# -*- coding: utf-8 -*-
import tensorflow as tf


def train(hooks, total, count):
    print "average", total / count, total / 2.0
    for name, value in hooks.iteritems():
        if hooks.has_key(name) and value <> 3L:
            print >>log, name, 0777, `value`
    try:
        return [tf.placeholder(tf.float32) for _ in xrange(3)]
    except ValueError, error:
        raise RuntimeError, "no"
"""
NEW = """\
# -*- coding: utf-8 -*-
import tensorflow.compat.v1 as tf


def train(hooks, total, count):
    print("average", total / count, total / 2.0)
    for name, value in hooks.items():
        if name in hooks and value != 3:
            print(name, 0o777, repr(value), file=log)
    try:
        return [tf.placeholder(tf.float32) for _ in range(3)]
    except ValueError as error:
        raise RuntimeError("no")
"""


def convert(text: str) -> tuple[Any, str]:
    result, new = migrate_bytes("a.py", text.encode(), Settings(py2=True))
    return result, (new or b"").decode()


def test_a_file_is_converted_and_then_migrated() -> None:
    result, new = convert(OLD)
    assert (result.status, new) == ("changed", NEW)
    assert [f.code for f in result.findings] == ["TFB001", "TFB001", "TFB101"]
    assert result.findings[0].fixed


def test_divisions_of_what_may_be_integers_are_counted() -> None:
    result, _ = convert(OLD)
    assert "1 to look at, from line 6 on" in result.findings[1].message
    with_future, _ = convert(
        OLD.replace("import tensorflow", "from __future__ import division\nimport tensorflow")
    )
    assert [f.code for f in with_future.findings] == ["TFB001", "TFB101"]


def test_line_ends_and_the_missing_last_one_stay() -> None:
    _, new = convert(OLD.rstrip("\n").replace("\n", "\r\n"))
    assert new == NEW.rstrip("\n").replace("\n", "\r\n")


def test_a_second_run_changes_nothing() -> None:
    result, new = convert(NEW)
    assert (result.status, new) == ("unchanged", "")


def test_a_file_of_python_3_is_not_converted() -> None:
    text = "import tensorflow as tf\n\n\ndef f(d):\n    return tf.placeholder(1), d.items(), map(f, d)\n"
    assert convert(text)[1] == text.replace("import tensorflow as", "import tensorflow.compat.v1 as")


def test_what_neither_python_reads_fails_with_its_line() -> None:
    result, new = convert("import tensorflow\nprint 'a'\nx = = 1\n")
    assert (result.status, new, result.line) == ("failed", "", 2)
    assert "cannot be converted" in result.reason


def test_without_the_option_the_finding_names_it() -> None:
    result, new = migrate_bytes("a.py", OLD.encode(), Settings())
    assert (result.status, new) == ("failed", None)
    assert "--py2" in result.findings[0].remedy


def test_without_fissix_the_failure_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        python2.importlib.util, "find_spec", lambda name: None if name == "fissix" else find(name)
    )
    result, _ = convert(OLD)
    assert result.status == "failed"
    assert "pip install 'keras-hook-bridge[py2]'" in result.reason


def test_the_command_has_the_option_and_the_configuration_too(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(OLD)
    assert codemod("migrate", "a.py").returncode == 2
    codemod("migrate", "--py2", "a.py")
    assert (tmp_path / "a.py").read_text().replace(python2_todo(tmp_path), "") == NEW
    (tmp_path / "b.py").write_text(OLD)
    (tmp_path / "pyproject.toml").write_text("[tool.codemod]\npy2 = true\n")
    codemod("migrate", "b.py")
    ast.parse((tmp_path / "b.py").read_text())


def python2_todo(folder: Path) -> str:
    return "".join(line for line in (folder / "a.py").read_text().splitlines(True) if "TODO(codemod" in line)
