"""The example of a run that is killed and goes on: what it prints."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.multiprocess
def test_a_killed_run_goes_on_at_the_saved_step_and_ends_like_one_that_was_not_killed():
    done = subprocess.run(
        [sys.executable, str(ROOT / "migration_guide" / "examples" / "resume.py")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    resumed = done.stdout.split("The same command again:\n")[1].splitlines()
    assert resumed[0] == "  restores model.ckpt-100"
    assert resumed[1] == "  epoch 2 of 4 begins at step 100"
    assert resumed[-1].endswith("are equal bit for bit.")
