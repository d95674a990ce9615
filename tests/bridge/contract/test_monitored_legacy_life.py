"""Contract, "MonitoredTrainingSession", for a legacy graph: running, stopping, closing, errors and recovery."""

from __future__ import annotations

import contextlib
import threading
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.bridge.contract.legacy import (
    PREEMPTED,
    STEP_RATE,
    FailingHook,
    Legacy,
    Session,
    chief_on,
    raw,
    run_steps,
)
from tests.bridge.support import FakeClock, TraceHook, phases, read_events, saved_steps, scalars

tf1 = tf.compat.v1


# --- run -----------------------------------------------------------------------------------------------------------


def test_run_gives_results_in_the_structure_of_the_fetches_and_takes_feeds(legacy: Legacy) -> None:
    x = tf1.placeholder(tf.float32, [2], name="x")
    twice = x * 2.0
    with Session() as session:
        found = session.run({"a": [twice, "x:0"], "b": legacy.train_op}, feed_dict={x: [1, 2]})
    np.testing.assert_array_equal(found["a"], [[2, 4], [1, 2]])
    assert found["b"] is None


def test_run_takes_options_and_fills_metadata(legacy: Legacy) -> None:
    metadata = tf1.RunMetadata()
    with Session() as session:
        session.run(
            legacy.train_op,
            options=tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE),
            run_metadata=metadata,
        )
    assert metadata.step_stats.dev_stats


def test_run_after_a_requested_stop_is_an_error(legacy: Legacy) -> None:
    calls: list[Any] = []
    with Session(hooks=[TraceHook(calls, stop_at_run=2)]) as session:
        assert len(run_steps(session, legacy, 9)) == 2
        assert session.should_stop()
        with pytest.raises(RuntimeError, match="even after should_stop requested"):
            session.run(legacy.train_op)
    assert phases(calls)[-1] == "end"


# --- run_step_fn ---------------------------------------------------------------------------------------------------


def test_run_step_fn_gives_the_raw_session_without_hooks_and_runs_with_hooks(legacy: Legacy) -> None:
    calls: list[Any] = []

    def step_fn(step_context: Any) -> tuple[float, list[Any]]:
        assert isinstance(step_context.session, tf1.Session)
        step_context.session.run(legacy.train_op)
        before = list(phases(calls))
        step_context.run_with_hooks(fetches=legacy.train_op)
        return float(step_context.session.run(legacy.weight)), before

    with Session(hooks=[TraceHook(calls)]) as session:
        assert session.run_step_fn(step_fn) == (12.0, ["begin", "after_create_session"])
    assert phases(calls) == ["begin", "after_create_session", "before_run", "after_run", "end"]


def test_request_stop_in_a_step_function_leaves_the_session_silently(legacy: Legacy) -> None:
    calls: list[Any] = []

    def step_fn(step_context: Any) -> None:
        step_context.run_with_hooks(legacy.train_op)
        step_context.request_stop()

    with Session(hooks=[TraceHook(calls)]) as session:
        while not session.should_stop():
            session.run_step_fn(step_fn)
    assert phases(calls) == ["begin", "after_create_session", "before_run", "after_run", "end"]


@pytest.mark.parametrize(
    "step_fn",
    [lambda: None, lambda context: None, lambda step_context, more: None],
    ids=["no parameter", "another name", "two parameters"],
)
def test_a_step_functions_parameter_must_be_called_step_context(step_fn: Any, legacy: Legacy) -> None:
    with Session() as session, pytest.raises(ValueError, match="step_context"):
        session.run_step_fn(step_fn)


def test_a_method_may_be_a_step_function(legacy: Legacy) -> None:
    class Loop:
        def step(self, step_context: Any) -> float:
            return float(step_context.run_with_hooks(legacy.weight))

    with Session() as session:
        assert session.run_step_fn(Loop().step) == 10.0


# --- should_stop, graph, close -------------------------------------------------------------------------------------


