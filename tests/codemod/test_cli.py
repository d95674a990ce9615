"""The command as its users meet it: exit codes, what goes where, settings, git."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.codemod.conftest import Command

CLEAN = "import tensorflow.compat.v1 as tf\n\n\ndef f():\n    return tf.log\n"
FIXABLE = "import tensorflow as tf\n\n\ndef f():\n    return tf.placeholder(tf.float32)\n"
HAND = "import tensorflow.compat.v1 as tf\n\n\ndef f(x):\n    return tf.contrib.crf.decode(x, 3)\n"


def test_nothing_to_do_is_0_and_nothing_on_standard_output(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CLEAN)
    done = codemod("migrate", ".")
    assert (done.returncode, done.stdout) == (0, "")
    assert codemod("migrate", ".", "-q").stderr == ""


def test_what_is_fixed_is_0_and_the_file_is_new(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FIXABLE)
    done = codemod("migrate", "a.py")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.py").read_text() == FIXABLE.replace(
        "import tensorflow as", "import tensorflow.compat.v1 as"
    )
    assert "1 file changed" in done.stderr


def test_hand_work_is_1_and_named_with_its_place(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HAND)
    done = codemod("migrate", ".", "--no-todo")
    assert done.returncode == 1
    assert "a.py:5:12: TFB901 tf.contrib.crf.decode does not exist any more" in done.stderr
    assert (tmp_path / "a.py").read_text() == HAND


@pytest.mark.parametrize("flag", ["--check", "--diff"])
def test_what_would_change_is_1_and_is_not_written(codemod: Command, tmp_path: Path, flag: str) -> None:
    (tmp_path / "a.py").write_text(FIXABLE)
    assert codemod("migrate", ".", flag).returncode == 1
    assert (tmp_path / "a.py").read_text() == FIXABLE


def test_a_file_that_fails_is_2_whatever_else_there_is(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HAND)
    (tmp_path / "b.py").write_text("import tensorflow\nx = (\n")
    (tmp_path / "c.py").write_text(FIXABLE)
    for form in ("text", "json", "sarif", "github"):
        done = codemod("migrate", ".", "--output-format", form, "--allow-dirty")
        assert done.returncode == 2
    assert "compat.v1" in (tmp_path / "c.py").read_text()
    assert (tmp_path / "b.py").read_text() == "import tensorflow\nx = (\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("migrate",),
        ("migrate", "missing.py"),
        ("migrate", ".", "--select", "XYZ"),
        ("migrate", "-", "a.py"),
        ("migrate", ".", "-j", "0"),
        ("migrate", ".", "--tensorflow", "nowhere"),
        ("explain", "TFB999"),
    ],
)
def test_wrong_use_is_2_with_a_reason(codemod: Command, arguments: tuple[str, ...]) -> None:
    done = codemod(*arguments)
    assert done.returncode == 2
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr


def test_a_diff_can_be_applied_by_git(codemod: Command, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name, ends in (("a.py", "\n"), ("b c.py", "\r\n")):
        (tmp_path / name).write_bytes(FIXABLE.replace("\n", ends).encode())
    (tmp_path / "no_end.py").write_text(FIXABLE.rstrip("\n"))
    done = codemod("migrate", ".", "--diff", "-q")
    subprocess.run(["git", "apply", "-"], input=done.stdout.encode(), cwd=tmp_path, check=True)
    applied = {path.name: path.read_bytes() for path in tmp_path.glob("*.py")}
    subprocess.run(["git", "apply", "-R", "-"], input=done.stdout.encode(), cwd=tmp_path, check=True)
    assert codemod("migrate", ".").returncode == 0
    assert applied == {path.name: path.read_bytes() for path in tmp_path.glob("*.py")}


def test_a_tree_with_uncommitted_changes_is_refused(codemod: Command, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], cwd=tmp_path, check=True
        )

    git("init", "-q")
    (tmp_path / "a.py").write_text(CLEAN)
    git("add", ".")
    git("commit", "-q", "-m", "first")
    (tmp_path / "a.py").write_text(FIXABLE)
    refused = codemod("migrate", ".")
    assert refused.returncode == 2
    assert "uncommitted changes" in refused.stderr
    assert "--allow-dirty" in refused.stderr
    assert (tmp_path / "a.py").read_text() == FIXABLE
    assert codemod("migrate", ".", "--check").returncode == 1
    assert codemod("migrate", ".", "--allow-dirty").returncode == 0


def test_standard_input_comes_out_migrated(codemod: Command) -> None:
    done = codemod("migrate", "-", "--stdin-filename", "x.py", stdin=FIXABLE.replace("\n", "\r\n"))
    assert done.returncode == 0
    assert done.stdout.startswith("import tensorflow.compat.v1 as tf\r\n")


def test_standard_input_that_is_no_python_comes_out_as_it_went_in(codemod: Command) -> None:
    done = codemod("migrate", "-", stdin="import tensorflow\nx = (\n")
    assert (done.returncode, done.stdout) == (2, "import tensorflow\nx = (\n")
    assert "<stdin>:2" in done.stderr


def test_json_names_every_file_and_how_it_ended(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FIXABLE)
    (tmp_path / "b.py").write_text("# codemod: skip-file\nimport tensorflow\n")
    (tmp_path / "c.py").write_text("x = 1\n")
    (tmp_path / "d.py").write_text("import tensorflow\nprint 'x'\n")
    data = json.loads(codemod("migrate", ".", "--output-format", "json").stdout)
    assert {f["path"]: f["status"] for f in data["files"]} == {
        "a.py": "changed",
        "b.py": "skipped",
        "c.py": "unchanged",
        "d.py": "failed",
    }
    assert all(f["reason"] for f in data["files"] if f["status"] in ("skipped", "failed"))


def test_a_scan_lists_and_writes_nothing(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FIXABLE)
    done = codemod("scan", ".")
    assert done.returncode == 1
    assert "a.py:1:8: TFB101 [*]" in done.stderr
    assert (tmp_path / "a.py").read_text() == FIXABLE


def test_settings_come_from_pyproject_and_the_command_line_wins(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.codemod]\nstyle = "explicit"\nexclude = ["old/"]\n')
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a.py").write_text(FIXABLE)
    (tmp_path / "a.py").write_text(FIXABLE)
    assert codemod("migrate", ".").returncode == 0
    assert "tf.compat.v1.placeholder(tf.float32)" in (tmp_path / "a.py").read_text()
    assert (tmp_path / "old" / "a.py").read_text() == FIXABLE
    (tmp_path / "a.py").write_text(FIXABLE)
    assert codemod("migrate", ".", "--style", "import").returncode == 0
    assert "import tensorflow.compat.v1 as tf" in (tmp_path / "a.py").read_text()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("stile = 'x'", "no key 'stile'"),
        ("style = 'x'", "import, explicit"),
        ("jobs = true", "a number"),
        ("x = ", "not TOML"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    codemod: Command, tmp_path: Path, line: str, words: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.codemod]\n{line}\n")
    done = codemod("migrate", ".")
    assert done.returncode == 2
    assert words in done.stderr
    assert "pyproject.toml" in done.stderr


def test_rules_are_listed_and_explained(codemod: Command) -> None:
    listed = codemod("rules")
    assert "TFB201  sessions" in listed.stdout
    for code in ("TFB201", "tfb201", "sessions"):
        explained = codemod("explain", code)
        assert explained.returncode == 0
        assert "## Before" in explained.stdout


def test_statistics_count_by_rule(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HAND)
    done = codemod("scan", ".", "--statistics")
    assert "TFB901" in done.stderr
    assert "a.py:5" not in done.stderr


def test_a_report_that_has_no_place_is_2_before_anything_is_written(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FIXABLE)
    for name, what in (("no/report.html", "there is no folder no"), (".", "is a folder")):
        done = codemod("migrate", "a.py", "--report", name)
        assert done.returncode == 2
        assert what in done.stderr
    assert (tmp_path / "a.py").read_text() == FIXABLE


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_a_number_of_processes_that_is_none_is_named(codemod: Command, number: str) -> None:
    done = codemod("migrate", ".", f"-j{number}")
    assert done.returncode == 2
    assert f"a number of processes is needed, at least 1, not '{number}'" in done.stderr


def test_the_version_is_that_of_the_package(codemod: Command) -> None:
    from bridge._version import __version__

    done = codemod("--version")
    assert (done.returncode, done.stdout) == (0, f"codemod {__version__}\n")


def test_a_file_of_python_2_is_told_the_way(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import tensorflow as tf\nprint 'a'\n")
    done = codemod("migrate", "a.py")
    assert done.returncode == 2
    assert "--py2 converts it first" in done.stderr


def test_an_html_report_is_written(codemod: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FIXABLE)
    assert codemod("migrate", ".", "--report", "report.html").returncode == 0
    assert "tensorflow.compat.v1" in (tmp_path / "report.html").read_text()


def test_the_machine_without_tensorflow_gets_the_same_text(codemod: Command, tmp_path: Path) -> None:
    """`-S` leaves the installed packages out; those that the codemod needs are put back by path."""
    import libcst
    import pathspec

    (tmp_path / "a.py").write_text(FIXABLE + HAND.partition("\n")[2])
    for module in (libcst, pathspec):
        name = Path(str(module.__file__)).parent
        (tmp_path / name.name).symlink_to(name)
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{tmp_path}"}
    yaml = Path(str(libcst.__file__)).parents[1]
    for name in ("yaml", "yaml_ft", "_yaml_ft.py", "_yaml", "typing_extensions.py", "tomli"):
        if (yaml / name).exists():
            (tmp_path / name).symlink_to(yaml / name)
    command = [sys.executable, "-S", "-m", "codemod", "migrate", "--diff", "a.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "+import tensorflow.compat.v1 as tf" in done.stdout
    assert "tf.contrib.crf.decode does not exist" in done.stdout
