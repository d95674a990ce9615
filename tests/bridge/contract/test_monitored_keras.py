"""Contract, "MonitoredTrainingSession", for a Keras model: each parameter of v1's signature, with real files."""

from __future__ import annotations

import functools
import inspect
import signal
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import bridge
from bridge import cluster
from bridge.errors import InvalidHookError, SessionConfigWarning, UnsupportedSessionError
from tests.bridge.contract.monitored import (
    KERAS_VERSIONS,
    Session,
    constant_summary,
    fit,
    model_of,
    names_in,
    step_of,
    train,
)
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
    tensor,
    variable,
)

tf1 = tf.compat.v1

RATE = "global_step/sec"


# --- the signature -----------------------------------------------------------------------------------------------


def test_names_order_and_defaults_of_the_parameters_are_those_of_v1() -> None:
    ours = inspect.signature(Session).parameters
    theirs = inspect.signature(tf1.train.MonitoredTrainingSession).parameters
    assert [(p.name, p.kind, p.default) for p in ours.values()] == [
        (p.name, p.kind, p.default) for p in theirs.values()
    ]
    assert len(ours) == 16


def test_all_parameters_can_be_given_by_position(tmp_path: Path) -> None:
    calls: list[Any] = []
    checkpoints, summaries = tmp_path / "checkpoints", tmp_path / "summaries"
    with Session(
        "",
        True,
        str(checkpoints),
        tf1.train.Scaffold(init_fn=lambda scaffold, session: calls.append(("init_fn", ""))),
        [TraceHook(calls, "hook"), constant_summary()],
        [TraceHook(calls, "chief")],
        None,
        2,
        None,
        tf1.ConfigProto(),
        30,
        None,
        60,
        3,
        str(summaries),
        False,
    ) as session:
        fit(session, steps=4)
    assert calls[:4] == [
        ("begin", "chief"),
        ("begin", "hook"),
        ("init_fn", ""),
        ("after_create_session", "chief"),
    ]
    assert saved_steps(checkpoints) == [0, 3, 4]
    assert scalars(summaries, "constant") == [(1, 2.5), (3, 2.5)]
    assert not list(checkpoints.glob("*.meta"))
    assert not list(tmp_path.rglob("graph.pbtxt"))


