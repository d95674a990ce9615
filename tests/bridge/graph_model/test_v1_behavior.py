"""Whole legacy scripts with `disable_v2_behavior()`, in processes of their own, stopped and resumed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("legacy_program.py")
ROOT = PROGRAM.parents[3]


def run(folder: Path, steps: int, *arguments: str) -> tuple[dict[str, Any], str]:
    """Runs the program; returns its result, and what it printed."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), str(steps), *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stdout


@pytest.mark.slow
@pytest.mark.multiprocess
@pytest.mark.parametrize("kind", [[], ["hook"]], ids=["GraphModel", "CallbackHook"])
def test_a_v1_script_trains_under_keras_callbacks_and_resumes_in_its_epoch(
    tmp_path: Path, kind: list[str]
) -> None:
    first, printed = run(tmp_path, 6, *kind)
    assert first["epochs"] == [0, 1]
    # The loss counts the steps of a process; the rate is the epoch's number, from 1.
    assert first["history"]["loss"] == [2.5, 5.5]
    assert first["history"]["learning_rate"] == [1.0, 2.0]
    assert (first["step"], first["weight"]) == (6, 4 * 1.0 + 2 * 2.0)
    if not kind:
        assert "Epoch 2/100" in printed
        assert "2/4" in printed

    second, _ = run(tmp_path, 6, *kind)
    assert second["epochs"] == [1, 2]
    assert second["history"]["loss"] == [1.5, 4.5]
    assert second["history"]["learning_rate"] == [2.0, 3.0]
    assert (second["step"], second["weight"]) == (12, 8.0 + 2 * 2.0 + 4 * 3.0)

    assert [line.split(",")[0] for line in (tmp_path / "log.csv").read_text().splitlines()] == [
        *["epoch", "0", "1"],
        *["1", "2"],
    ]
    assert (tmp_path / "w.weights.h5").exists()
    assert list((tmp_path / "board" / "train").glob("events*"))
