"""Contract, "MonitoredTrainingSession", for a Keras model: errors, recovery, and threads of the coordinator."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from bridge.program import Program
from tests.bridge.contract.monitored import (
    KERAS_VERSIONS,
    FailingHook,
    Session,
    aborted,
    constant_summary,
    fit,
    model_of,
    package,
    step_of,
    train,
    unavailable,
)
from tests.bridge.support import (
    OPENING,
    STEP,
    FunctionHook,
    TraceHook,
    batches,
    phases,
    saved_steps,
    scalars,
)

tf1 = tf.compat.v1


def assert_usable(model: Any) -> None:
    """Trains a model plainly, and once more in a session of its own."""
    before = step_of(model)
    model.fit(batches(2), verbose=0, shuffle=False)
    assert step_of(model) == before + 2
    train(1, model=model)
    assert step_of(model) == before + 3


def assert_equal_weights(found: Any, expected: Any) -> None:
    for one, other in zip(found.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


# --- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", KERAS_VERSIONS)
@pytest.mark.parametrize("phase", ["begin", "after_create_session", "before_run", "after_run"])
def test_the_error_of_a_hook_comes_out_without_the_end_of_any_hook(
    phase: str, version: str, tmp_path: Path
) -> None:
    calls: list[Any] = []
    error = ValueError("this one")
    model = model_of(version)
    failing = TraceHook(calls, "failing", raises=error, phase=phase, at_run=2)
    options = {"checkpoint_dir": str(tmp_path), "save_summaries_steps": 1}
    with (
        pytest.raises(ValueError, match="this one") as raised,
        Session(hooks=[constant_summary(), TraceHook(calls), failing], **options) as session,
    ):
        fit(session, model)
    assert raised.value is error
    assert "end" not in [phase for phase, _ in calls]
    done = {"before_run": 1, "after_run": 2}.get(phase, 0)
    assert step_of(model) == done
    if done:
        assert [step for step, _ in scalars(tmp_path, "constant")] == list(range(1, done + 1))
    assert saved_steps(tmp_path) == ([] if phase == "begin" else [0])
    assert_usable(model)


def test_an_error_in_end_comes_out_and_the_later_hooks_do_not_end_as_in_v1(tmp_path: Path) -> None:
    calls: list[Any] = []
    hooks = [TraceHook(calls, "failing", raises=ValueError("at the end"), phase="end"), TraceHook(calls)]
    model = model_of()
    with (
        pytest.raises(ValueError, match="at the end"),
        Session(hooks=hooks, checkpoint_dir=str(tmp_path)) as session,
    ):
        fit(session, model)
    assert saved_steps(tmp_path) == [0, 3]  # The default saver comes before.
    assert "end" not in phases(calls)
    assert session.should_stop()
    assert_usable(model)


@pytest.mark.parametrize("version", KERAS_VERSIONS)
@pytest.mark.parametrize("error", [RuntimeError("of a callback"), KeyboardInterrupt(), SystemExit(3)])
def test_an_error_of_a_callback_comes_out_without_the_end_of_any_hook(
    error: BaseException, version: str, tmp_path: Path
) -> None:
    calls: list[Any] = []

    def fail(batch: int, logs: Any) -> None:
        if batch == 1:
            raise error

    failing = package(version).callbacks.LambdaCallback(on_train_batch_end=fail)
    model = model_of(version)
    options = {"summary_dir": str(tmp_path), "save_summaries_steps": 1}
    with (
        pytest.raises(type(error)) as raised,
        Session(hooks=[constant_summary(), TraceHook(calls)], **options) as session,
    ):
        fit(session, model, callbacks=[failing])
    assert raised.value is error
    assert phases(calls) == OPENING + STEP * 2
    assert [step for step, _ in scalars(tmp_path, "constant")] == [1, 2]
    assert session.should_stop()
    assert_usable(model)


def test_an_error_of_the_data_comes_out_without_the_end_of_any_hook() -> None:
    def check(x: Any, y: Any) -> Any:
        with tf.control_dependencies([tf.debugging.assert_less(x[0, 0], 0.5, "in the data")]):
            return tf.identity(x), y

    calls: list[Any] = []
    model = model_of()
    x = np.linspace(0, 1, 24, dtype=np.float32).reshape(8, 3)
    data = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(2).map(check)
    with (
        pytest.raises(tf.errors.InvalidArgumentError, match="in the data"),
        Session(hooks=[TraceHook(calls)]) as session,
    ):
        session.fit(model, data, verbose=0, shuffle=False)
    assert phases(calls)[:6] == OPENING + STEP * 2
    assert step_of(model) == 2
    assert "end" not in phases(calls)
    assert_usable(model)


def test_an_error_between_two_fits_comes_out_without_the_end_of_any_hook(tmp_path: Path) -> None:
    calls: list[Any] = []
    model = model_of()
    options = {"checkpoint_dir": str(tmp_path), "save_summaries_steps": 1}
    with (  # noqa: PT012 - the block is the session's
        pytest.raises(KeyError, match="mine"),
        Session(hooks=[constant_summary(), TraceHook(calls)], **options) as session,
    ):
        fit(session, model)
        {}["mine"]
    assert phases(calls) == OPENING + STEP * 3
    assert saved_steps(tmp_path) == [0]
    assert [step for step, _ in scalars(tmp_path, "constant")] == [1, 2, 3]
    assert_usable(model)


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_after_an_error_that_the_program_handles_another_fit_begins_anew(
    version: str, tmp_path: Path
) -> None:
    calls: list[Any] = []
    model = model_of(version)
    hooks = [TraceHook(calls), FailingHook([ValueError("once")], start=2)]
    with Session(checkpoint_dir=str(tmp_path), hooks=hooks) as session:
        with pytest.raises(ValueError, match="once"):
            fit(session, model)
        assert fit(session, model).epoch == [0]
    assert phases(calls) == [*OPENING, *STEP * 2, *OPENING, *STEP * 3, "end"]
    assert step_of(model) == 5
    assert saved_steps(tmp_path)[-1] == 5


def test_leaving_after_an_error_that_the_program_handles_ends_nothing_and_saves_nothing(
    tmp_path: Path,
) -> None:
    calls: list[Any] = []
    hooks = [TraceHook(calls), FailingHook([ValueError("once")], start=2)]
    with (
        Session(checkpoint_dir=str(tmp_path), hooks=hooks) as session,
        pytest.raises(ValueError, match="once"),
    ):
        fit(session)
    assert phases(calls) == OPENING + STEP * 2
    assert saved_steps(tmp_path) == [0]


@pytest.mark.parametrize("error", [tf.errors.OutOfRangeError(None, None, "over"), StopIteration()])
@pytest.mark.parametrize("where", ["hook", "block"])
def test_the_end_of_data_leaves_the_block_silently_and_ends_the_hooks(
    where: str, error: Exception, tmp_path: Path
) -> None:
    calls: list[Any] = []
    hooks: list[Any] = [TraceHook(calls)]
    if where == "hook":
        hooks.append(FailingHook([error], "before_run", start=3))
    model = model_of()
    with Session(hooks=hooks, checkpoint_dir=str(tmp_path)) as session:
        fit(session, model, 5 if where == "hook" else 2)
        if where == "block":
            raise error
    assert step_of(model) == 2
    assert phases(calls)[-1] == "end"
    assert saved_steps(tmp_path) == [0, 2]


# --- recovery ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", KERAS_VERSIONS)
@pytest.mark.parametrize("make", [aborted, unavailable])
@pytest.mark.parametrize("phase", ["before_run", "after_run"])
def test_a_lost_machine_is_recovered_from_the_last_checkpoint(
    phase: str, make: Any, version: str, tmp_path: Path
) -> None:
    calls: list[Any] = []
    model = model_of(version)
    hooks = [TraceHook(calls), FailingHook([make()], phase, start=3)]
    with Session(hooks=hooks, checkpoint_dir=str(tmp_path), save_checkpoint_steps=1) as session:
        history = fit(session, model, 4)
    assert history.epoch == [0]
    assert phases(calls).count("begin") == 1
    assert phases(calls).count("after_create_session") == 2
    # After an error in after_run the step counts: its checkpoint is there already.
    assert step_of(model) == 4
    plain = model_of(version)
    plain.fit(batches(4), shuffle=False, verbose=0)
    assert_equal_weights(model, plain)


def test_a_recovered_call_starts_from_the_last_checkpoint_not_from_the_last_step(tmp_path: Path) -> None:
    model = model_of()
    hooks = [FailingHook([aborted()], "before_run", start=4)]
    with Session(hooks=hooks, checkpoint_dir=str(tmp_path), save_checkpoint_steps=2) as session:
        fit(session, model, 5)
    # Steps 1 to 3, of which the checkpoint has 2; then the calls of the batches 4 and 5.
    assert step_of(model) == 4
    plain = model_of()
    data = batches(5)
    plain.fit(data.take(2).concatenate(data.skip(3)), shuffle=False, verbose=0)
    assert_equal_weights(model, plain)


def test_without_checkpoints_the_model_goes_on_from_where_it_is() -> None:
    model = model_of()
    with Session(hooks=[FailingHook([aborted()], "before_run", start=3)]) as session:
        fit(session, model, 4)
    plain = model_of()
    plain.fit(batches(4), shuffle=False, verbose=0)
    assert_equal_weights(model, plain)


def test_a_hundred_losses_in_a_row_are_recovered(tmp_path: Path) -> None:
    errors = [make() for _ in range(50) for make in (aborted, unavailable)]
    failing = FailingHook(errors, "before_run", start=2)
    model = model_of()
    options = {"save_checkpoint_steps": 1, "save_graph_def": False}
    with Session(hooks=[failing], checkpoint_dir=str(tmp_path), **options) as session:
        fit(session, model, 4)
    assert failing._errors == []
    assert step_of(model) == 4
    plain = model_of()
    plain.fit(batches(4), shuffle=False, verbose=0)
    assert_equal_weights(model, plain)


def test_a_loss_before_each_of_ten_steps_is_recovered(tmp_path: Path) -> None:
    class EverySecondCall(tf1.train.SessionRunHook):
        calls = 0

        def before_run(self, run_context: Any) -> None:
            self.calls += 1
            if self.calls % 2:
                raise aborted()

    hook = EverySecondCall()
    model = model_of()
    with Session(hooks=[hook], checkpoint_dir=str(tmp_path), save_checkpoint_steps=1) as session:
        fit(session, model, 10)
    assert hook.calls == 20
    plain = model_of()
    plain.fit(batches(10), shuffle=False, verbose=0)
    assert_equal_weights(model, plain)


@pytest.mark.parametrize("make", [aborted, unavailable])
@pytest.mark.parametrize(
    ("moment", "data", "trained"),
    [
        ("before", "dataset", [0, 1, 2, 3]),
        ("before", "generator", [0, 1, 2, 3]),
        # As a v1 input pipeline, which is further when the call is repeated.
        ("after", "dataset", [0, 1, 3]),
        # As a v1 feed, which is repeated with the call.
        ("after", "generator", [0, 1, 2, 3]),
    ],
)
def test_an_error_of_the_step_itself_is_recovered(
    moment: str, data: str, trained: list[int], make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes where TensorFlow raises it: out of the program of the third step."""
    run = Program.__call__
    steps: list[int] = []

    def failing(program: Program, arguments: Any) -> Any:
        if program.trains:
            steps.append(step_of(model))
        if program.trains and len(steps) == 3 and moment == "before":
            raise make()
        results = run(program, arguments)
        if program.trains and len(steps) == 3:
            assert step_of(model) == 3
            raise make()
        return results

    model, plain = model_of(), model_of()
    all_batches = list(batches(4))
    given = batches(4) if data == "dataset" else ((x.numpy(), y.numpy()) for x, y in all_batches)
    monkeypatch.setattr(Program, "__call__", failing)
    with Session(checkpoint_dir=str(tmp_path), save_checkpoint_steps=1) as session:
        session.fit(model, given, verbose=0, shuffle=False)
    assert steps[:4] == [0, 1, 2, 2]
    assert step_of(model) == len(trained)
    for number in trained:
        plain.train_on_batch(*all_batches[number])
    assert_equal_weights(model, plain)


