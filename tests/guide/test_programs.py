"""The guide's programs: `after/` is what the codemod makes of `before/`, and both train to what TensorFlow 1.15.5 did."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.codemod import scripts_support
from tests.codemod.scripts_support import Script, ScriptFailedError, ScriptServer
from tests.guide import programs

PAGE = (programs.ROOT / "migration_guide" / "examples.md").read_text("utf-8")


def parameters() -> list[Any]:
    return [
        pytest.param(
            program,
            id=program.name,
            marks=[pytest.mark.slow] * program.slow + [pytest.mark.multiprocess] * bool(program.cluster),
        )
        for program in programs.PROGRAMS
    ]


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptServer]:
    server = ScriptServer()
    yield server
    server.close()


def assert_the_result_of_tensorflow_1(program: Script, result: Any) -> None:
    expected = programs.results()[program.name]
    assert list(scripts_support.differences(result, expected, rtol=program.rtol)) == []


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder with the migrated copies, and the process that has finished."""
    folder = tmp_path_factory.mktemp("guide") / "after"
    return folder, programs.migrate(folder)


def test_after_is_what_the_codemod_makes_of_before(migrated: Any) -> None:
    folder, done = migrated
    assert done.returncode == 0, done.stderr
    assert programs.files(folder) == programs.files(programs.AFTER) == programs.files(programs.BEFORE)
    for path in programs.files(folder):
        remedy = "python -m tests.guide.make_after writes after/ anew"
        assert (folder / path).read_bytes() == (programs.AFTER / path).read_bytes(), f"{path}: {remedy}"


@pytest.mark.parametrize("program", parameters())
def test_before_runs_with_its_import_line_swapped_or_says_what_is_gone(
    program: Script, tmp_path: Path, server: ScriptServer
) -> None:
    code, work = tmp_path / "code", tmp_path / "work"
    scripts_support.copy_code(program, code)
    scripts_support.swap_imports(code)
    if program.cannot_swap is None:
        result = scripts_support.run(program, code, work, [sys.executable], server)
        assert_the_result_of_tensorflow_1(program, result)
    else:
        with pytest.raises(ScriptFailedError) as failure:
            scripts_support.run(program, code, work, [sys.executable], server)
        assert re.search(program.cannot_swap, failure.value.last_line), failure.value


@pytest.mark.parametrize("program", parameters())
def test_after_runs_to_the_result_that_tensorflow_1_had(
    program: Script, tmp_path: Path, server: ScriptServer
) -> None:
    # Which Keras `tf.keras` is gets decided before TensorFlow is imported.
    source = programs.AFTER / program.source.name
    fresh = source.is_file() and "legacy_keras" in source.read_text("utf-8")
    result = scripts_support.run(
        program, programs.AFTER, tmp_path / "work", [sys.executable], None if fresh else server
    )
    assert_the_result_of_tensorflow_1(program, result)


def test_the_table_and_the_folder_name_the_same_programs() -> None:
    names = {path.stem for path in programs.BEFORE.iterdir() if path.name != "__pycache__"}
    assert names == {program.name for program in programs.PROGRAMS} == set(programs.results())


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda program: program.name)
def test_the_page_shows_each_program_and_its_result(program: Script) -> None:
    section = PAGE.partition(f"\n## {program.name}\n")[2].partition("\n## ")[0]
    result = programs.results()[program.name]
    assert program.shape in section
    assert f"step {result['step']}, loss {result['loss']:.4g}" in section
    if program.source.suffix == ".py":
        for folder in ("before", "after"):
            assert f'\n    --8<-- "examples/{folder}/{program.name}.py"\n' in section


def test_the_difference_of_the_notebook_is_that_of_its_files() -> None:
    shown = re.findall(r"^([-+])(.*)$", PAGE.partition("\n## rings\n")[2], re.MULTILINE)
    texts = {"-": programs.BEFORE, "+": programs.AFTER}
    for sign, line in shown:
        assert line in (texts[sign] / "rings.ipynb").read_text("utf-8"), line
    assert len(shown) == 9
