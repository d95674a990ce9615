"""Contract: hooks as other public packages write them, in what they ask of the v1 API.

Each class below is written for this test after the manner of a public hook that its docstring names.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.bridge.support import (
    BIAS,
    KERNEL,
    Calls,
    FetchHook,
    TraceHook,
    at_step,
    batches,
    phases,
    scalars,
    small_model,
    step_of,
    tensor,
    train,
    variable,
)

tf1 = tf.compat.v1

# --- broadcast -------------------------------------------------------------------------------------------------


class BroadcastHook(tf1.train.SessionRunHook):
    """Horovod's manner: operations that assign the root's values are made in `begin` and run when the session is there.

    One hook object serves several graphs, and makes its operations anew for each.
    """

    def __init__(self, root: dict[str, np.ndarray], device: str = "/cpu:0") -> None:
        self._root, self._device, self._broadcast = root, device, None

    def begin(self) -> None:
        if self._broadcast is None or self._broadcast.graph is not tf1.get_default_graph():
            with tf.device(self._device):
                self._broadcast = tf.group(
                    *(
                        tf1.assign(v, tf1.py_func(self._receive, [v.op.name], v.dtype.base_dtype))
                        for v in tf1.global_variables()
                        if v.op.name in self._root
                    )
                )

    def _receive(self, name: bytes) -> np.ndarray:
        return self._root[name.decode()]

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._broadcast)


def test_a_broadcast_hook_gives_the_model_the_weights_and_the_step_of_the_root() -> None:
    root = small_model()
    root.set_weights([KERNEL + 1, BIAS - 1])
    train([], steps=2, model=root)
    kernel, bias = root.get_weights()
    values = {"dense/kernel": kernel, "dense/bias": bias, "global_step": np.int64(2)}
    worker = train(BroadcastHook(values), data=batches(1))
    train([], data=batches(1), model=root)
    np.testing.assert_array_equal(worker.get_weights()[0], root.get_weights()[0])
    assert step_of(worker) == 3


def test_a_broadcast_hook_serves_several_fits() -> None:
    hook = BroadcastHook({"dense/kernel": KERNEL * 2})
    first = FetchHook(lambda: variable("dense/kernel"))
    model = train([hook, first], steps=2)
    train([hook, first], steps=2, model=model)
    np.testing.assert_array_equal(first.results[0], KERNEL * 2)
    np.testing.assert_array_equal(first.results[2], KERNEL * 2)


# --- experiment trackers ---------------------------------------------------------------------------------------


class TrackerHook(tf1.train.SessionRunHook):
    """The manner of experiment trackers' hooks: fetches the merged summaries and the step, and logs the parsed values."""

    def __init__(self, log: Callable[[int, dict[str, float]], object], steps_per_log: int = 2) -> None:
        self._log, self._every = log, steps_per_log
        self._summary_op: Any = None

    def begin(self) -> None:
        self._summary_op = tf1.summary.merge_all()
        self._step = -1

    def before_run(self, run_context: Any) -> Any:
        return tf1.train.SessionRunArgs(
            {"summary": self._summary_op, "global_step": tf1.train.get_global_step()}
        )

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = int(run_values.results["global_step"])
        if self._step != -1 and step < self._step + self._every:
            return
        self._step = step
        summary = tf1.Summary.FromString(run_values.results["summary"])
        self._log(step, {value.tag: value.simple_value for value in summary.value})


def add_rate_and_step_summaries() -> tf1.train.SessionRunHook:
    tf1.summary.scalar("rate", tensor("learning_rate"))
    tf1.summary.scalar("step", tf1.train.get_global_step())
    return tf1.train.SessionRunHook()


def test_a_trackers_hook_logs_the_merged_summaries() -> None:
    logged: list[Any] = []
    hook = TrackerHook(lambda step, values: logged.append((step, values)))
    train([add_rate_and_step_summaries, hook], steps=5)
    assert logged == [(step, {"rate": 0.125, "step": step}) for step in (0, 2, 4)]


