"""Contract, "MonitoredTrainingSession", for a legacy graph: v1's session parameter by parameter, with real files."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tensorflow.python.distribute import distribute_coordinator

from tests.bridge.contract.legacy import (
    COORDINATOR,
    STEP_RATE,
    FailingHook,
    Legacy,
    Session,
    build,
    chief_on,
    files,
    raw,
    run_steps,
    tags,
    train,
)
from tests.bridge.support import (
    FakeClock,
    FunctionHook,
    TraceHook,
    phases,
    saved,
    saved_steps,
    scalars,
    seconds_per_step,
)

tf1 = tf.compat.v1

# --- the signature -----------------------------------------------------------------------------------------------


def test_names_order_and_defaults_of_the_parameters_are_those_of_v1() -> None:
    ours = inspect.signature(Session).parameters
    theirs = inspect.signature(tf1.train.MonitoredTrainingSession).parameters
    assert list(ours) == list(theirs)
    assert len(ours) == 16
    for name, parameter in theirs.items():
        assert ours[name].kind == parameter.kind
        if type(parameter.default) is not object:  # The sentinel that means "the default".
            assert ours[name].default == parameter.default, name


def test_all_parameters_can_be_given_by_position(legacy: Legacy, tmp_path: Path) -> None:
    calls: list[Any] = []
    checkpoints, summaries = tmp_path / "checkpoints", tmp_path / "summaries"
    with Session(
        "",
        True,
        str(checkpoints),
        tf1.train.Scaffold(init_fn=lambda scaffold, session: calls.append(("init_fn", ""))),
        [TraceHook(calls, "hook")],
        [TraceHook(calls, "chief")],
        None,
        2,
        None,
        tf1.ConfigProto(device_count={"CPU": 2}),
        30,
        None,
        60,
        3,
        str(summaries),
        False,
    ) as session:
        run_steps(session, legacy, 4)
        assert [device.device_type for device in raw(session).list_devices()].count("CPU") == 2
    assert calls[:4] == [
        ("begin", "chief"),
        ("begin", "hook"),
        ("init_fn", ""),
        ("after_create_session", "chief"),
    ]
    assert saved_steps(checkpoints) == [0, 3, 4]
    assert scalars(summaries, "constant") == [(1, 2.5), (3, 2.5)]
    assert tags(summaries) == ["constant"]
    assert not list(checkpoints.glob("*.meta"))


# --- checkpoint_dir ------------------------------------------------------------------------------------------------


def test_the_first_session_initializes_and_leaving_saves_the_last_step(tmp_path: Path) -> None:
    assert train(3, checkpoint_dir=str(tmp_path)) == [11.0, 12.0, 13.0]
    assert saved_steps(tmp_path) == [0, 3]
    assert saved(tmp_path, "weight") == 13.0
    assert saved(tmp_path, "global_step") == 3


def test_a_new_session_resumes_at_the_step_of_the_newest_checkpoint(tmp_path: Path) -> None:
    train(3, checkpoint_dir=str(tmp_path))
    hook = tf1.train.StopAtStepHook(last_step=5)
    assert train(9, checkpoint_dir=str(tmp_path), hooks=[hook]) == [14.0, 15.0]
    assert saved_steps(tmp_path) == [0, 3, 5]


def test_without_a_folder_it_starts_anew_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert train(2) == [11.0, 12.0]
    assert list(tmp_path.iterdir()) == []


def test_the_steps_of_a_stop_hook_count_from_the_restored_step(tmp_path: Path) -> None:
    train(3, checkpoint_dir=str(tmp_path))
    assert train(9, checkpoint_dir=str(tmp_path), hooks=[tf1.train.StopAtStepHook(num_steps=1)]) == [14.0]


# --- save_checkpoint_secs, save_checkpoint_steps -------------------------------------------------------------------


def test_by_default_a_checkpoint_is_saved_every_600_seconds(tmp_path: Path, clock: FakeClock) -> None:
    train(8, checkpoint_dir=str(tmp_path), hooks=[seconds_per_step(clock, 200.0)])
    assert saved_steps(tmp_path) == [0, 3, 6, 8]


def test_seconds_between_checkpoints(tmp_path: Path, clock: FakeClock) -> None:
    train(5, checkpoint_dir=str(tmp_path), save_checkpoint_secs=2, hooks=[seconds_per_step(clock, 1.0)])
    assert saved_steps(tmp_path) == [0, 2, 4, 5]


def test_steps_between_checkpoints(tmp_path: Path, clock: FakeClock) -> None:
    train(5, checkpoint_dir=str(tmp_path), save_checkpoint_steps=2, hooks=[seconds_per_step(clock, 1000.0)])
    assert saved_steps(tmp_path) == [0, 2, 4, 5]


@pytest.mark.parametrize("kind", ["checkpoint", "summaries"])
def test_seconds_and_steps_for_one_saver_are_an_error(kind: str, legacy: Legacy, tmp_path: Path) -> None:
    both = {f"save_{kind}_secs": 10, f"save_{kind}_steps": 10}
    with pytest.raises(ValueError, match=r"every_secs and every_steps|_secs and .*_steps"):
        Session(checkpoint_dir=str(tmp_path), **both)
    assert not legacy.graph.finalized


@pytest.mark.parametrize(
    "off",
    [
        {"save_checkpoint_secs": None, "save_checkpoint_steps": None},
        {"save_checkpoint_secs": 0, "save_checkpoint_steps": 0},
        {"save_checkpoint_secs": None},
        {"save_checkpoint_secs": 0},
        {"save_checkpoint_steps": None},
        {"save_checkpoint_steps": 0},
    ],
    ids=str,
)
def test_none_or_0_is_no_checkpoint_saver(off: dict[str, Any], tmp_path: Path) -> None:
    train(3, checkpoint_dir=str(tmp_path), **off)
    assert files(tmp_path) == ["events"]  # Of the step counter and the summaries.


def test_a_folder_without_a_saver_is_still_restored_from(tmp_path: Path) -> None:
    train(3, checkpoint_dir=str(tmp_path))
    assert train(1, checkpoint_dir=str(tmp_path), save_checkpoint_secs=None) == [14.0]
    assert saved_steps(tmp_path) == [0, 3]


# --- save_summaries_steps, save_summaries_secs, summary_dir --------------------------------------------------------


def test_by_default_summaries_are_written_every_100_steps_beside_the_checkpoints(tmp_path: Path) -> None:
    train(201, checkpoint_dir=str(tmp_path))
    assert [step for step, _ in scalars(tmp_path, "constant")] == [1, 101, 201]


def test_steps_between_summaries(tmp_path: Path) -> None:
    train(5, checkpoint_dir=str(tmp_path), save_summaries_steps=2)
    assert scalars(tmp_path, "constant") == [(1, 2.5), (3, 2.5), (5, 2.5)]


def test_seconds_between_summaries(tmp_path: Path, clock: FakeClock) -> None:
    train(
        5,
        checkpoint_dir=str(tmp_path),
        save_summaries_secs=2,
        chief_only_hooks=[seconds_per_step(clock, 1.0)],
    )
    assert [step for step, _ in scalars(tmp_path, "constant")] == [1, 3, 5]


@pytest.mark.parametrize(
    "off",
    [
        {"save_summaries_secs": None, "save_summaries_steps": None},
        {"save_summaries_secs": 0, "save_summaries_steps": 0},
        {"save_summaries_secs": None},
        {"save_summaries_secs": 0},
        {"save_summaries_steps": None},
        {"save_summaries_steps": 0},
    ],
    ids=str,
)
def test_none_or_0_is_no_summary_saver(off: dict[str, Any], tmp_path: Path) -> None:
    train(3, checkpoint_dir=str(tmp_path), log_step_count_steps=1, **off)
    assert tags(tmp_path) == [STEP_RATE]


def test_summaries_may_have_a_folder_of_their_own(tmp_path: Path) -> None:
    checkpoints, summaries = tmp_path / "checkpoints", tmp_path / "summaries"
    train(3, checkpoint_dir=str(checkpoints), summary_dir=str(summaries), log_step_count_steps=2)
    assert files(summaries) == ["events"]
    assert tags(summaries) == ["constant", STEP_RATE]
    assert saved_steps(checkpoints) == [0, 3]
    assert tags(checkpoints) == []


def test_with_only_a_folder_for_summaries_nothing_is_saved(tmp_path: Path) -> None:
    for _ in range(2):
        assert train(2, summary_dir=str(tmp_path), save_checkpoint_steps=1) == [11.0, 12.0]
    assert files(tmp_path) == ["events"]


# --- log_step_count_steps ------------------------------------------------------------------------------------------


def test_by_default_the_rate_is_logged_and_written_every_100_steps(
    tmp_path: Path, clock: FakeClock, log: pytest.LogCaptureFixture
) -> None:
    train(202, checkpoint_dir=str(tmp_path), chief_only_hooks=[seconds_per_step(clock, 0.5)])
    assert scalars(tmp_path, STEP_RATE) == [(101, 2.0), (201, 2.0)]
    assert [message for message in log.messages if STEP_RATE in message] == [f"{STEP_RATE}: 2"] * 2


def test_the_rate_is_measured_over_so_many_steps(tmp_path: Path, clock: FakeClock) -> None:
    train(
        5,
        checkpoint_dir=str(tmp_path),
        log_step_count_steps=2,
        chief_only_hooks=[seconds_per_step(clock, 0.25)],
    )
    assert scalars(tmp_path, STEP_RATE) == [(3, 4.0), (5, 4.0)]


@pytest.mark.parametrize("off", [None, 0])
def test_none_or_0_is_no_step_counter(off: int | None, tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    train(201, checkpoint_dir=str(tmp_path), log_step_count_steps=off)
    assert tags(tmp_path) == ["constant"]
    assert not [message for message in log.messages if STEP_RATE in message]


# --- save_graph_def ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [True, False])
def test_the_graph_is_written_or_not(wanted: bool, tmp_path: Path) -> None:
    train(2, checkpoint_dir=str(tmp_path), save_checkpoint_steps=1, save_graph_def=wanted)
    assert saved_steps(tmp_path) == [0, 1, 2]
    names = {name for name in files(tmp_path) if name.endswith((".meta", ".pbtxt"))}
    metas = {f"model.ckpt-{step}.meta" for step in (0, 1, 2)}
    assert names == ({"graph.pbtxt", *metas} if wanted else set())


# --- is_chief, max_wait_secs, master -------------------------------------------------------------------------------


def test_master_is_the_server_that_the_session_runs_on(server: Any) -> None:
    with chief_on(server) as (session, legacy):
        assert run_steps(session, legacy, 2) == [11.0, 12.0]
        assert {device.name.split("/replica")[0] for device in raw(session).list_devices()} == {
            "/job:trainer"
        }


def test_a_worker_trains_the_chiefs_variables_and_neither_initializes_nor_writes(
    server: Any, legacy: Legacy, tmp_path: Path
) -> None:
    calls: list[Any] = []
    with (
        chief_on(server, checkpoint_dir=str(tmp_path / "chief")) as (chief, chiefs),
        legacy.graph.as_default(),
    ):
        run_steps(chief, chiefs, 2)
        with Session(
            server.target,
            is_chief=False,
            checkpoint_dir=str(tmp_path / "worker"),
            summary_dir=str(tmp_path / "summaries"),
            save_checkpoint_steps=1,
            save_summaries_steps=1,
            log_step_count_steps=1,
            hooks=[TraceHook(calls, "hook")],
            chief_only_hooks=[TraceHook(calls, "chief")],
        ) as worker:
            assert run_steps(worker, legacy, 2) == [13.0, 14.0]
        with chiefs.graph.as_default():
            assert run_steps(chief, chiefs, 1) == [15.0]
    assert {name for _, name in calls} == {"hook"}
    assert phases(calls)[-1] == "end"
    assert not (tmp_path / "worker").exists()
    assert not (tmp_path / "summaries").exists()
    assert saved(tmp_path / "chief", "weight") == 15.0


def test_a_worker_waits_until_the_chief_has_initialized(
    server: Any, legacy: Legacy, waiting: FakeClock
) -> None:
    waits: list[float] = []

    def start_chief_at_the_third_wait() -> None:
        waits.append(waiting.time())
        if len(waits) == 3:
            with chief_on(server):
                pass  # The variables stay on the server.

    waiting.on_sleep = start_chief_at_the_third_wait
    with Session(server.target, is_chief=False) as worker:
        assert run_steps(worker, legacy, 1) == [11.0]
    assert len(waits) == 3


def test_a_worker_waits_until_the_chief_has_restored(
    server: Any, legacy: Legacy, waiting: FakeClock, tmp_path: Path
) -> None:
    train(3, checkpoint_dir=str(tmp_path))
    waits: list[float] = []

    def start_chief() -> None:
        waits.append(waiting.time())
        with chief_on(server, checkpoint_dir=str(tmp_path)):
            pass

    waiting.on_sleep = start_chief
    with Session(server.target, is_chief=False) as worker:
        assert run_steps(worker, legacy, 1) == [14.0]
    assert len(waits) == 1


@pytest.mark.parametrize(("given", "seconds"), [({}, 7200), ({"max_wait_secs": 300}, 300)])
def test_a_worker_waits_so_long_and_then_says_what_was_missing(
    given: dict[str, int], seconds: int, legacy: Legacy, waiting: FakeClock
) -> None:
    before = waiting.time()
    with pytest.raises(tf.errors.DeadlineExceededError) as caught:
        Session(is_chief=False, **given)
    assert seconds - 60 <= waiting.time() - before <= seconds
    assert f"{seconds} sec" in str(caught.value)
    assert "weight" in str(caught.value)
    assert "global_step" in str(caught.value)


def test_a_worker_without_time_to_wait_gives_up_at_once(legacy: Legacy, waiting: FakeClock) -> None:
    before = waiting.time()
    with pytest.raises(tf.errors.DeadlineExceededError):
        Session(is_chief=False, max_wait_secs=0)
    assert waiting.time() == before


# --- flags of the strategy -----------------------------------------------------------------------------------------


def worker_context(kind: str, *, checkpoint: bool, summary: bool) -> Any:
    """What `tf.distribute` tells a session inside of a strategy's worker."""
    extended = type(
        "Extended",
        (),
        {"should_checkpoint": checkpoint, "should_save_summary": summary, "experimental_should_init": True},
    )
    strategy = type(kind, (), {"extended": extended})()
    cluster = tf.train.ClusterSpec({"worker": ["localhost:1", "localhost:2"]})
    context = distribute_coordinator._WorkerContext(strategy, cluster, "worker", 1)
    context._master_target = ""  # Its variables are its own.
    return context


