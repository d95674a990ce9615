"""TensorFlow 1 programs, run on today's TensorFlow before and after the migration: the same last step and the same loss.

The programs are in `tests/cases/scripts/` and `tests/cases/estimator_scripts/`; `scripts_table.py` says what each stands for, and
what TensorFlow 1.15.5 made of them is in `golden.json` beside them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.codemod import scripts_support
from tests.codemod.scripts_support import Script, ScriptFailedError, ScriptServer
from tests.codemod.scripts_table import SCRIPTS

pytestmark = pytest.mark.oracle


def _parameters(chosen: Callable[[Script], bool] = lambda _: True) -> list[Any]:
    parameters = []
    for script in filter(chosen, SCRIPTS):
        marks = [pytest.mark.slow] * script.slow + [pytest.mark.multiprocess] * bool(script.cluster)
        parameters.append(pytest.param(script, id=script.name, marks=marks))
    return parameters


def _is_safe(script: Script) -> bool:
    return not script.unsafe


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptServer]:
    server = ScriptServer()
    yield server
    server.close()


WAYS = {
    "safe": [],
    "unsafe": ["--unsafe-fixes"],
    "loops kept": ["--loops", "keep"],
    "explicit": ["--style", "explicit"],
}


class Migrations:
    """Copies of all programs, migrated once for each way of running the codemod that a test asks for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def code(self, script: Script, way: str) -> Path:
        """The folder with the migrated script in it."""
        folder = self._folder / way
        if not folder.exists():
            for each in SCRIPTS:
                scripts_support.copy_code(each, folder / each.folder)
            done = subprocess.run(
                [sys.executable, "-m", "codemod", "migrate", "--allow-dirty", *WAYS[way], str(folder)],
                cwd=scripts_support.ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
            # 1: something is left for a human; 2: a file that could not be processed.
            assert done.returncode in (0, 1), done.stderr
        return folder / script.folder

    def are_the_same(self, script: Script, *ways: str) -> bool:
        """Whether these ways make the same of the script."""
        texts = []
        for way in ways:
            copy = self.code(script, way) / script.source.name
            texts.append(
                {path.relative_to(copy): path.read_bytes() for path in sorted(copy.rglob("*.py"))}
                if copy.is_dir()
                else copy.read_bytes()
            )
        return all(text == texts[0] for text in texts)


@pytest.fixture(scope="module")
def migrations(tmp_path_factory: pytest.TempPathFactory) -> Migrations:
    return Migrations(tmp_path_factory.mktemp("migrated"))


def _assert_golden(script: Script, result: dict[str, Any], leave_out: set[str]) -> None:
    expected = scripts_support.golden(script.folder)[script.name]
    assert set(result) == set(expected)
    compared = [
        {key: value for key, value in each.items() if key not in leave_out} for each in (result, expected)
    ]
    assert {"step", "loss"} <= set(compared[1])
    assert list(scripts_support.differences(*compared, rtol=script.rtol)) == []


@pytest.mark.parametrize("script", _parameters())
def test_with_only_its_import_line_swapped(script: Script, tmp_path: Path, server: ScriptServer) -> None:
    code = tmp_path / "code"
    scripts_support.copy_code(script, code)
    scripts_support.swap_imports(code)
    if script.cannot_swap is None:
        result = scripts_support.run(script, code, tmp_path / "work", [sys.executable], server)
        _assert_golden(script, result, leave_out=set())
    else:
        with pytest.raises(ScriptFailedError) as failure:
            scripts_support.run(script, code, tmp_path / "work", [sys.executable], server)
        assert re.search(script.cannot_swap, failure.value.last_line), failure.value


def _run_migrated(
    script: Script, way: str, tmp_path: Path, server: ScriptServer, migrations: Migrations
) -> None:
    code = migrations.code(script, way)
    fresh = _chooses_its_keras(code / script.source.name)
    result = scripts_support.run(script, code, tmp_path / "work", [sys.executable], None if fresh else server)
    _assert_golden(script, result, leave_out=set(script.differs))


@pytest.mark.parametrize("script", _parameters(_is_safe))
def test_migrated(script: Script, tmp_path: Path, server: ScriptServer, migrations: Migrations) -> None:
    _run_migrated(script, "safe", tmp_path, server, migrations)


@pytest.mark.parametrize("script", _parameters())
def test_migrated_with_unsafe_fixes(
    script: Script, tmp_path: Path, server: ScriptServer, migrations: Migrations
) -> None:
    # Where the text is that of the safe fixes, it has just been run.
    if script.unsafe or not migrations.are_the_same(script, "safe", "unsafe"):
        _run_migrated(script, "unsafe", tmp_path, server, migrations)


@pytest.mark.parametrize("script", _parameters(_is_safe))
def test_migrated_with_its_loops_kept(
    script: Script, tmp_path: Path, server: ScriptServer, migrations: Migrations
) -> None:
    if not migrations.are_the_same(script, "safe", "loops kept"):
        _run_migrated(script, "loops kept", tmp_path, server, migrations)


@pytest.mark.slow
@pytest.mark.parametrize("script", _parameters(_is_safe))
def test_migrated_in_the_explicit_style(
    script: Script, tmp_path: Path, server: ScriptServer, migrations: Migrations
) -> None:
    _run_migrated(script, "explicit", tmp_path, server, migrations)


def _chooses_its_keras(code: Path) -> bool:
    """Which Keras `tf.keras` is gets decided before TensorFlow is imported: not in a fork that has imported it."""
    files = [code, *code.rglob("*.py")] if code.is_dir() else [code]
    return any(b"legacy_keras" in path.read_bytes() for path in files if path.is_file())


@pytest.mark.parametrize("script", _parameters())
def test_every_program_has_a_golden_value(script: Script) -> None:
    result = scripts_support.golden(script.folder)[script.name]
    assert {"step", "loss"} <= set(result)


def test_the_table_and_the_folders_name_the_same_programs() -> None:
    for folder in {script.folder for script in SCRIPTS}:
        files = {path.stem for path in (scripts_support.CASES / folder).iterdir()}
        assert files - {"golden", "__pycache__"} == {
            script.name for script in SCRIPTS if script.folder == folder
        }


def test_a_program_without_a_result_is_a_failure(tmp_path: Path, server: ScriptServer) -> None:
    script = Script("bare_loop", "")
    code = tmp_path / "code"
    code.mkdir()
    (code / "bare_loop.py").write_text("print('no JSON')\n")
    with pytest.raises(ScriptFailedError, match="no JSON"):
        scripts_support.run(script, code, tmp_path / "work", [sys.executable], server)


def test_a_program_that_raises_is_a_failure_with_its_last_line(tmp_path: Path, server: ScriptServer) -> None:
    script = Script("bare_loop", "")
    code = tmp_path / "code"
    code.mkdir()
    (code / "bare_loop.py").write_text("raise ValueError('so it ends')\n")
    with pytest.raises(ScriptFailedError) as failure:
        scripts_support.run(script, code, tmp_path / "work", [sys.executable], server)
    assert failure.value.last_line == "ValueError: so it ends"


def test_values_are_equal_within_the_tolerance_only() -> None:
    expected = {"step": 3, "loss": 1.0, "tags": ["a"], "flag": True}
    assert list(scripts_support.differences({**expected, "loss": 1.000001}, expected, rtol=1e-5)) == []
    for wrong in (
        {**expected, "loss": 1.0001},
        {**expected, "step": 4},
        {**expected, "step": 3.0},
        {**expected, "tags": ["a", "b"]},
        {**expected, "flag": 1},
        {**expected, "more": 1},
        {key: value for key, value in expected.items() if key != "tags"},
    ):
        assert len(list(scripts_support.differences(wrong, expected, rtol=1e-5))) == 1
