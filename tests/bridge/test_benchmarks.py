"""The benchmark command runs and writes what it says; its numbers are not judged here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", *arguments],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.multiprocess
def test_the_quickest_measurement_gives_a_table_and_a_file(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    done = command("mlp", "--quick", "--rounds", "1", "--only", "steps", "--json", str(file))
    assert done.returncode == 0, done.stderr[-3000:]
    written = json.loads(file.read_text())
    assert {"tensorflow", "keras", "python", "cpus", "figures", "rounds"} <= set(written)

    (measured,) = written["rounds"]
    assert (measured["measure"], measured["workload"]) == ("a step, ms", "mlp")
    variants = {"plain fit", "no hook", "monitored", "five hooks", "twenty hooks", "v1 session"}
    for samples in (measured["samples"], measured["cpu"]):
        assert set(samples) == variants
        assert all(len(values) == 1 and values[0] > 0 for values in samples.values())

    figures = written["figures"]
    assert {figure["variant"] for figure in figures} == variants
    for figure in figures:
        assert figure["median"] == measured["samples"][figure["variant"]][0]
        assert (figure["against"] is None) == (figure["variant"] == "plain fit")
        if figure["against"]:
            assert figure["low"] == figure["ratio"] == figure["high"] > 0
            assert figure["met"] in ((None,) if figure["target"] is None else (True, False))
    assert ("five hooks", "v1 session") in {(figure["variant"], figure["against"]) for figure in figures}

    assert "mlp: a step, ms" in done.stdout
    assert all(variant in done.stdout for variant in variants)
    judged = sum(figure["met"] is not None for figure in figures)
    assert f" of {judged} targets met." in done.stdout


@pytest.mark.multiprocess
def test_an_unknown_network_is_refused_with_the_known_ones() -> None:
    done = command("vgg")
    assert done.returncode == 2
    assert "no network named vgg; there are mlp, cnn, lstm" in done.stderr