def train_in(context: Any, directory: Path, calls: list[Any]) -> None:
    with context:
        train(
            2,
            checkpoint_dir=str(directory),
            save_checkpoint_steps=1,
            save_summaries_steps=1,
            log_step_count_steps=1,
            hooks=[TraceHook(calls, "hook")],
            chief_only_hooks=[TraceHook(calls, "chief")],
        )


@pytest.mark.parametrize("checkpoint", [True, False])
@pytest.mark.parametrize("summary", [True, False])
def test_the_strategy_says_whether_checkpoints_and_summaries_are_written(
    checkpoint: bool, summary: bool, tmp_path: Path
) -> None:
    calls: list[Any] = []
    train_in(worker_context("MirroredStrategy", checkpoint=checkpoint, summary=summary), tmp_path, calls)
    assert saved_steps(tmp_path) == ([0, 1, 2] if checkpoint else [])
    assert tags(tmp_path) == (["constant", STEP_RATE] if summary else [])
    assert {name for _, name in calls} == {"hook"}  # Worker 1 is no chief.


def test_a_worker_that_must_write_does_so_in_its_own_temporary_folder(tmp_path: Path) -> None:
    context = worker_context("CollectiveAllReduceStrategy", checkpoint=False, summary=False)
    train_in(context, tmp_path, [])
    assert files(tmp_path) == ["tmp_worker_1"]
    assert saved_steps(tmp_path / "tmp_worker_1") == [0, 1, 2]
    assert tags(tmp_path / "tmp_worker_1") == ["constant", STEP_RATE]


