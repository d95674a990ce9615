"""Legacy graphs under `bridge.MonitoredTrainingSession`, compared with what TensorFlow 1.15.5 did.

Nothing may differ here but a line of the log: the session is v1's own, which the bridge must not bend.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bridge
from tests.oracle import session_worlds, v1_world
from tests.oracle.scenarios import SCENARIOS, Scenario
from tests.oracle.session_scenarios import SESSIONS
from tests.oracle.test_oracle import check_alike, golden

pytestmark = pytest.mark.oracle

TRAININGS = [name for name, scenario in SCENARIOS.items() if isinstance(scenario, Scenario)]


def without_newer_log_lines(record: dict[str, Any]) -> dict[str, Any]:
    """Later TensorFlows log that the saver's hook calls its listeners, even if it has none."""
    logs = [entry for entry in record.get("logs", []) if "Calling checkpoint listeners" not in entry[1]]
    return {**record, "logs": logs} if logs else {key: record[key] for key in record if key != "logs"}


@pytest.mark.parametrize("name", TRAININGS)
def test_hooks_on_a_legacy_graph_do_what_they_did_in_tensorflow_1_15(name: str, tmp_path: Path) -> None:
    found = v1_world.observe(SCENARIOS[name], str(tmp_path), bridge.MonitoredTrainingSession)
    check_alike(golden(name), without_newer_log_lines(found))


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_on_a_legacy_graph_does_what_it_did_in_tensorflow_1_15(name: str, tmp_path: Path) -> None:
    found = session_worlds.observe(SESSIONS[name], str(tmp_path), bridge.MonitoredTrainingSession)
    check_alike(golden(name), without_newer_log_lines(found))
