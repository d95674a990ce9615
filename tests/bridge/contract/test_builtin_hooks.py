"""Contract, "Built-in hooks", without those that write checkpoints and summaries (test_saver_hooks.py)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import bridge
from tests.bridge.support import (
    Calls,
    FakeClock,
    FetchHook,
    FunctionHook,
    TraceHook,
    at_step,
    batches,
    phases,
    read_events,
    scalars,
    seconds_per_step,
    small_model,
    step_of,
    tensor,
    train,
    two_updates,
    variable,
)

tf1 = tf.compat.v1


def assign_step(step: int) -> FunctionHook:
    """A hook that sets the global step after each run."""
    return FunctionHook(
        lambda: tf1.assign(tf1.train.get_global_step(), step),
        after_run=lambda context, values, assign: context.session.run(assign),
    )


# --- StopAtStepHook --------------------------------------------------------------------------------------------


def test_last_step_stops_at_exactly_this_step() -> None:
    assert step_of(train(tf1.train.StopAtStepHook(last_step=5), steps=4, epochs=3)) == 5


def test_last_step_counts_the_steps_of_earlier_fits() -> None:
    assert step_of(train(tf1.train.StopAtStepHook(last_step=5), steps=4, model=at_step(3))) == 5


def test_last_step_that_is_reached_already_trains_nothing() -> None:
    model = at_step(5)
    before = model.get_weights()
    train(tf1.train.StopAtStepHook(last_step=5), steps=4, model=model)
    assert step_of(model) == 5
    np.testing.assert_array_equal(model.get_weights()[0], before[0])


def test_num_steps_counts_from_the_session() -> None:
    assert step_of(train(tf1.train.StopAtStepHook(num_steps=2), steps=4, model=at_step(3))) == 5


def test_num_steps_counts_from_the_step_that_init_fn_restores(tmp_path: Path) -> None:
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=100), steps=4)

    def restore(scaffold: Any, session: Any) -> None:
        scaffold.saver.restore(session, tf.train.latest_checkpoint(str(tmp_path)))

    model = train(
        tf1.train.StopAtStepHook(num_steps=2), steps=4, scaffold=tf1.train.Scaffold(init_fn=restore)
    )
    assert step_of(model) == 6


def test_a_run_of_several_steps_may_jump_over_the_last_step() -> None:
    assert step_of(train(tf1.train.StopAtStepHook(last_step=3), steps=4, model=two_updates())) == 4


def test_a_hook_may_move_the_step_beyond_the_last_one() -> None:
    calls: Calls = []
    train([tf1.train.StopAtStepHook(last_step=10), assign_step(50), TraceHook(calls)], steps=4)
    assert phases(calls).count("after_run") == 2  # The second run starts at 50, and is the last.


@pytest.mark.parametrize("arguments", [{}, {"num_steps": 1, "last_step": 1}])
def test_exactly_one_of_num_steps_and_last_step_is_needed(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="num_steps"):
        tf1.train.StopAtStepHook(**arguments)


# --- LoggingTensorHook -----------------------------------------------------------------------------------------


def logged_steps(log: pytest.LogCaptureFixture) -> list[int]:
    lines = [message for message in log.messages if message.startswith("global_step = ")]
    return [int(line.split()[2].rstrip(",")) for line in lines]


def test_tensors_are_logged_at_the_first_run_and_then_every_n_local_runs(
    log: pytest.LogCaptureFixture,
) -> None:
    train(tf1.train.LoggingTensorHook(["global_step"], every_n_iter=3), steps=4, epochs=2, model=at_step(5))
    assert logged_steps(log) == [5, 8, 11]


def test_tensors_are_logged_every_n_seconds(log: pytest.LogCaptureFixture, clock: FakeClock) -> None:
    hooks = [seconds_per_step(clock, 1.0), tf1.train.LoggingTensorHook(["global_step"], every_n_secs=2.0)]
    train(hooks, steps=6)
    assert logged_steps(log) == [0, 2, 4]
    assert "global_step = 4 (2.000 sec)" in log.messages


def test_at_end_logs_the_values_after_the_last_step(log: pytest.LogCaptureFixture) -> None:
    train(tf1.train.LoggingTensorHook(["global_step"], at_end=True), steps=4)
    assert logged_steps(log) == [4]


def test_at_end_adds_to_the_periodic_logging(log: pytest.LogCaptureFixture) -> None:
    train(tf1.train.LoggingTensorHook(["global_step"], every_n_iter=3, at_end=True), steps=5)
    assert logged_steps(log) == [0, 3, 5]


def test_a_logging_hook_that_is_used_again_starts_anew(log: pytest.LogCaptureFixture) -> None:
    hook = tf1.train.LoggingTensorHook(["global_step"], every_n_iter=3)
    model = train(hook, steps=5)
    train(hook, steps=5, model=model)
    assert logged_steps(log) == [0, 3, 5, 8]


def test_the_formatters_text_is_logged_verbatim(log: pytest.LogCaptureFixture) -> None:
    hook = tf1.train.LoggingTensorHook(
        {"step": "global_step"},
        every_n_iter=1,
        formatter=lambda values: f"100% {{of}} %s at {values['step']}",
    )
    train(hook, steps=2)
    assert [line for line in log.messages if line.startswith("100%")] == [
        "100% {of} %s at 0",
        "100% {of} %s at 1",
    ]


def test_several_tensors_are_logged_in_the_given_order(log: pytest.LogCaptureFixture) -> None:
    train(tf1.train.LoggingTensorHook(["learning_rate", "global_step"], every_n_iter=5), steps=1)
    assert "learning_rate = 0.125, global_step = 0" in log.messages


@pytest.mark.parametrize(
    "arguments",
    [{}, {"every_n_iter": 1, "every_n_secs": 1}, {"every_n_iter": 0}, {"every_n_iter": -1, "at_end": True}],
)
def test_bad_arguments_of_the_logging_hook_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="every_n"):
        tf1.train.LoggingTensorHook(["loss"], **arguments)


# --- StepCounterHook -------------------------------------------------------------------------------------------


def test_the_rate_is_written_every_n_steps_but_not_at_the_first_trigger(
    tmp_path: Path, clock: FakeClock, log: pytest.LogCaptureFixture
) -> None:
    hook = tf1.train.StepCounterHook(every_n_steps=2, output_dir=str(tmp_path))
    train([seconds_per_step(clock, 0.25), hook], steps=6)
    assert scalars(tmp_path, "global_step/sec") == [(3, 4.0), (5, 4.0)]
    assert log.messages.count("global_step/sec: 4") == 2


def test_the_rate_is_written_every_n_seconds(tmp_path: Path, clock: FakeClock) -> None:
    hook = tf1.train.StepCounterHook(every_n_steps=None, every_n_secs=1.5, output_dir=str(tmp_path))
    train([seconds_per_step(clock, 0.5), hook], steps=7)
    assert scalars(tmp_path, "global_step/sec") == [(4, 2.0), (7, 2.0)]


def test_the_rate_is_right_where_one_run_makes_several_steps(tmp_path: Path, clock: FakeClock) -> None:
    hook = tf1.train.StepCounterHook(every_n_steps=4, output_dir=str(tmp_path))
    hook._set_steps_per_run(2)
    train([seconds_per_step(clock, 0.5), hook], steps=6, model=two_updates())
    assert scalars(tmp_path, "global_step/sec") == [(6, 4.0), (10, 4.0)]


def test_a_step_that_does_not_move_is_warned_of(log: pytest.LogCaptureFixture) -> None:
    train([assign_step(0), tf1.train.StepCounterHook(every_n_steps=1)], steps=2)
    warnings = [message for message in log.messages if "has not been increased" in message]
    assert len(warnings) == 1


def test_no_step_of_a_moving_model_is_warned_of(log: pytest.LogCaptureFixture) -> None:
    train(tf1.train.StepCounterHook(every_n_steps=1), steps=200)
    assert not [message for message in log.messages if "has not been increased" in message]


# --- GlobalStepWaiterHook --------------------------------------------------------------------------------------


def test_the_waiter_blocks_in_before_run_until_the_step_is_reached(clock: FakeClock) -> None:
    calls: Calls = []
    slept: list[int] = []

    class OtherWorker(tf1.train.SessionRunHook):
        def begin(self) -> None:
            self._advance = tf1.assign_add(tf1.train.get_global_step(), 4)

        def after_create_session(self, session: Any, coord: Any) -> None:
            clock.on_sleep = lambda: slept.append(int(session.run(self._advance)))

    model = train([OtherWorker(), tf1.train.GlobalStepWaiterHook(10), TraceHook(calls)], steps=1)
    assert slept == [4, 8, 12]
    assert phases(calls) == ["begin", "after_create_session", "before_run", "after_run", "end"]
    assert step_of(model) == 13


def test_the_waiter_does_not_wait_for_a_step_that_is_reached(clock: FakeClock) -> None:
    clock.on_sleep = lambda: pytest.fail("It waits.")
    assert step_of(train(tf1.train.GlobalStepWaiterHook(10), steps=2, model=at_step(10))) == 12


# --- FinalOpsHook ----------------------------------------------------------------------------------------------


def test_final_ops_are_evaluated_after_the_last_step_with_their_feed() -> None:
    made = []

    def make() -> tf1.train.SessionRunHook:
        factor = tf1.placeholder(tf.float32, [], name="factor")
        ops = {"step": tf1.train.get_global_step(), "kernel": variable("dense/kernel") * factor}
        made.append(tf1.train.FinalOpsHook(ops, final_ops_feed_dict={factor: 2.0}))
        return made[0]

    model = train(make, steps=3)
    values = made[0].final_ops_values
    assert values["step"] == 3
    np.testing.assert_array_equal(values["kernel"], model.get_weights()[0] * 2)


def test_final_ops_may_run_the_model_on_a_batch_that_they_feed() -> None:
    x = np.ones((4, 3), np.float32)
    made = []

    def make() -> tf1.train.SessionRunHook:
        made.append(
            tf1.train.FinalOpsHook(tensor("dense/output"), final_ops_feed_dict={tensor("batch/x"): x})
        )
        return made[0]

    model = train(make, data=batches(3).unbatch().batch(2))
    kernel, bias = model.get_weights()
    np.testing.assert_allclose(made[0].final_ops_values, x @ kernel + bias, rtol=1e-6)


# --- FeedFnHook ------------------------------------------------------------------------------------------------


def test_feed_fn_is_asked_for_its_feeds_at_each_step() -> None:
    rates = iter([0.5, 0.0, 0.25])
    seen = FetchHook(lambda: ["learning_rate:0", variable("dense/kernel")])

    def make() -> tf1.train.SessionRunHook:
        rate = tensor("learning_rate")
        return tf1.train.FeedFnHook(lambda: {rate: next(rates)})

    train([make, seen], steps=3)
    assert [float(rate) for rate, _ in seen.results] == [0.5, 0.0, 0.25]
    assert not np.array_equal(seen.results[0][1], seen.results[1][1])  # The step used the rate of 0.5,
    np.testing.assert_array_equal(seen.results[1][1], seen.results[2][1])  # and that of zero.


# --- ProfilerHook ----------------------------------------------------------------------------------------------


def profiled(directory: Path, steps: int, **when: Any) -> list[str]:
    train(lambda: tf1.train.ProfilerHook(output_dir=str(directory), **when), steps=steps)
    return sorted(path.name for path in directory.glob("timeline-*.json"))


def test_the_profiler_never_profiles_the_first_run(tmp_path: Path) -> None:
    assert profiled(tmp_path, steps=5, save_steps=2) == ["timeline-2.json", "timeline-4.json"]


def test_a_profile_is_a_chrome_trace_of_the_steps_operations(tmp_path: Path) -> None:
    profiled(tmp_path, steps=3, save_steps=2, show_memory=True)
    trace = json.loads((tmp_path / "timeline-2.json").read_text())
    names = {event.get("name", "") for event in trace["traceEvents"]}
    assert [name for name in names if "MatMul" in name]


def test_a_profile_is_tagged_with_its_step_in_the_event_file(tmp_path: Path) -> None:
    profiled(tmp_path, steps=5, save_steps=2)
    events = read_events(tmp_path)
    assert events.Tags()["run_metadata"] == ["step_2", "step_4"]
    assert events.RunMetadata("step_2").step_stats.dev_stats


# --- NanTensorHook ---------------------------------------------------------------------------------------------


def test_a_nan_loss_raises_nan_loss_during_training_error(log: pytest.LogCaptureFixture) -> None:
    calls: Calls = []
    hooks = [lambda: tf1.train.NanTensorHook(tensor("loss")), TraceHook(calls)]
    with pytest.raises(tf1.train.NanLossDuringTrainingError):
        train(hooks, data=batches(5, nan_at=2))
    assert phases(calls).count("after_run") == 2
    assert "Model diverged with loss = NaN." in log.messages


def test_a_nan_loss_may_stop_training_with_a_warning_instead(log: pytest.LogCaptureFixture) -> None:
    calls: Calls = []
    hooks = [lambda: tf1.train.NanTensorHook(tensor("loss"), fail_on_nan_loss=False), TraceHook(calls)]
    train(hooks, data=batches(5, nan_at=2))
    assert phases(calls).count("after_run") == 3
    assert phases(calls)[-1] == "end"
    assert [record.levelname for record in log.records if "diverged" in record.getMessage()] == ["WARNING"]


def test_the_nan_hook_sees_the_loss_of_the_step_not_the_mean_of_the_epoch() -> None:
    data = batches(1, nan_at=0).concatenate(batches(3))
    model = small_model()
    hook = FetchHook(lambda: ["loss:0", "logs/loss:0"])
    model.fit(data, callbacks=[bridge.HookCallback(hook)], shuffle=False, verbose=0)
    assert [bool(np.isnan(loss)) for loss, _ in hook.results] == [True, True, True, True]
    assert np.isnan(hook.results[0][1])


# --- SecondOrStepTimer -----------------------------------------------------------------------------------------


def triggers(timer: Any, steps: list[int]) -> list[int]:
    found = []
    for step in steps:
        if timer.should_trigger_for_step(step):
            timer.update_last_triggered_step(step)
            found.append(step)
    return found


def test_a_timers_first_check_fires_and_later_ones_by_distance() -> None:
    assert triggers(tf1.train.SecondOrStepTimer(every_steps=3), [7, 8, 9, 10, 20, 21]) == [7, 10, 20]


def test_a_timer_never_fires_twice_for_one_step(clock: FakeClock) -> None:
    timer = tf1.train.SecondOrStepTimer(every_secs=1.0)
    assert triggers(timer, [4]) == [4]
    clock.sleep(100.0)
    assert triggers(timer, [4, 5, 5]) == [5]


def test_a_hook_may_time_itself_by_the_global_step() -> None:
    timer = tf1.train.SecondOrStepTimer(every_steps=3)
    fired: list[int] = []

    def after_run(run_context: Any, run_values: Any, built: Any) -> None:
        fired.extend(triggers(timer, [int(run_values.results)]))

    fetch: Callable[[Any, Any], Any] = lambda context, step: tf1.train.SessionRunArgs(step)  # noqa: E731
    train(FunctionHook(tf1.train.get_global_step, before_run=fetch, after_run=after_run), steps=8)
    assert fired == [0, 3, 6]