# --- stop_grace_period_secs ----------------------------------------------------------------------------------------


def with_thread(body: Callable[[Any], object], started: list[threading.Thread]) -> FunctionHook:
    """A hook that starts a thread and registers it with the coordinator, from outside `session.run`."""

    class Starter(FunctionHook):
        def after_create_session(self, session: Any, coord: Any) -> None:
            thread = threading.Thread(target=body, args=(coord,), daemon=True)
            coord.register_thread(thread)
            thread.start()
            started.append(thread)

    return Starter()


def test_threads_of_the_coordinator_are_stopped_and_joined(legacy: Legacy) -> None:
    started: list[threading.Thread] = []
    with Session(hooks=[with_thread(lambda coord: coord.wait_for_stop(), started)]) as session:
        run_steps(session, legacy, 2)
        assert started[0].is_alive()
    assert not started[0].is_alive()


def test_an_error_of_a_thread_stops_training_and_comes_out_at_the_end(legacy: Legacy) -> None:
    def fail(coord: Any) -> None:
        with coord.stop_on_exception():
            raise ZeroDivisionError("in the thread")

    started: list[threading.Thread] = []
    weights: list[float] = []

    def use() -> None:
        with Session(hooks=[with_thread(fail, started)]) as session:
            started[0].join()
            weights.extend(run_steps(session, legacy, 3))

    with pytest.raises(ZeroDivisionError, match="in the thread"):
        use()
    assert weights == []


