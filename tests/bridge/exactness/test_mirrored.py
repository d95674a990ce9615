"""Exactness under MirroredStrategy with two logical CPU devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bridge.exactness.cases import BOTH

ROOT = Path(__file__).parents[3]


@pytest.mark.multiprocess
@pytest.mark.slow
@pytest.mark.parametrize("flavour", BOTH)
def test_two_replicas_with_hooks_equal_two_replicas_without(flavour: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.bridge.exactness.mirrored_program", flavour],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout.splitlines()[-1])
    assert len(found) >= 7
    failed = {name: lines for name, lines in found.items() if lines}
    assert not failed, "\n".join(f"{name}:\n  " + "\n  ".join(lines[:6]) for name, lines in failed.items())
