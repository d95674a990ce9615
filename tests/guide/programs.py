"""The programs of `migration_guide/examples/before/`, and how they are migrated and run.

This file is also read by Python 3.7, which makes the results under TensorFlow 1.15.5 (`make_results.py`).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.codemod.scripts_support import ROOT, Script

EXAMPLES = ROOT / "migration_guide" / "examples"
BEFORE = EXAMPLES / "before"
AFTER = EXAMPLES / "after"
RESULTS = EXAMPLES / "results.json"

_FOLDER = "../../migration_guide/examples/before"
_GONE = r"has no attribute '(contrib|estimator|set_session)'|No module named 'tensorflow.contrib'"


def _program(name: str, shape: str, **known: Any) -> Script:
    return Script(name, shape, folder=_FOLDER, **known)


# `cannot_swap` is what today's TensorFlow says to the program when only its import line is swapped.
PROGRAMS = (
    _program("bare_loop", "A loop with nothing in it but the train op: it becomes a `fit`."),
    _program("printed_results", "A loop that prints what it fetched: a `fit` with a callback."),
    _program(
        "custom_hooks",
        "Hook classes that fetch, feed and stop, with three names for their base.",
        cannot_swap=_GONE,
    ),
    _program(
        "epochs_and_evaluation",
        "Epochs by hand, several runs in one iteration: the loop stays, on the bridge's session.",
    ),
    _program(
        "contrib_names",
        "Names that are gone: contrib's, and a `MonitoredSession` over a creator.",
        cannot_swap=_GONE,
    ),
    _program(
        "legacy_layers",
        "`tf.layers` with batch normalisation, which tf_keras goes on serving.",
        cannot_swap="is not available with Keras 3",
    ),
    _program(
        "keras_in_a_session", "A tf.keras model under a session with a config of its own.", cannot_swap=_GONE
    ),
    _program("estimator", "An Estimator with hooks: `bridge.estimator`.", cannot_swap=_GONE),
    _program("restored_weights", "A Scaffold's `init_fn`, a session kept in an attribute."),
    _program(
        "ps_and_workers", "A parameter server and two workers, as processes.", cluster="TF_CONFIG", slow=True
    ),
    _program("project", "A package of several files, with flags and hooks of its own.", cannot_swap=_GONE),
    _program("rings", "A notebook."),
)


def migrate(target: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Copies all programs to a folder and runs the codemod on it there, as a user would."""
    shutil.copytree(BEFORE, target, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "codemod", "migrate", "--allow-dirty", *arguments, str(target)]
    return subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def files(folder: Path) -> list[Path]:
    """The files of programs below a folder, by their place in it."""
    return sorted(
        path.relative_to(folder)
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )


def results() -> Any:
    """What the programs print under TensorFlow 1.15.5, by name."""
    return json.loads(RESULTS.read_text())["programs"]