def test_an_error_while_a_session_is_recovered_is_tried_again(tmp_path: Path) -> None:
    model = model_of()
    hooks = [
        FailingHook([aborted()], "before_run", start=2),
        FailingHook([unavailable()], "after_create_session", start=2),
    ]
    with Session(hooks=hooks, checkpoint_dir=str(tmp_path), save_checkpoint_steps=1) as session:
        fit(session, model, 3)
    assert step_of(model) == 3


@pytest.mark.parametrize(
    "error",
    [
        tf.errors.InternalError(None, None, "mine"),
        tf.errors.CancelledError(None, None, "mine"),
        tf.errors.DeadlineExceededError(None, None, "mine"),
        tf.errors.InvalidArgumentError(None, None, "mine"),
        OSError("mine"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_nothing_else_is_tried_again(error: Exception, tmp_path: Path) -> None:
    calls: list[Any] = []
    hooks = [TraceHook(calls), FailingHook([error], "before_run", start=2)]
    with (
        pytest.raises(type(error), match="mine"),
        Session(hooks=hooks, checkpoint_dir=str(tmp_path)) as session,
    ):
        fit(session)
    assert phases(calls).count("after_create_session") == 1
    assert "end" not in phases(calls)


def test_run_and_run_step_fn_recover_too(tmp_path: Path) -> None:
    hook = FailingHook([aborted(), unavailable()], "before_run", start=4)
    with Session(hooks=[hook], checkpoint_dir=str(tmp_path), save_checkpoint_steps=3) as session:
        fit(session, steps=3)
        assert session.run("global_step:0") == 3
        assert session.run_step_fn(lambda step_context: step_context.run_with_hooks("global_step:0")) == 3
    assert hook._errors == []


# --- threads of the coordinator ------------------------------------------------------------------------------------


class ThreadHook(tf1.train.SessionRunHook):
    """Starts a thread with the session's coordinator."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self.thread: Any = None

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.thread = threading.Thread(target=self._run, args=(coord,), daemon=True)
        coord.register_thread(self.thread)
        self.thread.start()


def test_threads_are_asked_to_stop_and_joined_at_the_end() -> None:
    hook = ThreadHook(lambda coord: coord.wait_for_stop())
    with Session(hooks=[hook]) as session:
        fit(session)
        assert hook.thread.is_alive()
    assert not hook.thread.is_alive()


def test_the_exception_of_a_thread_comes_out(tmp_path: Path) -> None:
    raised = threading.Event()

    def fail(coord: Any) -> None:
        with coord.stop_on_exception():
            raised.set()
            raise ArithmeticError("in a thread")

    model = model_of()
    hook = ThreadHook(fail)
    wait = FunctionHook(before_run=lambda context, built: hook.thread.join())
    with (
        pytest.raises(ArithmeticError, match="in a thread"),
        Session(hooks=[hook, wait], checkpoint_dir=str(tmp_path)) as session,
    ):
        fit(session, model, 10)
    assert raised.is_set()
    assert step_of(model) <= 1
    assert_usable(model)


def test_a_thread_that_does_not_stop_is_left_after_the_grace_period_as_in_v1(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    free = threading.Event()
    hook = ThreadHook(lambda coord: free.wait())
    with Session(hooks=[hook], stop_grace_period_secs=0, checkpoint_dir=str(tmp_path)) as session:
        fit(session)
    assert hook.thread.is_alive()
    assert "still running" in log.text
    assert saved_steps(tmp_path) == [0, 3]
    free.set()
    hook.thread.join()


def test_the_coordinator_is_asked_by_should_stop() -> None:
    coordinators: list[Any] = []
    hook = FunctionHook()
    hook.after_create_session = lambda session, coord: coordinators.append(coord)  # type: ignore[method-assign]
    model = model_of()
    with Session(hooks=[hook]) as session:
        fit(session, model, 2)
        coordinators[0].request_stop()
        assert session.should_stop()
        assert fit(session, model, 2).epoch == []
    assert step_of(model) == 2
