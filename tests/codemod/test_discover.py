"""Which files are looked at, which are not, and why."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codemod.discover import discover


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("x = 1\n")


def found(*paths: str, **options: object) -> list[str]:
    return [item.path for item in discover(paths or ["."], **options) if not item.reason]  # type: ignore[arg-type]


def test_python_files_and_notebooks_are_found_and_nothing_else() -> None:
    make("a.py", "b/c.ipynb", "b/d.txt", "e.pyc")
    assert found() == ["a.py", "b/c.ipynb"]


def test_environments_and_build_output_are_left_out() -> None:
    make("a.py", ".venv/x.py", "build/x.py", "node_modules/x.py", "b/__pycache__/x.py", ".git/x.py")
    assert [Path(p).name for p in found()] == ["a.py"]


def test_gitignore_counts_in_every_folder_and_can_be_taken_back() -> None:
    subprocess.run(["git", "init", "-q"], check=True)
    make("a.py", "gen/b.py", "gen/keep.py", "deep/c.py", "deep/d.py")
    Path(".gitignore").write_text("gen/*\n!gen/keep.py\n")
    Path("deep/.gitignore").write_text("c.py\n")
    assert sorted(Path(p).name for p in found()) == ["a.py", "d.py", "keep.py"]
    assert len(found(respect_gitignore=False)) == 5
    assert [Path(p).name for p in found("deep")] == ["d.py"]


def test_excluded_patterns_are_left_out() -> None:
    make("a.py", "old/b.py", "c_pb2.py")
    assert [Path(p).name for p in found(excludes=["old/", "*_pb2.py"])] == ["a.py"]


def test_a_file_named_on_the_command_line_is_always_looked_at() -> None:
    make("build/x.py", "script")
    assert found("build/x.py", "script") == ["build/x.py", "script"]


def test_a_file_is_found_once() -> None:
    make("a/b.py")
    assert len(found("a", "a/b.py", "a")) == 1


def test_folders_called_like_files_are_walked() -> None:
    make("x.py/a.py")
    assert [Path(p).name for p in found()] == ["a.py"]


def test_links_are_followed_to_files_inside_only(tmp_path: Path) -> None:
    make("tree/a.py", "outside.py")
    Path("tree/in.py").symlink_to("a.py")
    Path("tree/out.py").symlink_to("../outside.py")
    Path("tree/dead.py").symlink_to("nowhere.py")
    Path("tree/circle").symlink_to("../tree")
    items = {Path(item.path).name: item for item in discover(["tree"])}
    assert "out of the tree" in items["out.py"].reason
    assert "nowhere" in items["dead.py"].reason
    assert not items["a.py"].reason
    assert "circle" not in items


def test_what_does_not_exist_is_a_failure() -> None:
    [item] = discover(["missing.py"])
    assert item.failed
    assert item.reason == "no such file or folder"


def test_a_folder_that_is_named_is_looked_at_though_git_ignores_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/out/\n*_gen.py\n")
    code = tmp_path / "out" / "code"
    code.mkdir(parents=True)
    (code / "a.py").write_text("x = 1\n")
    (code / ".gitignore").write_text("b.py\n")
    (code / "b.py").write_text("x = 1\n")
    assert [Path(item.path).name for item in discover([str(code)])] == ["a.py"]
    assert [Path(item.path).name for item in discover([str(tmp_path)])] == []