def test_the_graph_is_the_default_one_finalized_inside_and_open_after(legacy: Legacy) -> None:
    with Session() as session:
        assert session.graph is legacy.graph
        assert legacy.graph.finalized
        with pytest.raises(RuntimeError, match="finalized"):
            tf.constant(1.0)
    assert not legacy.graph.finalized
    tf.constant(1.0)


def test_a_graph_that_was_finalized_before_is_so_after(legacy: Legacy) -> None:
    scaffold = tf1.train.Scaffold().finalize()
    legacy.graph.finalize()
    with Session(scaffold=scaffold) as session:
        run_steps(session, legacy, 1)
    assert legacy.graph.finalized


def test_two_sessions_one_after_the_other_on_one_graph(legacy: Legacy, tmp_path: Path) -> None:
    calls: list[Any] = []
    hook = TraceHook(calls)
    for first in (11.0, 13.0):
        with Session(checkpoint_dir=str(tmp_path), hooks=[hook]) as session:
            assert run_steps(session, legacy, 2) == [first, first + 1.0]
    assert phases(calls).count("begin") == 2
    assert saved_steps(tmp_path) == [0, 2, 4]


def test_a_closed_session_should_stop_and_has_no_graph(legacy: Legacy) -> None:
    session = Session()
    assert not session.should_stop()
    session.close()
    assert session.should_stop()
    assert session.graph is None


def test_close_ends_hooks_and_saves_without_a_with_block(legacy: Legacy, tmp_path: Path) -> None:
    calls: list[Any] = []
    session = Session(checkpoint_dir=str(tmp_path), hooks=[TraceHook(calls)])
    run_steps(session, legacy, 2)
    session.close()
    assert phases(calls)[-1] == "end"
    assert saved_steps(tmp_path) == [0, 2]


def test_close_twice_is_fine_and_then_the_session_is_already_closed(legacy: Legacy) -> None:
    calls: list[Any] = []
    with Session(hooks=[TraceHook(calls)]) as session:
        run_steps(session, legacy, 1)
        session.close()
        session.close()
    assert phases(calls).count("end") == 1
    for use in (
        lambda: session.run(legacy.train_op),
        lambda: session.run_step_fn(lambda step_context: None),
        session.__enter__,
    ):
        with pytest.raises(RuntimeError, match="already closed"):
            use()


@pytest.mark.parametrize("error", [None, ZeroDivisionError("mine")], ids=["end", "error"])
def test_leaving_flushes_what_hooks_have_written(
    error: Exception | None, legacy: Legacy, tmp_path: Path
) -> None:
    # These two leave it to the end of the process.
    counter = tf1.train.StepCounterHook(every_n_steps=1, output_dir=str(tmp_path / "shared"))
    own = tf1.train.StepCounterHook(
        every_n_steps=1, summary_writer=tf1.summary.FileWriter(str(tmp_path / "own"))
    )

    def use() -> None:
        with Session(hooks=[counter, own]) as session:
            run_steps(session, legacy, 3)
            if error is not None:
                raise error

    with contextlib.nullcontext() if error is None else pytest.raises(ZeroDivisionError):
        use()
    for folder in ("shared", "own"):
        assert [step for step, _ in scalars(tmp_path / folder, STEP_RATE)] == [2, 3]


# --- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [tf.errors.OutOfRangeError(None, None, "no more"), StopIteration()], ids=["out of range", "stop"]
)
@pytest.mark.parametrize("where", ["hook", "body"])
def test_the_end_of_the_data_leaves_the_block_silently(
    error: Exception, where: str, legacy: Legacy, tmp_path: Path
) -> None:
    calls: list[Any] = []
    hooks = [FailingHook([error], at_run=3)] if where == "hook" else []
    with Session(checkpoint_dir=str(tmp_path), hooks=[TraceHook(calls), *hooks]) as session:
        run_steps(session, legacy, 2)
        if where == "hook":
            run_steps(session, legacy, 2)
        raise error
    assert phases(calls)[-1] == "end"
    assert saved_steps(tmp_path) == [0, 2]
    assert not legacy.graph.finalized


