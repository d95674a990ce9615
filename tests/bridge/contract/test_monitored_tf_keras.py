"""Contract, "MonitoredTrainingSession", for a model of tf_keras: each of the 16 parameters once, with real files."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from bridge.errors import SessionConfigWarning, UnsupportedSessionError
from tests.bridge.contract.monitored import (
    Session,
    constant_summary,
    fit,
    model_of,
    names_in,
    step_of,
)
from tests.bridge.contract.monitored import train as train_model
from tests.bridge.support import (
    FakeClock,
    FunctionHook,
    TraceHook,
    phases,
    read_events,
    saved,
    saved_steps,
    scalars,
    seconds_per_step,
)

tf1 = tf.compat.v1

RATE = "global_step/sec"


def train(steps: int = 3, **options: Any) -> Any:
    return train_model(steps, model=model_of("tf_keras"), **options)


def test_master_is_refused_for_a_model_and_the_message_names_the_strategy() -> None:
    with pytest.raises(UnsupportedSessionError, match="MultiWorkerMirroredStrategy"):
        Session(master="grpc://far:2222")


def test_is_chief_false_restores_trains_and_writes_nothing(tmp_path: Path) -> None:
    train(3, checkpoint_dir=str(tmp_path))
    before = names_in(tmp_path)
    worker = train(3, checkpoint_dir=str(tmp_path), is_chief=False, fits={"epochs": 2})
    assert step_of(worker) == 6
    assert names_in(tmp_path) == before


def test_checkpoint_dir_is_restored_from_and_saved_to(tmp_path: Path) -> None:
    first = train(3, checkpoint_dir=str(tmp_path))
    np.testing.assert_array_equal(saved(tmp_path, "dense/kernel"), first.get_weights()[0])
    assert step_of(train(3, checkpoint_dir=str(tmp_path), fits={"epochs": 2})) == 6
    assert saved_steps(tmp_path) == [0, 3, 6]


def test_scaffold_gives_its_init_fn_and_its_saver(tmp_path: Path) -> None:
    calls: list[str] = []

    def make() -> Any:
        saver = tf1.train.Saver(max_to_keep=2)
        return tf1.train.Scaffold(saver=saver, init_fn=lambda scaffold, session: calls.append("init_fn"))

    train(4, checkpoint_dir=str(tmp_path), scaffold=make, save_checkpoint_steps=1)
    assert saved_steps(tmp_path) == [3, 4]
    train(4, checkpoint_dir=str(tmp_path), scaffold=make, fits={"epochs": 2})
    assert calls == ["init_fn"]  # The second session has restored.


def test_hooks_and_chief_only_hooks_are_called_chief_first() -> None:
    calls: list[Any] = []
    train(1, hooks=[TraceHook(calls, "hook")], chief_only_hooks=[TraceHook(calls, "chief")])
    expected = ["begin", "after_create_session", "before_run", "after_run", "end"]
    assert calls == [(phase, name) for phase in expected for name in ("chief", "hook")]


def test_chief_only_hooks_are_left_out_where_is_chief_is_false(tmp_path: Path) -> None:
    train(1, checkpoint_dir=str(tmp_path))
    calls: list[Any] = []
    train(
        1,
        checkpoint_dir=str(tmp_path),
        is_chief=False,
        hooks=[TraceHook(calls, "hook")],
        chief_only_hooks=[TraceHook(calls, "chief")],
        fits={"epochs": 2},
    )
    assert phases(calls, "chief") == []
    assert phases(calls, "hook")[-1] == "end"


def test_save_checkpoint_secs_is_the_time_between_checkpoints(tmp_path: Path, clock: FakeClock) -> None:
    train(5, checkpoint_dir=str(tmp_path), save_checkpoint_secs=2, hooks=[seconds_per_step(clock, 1.0)])
    assert saved_steps(tmp_path) == [0, 2, 4, 5]


def test_save_checkpoint_steps_is_the_distance_of_checkpoints(tmp_path: Path) -> None:
    train(5, checkpoint_dir=str(tmp_path), save_checkpoint_steps=2)
    assert saved_steps(tmp_path) == [0, 2, 4, 5]


def test_save_summaries_steps_is_the_distance_of_summaries(tmp_path: Path) -> None:
    train(5, checkpoint_dir=str(tmp_path), save_summaries_steps=2, hooks=[constant_summary()])
    assert scalars(tmp_path, "constant") == [(1, 2.5), (3, 2.5), (5, 2.5)]


def test_save_summaries_secs_is_the_time_between_summaries(tmp_path: Path, clock: FakeClock) -> None:
    train(
        5,
        checkpoint_dir=str(tmp_path),
        save_summaries_secs=2,
        hooks=[constant_summary()],
        chief_only_hooks=[seconds_per_step(clock, 1.0)],
    )
    assert [step for step, _ in scalars(tmp_path, "constant")] == [1, 3, 5]


def test_config_is_applied_and_what_has_no_counterpart_is_named() -> None:
    with pytest.warns(SessionConfigWarning, match="operation_timeout_in_ms"):
        model = train(1, config=tf1.ConfigProto(operation_timeout_in_ms=5))
    assert step_of(model) == 1


def test_stop_grace_period_secs_is_how_long_a_thread_is_waited_for(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    free, threads = threading.Event(), []

    def start(session: Any, coord: Any) -> None:
        threads.append(threading.Thread(target=free.wait, daemon=True))
        coord.register_thread(threads[0])
        threads[0].start()

    hook = FunctionHook()
    hook.after_create_session = start  # type: ignore[method-assign]
    train(1, hooks=[hook], stop_grace_period_secs=0, checkpoint_dir=str(tmp_path))
    assert threads[0].is_alive()
    assert "still running" in log.text
    assert saved_steps(tmp_path) == [0, 1]
    free.set()
    threads[0].join()


def test_log_step_count_steps_is_the_distance_of_the_rates(tmp_path: Path, clock: FakeClock) -> None:
    train(5, checkpoint_dir=str(tmp_path), log_step_count_steps=2, hooks=[seconds_per_step(clock, 0.5)])
    assert scalars(tmp_path, RATE) == [(3, 2.0), (5, 2.0)]


def test_max_wait_secs_is_how_long_the_chief_is_waited_for(tmp_path: Path) -> None:
    with (
        pytest.raises(tf.errors.DeadlineExceededError, match=r"0 secs.*no checkpoint"),
        Session(is_chief=False, checkpoint_dir=str(tmp_path), max_wait_secs=0) as session,
    ):
        fit(session, model_of("tf_keras"))


def test_summary_dir_is_where_summaries_go(tmp_path: Path) -> None:
    checkpoints, summaries = tmp_path / "checkpoints", tmp_path / "summaries"
    train(
        3,
        checkpoint_dir=str(checkpoints),
        summary_dir=str(summaries),
        hooks=[constant_summary()],
        log_step_count_steps=1,
    )
    assert sorted(read_events(summaries).Tags()["scalars"]) == ["constant", RATE]
    assert saved_steps(checkpoints) == [0, 3]


@pytest.mark.parametrize("wanted", [True, False])
def test_save_graph_def_says_whether_the_graph_is_written(wanted: bool, tmp_path: Path) -> None:
    train(2, checkpoint_dir=str(tmp_path), save_graph_def=wanted)
    names = {name for name in names_in(tmp_path) if name.endswith((".meta", ".pbtxt"))}
    assert names == ({"graph.pbtxt", "model.ckpt-0.meta", "model.ckpt-2.meta"} if wanted else set())
