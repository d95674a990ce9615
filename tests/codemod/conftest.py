"""What the codemod's tests share: a way to migrate a text, and to run the command as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from codemod.migrate import Migrated, migrate_text
from codemod.settings import Settings

ROOT = Path(__file__).parents[2]

Command = Callable[..., "subprocess.CompletedProcess[str]"]

# How long one example takes says what else the machine is doing.
settings.register_profile("codemod", deadline=None)
settings.load_profile("codemod")


def migrate(text: str, path: str = "train.py", **settings: object) -> Migrated:
    return migrate_text(path, text, Settings(**settings))  # type: ignore[arg-type]


@pytest.fixture
def codemod(tmp_path: Path) -> Command:
    """Runs `python -m codemod` in `tmp_path`."""

    def run(*arguments: str, stdin: str | bytes = b"", **options: object) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-m", "codemod", *arguments],
            check=False,
            input=data,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            timeout=300,
            **options,  # type: ignore[call-overload]
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return run