def test_the_end_of_an_iterator_leaves_the_block_silently(legacy: Legacy) -> None:
    data = tf.data.Dataset.range(3)
    value, seen = tf1.data.make_one_shot_iterator(data).get_next(), []
    with Session() as session:
        while not session.should_stop():
            seen.append(int(session.run(value)))
    assert seen == [0, 1, 2]


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("mine"), KeyboardInterrupt(), tf.errors.InternalError(None, None, "mine")]
)
@pytest.mark.parametrize("where", ["hook", "body"])
def test_another_error_comes_out_as_it_is_without_end_and_closes_the_session(
    error: BaseException, where: str, legacy: Legacy, tmp_path: Path
) -> None:
    calls: list[Any] = []
    hooks = [FailingHook([error])] if where == "hook" else []
    session = Session(checkpoint_dir=str(tmp_path), hooks=[TraceHook(calls), *hooks])

    def body() -> None:
        with session:
            if where == "hook":
                session.run(legacy.train_op)
            raise error

    with pytest.raises(type(error)) as caught:
        body()
    assert caught.value is error
    assert "body" in [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert "end" not in phases(calls)
    assert "after_run" not in phases(calls)
    assert session.should_stop()
    assert not legacy.graph.finalized
    assert read_events(tmp_path).Graph().node  # The writer is flushed.


def test_an_error_of_a_hook_in_end_comes_out_and_the_session_is_closed(legacy: Legacy) -> None:
    calls: list[Any] = []
    hook = TraceHook(calls, raises=ZeroDivisionError("in end"), phase="end")
    session = Session(hooks=[hook])
    with pytest.raises(ZeroDivisionError, match="in end"), session:
        run_steps(session, legacy, 1)
    assert session.should_stop()
    assert not legacy.graph.finalized


# --- recovery ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", PREEMPTED, ids=["aborted", "unavailable"])
def test_a_lost_server_is_recovered_from_at_the_last_checkpoint_and_the_call_repeated(
    error: Exception, legacy: Legacy, tmp_path: Path
) -> None:
    calls: list[Any] = []
    hook = FailingHook([error], at_run=4)
    with Session(
        checkpoint_dir=str(tmp_path), save_checkpoint_steps=2, hooks=[TraceHook(calls), hook]
    ) as session:
        # Step 3 is not saved: the fourth call starts at the checkpoint of step 2 again.
        assert run_steps(session, legacy, 5) == [11.0, 12.0, 13.0, 13.0, 14.0]
    assert hook.sessions == 2
    names = phases(calls)
    assert names.count("begin") == 1
    assert names.count("after_create_session") == 2
    assert names.count("before_run") == names.count("after_run") + 1
    assert names.count("end") == 1


def test_without_a_folder_a_recovery_initializes_anew(legacy: Legacy) -> None:
    hook = FailingHook([PREEMPTED[0]], at_run=3)
    with Session(hooks=[hook]) as session:
        assert run_steps(session, legacy, 3) == [11.0, 12.0, 11.0]


def test_a_recovery_can_be_needed_a_hundred_times_in_a_row(legacy: Legacy, tmp_path: Path) -> None:
    hook = FailingHook(PREEMPTED * 50, at_run=2)
    with Session(
        checkpoint_dir=str(tmp_path), save_checkpoint_steps=1, save_graph_def=False, hooks=[hook]
    ) as session:
        assert run_steps(session, legacy, 3) == [11.0, 12.0, 13.0]
    assert hook.sessions == 101
    assert len(threading.enumerate()) < 50


def test_a_step_function_is_repeated_after_a_recovery(legacy: Legacy, tmp_path: Path) -> None:
    hook = FailingHook([PREEMPTED[1]])
    tries: list[Any] = []

    def step_fn(step_context: Any) -> None:
        tries.append(step_context.session)
        step_context.run_with_hooks(legacy.train_op)

    with Session(checkpoint_dir=str(tmp_path), hooks=[hook]) as session:
        session.run_step_fn(step_fn)
        assert float(raw(session).run(legacy.weight)) == 11.0
    assert len(tries) == 2


def test_a_server_that_is_lost_while_the_session_opens_is_tried_again(legacy: Legacy) -> None:
    errors = list(PREEMPTED)

    def init_fn(scaffold: Any, session: Any) -> None:
        if errors:
            raise errors.pop(0)

    with Session(scaffold=tf1.train.Scaffold(init_fn=init_fn)) as session:
        assert run_steps(session, legacy, 1) == [11.0]
    assert errors == []


@pytest.mark.parametrize(
    "error",
    [
        tf.errors.InternalError(None, None, "no"),
        tf.errors.DeadlineExceededError(None, None, "no"),
        tf.errors.CancelledError(None, None, "no"),
        tf.errors.FailedPreconditionError(None, None, "no"),
        tf.errors.ResourceExhaustedError(None, None, "no"),
        tf.errors.UnknownError(None, None, "no"),
        OSError("no"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_nothing_else_is_retried(error: Exception, legacy: Legacy, tmp_path: Path) -> None:
    hook = FailingHook([error])
    with (
        pytest.raises(type(error), match="no"),
        Session(checkpoint_dir=str(tmp_path), hooks=[hook]) as session,
    ):
        session.run(legacy.train_op)
    assert hook.sessions == 1


# --- v1's other sessions -------------------------------------------------------------------------------------------


def test_monitored_session_with_a_chiefs_creator_goes_on_working(legacy: Legacy, tmp_path: Path) -> None:
    calls: list[Any] = []
    for first in (11.0, 13.0):
        creator = tf1.train.ChiefSessionCreator(checkpoint_dir=str(tmp_path))
        saver = tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2)
        with tf1.train.MonitoredSession(creator, hooks=[TraceHook(calls), saver]) as session:
            assert run_steps(session, legacy, 2) == [first, first + 1.0]
    assert saved_steps(tmp_path) == [0, 2, 4]
    assert phases(calls).count("end") == 2


def test_monitored_session_recovers(legacy: Legacy) -> None:
    hook = FailingHook([PREEMPTED[0]], at_run=2)
    with tf1.train.MonitoredSession(hooks=[hook]) as session:
        assert run_steps(session, legacy, 2) == [11.0, 11.0]


def test_singular_monitored_session_does_not_recover_and_gives_its_raw_session(legacy: Legacy) -> None:
    hook = FailingHook([PREEMPTED[0]], at_run=2)
    with tf1.train.SingularMonitoredSession(hooks=[hook]) as session:
        assert isinstance(session.raw_session(), tf1.Session)
        session.run(legacy.train_op)
        assert session.raw_session().run(legacy.weight) == 11.0
        with pytest.raises(tf.errors.AbortedError):
            session.run(legacy.train_op)
    assert hook.sessions == 1


def test_a_workers_creator_waits_for_a_chief(server: Any, legacy: Legacy, waiting: FakeClock) -> None:
    creator = tf1.train.WorkerSessionCreator(master=server.target, max_wait_secs=60)
    with pytest.raises(tf.errors.DeadlineExceededError):
        tf1.train.MonitoredSession(creator)
    with chief_on(server), legacy.graph.as_default():
        creator = tf1.train.WorkerSessionCreator(master=server.target)
        with tf1.train.MonitoredSession(creator) as session:
            assert run_steps(session, legacy, 1) == [11.0]


def test_the_bridges_session_is_one_of_v1s(legacy: Legacy) -> None:
    with Session() as session:
        assert isinstance(session, tf1.train.MonitoredSession)