def test_a_tracker_that_patches_the_summary_writer_sees_what_hooks_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Autologging's manner: it wraps `FileWriter.add_summary`."""
    seen: list[tuple[int, float]] = []
    original = tf1.summary.FileWriter.add_summary

    def add_summary(self: Any, summary: Any, global_step: Any = None) -> Any:
        parsed = tf1.Summary.FromString(summary) if isinstance(summary, bytes) else summary
        seen.extend((int(global_step), value.simple_value) for value in parsed.value if value.tag == "rate")
        return original(self, summary, global_step)

    monkeypatch.setattr(tf1.summary.FileWriter, "add_summary", add_summary)

    def saver() -> tf1.train.SessionRunHook:
        return tf1.train.SummarySaverHook(2, output_dir=str(tmp_path), summary_op=tf1.summary.merge_all())

    train([add_rate_and_step_summaries, saver], steps=4)
    assert seen == [(1, 0.125), (3, 0.125)]


# --- early stopping --------------------------------------------------------------------------------------------


def stop_variable() -> Any:
    with tf1.variable_scope("signal_early_stopping", reuse=tf1.AUTO_REUSE):
        return tf1.get_variable(
            "STOP", [], tf.bool, tf1.constant_initializer(False), trainable=False, use_resource=True
        )