def test_without_arguments_it_trains_as_plain_fit_does_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = model_of()
    plain.fit(*_data(), epochs=2, batch_size=2, shuffle=False, verbose=0)
    model = model_of()
    with Session() as session:
        session.fit(model, *_data(), epochs=2, batch_size=2, shuffle=False, verbose=0)
    for expected, found in zip(plain.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert names_in(tmp_path) == []


def _data() -> tuple[np.ndarray, np.ndarray]:
    x = (np.arange(18, dtype=np.float32) * 5 % 11 - 5).reshape(6, 3) / 8
    return x, x.sum(axis=1, keepdims=True)


# --- master --------------------------------------------------------------------------------------------------------


def test_a_server_as_master_is_refused_with_what_to_use_for_a_keras_model() -> None:
    with pytest.raises(
        UnsupportedSessionError, match=r"grpc://far:2222.*MultiWorkerMirroredStrategy"
    ) as error:
        Session(master="grpc://far:2222")
    assert "tf.Graph().as_default()" in str(error.value)


def test_a_refused_session_leaves_the_signal_of_preemption_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(UnsupportedSessionError):
        Session(master="grpc://far:2222")
    assert signal.getsignal(signal.SIGTERM) is before


# --- checkpoint_dir ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_the_first_session_initializes_and_leaving_saves_the_last_step(version: str, tmp_path: Path) -> None:
    model = train(3, model=model_of(version), checkpoint_dir=str(tmp_path))
    assert saved_steps(tmp_path) == [0, 3]
    np.testing.assert_array_equal(saved(tmp_path, "dense/kernel"), model.get_weights()[0])
    assert saved(tmp_path, "global_step") == 3


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_a_new_session_resumes_at_the_step_of_the_newest_checkpoint(version: str, tmp_path: Path) -> None:
    first = train(3, model=model_of(version), checkpoint_dir=str(tmp_path))
    second = model_of(version)
    second.set_weights([np.zeros_like(weight) for weight in second.get_weights()])
    seen: list[Any] = []
    hook = FunctionHook(
        lambda: variable("dense/kernel"),
        after_create_session=lambda session, kernel: seen.append(session.run(kernel)),
    )
    with Session(checkpoint_dir=str(tmp_path), hooks=[hook]) as session:
        history = fit(session, second, epochs=2)
    np.testing.assert_array_equal(seen[0], first.get_weights()[0])
    assert (history.epoch, step_of(second)) == ([1], 6)
    assert saved_steps(tmp_path) == [0, 3, 6]


def test_without_a_folder_each_session_trains_on_from_where_the_model_is() -> None:
    model = train(3)
    with Session() as session:
        fit(session, model, 2)
    assert step_of(model) == 5


def test_the_folder_is_made_where_it_does_not_exist(tmp_path: Path) -> None:
    train(1, checkpoint_dir=str(tmp_path / "a" / "b"))
    assert saved_steps(tmp_path / "a" / "b") == [0, 1]


def test_a_folder_can_be_a_path(tmp_path: Path) -> None:
    train(1, checkpoint_dir=tmp_path)
    assert saved_steps(tmp_path) == [0, 1]


def test_evaluate_takes_the_weights_of_the_newest_checkpoint(tmp_path: Path) -> None:
    trained = train(3, checkpoint_dir=str(tmp_path))
    x, y = _data()
    fresh = model_of()
    with Session(checkpoint_dir=str(tmp_path), is_chief=False) as session:
        assert session.evaluate(fresh, x, y, verbose=0) == trained.evaluate(x, y, verbose=0)
    assert saved_steps(tmp_path) == [0, 3]


# --- save_checkpoint_secs, save_checkpoint_steps -------------------------------------------------------------------


def test_by_default_a_checkpoint_is_saved_every_600_seconds(tmp_path: Path, clock: FakeClock) -> None:
    train(8, checkpoint_dir=str(tmp_path), hooks=[seconds_per_step(clock, 200.0)])
    assert saved_steps(tmp_path) == [0, 3, 6, 8]


def test_seconds_between_checkpoints(tmp_path: Path, clock: FakeClock) -> None:
    train(5, checkpoint_dir=str(tmp_path), save_checkpoint_secs=2, hooks=[seconds_per_step(clock, 1.0)])
    assert saved_steps(tmp_path) == [0, 2, 4, 5]


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_steps_between_checkpoints(version: str, tmp_path: Path, clock: FakeClock) -> None:
    hooks = [seconds_per_step(clock, 1000.0)]
    train(5, model=model_of(version), checkpoint_dir=str(tmp_path), save_checkpoint_steps=2, hooks=hooks)
    assert saved_steps(tmp_path) == [0, 2, 4, 5]


@pytest.mark.parametrize("kind", ["checkpoint", "summaries"])
def test_seconds_and_steps_for_one_saver_are_refused_before_anything_is_trained(
    kind: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="every_secs and every_steps"):
        Session(checkpoint_dir=str(tmp_path), **{f"save_{kind}_secs": 1, f"save_{kind}_steps": 1})


@pytest.mark.parametrize("off", [None, 0])
def test_with_both_off_no_checkpoint_is_saved(off: int | None, tmp_path: Path) -> None:
    model = train(3, checkpoint_dir=str(tmp_path), save_checkpoint_secs=off, save_checkpoint_steps=off)
    assert step_of(model) == 3
    assert saved_steps(tmp_path) == []


# --- save_summaries_steps, save_summaries_secs, summary_dir, log_step_count_steps ---------------------------------


def test_by_default_summaries_are_saved_every_100_steps(tmp_path: Path) -> None:
    train(102, checkpoint_dir=str(tmp_path), hooks=[constant_summary()])
    assert [step for step, _ in scalars(tmp_path, "constant")] == [1, 101]


def test_seconds_between_summaries(tmp_path: Path, clock: FakeClock) -> None:
    hooks = {"hooks": [constant_summary()], "chief_only_hooks": [seconds_per_step(clock, 1.0)]}
    train(5, checkpoint_dir=str(tmp_path), save_summaries_secs=2, **hooks)
    assert [step for step, _ in scalars(tmp_path, "constant")] == [1, 3, 5]


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_steps_between_summaries_of_the_step_itself(version: str, tmp_path: Path) -> None:
    def loss_summary() -> None:
        tf1.summary.scalar("the_loss", tensor("loss"))

    hooks = [FunctionHook(loss_summary)]
    train(5, model=model_of(version), checkpoint_dir=str(tmp_path), save_summaries_steps=2, hooks=hooks)
    values = scalars(tmp_path, "the_loss")
    assert [step for step, _ in values] == [1, 3, 5]
    assert len({value for _, value in values}) == 3


@pytest.mark.parametrize("off", [None, 0])
def test_with_both_off_no_summary_is_saved(off: int | None, tmp_path: Path) -> None:
    options = {"save_summaries_steps": off, "save_summaries_secs": off, "log_step_count_steps": 1}
    train(3, checkpoint_dir=str(tmp_path), hooks=[constant_summary()], **options)
    assert read_events(tmp_path).Tags()["scalars"] == [RATE]


def test_summaries_go_to_a_folder_of_their_own(tmp_path: Path) -> None:
    checkpoints, summaries = tmp_path / "checkpoints", tmp_path / "summaries"
    folders = {"checkpoint_dir": str(checkpoints), "summary_dir": str(summaries)}
    train(3, hooks=[constant_summary()], log_step_count_steps=1, **folders)
    assert sorted(read_events(summaries).Tags()["scalars"]) == ["constant", RATE]
    assert saved_steps(checkpoints) == [0, 3]
    assert saved_steps(summaries) == []


def test_summaries_alone_need_no_folder_of_checkpoints(tmp_path: Path) -> None:
    train(3, summary_dir=str(tmp_path), hooks=[constant_summary()])
    assert scalars(tmp_path, "constant") == [(1, 2.5)]
    assert saved_steps(tmp_path) == []


def test_by_default_the_rate_is_logged_and_written_every_100_steps(
    tmp_path: Path, clock: FakeClock, log: pytest.LogCaptureFixture
) -> None:
    train(102, checkpoint_dir=str(tmp_path), hooks=[seconds_per_step(clock, 0.5)])
    assert scalars(tmp_path, RATE) == [(101, 2.0)]
    assert "global_step/sec: 2" in log.text


def test_steps_between_two_measurements_of_the_rate(tmp_path: Path, clock: FakeClock) -> None:
    hooks = [seconds_per_step(clock, 0.5)]
    train(7, checkpoint_dir=str(tmp_path), log_step_count_steps=2, hooks=hooks)
    assert scalars(tmp_path, RATE) == [(3, 2.0), (5, 2.0), (7, 2.0)]


@pytest.mark.parametrize("off", [None, 0])
def test_without_steps_of_the_rate_none_is_written(off: int | None, tmp_path: Path) -> None:
    train(3, checkpoint_dir=str(tmp_path), log_step_count_steps=off, hooks=[constant_summary()])
    assert read_events(tmp_path).Tags()["scalars"] == ["constant"]


# --- save_graph_def ------------------------------------------------------------------------------------------------


def test_the_graph_is_written_with_each_checkpoint(tmp_path: Path) -> None:
    train(3, checkpoint_dir=str(tmp_path))
    assert {"graph.pbtxt", "model.ckpt-0.meta", "model.ckpt-3.meta"} <= set(names_in(tmp_path))
    meta = tf1.MetaGraphDef()
    meta.ParseFromString((tmp_path / "model.ckpt-3.meta").read_bytes())
    assert "dense/kernel" in {node.name for node in meta.graph_def.node}


def test_the_graph_is_not_written_where_it_is_refused(tmp_path: Path) -> None:
    train(3, checkpoint_dir=str(tmp_path), save_graph_def=False)
    assert saved_steps(tmp_path) == [0, 3]
    assert not [name for name in names_in(tmp_path) if name.endswith((".meta", ".pbtxt"))]


# --- hooks, chief_only_hooks, is_chief -----------------------------------------------------------------------------


def test_chief_only_hooks_come_before_the_others_in_every_phase() -> None:
    calls: list[Any] = []
    train(1, hooks=[TraceHook(calls, "hook")], chief_only_hooks=[TraceHook(calls, "chief")])
    expected = ["begin", "after_create_session", "before_run", "after_run", "end"]
    assert calls == [(phase, name) for phase in expected for name in ("chief", "hook")]


def test_the_default_savers_come_between_chief_only_hooks_and_the_others(tmp_path: Path) -> None:
    def files() -> list[int]:
        return saved_steps(tmp_path)

    at_creation: dict[str, list[int]] = {}

    def note(name: str) -> FunctionHook:
        return FunctionHook(after_create_session=lambda *unused: at_creation.setdefault(name, files()))

    train(1, checkpoint_dir=str(tmp_path), hooks=[note("hook")], chief_only_hooks=[note("chief")])
    assert at_creation == {"chief": [], "hook": [0]}


def test_a_hook_can_be_made_inside_the_graph_of_the_step(tmp_path: Path) -> None:
    def make() -> Any:
        tf1.summary.scalar("global_step_seen", tf1.train.get_global_step())
        return tf1.train.SummarySaverHook(1, output_dir=str(tmp_path), summary_op=tf1.summary.merge_all())

    train(2, hooks=make, chief_only_hooks=lambda: tf1.train.StopAtStepHook(last_step=9))
    assert [step for step, _ in scalars(tmp_path, "global_step_seen")] == [1, 2]


def test_what_is_no_hook_is_refused_at_once() -> None:
    with pytest.raises(InvalidHookError, match="chief_only_hooks holds a int"):
        Session(chief_only_hooks=[3])


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_who_is_not_the_chief_restores_and_trains_without_writing(version: str, tmp_path: Path) -> None:
    train(3, model=model_of(version), checkpoint_dir=str(tmp_path))
    before = names_in(tmp_path)
    calls: list[Any] = []
    hooks = {"hooks": [TraceHook(calls)], "chief_only_hooks": [TraceHook(calls, "chief")]}
    options = {"save_checkpoint_steps": 1, "log_step_count_steps": 1, **hooks}
    worker = model_of(version)
    with Session(is_chief=False, checkpoint_dir=str(tmp_path), **options) as session:
        fit(session, worker, epochs=2)
    assert step_of(worker) == 6
    assert phases(calls, "chief") == []
    assert phases(calls)[-1] == "end"
    assert names_in(tmp_path) == before


def test_who_is_not_the_chief_waits_for_its_first_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeClock()
    waits: list[float] = []

    def chief_starts_late() -> None:
        waits.append(fake.time())
        if len(waits) == 3:
            train(3, checkpoint_dir=str(tmp_path))

    fake.on_sleep = chief_starts_late
    wait = functools.partial(cluster.wait_for_checkpoint, clock=fake.time, sleep=fake.sleep)
    monkeypatch.setattr(cluster, "wait_for_checkpoint", wait)
    worker = model_of()
    with Session(is_chief=False, checkpoint_dir=str(tmp_path)) as session:
        fit(session, worker, epochs=2)
    assert len(waits) == 3
    assert step_of(worker) == 6


def test_who_is_not_the_chief_waits_no_longer_than_told_and_says_what_was_missing(tmp_path: Path) -> None:
    with (
        pytest.raises(tf.errors.DeadlineExceededError, match=r"0 secs.*no checkpoint.*is_chief=True"),
        Session(is_chief=False, checkpoint_dir=str(tmp_path), max_wait_secs=0) as session,
    ):
        fit(session)


# --- config, scaffold ----------------------------------------------------------------------------------------------


def test_fields_of_config_that_have_no_counterpart_are_named() -> None:
    with pytest.warns(SessionConfigWarning, match="operation_timeout_in_ms"):
        Session(config=tf1.ConfigProto(operation_timeout_in_ms=5)).close()


def test_a_config_becomes_calls_of_tf_config() -> None:
    before = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(False)
    try:
        with Session(config=tf1.ConfigProto(allow_soft_placement=True)) as session:
            assert tf.config.get_soft_device_placement()
            fit(session)
    finally:
        tf.config.set_soft_device_placement(before)


def test_init_fn_runs_only_where_nothing_was_restored(tmp_path: Path) -> None:
    calls: list[str] = []
    for name in ("first", "second"):
        scaffold = tf1.train.Scaffold(init_fn=lambda scaffold, session, name=name: calls.append(name))
        train(1, checkpoint_dir=str(tmp_path), scaffold=scaffold, fits={"epochs": 2})
    assert calls == ["first"]


def test_what_init_fn_assigns_is_what_training_starts_with(tmp_path: Path) -> None:
    def double(scaffold: Any, session: Any) -> None:
        kernel = variable("dense/kernel")
        variable("dense/kernel").load(session.run(kernel) * 2, session)

    train(1, checkpoint_dir=str(tmp_path), scaffold=tf1.train.Scaffold(init_fn=double))
    np.testing.assert_array_equal(saved(tmp_path, "dense/kernel", 0), model_of().get_weights()[0] * 2)


def test_a_scaffold_can_be_made_inside_the_graph_of_the_step(tmp_path: Path) -> None:
    def make() -> Any:
        return tf1.train.Scaffold(
            saver=tf1.train.Saver(max_to_keep=2), summary_op=tf1.summary.scalar("it", 1.5)
        )

    train(4, checkpoint_dir=str(tmp_path), scaffold=make, save_checkpoint_steps=1, save_summaries_steps=2)
    assert saved_steps(tmp_path) == [3, 4]
    assert scalars(tmp_path, "it") == [(1, 1.5), (3, 1.5)]


def test_a_checkpoint_of_a_scaffold_with_a_saver_of_its_own_is_restored_by_it(tmp_path: Path) -> None:
    def only_the_kernel() -> Any:
        kept = [variable("dense/kernel"), tf1.train.get_global_step()]
        return tf1.train.Scaffold(saver=tf1.train.Saver(kept, max_to_keep=9))

    first = train(3, checkpoint_dir=str(tmp_path), scaffold=only_the_kernel)
    assert [name for name, _ in tf.train.list_variables(str(tmp_path))] == ["dense/kernel", "global_step"]
    seen: list[Any] = []
    look = FunctionHook(
        lambda: [variable("dense/kernel"), variable("dense/bias")],
        after_create_session=lambda session, built: seen.append(session.run(built)),
    )
    second = model_of()
    with Session(checkpoint_dir=str(tmp_path), scaffold=only_the_kernel, hooks=[look]) as session:
        fit(session, second, epochs=2)
    np.testing.assert_array_equal(seen[0][0], first.get_weights()[0])
    np.testing.assert_array_equal(seen[0][1], model_of().get_weights()[1])  # Not in the checkpoint.
    assert step_of(second) == 6


def test_by_default_the_newest_five_checkpoints_are_kept(tmp_path: Path) -> None:
    train(7, checkpoint_dir=str(tmp_path), save_checkpoint_steps=1)
    assert saved_steps(tmp_path) == [3, 4, 5, 6, 7]


def test_variables_of_hooks_are_saved_and_restored_with_the_model(tmp_path: Path) -> None:
    def counting() -> FunctionHook:
        return FunctionHook(
            lambda: tf1.assign_add(tf1.get_variable("seen", (), tf.int64, tf1.zeros_initializer()), 1),
            before_run=lambda run_context, add: tf1.train.SessionRunArgs(add),
        )

    train(3, checkpoint_dir=str(tmp_path), hooks=[counting()])
    assert saved(tmp_path, "seen") == 3
    train(3, checkpoint_dir=str(tmp_path), hooks=[counting()], fits={"epochs": 2})
    assert saved(tmp_path, "seen") == 6


def test_a_strategy_without_the_right_to_save_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extended = type(keras.Sequential().distribute_strategy.extended)
    monkeypatch.setattr(extended, "should_checkpoint", property(lambda self: False), raising=False)
    monkeypatch.setattr(extended, "should_save_summary", property(lambda self: False), raising=False)
    train(2, checkpoint_dir=str(tmp_path / "checkpoints"), log_step_count_steps=1, hooks=[constant_summary()])
    assert not (tmp_path / "checkpoints").exists()


# --- monitored_fit -------------------------------------------------------------------------------------------------


def test_monitored_fit_is_a_session_with_one_fit(tmp_path: Path) -> None:
    calls: list[Any] = []
    model = model_of()
    history = bridge.monitored_fit(
        model,
        *_data(),
        batch_size=2,
        epochs=2,
        verbose=0,
        hooks=[TraceHook(calls)],
        checkpoint_dir=str(tmp_path),
        save_checkpoint_steps=4,
    )
    assert isinstance(history, keras.callbacks.History)
    assert history.epoch == [0, 1]
    assert saved_steps(tmp_path) == [0, 4, 6]
    assert phases(calls)[-1] == "end"


def test_monitored_fit_resumes_data_too(tmp_path: Path) -> None:
    for steps in (2, 3):
        model = model_of()
        hooks = [tf1.train.StopAtStepHook(last_step=steps)]
        bridge.monitored_fit(
            model,
            *_data(),
            batch_size=2,
            shuffle=False,
            verbose=0,
            resume_data=True,
            hooks=hooks,
            checkpoint_dir=str(tmp_path),
        )
    plain = model_of()
    plain.fit(*_data(), batch_size=2, shuffle=False, verbose=0)
    for expected, found in zip(plain.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)
