"""Starts the processes of one job on this machine, and collects what they print."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]


def free_addresses(count: int) -> list[str]:
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{listener.getsockname()[1]}" for listener in listeners]


class Job:
    """The worker processes of one job."""

    def __init__(self, program: str, *arguments: str, workers: int = 2) -> None:
        addresses = free_addresses(workers)
        self.processes = [
            subprocess.Popen(
                [sys.executable, str(HERE / program), *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=ROOT,
                env={
                    **os.environ,
                    "PYTHONPATH": str(ROOT),
                    "TF_CPP_MIN_LOG_LEVEL": "3",
                    "TF_CONFIG": json.dumps(
                        {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": task}}
                    ),
                },
            )
            for task in range(workers)
        ]

    def wait(self, timeout: float = 300) -> list[Result]:
        """Returns what each worker left, in order."""
        return [Result(process, *process.communicate(timeout=timeout)) for process in self.processes]

    def kill(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()


class Result:
    """What a worker process left."""

    def __init__(self, process: subprocess.Popen[str], output: str, errors: str) -> None:
        self.status = process.returncode
        self.errors = errors
        lines = [line for line in output.splitlines() if line.startswith("{")]
        self.said: dict[str, Any] = json.loads(lines[-1]) if lines else {}


@contextlib.contextmanager
def running(program: str, *arguments: str, workers: int = 2) -> Iterator[Job]:
    """A job that is killed at the latest when the context ends."""
    job = Job(program, *arguments, workers=workers)
    try:
        yield job
    finally:
        job.kill()


def finished(program: str, *arguments: str, workers: int = 2) -> list[dict[str, Any]]:
    """Runs a job to its end; returns what each worker said."""
    with running(program, *arguments, workers=workers) as job:
        results = job.wait()
    for result in results:
        assert result.status == 0, result.errors[-3000:]
    return [result.said for result in results]
