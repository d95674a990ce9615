"""Legacy graphs with a parameter server, a chief and a worker, each a process, under the bridge's session."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import bridge
from tests.bridge.support import saved, saved_steps

tf1 = tf.compat.v1

pytestmark = pytest.mark.multiprocess

PROGRAM = Path(__file__).with_name("job_program.py")
ROOT = PROGRAM.parents[3]
TIMEOUT = 300  # Far more than a job takes; a job that hangs must end.


def free_ports(count: int) -> list[str]:
    with ExitStack() as listeners:
        sockets = [listeners.enter_context(closing(socket.socket())) for _ in range(count)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [str(listener.getsockname()[1]) for listener in sockets]


class Job:
    """The processes of one job."""

    def __init__(self, folder: Path, kind: str, last_step: int) -> None:
        self._folder, self._kind, self._last_step = folder, kind, last_step
        self._ports = free_ports(3)
        self._started: list[subprocess.Popen[str]] = []

    def start(self, task: str) -> subprocess.Popen[str]:
        arguments = [self._kind, task, str(self._last_step), str(self._folder / task), *self._ports]
        with self._log(task).open("w") as log:
            process = subprocess.Popen(
                [sys.executable, str(PROGRAM), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "1"},
            )
        self._started.append(process)
        return process

    def tell(self, process: subprocess.Popen[str]) -> None:
        """Lets a chief begin."""
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()

    def wait_until_it_waits(self, process: subprocess.Popen[str]) -> None:
        """Returns once the process has found the variables uninitialised, and has gone to sleep."""
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, self._log("worker").read_text()[-3000:]
        assert json.loads(line) == {"waits": 30}  # Seconds of TensorFlow's own clock.

    def result(self, process: subprocess.Popen[str], task: str) -> dict[str, Any]:
        output, _ = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 0, self._log(task).read_text()[-3000:]
        return json.loads(output.splitlines()[-1])

    def kill(self) -> None:
        for process in self._started:
            process.kill()
        for process in self._started:
            process.communicate()

    def _log(self, task: str) -> Path:
        return self._folder / f"{task}.log"


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Any]:
    made: list[Job] = []

    def make(kind: str, last_step: int) -> Job:
        made.append(Job(tmp_path, kind, last_step))
        return made[-1]

    try:
        yield make
    finally:
        for job in made:
            job.kill()


def run(job: Job) -> tuple[dict[str, Any], dict[str, Any]]:
    """Runs a job whose worker is ready before the chief; returns what chief and worker saw."""
    _, worker, chief = [job.start(task) for task in ("ps", "worker", "chief")]
    job.wait_until_it_waits(worker)
    job.tell(chief)
    return job.result(chief, "chief"), job.result(worker, "worker")


def test_chief_and_worker_resume_a_job_on_the_parameter_server_and_end_at_the_last_step(
    jobs: Any, tmp_path: Path
) -> None:
    with tf.Graph().as_default():  # The job so far, in one process.
        step, weight = tf1.train.get_or_create_global_step(), tf1.get_variable("weight", initializer=0.0)
        train_op = tf.group(step.assign_add(1), weight.assign(2.0))
        with bridge.MonitoredTrainingSession(checkpoint_dir=str(tmp_path / "chief")) as session:
            for _ in range(6):
                session.run(train_op)
    chief, worker = run(jobs("plain", 30))
    assert chief["devices"] == worker["devices"] == ["/job:ps/task:0"]
    # Each ends when it sees the last step; the other may be within one more step then.
    for task in (chief, worker):
        assert 30 <= task["last"] <= 31
    assert chief["runs"] + worker["runs"] == max(chief["last"], worker["last"]) - 6
    assert (chief["runs_on_chief"], worker["runs_on_chief"]) == (chief["runs"], 0)
    assert not (tmp_path / "worker").exists()
    assert saved_steps(tmp_path / "chief")[-1] == chief["last"]
    # Each step goes a quarter of the way from 2 to 4.
    assert saved(tmp_path / "chief", "weight") == pytest.approx(4.0, abs=0.01)


def test_replicas_in_step_end_at_the_same_step_with_the_same_weights(jobs: Any, tmp_path: Path) -> None:
    chief, worker = run(jobs("sync", 20))
    assert chief["last"] == worker["last"] == chief["runs"] == worker["runs"] == 20
    # A step takes the mean of two gradients, and goes a quarter of the way from 0 to 4.
    assert chief["weight"] == worker["weight"] == pytest.approx(4 - 4 * 0.75**20)
    assert saved(tmp_path / "chief", "weight") == chief["weight"]
    assert saved_steps(tmp_path / "chief")[-1] == 20
    assert (chief["runs_on_chief"], worker["runs_on_chief"]) == (chief["runs"], 0)
    assert not (tmp_path / "worker").exists()
