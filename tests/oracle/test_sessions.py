"""`bridge.MonitoredTrainingSession`, compared with what TensorFlow 1.15.5 did.

Over a legacy graph nothing may differ but a line of the log: the session is v1's own, which the bridge must not bend. For
a Keras model the programs must leave the same behind, but for what `OTHERWISE` says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bridge
from tests.oracle import keras_session_world, session_worlds, v1_world
from tests.oracle.differences import drop_keras_variables
from tests.oracle.scenarios import SCENARIOS, Scenario
from tests.oracle.session_scenarios import SESSIONS
from tests.oracle.test_oracle import check_alike, golden

pytestmark = pytest.mark.oracle

# Programs that mean something else for a Keras model, and why.
OTHERWISE = {
    "monitored_session/stopped_and_resumed_twice": "Keras counts the epochs of the whole job: a run that goes on in the "
    "middle of an epoch ends that one first, and begins its data anew there.",
    "monitored_session/a_lost_server_without_checkpoints": "The variables of a Keras model are in this process, and not lost "
    "with a server. Where there is no checkpoint to go back to, training goes on from them; TF1 initialises anew.",
}

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


@pytest.mark.parametrize("name", [name for name in SESSIONS if name not in OTHERWISE])
def test_a_session_of_a_keras_model_does_what_a_graphs_did_in_tensorflow_1_15(
    name: str, tmp_path: Path
) -> None:
    found = keras_session_world.observe(SESSIONS[name], str(tmp_path))
    drop_keras_variables(found)
    check_alike(golden(name), without_newer_log_lines(found))


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_means_something_else_for_a_keras_model_still_does(name: str, tmp_path: Path) -> None:
    found = keras_session_world.observe(SESSIONS[name], str(tmp_path))
    assert found["kernel"] != golden(name)["kernel"]
