"""Two real processes train one model under MultiWorkerMirroredStrategy, with and without hooks."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from tests.bridge.multi_worker import jobs

pytestmark = pytest.mark.multiprocess

Said = list[dict[str, Any]]  # What each worker said, worker 0 first.

FLAVOURS = [
    "keras",
    pytest.param(
        "tf_keras",
        marks=pytest.mark.skipif(importlib.util.find_spec("tf_keras") is None, reason="no tf_keras"),
    ),
]


@pytest.fixture(scope="module", params=FLAVOURS)
def exact(request: pytest.FixtureRequest) -> Said:
    """The same training with and without hooks."""
    return jobs.finished("fits_program.py", request.param, "exact")


@pytest.fixture(scope="module", params=FLAVOURS)
def stops(request: pytest.FixtureRequest) -> Said:
    """Trainings of two epochs of four steps, which one worker or all of them stop."""
    return jobs.finished("fits_program.py", request.param, "stops")


@pytest.fixture(scope="module", params=FLAVOURS)
def faults(request: pytest.FixtureRequest) -> Said:
    """Trainings in which workers differ or fail."""
    return jobs.finished("fits_program.py", request.param, "faults")


def test_all_workers_end_with_the_same_weights_and_history(exact: Said) -> None:
    first, second = (said["plain"] for said in exact)
    assert first["weights"] == second["weights"]
    assert first["history"] == second["history"]
    assert first["logs"] == second["logs"]
    assert first["step"] == second["step"] == 8


def test_a_fit_with_hooks_is_the_fit_without_them_bit_for_bit(exact: Said) -> None:
    for said in exact:
        for what in ("weights", "history", "logs", "step"):
            assert said["with_hooks"][what] == said["plain"][what], what


def test_hooks_run_on_every_worker_and_chief_only_hooks_on_worker_0_alone(exact: Said) -> None:
    chief, other = (said["with_hooks"] for said in exact)
    assert chief["everywhere"] == other["everywhere"] == list(range(8))
    assert chief["on_chief"] == list(range(8))
    assert other["on_chief"] == []
    assert chief["saved"] == "model.ckpt-8"
    assert other["saved"] is None


def test_evaluate_and_predict_cover_the_data_of_all_workers(exact: Said) -> None:
    for said in exact:
        loss, _ = said["evaluated"]["evaluated"]
        assert loss == pytest.approx(said["evaluated"]["expected"], rel=1e-5)
        assert said["evaluated"]["predicted"]


def test_hooks_that_stop_alike_everywhere_stop_without_an_agreement_after_each_step(exact: Said) -> None:
    for said in exact:
        assert said["stop_at_step"]["step"] == 6
        assert said["stop_at_step"]["agreements"] == 3  # At the beginning, and at the end of both epochs.


def test_a_callback_that_could_stop_one_worker_alone_makes_them_agree_after_each_step(exact: Said) -> None:
    for said in exact:
        assert said["plain"]["agreements"] > said["plain"]["step"]  # It has a callback of the user's own.


def test_the_model_has_its_own_fit_again_afterwards(exact: Said) -> None:
    for said in exact:
        assert said["plain"]["own_fit"]
        assert said["with_hooks"]["own_fit"]


STOPS = {
    "chief_stops": 3,
    "chief_stops_at_step": 3,
    "chief_stops_inside_an_execution": 3,
    "chief_ends_before_a_step": 3,  # The other worker is in its third step already.
    "worker_1_stops": 2,
    "worker_1_stops_an_epoch": 4,
}


@pytest.mark.parametrize("part", STOPS)
def test_all_workers_stop_after_the_step_in_which_one_of_them_stops(stops: Said, part: str) -> None:
    first, second = (said[part] for said in stops)
    assert first["step"] == second["step"] == STOPS[part]
    assert first["weights"] == second["weights"]
    assert first["history"] == second["history"]


@pytest.mark.parametrize("part", ["last_step_is_reached", "last_step_is_reached_on_the_chief"])
def test_nobody_trains_where_the_last_step_is_reached(stops: Said, part: str) -> None:
    assert [said[part]["step"] for said in stops] == [4, 4]


def test_a_hook_callback_on_some_workers_only_is_refused_on_all_of_them(faults: Said) -> None:
    for said in faults:
        assert said["hooks_on_one_worker"]["error"] == "DifferentWorkersError"
        assert "chief_only_hooks" in said["hooks_on_one_worker"]["says"]


def test_workers_that_would_start_at_different_steps_are_refused(faults: Said) -> None:
    for said in faults:
        assert said["different_steps"]["error"] == "DifferentWorkersError"
        assert "[0, 7]" in said["different_steps"]["says"]


def test_after_an_error_of_all_workers_alike_they_can_train_on(faults: Said) -> None:
    for said in faults:
        assert said["all_fail"] == {"error": "ValueError", "says": "no more than 1"}
        assert said["after_all_failed"]["step"] == 8


def test_an_error_of_one_worker_ends_the_fit_of_the_others_with_its_name_and_the_remedy(faults: Said) -> None:
    waiting, failed = (said["one_fails"] for said in faults)
    assert failed["error"] == "ValueError"
    assert waiting["error"] == "WorkerLostError"
    assert "worker 1 failed with ValueError: the hook of worker 1 fails" in waiting["says"]
    assert "start all processes of the job again" in waiting["says"]
