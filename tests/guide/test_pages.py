"""The Python on the guide's pages runs, each page as one program."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import keras
import numpy as np
import pytest

GUIDE = pathlib.Path(__file__).parents[2] / "migration_guide"


def blocks(page: pathlib.Path) -> list[str]:
    """The unindented Python blocks of a page, which are meant to run; indented ones are fragments."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", sorted(p.name for p in GUIDE.glob("*.md") if blocks(p)))
def test_the_python_of_a_page_runs_from_top_to_bottom(page: str) -> None:
    namespace: dict[str, Any] = {"__name__": page}
    for code in blocks(GUIDE / page):
        exec(compile(code, page, "exec"), namespace)


def test_the_page_about_hooks_has_python_to_run() -> None:
    assert len(blocks(GUIDE / "hooks.md")) > 3


def test_no_formatter_has_taken_an_inclusion_for_python() -> None:
    # `--8<--` parses as Python; only a fence with braces (``` { .python }) is safe from being laid out.
    for page in GUIDE.glob("*.md"):
        assert not re.search(r"--8 +<|< +--", page.read_text(encoding="utf-8")), page.name


def test_the_example_of_the_readme_runs(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    (code,) = blocks(GUIDE.parent / "README.md")
    exec(code, {"model": model, "x": np.ones((64, 3)), "y": np.ones(64)})
    assert int(model.optimizer.iterations.numpy()) == 22
    assert (tmp_path / "run" / "model.ckpt-20.index").exists()
