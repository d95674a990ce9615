"""`train_and_evaluate` as real processes: chief, worker, parameter server and evaluator."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.bridge.estimator.support import trained
from tests.bridge.support import saved, saved_steps, scalars

ROOT = Path(__file__).parents[3]
PROGRAM = Path(__file__).with_name("cluster_program.py")

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow]


class Job:
    """The processes of one job."""

    def __init__(self, folder: Path, max_steps: int, *more: str, **tasks: int) -> None:
        self._arguments = [str(folder), str(max_steps), *more]
        sockets = {name: [socket.socket() for _ in range(count)] for name, count in tasks.items()}
        for found in sockets.values():
            for one in found:
                one.bind(("localhost", 0))
        self.cluster = {
            name: [f"localhost:{one.getsockname()[1]}" for one in found] for name, found in sockets.items()
        }
        for found in sockets.values():
            for one in found:
                one.close()
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def start(self, task: str, index: int = 0, meeting: Path | None = None) -> None:
        config = json.dumps({"cluster": self.cluster, "task": {"type": task, "index": index}})
        self.processes[f"{task} {index}"] = subprocess.Popen(
            [
                sys.executable,
                str(PROGRAM),
                *(self._arguments if meeting is None else [*self._arguments[:2], str(meeting)]),
            ],
            cwd=ROOT,
            env={**os.environ, "TF_CONFIG": config, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def result(self, task: str, index: int = 0) -> Any:
        process = self.processes[f"{task} {index}"]
        out, errors = process.communicate(timeout=400)
        assert process.returncode == 0, errors[-3000:]
        return json.loads(out.splitlines()[-1])

    def kill_in_session(self, task: str) -> None:
        """Kills a process once it has a session."""
        process = self.processes[f"{task} 0"]
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"session": task}
        process.kill()
        process.communicate()

    def end(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.communicate()


@pytest.fixture
def jobs() -> Iterator[list[Job]]:
    made: list[Job] = []
    yield made
    for job in made:
        job.end()


def test_a_chief_trains_on_a_parameter_server_and_an_evaluator_evaluates(
    tmp_path: Path, jobs: list[Job]
) -> None:
    job = Job(tmp_path, 7, chief=1, ps=1)
    jobs.append(job)
    for task in ("ps", "chief", "evaluator"):
        job.start(task)
    assert job.result("chief") == {"task": "chief", "devices": ["/job:ps/task:0"] * 2}
    assert job.result("evaluator")["task"] == "evaluator"
    np.testing.assert_allclose(saved(tmp_path, "w"), trained(7, rate=0.05), rtol=1e-5)
    assert saved_steps(tmp_path)[-1] == 7
    evaluated = [step for step, _ in scalars(tmp_path / "eval", "mae")]
    assert evaluated[-1] == 7
    assert evaluated == sorted(set(evaluated))
    assert job.processes["ps 0"].poll() is None  # It serves for as long as it is let.


def test_a_chief_and_a_worker_share_the_steps(tmp_path: Path, jobs: list[Job]) -> None:
    job = Job(tmp_path / "job", 60, str(tmp_path / "met"), chief=1, ps=1, worker=1)
    jobs.append(job)
    for task in ("ps", "chief", "worker"):
        job.start(task)
    assert job.result("chief")["task"] == "chief"
    assert job.result("worker")["devices"] == ["/job:ps/task:0"] * 2
    # One may be in the midst of a step when the last one is reached, and do one more: it may have read the step's number
    # before the other counted.
    assert 60 <= int(saved(tmp_path / "job", "global_step")) <= 62


def test_a_worker_and_an_evaluator_that_are_killed_are_started_again(tmp_path: Path, jobs: list[Job]) -> None:
    job = Job(tmp_path / "job", 40, str(tmp_path / "met"), chief=1, ps=1, worker=1)
    jobs.append(job)
    for task in ("ps", "chief", "evaluator"):
        job.start(task)
    job.start("worker", meeting=tmp_path / "elsewhere")  # The chief waits for the second one.
    for task in ("worker", "evaluator"):
        job.kill_in_session(task)
        job.start(task)
    assert {job.result(task)["task"] for task in ("chief", "worker", "evaluator")} == {
        "chief",
        "worker",
        "evaluator",
    }
    assert 40 <= saved_steps(tmp_path / "job")[-1] <= 42
    evaluated = [step for step, _ in scalars(tmp_path / "job" / "eval", "mae")]
    assert evaluated[-1] == saved_steps(tmp_path / "job")[-1]


def test_a_chief_that_is_killed_goes_on_from_its_last_checkpoint(tmp_path: Path, jobs: list[Job]) -> None:
    job = Job(tmp_path / "job", 9, chief=1, ps=1)
    jobs.append(job)
    for task in ("ps", "chief"):
        job.start(task, meeting=tmp_path / "never")
    job.kill_in_session("chief")
    assert saved_steps(tmp_path / "job") == [0]
    job.start("chief")
    assert job.result("chief")["task"] == "chief"
    np.testing.assert_allclose(saved(tmp_path / "job", "w"), trained(9, rate=0.05), rtol=1e-5)
