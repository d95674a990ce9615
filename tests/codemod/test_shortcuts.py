"""What saves time changes nothing: each short way comes to what the long way comes to."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from codemod import run
from codemod.discover import Found
from codemod.layout import LINE_END, Layout
from codemod.names import walked
from codemod.proposals import Restated
from codemod.rules import all_rules
from codemod.settings import Settings
from tests.codemod.conftest import ROOT
from tests.codemod.test_cases import CASES, migrate

INPUTS = sorted(CASES.rglob("*.in.py"))
PLAIN = "from tensorflow.python.training import session_run_hook\n"


def test_there_are_texts_to_compare_on() -> None:
    assert len(INPUTS) > 50


def test_imports_become_the_same_with_a_tree_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = {path: migrate(path, path.read_bytes().decode()).text for path in INPUTS}
    monkeypatch.setattr(Restated, "fits", lambda *_: False)
    asked = {path: migrate(path, path.read_bytes().decode()).text for path in INPUTS}
    assert quick == asked


@pytest.mark.parametrize(
    "line",
    [
        "from tensorflow import flags, placeholder",
        "from tensorflow import flags, placeholder as p  # noqa",
        "from tensorflow import (flags, placeholder)",
        "from tensorflow import (\n    flags,  # why\n    placeholder,\n)",
        "from tensorflow import flags, placeholder; x = 1",
        "x = 1; from tensorflow import flags, placeholder",
        "from  tensorflow  import flags,placeholder   ",
        "from tensorflow import flags, \\\n    placeholder",
        "from tensorflow.python.training import session_run_hook, training_util",
        "from tensorflow.python.training import session_run_hook  # pylint: disable=unused-import",
        "from tensorflow.contrib import layers, slim\nlayers.fully_connected(x)\nslim.conv2d(x)",
        "from tensorflow.contrib.layers import fully_connected, gone\nfully_connected(x)",
    ],
)
@pytest.mark.parametrize("frame", ["{}\n", "def f():\n    {}\n", "def f():\n    {}\n    return 1\n", "{}"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_import_becomes_the_same_however_it_is_written(
    line: str, frame: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    indent = "\n    " if frame.startswith("def") else "\n"
    body = f"{line}\nclass Hook(session_run_hook.SessionRunHook): pass\nprint(flags.FLAGS, p, placeholder(1))"
    text = frame.format(body.replace("\n", indent)).replace("\n", end)
    quick = migrate(Path("x.py"), text)
    monkeypatch.setattr(Restated, "fits", lambda *_: False)
    assert migrate(Path("x.py"), text) == quick


def test_a_rule_is_asked_exactly_where_its_trigger_matches() -> None:
    for path in INPUTS:
        text, known = path.read_bytes().decode(), dict[str, bool]()
        for rule in all_rules():
            assert rule.concerns(text, known) == bool(rule.trigger.search(text)), (
                f"{rule.name} on {path.name}"
            )


@pytest.mark.parametrize(
    "text", ["decay_rate", "my_lr", "epsilon", "lrs", "x.compiled()", "x.compile()", "fit_generators"]
)
def test_a_word_in_part_is_no_match(text: str) -> None:
    for rule in all_rules():
        assert rule.concerns(text, {}) == bool(rule.trigger.search(text)), rule.name


def test_a_tree_is_walked_as_ast_walks_it() -> None:
    small = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
    for path in INPUTS:
        tree = ast.parse(path.read_bytes())
        assert walked(tree) == [node for node in ast.walk(tree) if not isinstance(node, small)]


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\n\nb", "a\r\nb\n", "a\rb\r", "a\fb\x1c\x85\u2028c\n\n"])
def test_lines_start_behind_line_ends(text: str) -> None:
    assert Layout(text).starts == [0, *(match.end() for match in LINE_END.finditer(text))]


def test_no_tree_is_made_for_a_file_where_only_names_and_imports_change() -> None:
    text = f"import tensorflow as tf\n{PLAIN}class A(session_run_hook.SessionRunHook):\n  x = tf.placeholder(1)\n"
    program = (
        "import sys\nfrom codemod.migrate import migrate_text\nfrom codemod.settings import Settings\n"
        "done = migrate_text('x.py', sys.stdin.read(), Settings())\n"
        "assert 'tf.train.SessionRunHook' in done.text and 'session_run_hook' not in done.text, done.text\n"
        "print('libcst' in sys.modules)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_with_several_workers_large_files_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"a.py": 10, "b.py": 3000, "c.py": 200}
    for name, size in sizes.items():
        (tmp_path / name).write_text("#" * size)
    given: list[str] = []

    class Pool:
        def __init__(self, *_: object) -> None:
            pass

        def run(self, waiting: list[tuple[str, None]]) -> list[run.Outcome]:
            given.extend(Path(path).name for path, _ in waiting)
            return []

    monkeypatch.setattr(run, "_Pool", Pool)
    found = [Found(str(tmp_path / name)) for name in (*sizes, "gone.py")]
    run.run(found, run.Job(Settings()), workers=2)
    run.run(found, run.Job(Settings()), workers=1)
    assert given == ["b.py", "c.py", "a.py", "gone.py", "a.py", "b.py", "c.py", "gone.py"]
