"""The example of two workers: what it prints."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.multiprocess
@pytest.mark.parametrize("flavour", ["keras", "tf_keras"])
def test_two_workers_end_alike_and_the_chief_alone_writes(flavour):
    done = subprocess.run(
        [sys.executable, str(ROOT / "migration_guide" / "examples" / "workers.py"), flavour],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines() == [
        "worker 0: step 20, chief-only hook called 20 times",
        "worker 1: step 20, chief-only hook called 0 times",
        "weights are equal",
        "checkpoints of steps [0, 10, 20]",
    ]