class StopOnPredicateHook(tf1.train.SessionRunHook):
    """Estimator's early stopping on the chief: asks a predicate now and then, and tells the workers by a variable."""

    def __init__(self, should_stop: Callable[[], bool], run_every_steps: int) -> None:
        self._should_stop = should_stop
        self._timer = tf1.train.SecondOrStepTimer(every_steps=run_every_steps)

    def begin(self) -> None:
        self._global_step = tf1.train.get_global_step()
        self._stop = tf1.assign(stop_variable(), True)

    def before_run(self, run_context: Any) -> Any:
        return tf1.train.SessionRunArgs(self._global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = run_values.results
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._should_stop():
                run_context.session.run(self._stop)
                run_context.request_stop()


class CheckForStoppingHook(tf1.train.SessionRunHook):
    """Estimator's early stopping on a worker: stops when the variable says so."""

    def begin(self) -> None:
        self._stop = stop_variable()

    def before_run(self, run_context: Any) -> Any:
        return tf1.train.SessionRunArgs(self._stop)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results:
            run_context.request_stop()


def best_steps(directory: Path, metric: str) -> dict[int, float]:
    """Reads evaluation metrics from event files, as Estimator's stopping hooks do."""
    found: dict[int, float] = collections.OrderedDict()
    for path in sorted(directory.glob("*.tfevents.*")):
        for event in tf1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.tag == metric:
                    found[event.step] = value.simple_value
    return found


def test_training_stops_when_the_metric_in_the_evaluations_event_files_no_longer_falls(
    tmp_path: Path,
) -> None:
    class Evaluation(tf1.train.SessionRunHook):
        """Writes 5, 4, 3, 3, 3, … after steps 1, 2, 3, …"""

        def after_run(self, run_context: Any, run_values: Any) -> None:
            step = int(run_context.session.run("global_step:0"))
            value = tf1.Summary.Value(tag="loss", simple_value=max(6.0 - step, 3.0))
            writer = tf1.summary.FileWriterCache.get(str(tmp_path))
            writer.add_summary(tf1.Summary(value=[value]), step)
            writer.flush()

    def no_longer_falls() -> bool:
        metrics = best_steps(tmp_path, "loss")
        return bool(metrics) and max(metrics) - min(metrics, key=metrics.__getitem__) >= 2

    model = train([Evaluation(), StopOnPredicateHook(no_longer_falls, run_every_steps=1)], steps=20)
    assert step_of(model) == 5


def test_the_predicate_is_asked_every_so_many_steps_only() -> None:
    asked: list[int] = []
    train(StopOnPredicateHook(lambda: bool(asked.append(1)), run_every_steps=3), steps=8)
    assert len(asked) == 3


def test_a_stop_by_the_variable_reaches_the_hooks_that_watch_it_one_step_later() -> None:
    calls: Calls = []

    class Signal(tf1.train.SessionRunHook):
        """Sets the variable after the second step, as the chief of another process would."""

        def begin(self) -> None:
            self._stop, self._runs = tf1.assign(stop_variable(), True), 0

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self._runs += 1
            if self._runs == 2:
                run_context.session.run(self._stop)

    model = train([Signal(), CheckForStoppingHook(), TraceHook(calls)], steps=10)
    assert step_of(model) == 3
    assert phases(calls)[-1] == "end"


# --- in-memory evaluation --------------------------------------------------------------------------------------


class InMemoryEvaluatorHook(tf1.train.SessionRunHook):
    """Estimator's in-memory evaluator: a graph of its own with a session of its own, fed with the training variables.

    The evaluation's loss is written to event files of its own.
    """

    def __init__(self, directory: Path, every_n_iter: int = 2) -> None:
        self._directory = str(directory)
        self._timer = tf1.train.SecondOrStepTimer(every_steps=every_n_iter)
        self.evaluated: list[np.ndarray] = []

    def begin(self) -> None:
        self._timer.reset()
        self._iteration = 0
        self._training_variables = {
            v.op.name: v
            for v in tf1.get_collection(tf1.GraphKeys.GLOBAL_VARIABLES)
            if v.op.name.startswith("dense/")
        }
        self._graph = tf.Graph()
        with self._graph.as_default():
            with tf1.variable_scope("dense"):
                kernel = tf1.get_variable("kernel", [3, 1], use_resource=True)
                bias = tf1.get_variable("bias", [1], use_resource=True)
            self._placeholders = {v.op.name: tf1.placeholder(v.dtype, v.shape) for v in (kernel, bias)}
            self._load = tf.group(tf1.assign(kernel, self._placeholders["dense/kernel"]))
            self._load = tf.group(self._load, tf1.assign(bias, self._placeholders["dense/bias"]))
            self._loss = tf.reduce_mean(tf.square(tf.ones([4, 3]) @ kernel + bias))

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._evaluate(session)

    def _evaluate(self, training_session: Any) -> None:
        self._timer.update_last_triggered_step(self._iteration)
        values = training_session.run(self._training_variables)
        step = training_session.run("global_step:0")
        with tf1.Session(graph=self._graph) as session:
            session.run(self._load, {self._placeholders[name]: value for name, value in values.items()})
            loss = session.run(self._loss)
        self.evaluated.append(values["dense/kernel"])
        value = tf1.Summary.Value(tag="eval_loss", simple_value=loss)
        tf1.summary.FileWriterCache.get(self._directory).add_summary(tf1.Summary(value=[value]), int(step))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._iteration += 1
        if self._timer.should_trigger_for_step(self._iteration):
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        self._evaluate(session)
        tf1.summary.FileWriterCache.get(self._directory).flush()


def loss_on_ones(kernel: np.ndarray, bias: np.ndarray) -> float:
    return float(np.mean((np.ones((4, 3)) @ kernel + bias) ** 2))


def test_an_in_memory_evaluator_evaluates_the_training_weights_in_a_session_of_its_own(
    tmp_path: Path,
) -> None:
    model = train(InMemoryEvaluatorHook(tmp_path), steps=5)
    found = scalars(tmp_path, "eval_loss")
    assert [step for step, _ in found] == [0, 2, 4, 5]
    assert found[0][1] == pytest.approx(loss_on_ones(KERNEL, BIAS))
    assert found[-1][1] == pytest.approx(loss_on_ones(*model.get_weights()), rel=1e-5)


def test_an_in_memory_evaluator_does_not_disturb_training(tmp_path: Path) -> None:
    model, alone = train(InMemoryEvaluatorHook(tmp_path), steps=5), train([], steps=5)
    np.testing.assert_array_equal(model.get_weights()[0], alone.get_weights()[0])


# --- synchronisation by queues ---------------------------------------------------------------------------------


class SyncHook(tf1.train.SessionRunHook):
    """The hook of `SyncReplicasOptimizer.make_session_run_hook`: initialises, starts a queue runner's threads.

    Each step takes a token off a queue, which a thread of the coordinator fills.
    """

    def __init__(self) -> None:
        self.tokens: list[int] = []

    def begin(self) -> None:
        with tf1.variable_scope("sync_rep"):
            local_step = tf1.get_variable(
                "local_step",
                [],
                tf.int64,
                trainable=False,
                use_resource=True,
                collections=["local_variables"],
            )
        self._local_init = tf1.assign(local_step, tf1.train.get_global_step())
        self._local_step = local_step
        tokens = tf1.FIFOQueue(4, tf.int64, shapes=[()], shared_name="sync_token_q")
        self._fill = tokens.enqueue_many([[100, 101]])
        self._runner = tf1.train.QueueRunner(tokens, [tokens.enqueue(tf.constant(200, tf.int64))])
        self._token = tokens.dequeue()

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._local_init)
        self.started_at = session.run(self._local_step)
        session.run(self._fill)
        self.threads = self._runner.create_threads(session, coord=coord, daemon=True, start=True)

    def before_run(self, run_context: Any) -> Any:
        return tf1.train.SessionRunArgs(self._token)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.tokens.append(int(run_values.results))


