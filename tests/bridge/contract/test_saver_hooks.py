"""Contract, "Built-in hooks": CheckpointSaverHook and SummarySaverHook, judged by the files that they leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format

from tests.bridge.support import (
    KERNEL,
    FakeClock,
    FunctionHook,
    at_step,
    batches,
    read_events,
    saved,
    saved_steps,
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

# --- CheckpointSaverHook: when ---------------------------------------------------------------------------------


def test_checkpoints_are_saved_before_the_first_step_every_n_steps_and_at_the_end(tmp_path: Path) -> None:
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2), steps=5)
    assert saved_steps(tmp_path) == [0, 2, 4, 5]


def test_the_last_step_is_not_saved_twice(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2), steps=4)
    saves = [message.split()[3] for message in log.messages if message.startswith("Saving checkpoints for")]
    assert saves == ["0", "2", "4"]


def test_checkpoints_are_saved_every_n_seconds(tmp_path: Path, clock: FakeClock) -> None:
    hook = tf1.train.CheckpointSaverHook(str(tmp_path), save_secs=3)
    train([seconds_per_step(clock, 1.0), hook], steps=7)
    assert saved_steps(tmp_path) == [0, 3, 6, 7]


def test_a_later_fit_goes_on_with_the_steps_of_the_checkpoints(tmp_path: Path) -> None:
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=3), steps=4, model=at_step(6))
    assert saved_steps(tmp_path) == [6, 9, 10]


def test_a_run_of_several_steps_is_saved_at_the_step_that_it_reaches(tmp_path: Path) -> None:
    hook = tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=3)
    hook._set_steps_per_run(2)
    train(hook, steps=4, model=two_updates())
    assert saved_steps(tmp_path) == [0, 4, 8]


@pytest.mark.parametrize("arguments", [{}, {"save_steps": 1, "save_secs": 1}])
def test_exactly_one_of_save_steps_and_save_secs_is_needed(arguments: dict[str, int], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="every_secs"):
        tf1.train.CheckpointSaverHook(str(tmp_path), **arguments)


# --- CheckpointSaverHook: what ---------------------------------------------------------------------------------


def test_a_checkpoint_holds_the_models_variables_under_their_v1_names(tmp_path: Path) -> None:
    model = train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2), steps=5)
    names = {name for name, _ in tf.train.list_variables(str(tmp_path))}
    assert {"dense/kernel", "dense/bias", "global_step"} <= names
    kernel, bias = model.get_weights()
    np.testing.assert_array_equal(saved(tmp_path, "dense/kernel"), kernel)
    np.testing.assert_array_equal(saved(tmp_path, "dense/bias"), bias)
    assert saved(tmp_path, "global_step") == 5


def test_the_first_checkpoint_holds_the_values_before_training(tmp_path: Path) -> None:
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2), steps=3)
    np.testing.assert_array_equal(saved(tmp_path, "dense/kernel", step=0), KERNEL)


def test_a_checkpoint_within_training_holds_the_values_after_its_step(tmp_path: Path) -> None:
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2), steps=5)
    after_two = train([], data=batches(5).take(2))
    np.testing.assert_array_equal(saved(tmp_path, "dense/kernel", step=2), after_two.get_weights()[0])
    assert saved(tmp_path, "global_step", step=2) == 2


def test_the_slots_of_the_optimizer_are_in_the_checkpoint(tmp_path: Path) -> None:
    model = small_model(optimizer=keras.optimizers.Adam(0.1))
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=9), steps=2, model=model)
    slots = {
        name for name, _ in tf.train.list_variables(str(tmp_path)) if name.startswith("adam/dense/kernel/")
    }
    assert slots == {"adam/dense/kernel/momentum", "adam/dense/kernel/velocity"}


def test_a_saver_that_is_passed_in_decides_what_is_saved(tmp_path: Path) -> None:
    def make() -> tf1.train.SessionRunHook:
        saver = tf1.train.Saver({"w": variable("dense/kernel")}, max_to_keep=2)
        return tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=1, saver=saver)

    train(make, steps=4)
    assert tf.train.list_variables(str(tmp_path)) == [("w", [3, 1])]
    assert saved_steps(tmp_path) == [3, 4]


def test_a_scaffolds_saver_is_used(tmp_path: Path) -> None:
    scaffolds: list[tf1.train.Scaffold] = []

    def scaffold() -> tf1.train.Scaffold:
        scaffolds.append(tf1.train.Scaffold(saver=tf1.train.Saver([variable("dense/bias")])))
        return scaffolds[0]

    def make() -> tf1.train.SessionRunHook:
        return tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=9, scaffold=scaffolds[0])

    train(make, steps=2, scaffold=scaffold)
    assert tf.train.list_variables(str(tmp_path)) == [("dense/bias", [1])]


def test_the_saver_of_the_collection_is_used(tmp_path: Path) -> None:
    def add_saver() -> None:
        tf1.add_to_collection(tf1.GraphKeys.SAVERS, tf1.train.Saver([variable("dense/bias")]))

    train([FunctionHook(add_saver), tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=9)], steps=2)
    assert tf.train.list_variables(str(tmp_path)) == [("dense/bias", [1])]


def test_saver_and_scaffold_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="both saver and scaffold"):
        tf1.train.CheckpointSaverHook(
            str(tmp_path), save_steps=1, saver=object(), scaffold=tf1.train.Scaffold()
        )


def test_graph_and_meta_graphs_are_written(tmp_path: Path) -> None:
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2), steps=2)
    graph_def = tf1.GraphDef()
    text_format.Parse((tmp_path / "graph.pbtxt").read_text(), graph_def)
    assert "dense/kernel" in {node.name for node in graph_def.node}
    assert sorted(path.name for path in tmp_path.glob("*.meta")) == ["model.ckpt-0.meta", "model.ckpt-2.meta"]


def test_the_event_file_holds_the_graph_and_the_checkpoints(tmp_path: Path) -> None:
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2), steps=2)
    assert "train_op" in {node.name for node in read_events(tmp_path).Graph().node}
    (path,) = tmp_path.glob("events.out.tfevents.*")
    logs = [e for e in tf1.train.summary_iterator(str(path)) if e.HasField("session_log")]
    assert [(event.step, event.session_log.status) for event in logs] == [(0, 3), (2, 3)]  # 3 is CHECKPOINT.


def test_without_save_graph_def_neither_graph_nor_meta_graphs_are_written(tmp_path: Path) -> None:
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2, save_graph_def=False), steps=2)
    assert saved_steps(tmp_path) == [0, 2]
    assert not list(tmp_path.glob("*.meta")) + list(tmp_path.glob("*.pbtxt"))


def test_the_basename_of_the_checkpoints_can_be_chosen(tmp_path: Path) -> None:
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2, checkpoint_basename="net"), steps=2)
    assert saved_steps(tmp_path, "net") == [0, 2]


# --- CheckpointSaverHook: listeners ----------------------------------------------------------------------------


class Listener(tf1.train.CheckpointSaverListener):
    """Notes its calls; asks for the stop after the save at one step."""

    def __init__(self, calls: list[tuple[Any, ...]], name: str, stop_at: int | None = None) -> None:
        self._calls, self._name, self._stop_at = calls, name, stop_at

    def begin(self) -> None:
        self._calls.append((self._name, "begin"))

    def before_save(self, session: Any, global_step_value: Any) -> None:
        self._calls.append((self._name, "before_save", int(global_step_value)))

    def after_save(self, session: Any, global_step_value: Any) -> bool:
        self._calls.append((self._name, "after_save", int(global_step_value)))
        return self._stop_at == global_step_value

    def end(self, session: Any, global_step_value: Any) -> None:
        self._calls.append((self._name, "end", int(global_step_value)))


def listen(directory: Path, steps: int, **stop_at: int) -> list[tuple[Any, ...]]:
    calls: list[tuple[Any, ...]] = []
    listeners = [Listener(calls, "a", **stop_at), Listener(calls, "b")]
    train(tf1.train.CheckpointSaverHook(str(directory), save_steps=2, listeners=listeners), steps=steps)
    return calls


def test_every_listener_hears_of_begin_of_each_save_and_of_the_end(tmp_path: Path) -> None:
    calls = listen(tmp_path, steps=3)
    saves = [[("before_save", step), ("after_save", step)] for step in (0, 2, 3)]
    expected = [("begin",), *(call for save in saves for call in save), ("end", 3)]
    assert calls == [(name, *call) for call in expected for name in ("a", "b")]


def test_a_listener_that_returns_true_stops_training_after_all_listeners_were_told(tmp_path: Path) -> None:
    calls = listen(tmp_path, steps=6, stop_at=2)
    assert calls[-4:] == [("a", "after_save", 2), ("b", "after_save", 2), ("a", "end", 2), ("b", "end", 2)]
    assert saved_steps(tmp_path) == [0, 2]


def test_a_listener_may_use_the_session(tmp_path: Path) -> None:
    class KernelSum(tf1.train.CheckpointSaverListener):
        def begin(self) -> None:
            self._sum, self.sums = tf.reduce_sum(variable("dense/kernel")), {}

        def after_save(self, session: Any, global_step_value: Any) -> None:
            self.sums[int(global_step_value)] = session.run(self._sum)

    listener = KernelSum()
    train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2, listeners=[listener]), steps=4)
    expected = {step: saved(tmp_path, "dense/kernel", step).sum() for step in (0, 2, 4)}
    assert listener.sums == pytest.approx(expected)


# --- SummarySaverHook ------------------------------------------------------------------------------------------


def loss_summary(directory: Path, **when: Any) -> Any:
    """Makes a hook that writes the loss as `step_loss`."""

    def make() -> tf1.train.SessionRunHook:
        summary = tf1.summary.scalar("step_loss", tensor("loss"))
        return tf1.train.SummarySaverHook(output_dir=str(directory), summary_op=summary, **when)

    return make


def steps_of(directory: Path, tag: str) -> list[int]:
    return [step for step, _ in scalars(directory, tag)]


def test_summaries_are_written_from_the_first_step_every_n_steps(tmp_path: Path) -> None:
    train(loss_summary(tmp_path, save_steps=3), steps=8)
    assert steps_of(tmp_path, "step_loss") == [1, 4, 7]


def test_summaries_are_written_every_n_seconds(tmp_path: Path, clock: FakeClock) -> None:
    train([seconds_per_step(clock, 1.0), loss_summary(tmp_path, save_secs=2)], steps=6)
    assert steps_of(tmp_path, "step_loss") == [1, 3, 5]


def test_summaries_of_a_later_fit_carry_its_steps(tmp_path: Path) -> None:
    train(loss_summary(tmp_path, save_steps=3), steps=5, model=at_step(10))
    assert steps_of(tmp_path, "step_loss") == [11, 14]


def test_the_loss_in_a_summary_is_that_of_its_own_step(tmp_path: Path) -> None:
    train(loss_summary(tmp_path, save_steps=1), steps=4)
    model, losses = small_model(), []
    for x, y in batches(4):
        losses.append(model.evaluate(x, y, verbose=0))
        model.train_on_batch(x, y)
    assert [value for _, value in scalars(tmp_path, "step_loss")] == pytest.approx(losses)


def test_the_event_file_tells_that_the_session_started(tmp_path: Path) -> None:
    train(loss_summary(tmp_path, save_steps=5), steps=2)
    (path,) = tmp_path.glob("events.out.tfevents.*")
    logs = [event for event in tf1.train.summary_iterator(str(path)) if event.HasField("session_log")]
    assert [(event.step, event.session_log.status) for event in logs] == [(1, 1)]  # 1 is START.


def test_a_list_of_summaries_is_written_whole(tmp_path: Path) -> None:
    def make() -> tf1.train.SessionRunHook:
        summaries = [
            tf1.summary.scalar("rate", tensor("learning_rate")),
            tf1.summary.histogram("weights", variable("dense/kernel")),
        ]
        return tf1.train.SummarySaverHook(2, output_dir=str(tmp_path), summary_op=summaries)

    train(make, steps=3)
    events = read_events(tmp_path)
    assert scalars(tmp_path, "rate") == [(1, 0.125), (3, 0.125)]
    assert [(event.step, event.histogram_value.num) for event in events.Histograms("weights")] == [
        (1, 3),
        (3, 3),
    ]
    assert events.Histograms("weights")[0].histogram_value.max == KERNEL.max()  # Before the first update.


def test_a_summary_is_evaluated_only_on_the_steps_that_save(tmp_path: Path) -> None:
    evaluated: list[int] = []

    def note(step: np.ndarray) -> np.ndarray:
        evaluated.append(int(step))
        return np.float32(step)

    def make() -> tf1.train.SessionRunHook:
        noted = tf1.py_func(note, [tf1.train.get_global_step()], tf.float32)
        noted.set_shape([])
        summary = tf1.summary.scalar("noted", noted)
        return tf1.train.SummarySaverHook(3, output_dir=str(tmp_path), summary_op=summary)

    train(make, steps=8)
    assert evaluated == [0, 3, 6]
    assert scalars(tmp_path, "noted") == [(1, 0.0), (4, 3.0), (7, 6.0)]


def test_a_writer_that_is_passed_in_is_used(tmp_path: Path) -> None:
    def make() -> tf1.train.SessionRunHook:
        writer = tf1.summary.FileWriterCache.get(str(tmp_path / "mine"))
        summary = tf1.summary.scalar("step_loss", tensor("loss"))
        return tf1.train.SummarySaverHook(2, summary_writer=writer, summary_op=summary)

    train(make, steps=3)
    assert steps_of(tmp_path / "mine", "step_loss") == [1, 3]


def test_the_scaffolds_summary_op_holds_all_summaries_of_the_graph(tmp_path: Path) -> None:
    scaffold = tf1.train.Scaffold()

    def make() -> tf1.train.SessionRunHook:
        tf1.summary.scalar("a", tensor("loss"))
        tf1.summary.scalar("b", tensor("learning_rate"))
        return tf1.train.SummarySaverHook(2, output_dir=str(tmp_path), scaffold=scaffold)

    train(make, steps=3, scaffold=scaffold)
    assert steps_of(tmp_path, "a") == steps_of(tmp_path, "b") == [1, 3]


def test_a_scaffold_without_summaries_writes_none(tmp_path: Path) -> None:
    scaffold = tf1.train.Scaffold()
    model = train(
        tf1.train.SummarySaverHook(1, output_dir=str(tmp_path), scaffold=scaffold), steps=2, scaffold=scaffold
    )
    assert read_events(tmp_path).Tags()["scalars"] == []
    assert step_of(model) == 2


@pytest.mark.parametrize("both", [True, False])
def test_exactly_one_of_summary_op_and_scaffold_is_needed(both: bool) -> None:
    arguments = {"summary_op": object(), "scaffold": tf1.train.Scaffold()} if both else {}
    with pytest.raises(ValueError, match="Exactly one of scaffold or summary_op"):
        tf1.train.SummarySaverHook(save_steps=1, **arguments)


@pytest.mark.parametrize("arguments", [{}, {"save_steps": 1, "save_secs": 1}])
def test_exactly_one_of_steps_and_seconds_is_needed_for_summaries(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="every_secs"):
        tf1.train.SummarySaverHook(summary_op=object(), **arguments)