@pytest.mark.parametrize(("given", "seconds"), [({}, 120), ({"stop_grace_period_secs": 5}, 5)])
def test_a_thread_that_hangs_is_left_behind_after_the_grace_period(
    given: dict[str, int],
    seconds: int,
    legacy: Legacy,
    monkeypatch: pytest.MonkeyPatch,
    log: pytest.LogCaptureFixture,
) -> None:
    release, started = threading.Event(), []
    hook = with_thread(lambda coord: release.wait(), started)
    fake = FakeClock()
    with Session(hooks=[hook], **given) as session:
        run_steps(session, legacy, 1)
        monkeypatch.setattr(COORDINATOR, "time", fake)
        before = fake.time()
    assert seconds <= fake.time() - before <= seconds + 0.01
    assert started[0].is_alive()
    assert any("threads still running" in message for message in log.messages)
    release.set()
    started[0].join()


def test_queue_runners_feed_the_graph_and_end_with_the_session(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        tf1.train.get_or_create_global_step()
        queue = tf1.train.input_producer(tf.constant([1.0, 2.0]), num_epochs=2, shuffle=False)
        value, seen = queue.dequeue(), []
        with Session() as session:
            while not session.should_stop():
                seen.append(float(session.run(value)))
    assert seen == [1.0, 2.0, 1.0, 2.0]


# --- config --------------------------------------------------------------------------------------------------------


def test_config_is_the_sessions(legacy: Legacy) -> None:
    with tf.device("/device:GPU:7"):
        elsewhere = tf.constant(1.0) + 2.0
    with Session(config=tf1.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(elsewhere) == 3.0
    strict = tf1.ConfigProto(allow_soft_placement=False)  # Without any, the process's own options hold.
    with pytest.raises(tf.errors.InvalidArgumentError, match="GPU:7"), Session(config=strict) as session:
        session.run(elsewhere)


def test_config_is_applied_again_after_a_recovery(legacy: Legacy, tmp_path: Path) -> None:
    hook = FailingHook([tf.errors.AbortedError(None, None, "lost")])
    config = tf1.ConfigProto(device_count={"CPU": 3})
    with Session(checkpoint_dir=str(tmp_path), config=config, hooks=[hook]) as session:
        session.run(legacy.train_op)
        assert [device.device_type for device in raw(session).list_devices()].count("CPU") == 3


# --- scaffold ------------------------------------------------------------------------------------------------------

PIECES = ("init_op", "ready_op", "ready_for_local_init_op", "local_init_op", "saver")


def pieces_of(scaffold: Any) -> list[str]:
    return [piece for piece in PIECES if getattr(scaffold, piece) is not None]


def test_the_pieces_of_the_scaffold_are_made_after_begin_and_shared_through_collections(
    legacy: Legacy,
) -> None:
    scaffold = tf1.train.Scaffold()
    in_begin: list[Any] = []
    hook = FunctionHook(lambda: in_begin.extend(pieces_of(scaffold)))
    with Session(scaffold=scaffold, hooks=[hook]) as session:
        assert pieces_of(scaffold) == list(PIECES)
        for piece in PIECES:
            key = getattr(tf1.GraphKeys, "SAVERS" if piece == "saver" else piece.upper())
            assert session.graph.get_collection(key) == [getattr(scaffold, piece)]
    assert in_begin == []


def test_a_graph_without_a_global_step_is_an_error_with_both_ways_out(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        tf1.get_variable("w", [1])
        with pytest.raises(
            RuntimeError, match=r"(?s)Global step.*get_or_create_global_step.*Keras model.*outside"
        ):
            Session(checkpoint_dir=str(tmp_path))


def test_two_savers_in_the_collection_are_an_error(legacy: Legacy) -> None:
    for _ in range(2):
        tf1.add_to_collection(tf1.GraphKeys.SAVERS, tf1.train.Saver())
    with pytest.raises(RuntimeError, match="More than one item in"):
        Session()


def test_init_op_runs_with_its_feed_before_init_fn_if_nothing_is_restored(
    legacy: Legacy, tmp_path: Path
) -> None:
    seen: list[Any] = []

    def use(directory: Path) -> list[float]:
        with tf.Graph().as_default():
            graph = build()
            start = tf1.placeholder(tf.float32, [])
            init_op = tf.group(tf1.global_variables_initializer(), name="plain_init")
            with tf.control_dependencies([init_op]):
                init_op = tf.group(tf1.assign(graph.weight, start))

            def init_fn(scaffold: Any, session: Any) -> None:
                seen.append((type(scaffold), float(session.run(graph.weight))))

            scaffold = tf1.train.Scaffold(init_op=init_op, init_feed_dict={start: 5.0}, init_fn=init_fn)
            with Session(checkpoint_dir=str(directory), scaffold=scaffold) as session:
                return run_steps(session, graph, 1)

    assert use(tmp_path) == [6.0]
    assert use(tmp_path) == [7.0]
    assert seen == [(tf1.train.Scaffold, 5.0)]


def test_local_init_op_runs_with_its_feed_in_every_session(tmp_path: Path) -> None:
    for start in (5.0, 6.0):
        with tf.Graph().as_default():
            graph = build()
            local = tf1.get_variable("local", [], collections=[tf1.GraphKeys.LOCAL_VARIABLES])
            value = tf1.placeholder(tf.float32, [])
            scaffold = tf1.train.Scaffold(
                local_init_op=tf1.assign(local, value), local_init_feed_dict={value: start}
            )
            with Session(checkpoint_dir=str(tmp_path), scaffold=scaffold) as session:
                assert session.run(local) == start
                run_steps(session, graph, 1)
    assert {name for name, _ in tf.train.list_variables(str(tmp_path))} == {"weight", "global_step"}


@pytest.mark.parametrize("piece", ["ready_op", "ready_for_local_init_op"])
def test_a_variable_that_a_ready_op_reports_is_an_error_with_its_name(piece: str, legacy: Legacy) -> None:
    scaffold = tf1.train.Scaffold(**{piece: tf.constant(["encoder/weights"])})
    with pytest.raises(RuntimeError, match="encoder/weights"):
        Session(scaffold=scaffold)


def test_the_scaffolds_summary_op_is_what_is_written(legacy: Legacy, tmp_path: Path) -> None:
    scaffold = tf1.train.Scaffold(summary_op=tf1.summary.scalar("mine", tf.constant(1.5)))
    with Session(checkpoint_dir=str(tmp_path), scaffold=scaffold, save_summaries_steps=1) as session:
        run_steps(session, legacy, 2)
    assert tags(tmp_path) == ["mine"]


def test_the_scaffolds_saver_saves_and_restores(tmp_path: Path) -> None:
    weights = []
    for _ in range(2):
        with tf.Graph().as_default():
            graph = build()
            saver = tf1.train.Saver(
                {"old/weight": graph.weight, "global_step": graph.step}, max_to_keep=2, sharded=True
            )
            scaffold = tf1.train.Scaffold(saver=saver)
            with Session(checkpoint_dir=str(tmp_path), scaffold=scaffold, save_checkpoint_steps=1) as session:
                weights += run_steps(session, graph, 3)
    assert weights == [11.0, 12.0, 13.0, 14.0, 15.0, 16.0]
    assert saved_steps(tmp_path) == [5, 6]
    assert saved(tmp_path, "old/weight") == 16.0
    assert list(tmp_path.glob("model.ckpt-6.data-00000-of-0000*"))


def test_copy_from_scaffold_takes_over_what_is_not_given(legacy: Legacy) -> None:
    seen: list[str] = []
    first = tf1.train.Scaffold(
        saver=tf1.train.Saver([legacy.weight]), init_fn=lambda scaffold, session: seen.append("first")
    )
    own = tf1.train.Saver([legacy.step])
    scaffold = tf1.train.Scaffold(saver=own, copy_from_scaffold=first)
    with Session(scaffold=scaffold):
        assert scaffold.saver is own
    assert seen == ["first"]


# --- hooks, chief_only_hooks ---------------------------------------------------------------------------------------


def test_chief_only_hooks_come_before_the_default_hooks_and_these_before_the_others(
    legacy: Legacy, tmp_path: Path
) -> None:
    calls: list[Any] = []
    seen: list[Any] = []

    def look(who: str) -> FunctionHook:
        return FunctionHook(
            after_create_session=lambda session, built: seen.append((who, bool(saved_steps(tmp_path))))
        )

    with Session(
        checkpoint_dir=str(tmp_path),
        hooks=[TraceHook(calls, "a"), TraceHook(calls, "b"), look("other")],
        chief_only_hooks=[TraceHook(calls, "chief a"), TraceHook(calls, "chief b"), look("chief")],
    ) as session:
        run_steps(session, legacy, 1)
    order = ["chief a", "chief b", "a", "b"]
    life = ["begin", "after_create_session", "before_run", "after_run", "end"]
    assert calls == [(phase, name) for phase in life for name in order]
    # The default saver saves step 0 when the session is created.
    assert seen == [("chief", False), ("other", True)]


def test_begin_may_add_operations_and_the_later_phases_find_the_graph_finalized(legacy: Legacy) -> None:
    seen: list[Any] = []
    hook = FunctionHook(
        lambda: tf.constant(7.0, name="of_hook"),
        after_create_session=lambda session, built: seen.append(session.graph.finalized),
        before_run=lambda run_context, built: tf1.train.SessionRunArgs(built),
        after_run=lambda run_context, run_values, built: seen.append(float(run_values.results)),
    )
    with Session(hooks=[hook]) as session:
        session.run(legacy.train_op)
    assert seen == [True, 7.0]
