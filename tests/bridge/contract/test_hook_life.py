"""Contract, "Hook life": which method of which hook is called when, and with what."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import bridge
from tests.bridge.support import (
    OPENING,
    STEP,
    Calls,
    FetchHook,
    FunctionHook,
    TraceHook,
    batches,
    in_session,
    phases,
    small_model,
    step_of,
    tensor,
    train,
)

tf1 = tf.compat.v1

# --- begin -----------------------------------------------------------------------------------------------------


def test_begin_comes_first_and_in_list_order() -> None:
    calls: Calls = []
    train([TraceHook(calls, "a"), TraceHook(calls, "b"), TraceHook(calls, "c")])
    assert calls[:3] == [("begin", "a"), ("begin", "b"), ("begin", "c")]
    assert [phase for phase, _ in calls].count("begin") == 3


def test_the_graph_is_open_in_begin_and_finalized_from_then_on() -> None:
    finalized: dict[str, bool] = {}

    def note(phase: str, graph: tf.Graph) -> None:
        finalized[phase] = graph.finalized

    hook = FunctionHook(
        lambda: note("begin", tf1.get_default_graph()),
        after_create_session=lambda session, _: note("after_create_session", session.graph),
        before_run=lambda context, _: note("before_run", context.session.graph),
        end=lambda session, _: note("end", session.graph),
    )
    train(hook)
    assert finalized == {"begin": False, "after_create_session": True, "before_run": True, "end": True}


def test_begin_is_called_once_for_a_fit_of_several_epochs() -> None:
    calls: Calls = []
    train(TraceHook(calls), steps=2, epochs=3)
    assert phases(calls) == [*OPENING, *STEP * 6, "end"]


def test_an_operation_that_a_hook_adds_in_begin_can_be_fetched() -> None:
    hook = FetchHook(lambda: tensor("loss") * 0.0 + 7.0)
    train(hook, steps=2)
    assert hook.results == [7.0, 7.0]


def test_a_second_fit_begins_again_on_a_graph_of_its_own() -> None:
    graphs = []
    hook = FunctionHook(lambda: graphs.append(tf1.get_default_graph()))
    model = train(hook)
    train(hook, model=model)
    assert len(graphs) == 2
    assert graphs[0] is not graphs[1]


BUILT_IN: dict[str, Callable[[str], Any]] = {
    "CheckpointSaver": lambda folder: tf1.train.CheckpointSaverHook(folder, save_steps=2),
    "LoggingTensor": lambda folder: tf1.train.LoggingTensorHook(["loss"], every_n_iter=1),
    "StepCounter": lambda folder: tf1.train.StepCounterHook(every_n_steps=1, output_dir=folder),
    "StopAtStep": lambda folder: tf1.train.StopAtStepHook(num_steps=2),
    "SummarySaver": lambda folder: tf1.train.SummarySaverHook(
        1, output_dir=folder, scaffold=tf1.train.Scaffold()
    ),
    "GlobalStepWaiter": lambda folder: tf1.train.GlobalStepWaiterHook(0),
    "Profiler": lambda folder: tf1.train.ProfilerHook(save_steps=2, output_dir=folder),
}


@pytest.mark.parametrize("make", BUILT_IN.values(), ids=BUILT_IN)
def test_a_second_begin_of_a_built_in_hook_changes_nothing_in_the_graph(
    make: Callable[[str], Any], tmp_path: Path
) -> None:
    with (
        tf.Graph().as_default()
    ):  # ProfilerHook makes its writer at once, which TensorFlow refuses in eager mode.
        hook = make(str(tmp_path))
    versions: list[int] = []

    def begin_twice() -> None:
        hook.begin()
        versions.append(tf1.get_default_graph().version)
        hook.begin()
        versions.append(tf1.get_default_graph().version)

    train([FunctionHook(begin_twice), hook], steps=1)
    assert versions[0] == versions[1]


# --- the session -----------------------------------------------------------------------------------------------


def test_after_create_session_follows_every_begin_in_list_order() -> None:
    calls: Calls = []
    train([TraceHook(calls, "a"), TraceHook(calls, "b")])
    assert calls[:4] == [
        ("begin", "a"),
        ("begin", "b"),
        ("after_create_session", "a"),
        ("after_create_session", "b"),
    ]


def test_after_create_session_gets_the_session_of_the_graph_and_a_coordinator() -> None:
    class Hook(tf1.train.SessionRunHook):
        def begin(self) -> None:
            self.graph = tf1.get_default_graph()

        def after_create_session(self, session: Any, coord: Any) -> None:
            self.found = session.graph is self.graph, tf1.get_default_graph() is self.graph, coord

    hook = Hook()
    train(hook)
    assert hook.found[:2] == (True, True)
    assert isinstance(hook.found[2], tf.train.Coordinator)


@pytest.mark.parametrize("error", [tf.errors.UnavailableError, tf.errors.AbortedError])
def test_a_lost_session_is_opened_again_without_begin_and_the_step_repeated(error: type[Exception]) -> None:
    calls: Calls = []
    failing = TraceHook(calls, raises=error(None, None, "lost"), phase="before_run", at_run=2)
    model = train(failing, steps=3)
    assert phases(calls) == [
        *OPENING,
        *STEP,
        "before_run",  # Raises; a new session follows.
        "after_create_session",
        *STEP * 2,
        "end",
    ]
    undisturbed = train([], steps=3)
    np.testing.assert_array_equal(model.get_weights()[0], undisturbed.get_weights()[0])


def test_a_session_that_is_lost_after_the_run_does_not_end_the_fit() -> None:
    calls: Calls = []
    failing = TraceHook(calls, raises=tf.errors.AbortedError(None, None, "lost"), phase="after_run", at_run=2)
    model = train(failing, steps=4)
    assert phases(calls).count("after_create_session") == 2
    assert phases(calls)[-1] == "end"
    assert step_of(model) == 4


def test_variables_of_a_hook_are_initialized_again_in_the_next_session() -> None:
    class Counter(tf1.train.SessionRunHook):
        def __init__(self) -> None:
            self.counts: list[int] = []

        def begin(self) -> None:
            count = tf1.get_variable("count", [], tf.int32, tf1.zeros_initializer(), use_resource=True)
            self._increase = tf1.assign_add(count, 1)

        def before_run(self, run_context: Any) -> Any:
            return tf1.train.SessionRunArgs(self._increase)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.counts.append(run_values.results)

    counter = Counter()
    failing = TraceHook(
        [], raises=tf.errors.UnavailableError(None, None, "lost"), phase="before_run", at_run=3
    )
    train([counter, failing], steps=4)
    assert counter.counts == [1, 2, 1, 2]


# --- each step -------------------------------------------------------------------------------------------------


def test_each_step_calls_before_run_of_all_and_then_after_run_of_all_in_list_order() -> None:
    calls: Calls = []
    train([TraceHook(calls, "a"), TraceHook(calls, "b")], steps=2)
    one_step = [("before_run", "a"), ("before_run", "b"), ("after_run", "a"), ("after_run", "b")]
    assert calls[4:] == [*one_step, *one_step, ("end", "a"), ("end", "b")]


def test_the_step_runs_once_between_before_run_and_after_run() -> None:
    steps: list[tuple[str, int]] = []

    def note(phase: str, session: Any) -> None:
        steps.append((phase, int(session.run("global_step:0"))))

    train(
        FunctionHook(
            before_run=lambda context, _: note("before", context.session),
            after_run=lambda context, values, _: note("after", context.session),
        ),
        steps=2,
    )
    assert steps == [("before", 0), ("after", 1), ("before", 1), ("after", 2)]


def test_hooks_run_at_every_step_inside_one_execution_of_keras() -> None:
    calls: Calls = []
    train(TraceHook(calls), steps=5, model=small_model(steps_per_execution=3))
    assert phases(calls) == [*OPENING, *STEP * 5, "end"]


@pytest.mark.parametrize("stopper", [0, 1, 2])
def test_every_after_run_still_happens_in_the_step_in_which_one_hook_requests_a_stop(stopper: int) -> None:
    calls: Calls = []
    train([TraceHook(calls, str(i), stop_at_run=2 if i == stopper else 0) for i in range(3)], steps=5)
    assert [name for phase, name in calls if phase == "after_run"] == ["0", "1", "2"] * 2
    assert calls[-3:] == [("end", "0"), ("end", "1"), ("end", "2")]


# --- the end ---------------------------------------------------------------------------------------------------


def test_request_stop_ends_training_after_this_step_in_all_epochs() -> None:
    calls: Calls = []
    model = train(TraceHook(calls, stop_at_run=4), steps=3, epochs=5)
    assert phases(calls) == [*OPENING, *STEP * 4, "end"]
    assert step_of(model) == 4


def test_no_step_runs_after_a_stop_even_if_another_callback_forgets_the_stop() -> None:
    class Forgetful(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.model.stop_training = False

    calls: Calls = []
    model = train(TraceHook(calls, stop_at_run=2), steps=4, callbacks=[Forgetful()])
    assert step_of(model) == 2
    assert phases(calls).count("before_run") == 2


def test_a_run_after_the_end_raises_a_runtime_error() -> None:
    session = in_session(lambda session, _: session)
    with pytest.raises(RuntimeError, match="closed session"):
        session.run("global_step:0")


@pytest.mark.parametrize(
    "error", [tf.errors.OutOfRangeError(None, None, "no more"), StopIteration("no more")]
)
def test_an_end_of_data_in_before_run_leads_to_end_without_after_run(error: Exception) -> None:
    calls: Calls = []
    model = train(
        [TraceHook(calls, "other"), TraceHook(calls, raises=error, phase="before_run", at_run=2)], steps=4
    )
    assert phases(calls, "other") == [*OPENING, *STEP, "before_run", "end"]
    assert phases(calls) == [*OPENING, *STEP, "before_run", "end"]
    assert step_of(model) == 1


@pytest.mark.parametrize(
    "error", [tf.errors.OutOfRangeError(None, None, "no more"), StopIteration("no more")]
)
def test_an_end_of_data_in_after_run_leads_to_end(error: Exception) -> None:
    calls: Calls = []
    model = train(
        [TraceHook(calls, raises=error, phase="after_run", at_run=2), TraceHook(calls, "later")], steps=4
    )
    assert phases(calls) == [*OPENING, *STEP * 2, "end"]
    assert phases(calls, "later") == [*OPENING, *STEP, "before_run", "end"]
    assert step_of(model) == 2


def test_the_end_of_a_dataset_that_a_hook_reads_leads_to_end_without_after_run() -> None:
    calls: Calls = []
    own_data = FetchHook(lambda: tf1.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next())
    train([own_data, TraceHook(calls)], steps=5, epochs=2)
    assert own_data.results == [0, 1]
    assert phases(calls) == [*OPENING, *STEP * 2, "before_run", "end"]


def test_the_end_of_the_data_of_fit_leads_to_end() -> None:
    calls: Calls = []
    data = batches(2).repeat(2)
    train(TraceHook(calls), data=data)
    assert phases(calls) == [*OPENING, *STEP * 4, "end"]


class HookFailureError(Exception):
    """An error that nothing else raises."""


@pytest.mark.parametrize(
    "error", [HookFailureError("broken"), KeyboardInterrupt("pressed"), SystemExit("left")]
)
@pytest.mark.parametrize("phase", ["before_run", "after_run"])
def test_after_another_error_neither_after_run_nor_end_is_called(error: BaseException, phase: str) -> None:
    calls: Calls = []
    hooks = [TraceHook(calls, "broken", raises=error, phase=phase, at_run=2), TraceHook(calls, "later")]
    with pytest.raises(type(error)):
        train(hooks, steps=4)
    expected = [*OPENING, *STEP] if phase == "before_run" else [*OPENING, *STEP, "before_run"]
    assert phases(calls, "later") == expected
    assert "end" not in phases(calls, "broken")


def test_the_original_traceback_of_a_hooks_error_reaches_the_caller() -> None:
    def stumble(run_context: Any, built: Any) -> None:
        raise HookFailureError("at this very line")

    with pytest.raises(HookFailureError, match="at this very line") as caught:
        train(FunctionHook(before_run=stumble))
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "stumble"


def test_an_error_of_the_step_itself_reaches_the_caller_and_no_after_run_follows() -> None:
    calls: Calls = []
    check = FetchHook(
        lambda: tf1.debugging.assert_less(tensor("global_step/Read/ReadVariableOp"), np.int64(1))
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        train([check, TraceHook(calls)], steps=4)
    assert phases(calls) == [*OPENING, *STEP, "before_run"]


# --- chief-only hooks ------------------------------------------------------------------------------------------


def test_chief_only_hooks_come_before_user_hooks_in_every_phase() -> None:
    calls: Calls = []
    train([TraceHook(calls, "user")], chief_only_hooks=[TraceHook(calls, "chief")], is_chief=True, steps=1)
    in_order = [*OPENING, *STEP, "end"]
    assert calls == [(phase, name) for phase in in_order for name in ("chief", "user")]


def test_a_worker_runs_no_chief_only_hooks() -> None:
    calls: Calls = []
    train([TraceHook(calls, "user")], chief_only_hooks=[TraceHook(calls, "chief")], is_chief=False, steps=1)
    assert {name for _, name in calls} == {"user"}


def test_tf_config_tells_who_is_the_chief(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Calls = []
    cluster = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": %d}}'
    for index in range(2):
        monkeypatch.setenv("TF_CONFIG", cluster % index)
        train([], chief_only_hooks=TraceHook(calls, str(index)), steps=1)
    assert {name for _, name in calls} == {"0"}


# --- evaluation and prediction ---------------------------------------------------------------------------------


def test_eval_hooks_live_through_one_validation_at_a_time() -> None:
    calls: Calls = []
    callback = bridge.HookCallback(TraceHook(calls, "train"), eval_hooks=TraceHook(calls, "eval"))
    small_model().fit(
        batches(1), epochs=2, validation_data=batches(2), callbacks=[callback], shuffle=False, verbose=0
    )
    assert phases(calls, "train") == [*OPENING, *STEP * 2, "end"]
    assert phases(calls, "eval") == [*OPENING, *STEP * 2, "end"] * 2


def test_predict_hooks_live_through_one_prediction() -> None:
    calls: Calls = []
    model, x = small_model(), np.arange(15, dtype=np.float32).reshape(5, 3)
    expected = model.predict(x, batch_size=2, verbose=0)
    callback = bridge.HookCallback(predict_hooks=TraceHook(calls))
    found = model.predict(x, batch_size=2, callbacks=[callback], verbose=0)
    np.testing.assert_array_equal(found, expected)
    assert phases(calls) == [*OPENING, *STEP * 3, "end"]
