"""Hooks in real processes under MultiWorkerMirroredStrategy, on tf_keras (Keras 3's own fit does not run there)."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("tf_keras")

PROGRAM = pathlib.Path(__file__).with_name("multi_worker_program.py")
ROOT = PROGRAM.parents[2]


def free_ports() -> list[str]:
    with socket.socket() as first, socket.socket() as second:
        for listener in (first, second):
            listener.bind(("127.0.0.1", 0))
        return [str(listener.getsockname()[1]) for listener in (first, second)]


def run_job(mode: str) -> list[dict[str, Any]]:
    """Runs both workers to their end; returns what each printed."""
    ports = free_ports()
    workers = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), str(task), *ports, mode],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for task in (0, 1)
    ]
    try:
        results = [worker.communicate(timeout=240) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    for worker, (_, errors) in zip(workers, results, strict=True):
        assert worker.returncode == 0, errors[-3000:]
    return [json.loads(output.splitlines()[-1]) for output, _ in results]


@pytest.mark.multiprocess
def test_chief_only_hooks_run_on_worker_0_alone_and_training_is_that_of_a_plain_fit() -> None:
    plain, hooked = run_job("plain"), run_job("hooked")
    for before, after in zip(plain, hooked, strict=True):
        assert after["loss"] == before["loss"]
        assert after["weights"] == before["weights"]
        assert after["everywhere"] == list(range(8))
    assert hooked[0]["weights"] == hooked[1]["weights"]
    assert hooked[0]["on_chief"] == list(range(8))
    assert hooked[1]["on_chief"] == []
