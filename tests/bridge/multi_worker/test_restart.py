"""A process of a job is killed in the middle of the training: the others end, and a new start goes on exactly."""

from __future__ import annotations

import functools
import importlib.util
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.multi_worker import jobs

pytestmark = pytest.mark.multiprocess

STEPS = list(range(18))
SAVED = 8  # The newest checkpoint when the worker is killed in the tenth step.

without_tf_keras = pytest.mark.skipif(importlib.util.find_spec("tf_keras") is None, reason="no tf_keras")


@functools.cache
def undisturbed(flavour: str) -> list[dict[str, Any]]:
    """What the workers of a job say that nobody kills."""
    with tempfile.TemporaryDirectory() as directory:
        return jobs.finished("restart_program.py", flavour, directory)


@pytest.mark.parametrize("flavour", ["keras", pytest.param("tf_keras", marks=without_tf_keras)])
def test_all_workers_of_a_monitored_session_end_alike_and_only_the_chief_writes(flavour: str) -> None:
    chief, other = undisturbed(flavour)
    assert chief["seen"] == other["seen"] == STEPS
    assert chief["weights"] == other["weights"]
    assert chief["optimizer"] == other["optimizer"]
    events = [name for name in chief["wrote"] if "tfevents" in name]
    assert len(events) == 1
    assert "model.ckpt-18.index" in chief["wrote"]


@pytest.mark.parametrize(
    ("flavour", "victim"),
    [("keras", 0), ("keras", 1), pytest.param("tf_keras", 0, marks=without_tf_keras)],
)
def test_a_killed_worker_ends_the_job_with_the_remedy_and_the_next_start_equals_a_job_never_killed(
    tmp_path: Path, flavour: str, victim: int
) -> None:
    with jobs.running("restart_program.py", flavour, str(tmp_path), "SIGKILL", str(victim), "9") as job:
        results = job.wait()
    killed, survivor = results[victim], results[1 - victim]
    assert killed.status == -signal.SIGKILL
    assert survivor.status == 1
    last_line = survivor.errors.strip().splitlines()[-1]
    assert last_line.startswith("bridge.errors.WorkerLostError: Another process of this job is gone")
    assert "start all processes of the job again: they go on from the newest checkpoint" in last_line

    resumed = jobs.finished("restart_program.py", flavour, str(tmp_path))
    for again, whole in zip(resumed, undisturbed(flavour), strict=True):
        assert again["seen"] == STEPS[SAVED:]
        assert again["weights"] == whole["weights"]
        assert again["optimizer"] == whole["optimizer"]


def test_sigterm_to_one_worker_stops_all_after_the_same_step_and_the_chief_saves_it(tmp_path: Path) -> None:
    """All leave with its status, so that what starts jobs again starts all of them, and nobody exports half a model."""
    with jobs.running("restart_program.py", "keras", str(tmp_path), "SIGTERM", "1", "9") as job:
        results = job.wait()
    for result in results:
        assert result.status == 128 + signal.SIGTERM, result.errors[-3000:]
        assert result.said["seen"] == STEPS[:10]
    assert "Another worker has got SIGTERM" in results[0].errors
    assert "model.ckpt-10.index" in results[0].said["wrote"]
