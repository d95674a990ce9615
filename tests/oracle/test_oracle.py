"""Each scenario of the oracle under the bridge, compared with what TensorFlow 1.15.5 did (see the package's docstring)."""

from __future__ import annotations

import copy
import json
import math
import re
from pathlib import Path
from typing import Any, Iterator

import pytest
import tensorflow as tf

from tests.oracle import bridge_world
from tests.oracle.differences import DIFFERENCES, differences_in
from tests.oracle.scenarios import SCENARIOS, Scenario
from tests.oracle.session_scenarios import SESSIONS

pytestmark = pytest.mark.oracle

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*.json"))

# The kernels of two TensorFlows add up products in different orders: the last bit of a float32 may differ after
# a few steps, and does between 1.15.5 and 2.21, with the v1 world's own program as well.
TOLERANCE = 1e-6


def golden(name: str) -> dict[str, Any]:
    path = GOLDEN / f"{name.split('/', maxsplit=1)[0]}.json"
    return json.loads(path.read_text())["scenarios"][name]


def unlike(expected: Any, found: Any, place: str = "") -> Iterator[str]:
    """Where `found` is not what was `expected`: one line for each place."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected.keys() | found.keys():
            yield from unlike(expected.get(key, "nothing"), found.get(key, "nothing"), f"{place}/{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found)):
            yield from unlike(one, other, f"{place}[{index}]")
    elif isinstance(expected, str) and isinstance(found, str):
        if not _same_text(expected, found):
            yield f"{place}: expected {expected!r}, found {found!r}"
    elif isinstance(expected, float) and isinstance(found, float):
        if not math.isclose(expected, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{place}: expected {expected!r}, found {found!r}"
    elif type(expected) is not type(found) or expected != found:
        yield f"{place}: expected {expected!r}, found {found!r}"


def check_alike(expected: dict[str, Any], found: dict[str, Any]) -> None:
    lines = sorted(unlike(expected, found))
    if lines:
        pytest.fail("Not as TensorFlow 1.15.5 had it:\n" + "\n".join(lines), pytrace=False)


def _same_text(expected: str, found: str) -> bool:
    if expected == found:
        return True
    number = r"-?\d+\.\d+(?:e[-+]\d+)?"
    if re.sub(number, "#", expected) != re.sub(number, "#", found):
        return False
    pairs = zip(re.findall(number, expected), re.findall(number, found))
    return all(math.isclose(float(one), float(other), abs_tol=TOLERANCE) for one, other in pairs)


def settle_error(expected: dict[str, Any], found: dict[str, Any]) -> None:
    """The bridge may raise a more special class and say more: a text that holds the original one is as good."""
    if "error" in expected and "error" in found:
        if expected["error"]["type"] in found["error"]["type"]:
            found["error"]["type"] = expected["error"]["type"]
        if expected["error"]["message"] in found["error"]["message"]:
            found["error"]["message"] = expected["error"]["message"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_bridge_does_what_tensorflow_1_15_does(name: str, tmp_path: Path) -> None:
    expected = golden(name)
    found = bridge_world.observe(SCENARIOS[name], str(tmp_path))
    for difference in differences_in(name):
        before = copy.deepcopy((expected, found))
        difference.in_golden(expected)
        difference.in_bridge(found)
        if difference.scenarios == name:
            assert before != (expected, found), f"no longer a difference: {difference.reason}"
    settle_error(expected, found)
    check_alike(expected, found)


def test_without_save_graph_def_the_graph_files_are_left_out(tmp_path: Path) -> None:
    """TensorFlow 1.15.5 has no `save_graph_def`; with False all is as in `checkpoint_saver/save_steps`, less these."""
    expected = golden("checkpoint_saver/save_steps")
    expected["files"] = [
        name for name in expected["files"] if name != "graph.pbtxt" and not name.endswith(".meta")
    ]

    def make_hooks(run: Any) -> list[Any]:
        return [tf.compat.v1.train.CheckpointSaverHook(run.directory, save_steps=4, save_graph_def=False)]

    found = bridge_world.observe(Scenario("checkpoint_saver/save_graph_def", make_hooks), str(tmp_path))
    for difference in differences_in("checkpoint_saver/save_steps"):
        difference.in_bridge(found)
    check_alike(expected, found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_says_how_it_was_made(path: Path) -> None:
    made_by = json.loads(path.read_text())["made_by"]
    assert made_by["tensorflow"] == "1.15.5"
    assert made_by["command"] == "make oracle"
    assert made_by["python"].startswith("3.7.")
    assert (Path(__file__).parents[2] / made_by["program"]).is_file()
    assert "\noracle:" in (Path(__file__).parents[2] / "Makefile").read_text()


def test_the_golden_files_hold_every_scenario_and_no_other() -> None:
    held = [name for path in FILES for name in json.loads(path.read_text())["scenarios"]]
    assert sorted(held) == sorted([*SCENARIOS, *SESSIONS])


def test_the_golden_files_are_small() -> None:
    assert sum(path.stat().st_size for path in FILES) < 120_000


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.scenarios)
def test_an_intended_difference_applies_somewhere_and_has_a_reason(difference: Any) -> None:
    assert any(difference.applies_to(name) for name in SCENARIOS)
    assert len(difference.reason) > 40