def test_a_hook_that_starts_queue_runners_gets_their_tokens_at_each_step() -> None:
    hook = SyncHook()
    train(hook, steps=6, model=at_step(3))
    assert hook.started_at == 3
    assert hook.tokens == [100, 101, 200, 200, 200, 200]


def test_the_coordinators_threads_are_stopped_and_joined_at_the_end() -> None:
    hook = SyncHook()
    train(hook, steps=2)
    assert hook.threads
    assert not [thread for thread in hook.threads if thread.is_alive()]


def test_an_error_in_a_coordinators_thread_reaches_the_caller_of_fit() -> None:
    class Failing(tf1.train.SessionRunHook):
        def after_create_session(self, session: Any, coord: Any) -> None:
            try:
                raise ZeroDivisionError("in a thread")
            except ZeroDivisionError as error:
                coord.request_stop(error)

    with pytest.raises(ZeroDivisionError, match="in a thread"):
        train(Failing(), steps=3)


# --- moving averages, schedules, rates -------------------------------------------------------------------------


class MovingAverageHook(tf1.train.SessionRunHook):
    """Keeps moving averages of all trainable variables, and loads them into the model at the end."""

    def begin(self) -> None:
        self._average = tf1.train.ExponentialMovingAverage(0.5)
        variables = tf1.trainable_variables()
        self._update = self._average.apply(variables)
        self._swap = tf.group(*(tf1.assign(v, self._average.average(v)) for v in variables))

    def before_run(self, run_context: Any) -> Any:
        return tf1.train.SessionRunArgs(self._update)

    def end(self, session: Any) -> None:
        session.run(self._swap)


def test_a_hook_may_keep_moving_averages_and_load_them_into_the_model() -> None:
    kernels = FetchHook(lambda: variable("dense/kernel"))
    model = train([MovingAverageHook(), kernels], steps=4)
    average = KERNEL
    for kernel in kernels.results:
        average = average - 0.5 * (average - kernel)
    np.testing.assert_allclose(model.get_weights()[0], average, rtol=1e-6)


class WarmUpHook(tf1.train.SessionRunHook):
    """The manner of the official ResNet's hook: feeds the learning rate that belongs to the step of the last run."""

    def begin(self) -> None:
        self._rate = tensor("learning_rate")
        self._next = 0.0

    def before_run(self, run_context: Any) -> Any:
        return tf1.train.SessionRunArgs(tf1.train.get_global_step(), feed_dict={self._rate: self._next})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._next = 0.01 * (int(run_values.results) + 1)


def test_a_hook_may_schedule_the_learning_rate_by_the_step_it_fetches() -> None:
    rates = FetchHook(lambda: "learning_rate:0")
    model = train([WarmUpHook(), rates], steps=4)
    assert [float(rate) for rate in rates.results] == pytest.approx([0.0, 0.01, 0.02, 0.03])
    by_keras = small_model()

    class Schedule(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self.model.optimizer.learning_rate.assign(0.01 * batch)

    by_keras.fit(batches(4), callbacks=[Schedule()], shuffle=False, verbose=0)
    np.testing.assert_allclose(model.get_weights()[0], by_keras.get_weights()[0], rtol=1e-6)
