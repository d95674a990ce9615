"""The programs return under the bridge what they returned under TensorFlow 1.15.5."""

from __future__ import annotations

import importlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.py") if path.stem != "__init__")
OF_PROCESSES = ["processes"]  # What starts other processes.

pytestmark = pytest.mark.oracle


def golden(program: str) -> Any:
    return json.loads((HERE / "golden" / f"{program}.json").read_text())["result"]


def differences(expected: Any, actual: Any, path: str = "") -> list[str]:
    """What differs, by where it stands; floats may differ as single precision sums do."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        keys = [f"{path}: keys {sorted(set(expected) ^ set(actual))}"] if set(expected) != set(actual) else []
        both = [key for key in expected if key in actual]
        return keys + [d for key in both for d in differences(expected[key], actual[key], f"{path}/{key}")]
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return [f"{path}: {expected} != {actual}"]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [d for index, (e, a) in pairs for d in differences(e, a, f"{path}[{index}]")]
    if isinstance(expected, float) and isinstance(actual, (int, float)):
        close = math.isclose(expected, actual, rel_tol=2e-4, abs_tol=2e-5)
        return (
            []
            if close or (math.isnan(expected) and math.isnan(actual))
            else [f"{path}: {expected} != {actual}"]
        )
    return [] if expected == actual else [f"{path}: {expected!r} != {actual!r}"]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(name, marks=[pytest.mark.slow, pytest.mark.multiprocess] if name in OF_PROCESSES else [])
        for name in PROGRAMS
    ],
)
def test_a_program_returns_what_tensorflow_1_15_returned(program: str, tmp_path: Path) -> None:
    module = importlib.import_module(f"tests.bridge.estimator.programs.{program}")
    actual = json.loads(json.dumps(module.main(str(tmp_path))))
    assert differences(golden(program), actual) == []


RUN_ALL = """
import importlib, json, sys, tempfile
import tensorflow as tf
tf.compat.v1.disable_v2_behavior()
found = {}
for name in sys.argv[1:]:
    module = importlib.import_module("tests.bridge.estimator.programs." + name)
    found[name] = module.main(tempfile.mkdtemp())
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.multiprocess
def test_the_programs_return_the_same_after_disable_v2_behavior() -> None:
    programs = [name for name in PROGRAMS if name not in OF_PROCESSES]
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, *programs],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    actual = json.loads(done.stdout.splitlines()[-1])
    assert {name: differences(golden(name), actual[name]) for name in programs} == {
        name: [] for name in programs
    }


def test_a_difference_would_be_seen() -> None:
    assert differences({"a": [1, 2.0]}, {"a": [1, 2.001]}) == ["/a[1]: 2.0 != 2.001"]
    assert differences({"a": 1}, {"b": 1}) == [": keys ['a', 'b']"]
