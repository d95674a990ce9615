"""`Estimator.train`: steps, files, hooks in their order, listeners, errors, callbacks."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from bridge import estimator as est
from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from tests.bridge.estimator.support import X, Y, dataset, linear, model_fn, once, trained
from tests.bridge.support import TraceHook, phases, saved_steps, scalars

tf1 = tf.compat.v1


def step_of(estimator: est.Estimator) -> int:
    return int(estimator.get_variable_value("global_step"))


def test_steps_are_trained(tmp_path: Path) -> None:
    estimator = linear(tmp_path)
    assert estimator.train(dataset, steps=5) is estimator
    np.testing.assert_allclose(estimator.get_variable_value("w"), trained(5), rtol=1e-6)
    assert step_of(estimator) == 5


def test_a_second_call_goes_on_from_the_checkpoint_with_the_data_from_the_start(tmp_path: Path) -> None:
    estimator = linear(tmp_path)
    estimator.train(dataset, steps=3).train(dataset, steps=3)
    assert step_of(estimator) == 6
    np.testing.assert_allclose(estimator.get_variable_value("w"), trained(6), rtol=1e-6)


def test_max_steps_counts_all_calls_and_trains_nothing_once_it_is_reached(tmp_path: Path) -> None:
    estimator = linear(tmp_path)
    estimator.train(dataset, max_steps=4).train(dataset, max_steps=6)
    assert step_of(estimator) == 6

    def never() -> Any:
        raise AssertionError("the input was asked for")

    estimator.train(never, max_steps=6)
    assert step_of(estimator) == 6


def test_training_ends_with_its_input(tmp_path: Path) -> None:
    assert step_of(linear(tmp_path).train(once)) == 3


def test_no_input_trains_nothing_and_says_so(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    estimator = linear(tmp_path).train(lambda: once().take(0))
    assert step_of(estimator) == 0
    assert "made no steps" in log.text


@pytest.mark.parametrize(
    "options", [{"steps": 1, "max_steps": 1}, {"steps": 0}, {"steps": -1}, {"max_steps": 0}]
)
def test_numbers_of_steps_that_cannot_be_are_refused(tmp_path: Path, options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="steps"):
        linear(tmp_path).train(dataset, **options)


def test_hooks_run_in_the_order_of_v1(tmp_path: Path) -> None:
    calls: list[tuple[str, ...]] = []

    more = {"training_hooks": [TraceHook(calls, "spec")], "training_chief_hooks": [TraceHook(calls, "chief")]}
    linear(tmp_path, more=more).train(dataset, hooks=[TraceHook(calls, "user")], steps=2)
    assert [name for phase, name in calls if phase == "begin"] == ["chief", "user", "spec"]
    assert [name for phase, name in calls if phase == "before_run"] == ["chief", "user", "spec"] * 2
    assert phases(calls, "user") == [
        "begin",
        "after_create_session",
        *["before_run", "after_run"] * 2,
        "end",
    ]


def test_something_that_is_no_hook_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EstimatorTypeError, match="train\\(callbacks="):
        linear(tmp_path).train(dataset, hooks=[keras.callbacks.Callback()])


class Listener(tf1.train.CheckpointSaverListener):
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def begin(self) -> None:
        self.calls.append("begin")

    def before_save(self, session: Any, global_step_value: int) -> None:
        self.calls.append(("before", int(global_step_value)))

    def after_save(self, session: Any, global_step_value: int) -> None:
        self.calls.append(("after", int(global_step_value)))

    def end(self, session: Any, global_step_value: int) -> None:
        self.calls.append(("end", int(global_step_value)))


def test_listeners_hear_of_every_checkpoint(tmp_path: Path) -> None:
    listener = Listener()
    estimator = linear(tmp_path, config={"save_checkpoints_steps": 2})
    estimator.train(dataset, steps=3, saving_listeners=[listener])
    saves = [(kind, step) for step in (0, 2, 3) for kind in ("before", "after")]
    assert listener.calls == ["begin", *saves, ("end", 3)]


def test_listeners_go_to_the_first_saver_and_no_other_one_is_added(tmp_path: Path) -> None:
    listener = Listener()
    saver = tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=3)
    linear(tmp_path).train(dataset, steps=4, hooks=[saver], saving_listeners=[listener])
    assert [call for call in listener.calls if call[0] == "after"] == [
        ("after", 0),
        ("after", 3),
        ("after", 4),
    ]
    assert saved_steps(tmp_path) == [0, 3, 4]


def test_listeners_without_a_saver_are_refused(tmp_path: Path) -> None:
    estimator = linear(tmp_path, config={"save_checkpoints_secs": None})
    with pytest.raises(EstimatorError, match="save_checkpoints_steps"):
        estimator.train(dataset, steps=1, saving_listeners=[Listener()])


def test_something_that_is_no_listener_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EstimatorTypeError, match="CheckpointSaverListener"):
        linear(tmp_path).train(dataset, steps=1, saving_listeners=[TraceHook([])])


def test_the_folder_has_the_files_of_v1(tmp_path: Path) -> None:
    linear(tmp_path, config={"save_checkpoints_steps": 2, "keep_checkpoint_max": 2}).train(dataset, steps=6)
    assert saved_steps(tmp_path) == [4, 6]
    names = {path.name for path in tmp_path.iterdir()}
    assert {"checkpoint", "graph.pbtxt", "model.ckpt-6.meta", "model.ckpt-6.data-00000-of-00001"} <= names
    assert 'model_checkpoint_path: "model.ckpt-6"' in (tmp_path / "checkpoint").read_text()
    assert estimator_variables(tmp_path) == ["global_step", "w"]


def estimator_variables(path: Path) -> list[str]:
    return [name for name, _ in tf.train.list_variables(str(path))]


def test_all_checkpoints_stay_if_the_config_says_so(tmp_path: Path) -> None:
    linear(tmp_path, config={"save_checkpoints_steps": 1, "keep_checkpoint_max": None}).train(
        dataset, steps=7
    )
    assert saved_steps(tmp_path) == list(range(8))


def test_no_checkpoint_is_saved_if_the_config_says_so(tmp_path: Path) -> None:
    linear(tmp_path, config={"save_checkpoints_secs": None}).train(dataset, steps=2)
    assert saved_steps(tmp_path) == []


def test_graphs_are_left_out_if_the_config_says_so(tmp_path: Path) -> None:
    linear(tmp_path, config={"checkpoint_save_graph_def": False}).train(dataset, steps=2)
    assert not list(tmp_path.glob("*.meta"))


def test_the_loss_and_the_speed_become_events(tmp_path: Path) -> None:
    linear(tmp_path, config={"save_summary_steps": 2, "log_step_count_steps": 3}).train(dataset, steps=7)
    assert [step for step, _ in scalars(tmp_path, "loss")] == [1, 3, 5, 7]
    assert [step for step, _ in scalars(tmp_path, "global_step/sec")] == [4, 7]


def test_a_loss_summary_of_the_model_is_not_written_twice(tmp_path: Path) -> None:
    def own(features: Any, labels: Any, mode: str) -> Any:
        spec = model_fn(features, labels, mode, {})
        tf1.summary.scalar("loss", spec.loss * 0 + 7)
        return spec

    est.Estimator(own, tmp_path).train(dataset, steps=1)
    assert scalars(tmp_path, "loss") == [(1, 7.0)]


def test_loss_and_step_are_logged(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    linear(tmp_path, config={"log_step_count_steps": 2}).train(dataset, steps=4)
    lines = [record.getMessage() for record in log.records]
    assert sum(line.startswith("loss = ") and "step = " in line for line in lines) == 2
    assert any(line.startswith("Loss for final step: ") for line in lines)


def test_nothing_is_logged_without_log_step_count_steps(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    linear(tmp_path, config={"log_step_count_steps": None}).train(dataset, steps=4)
    assert not any(record.getMessage().startswith("loss = ") for record in log.records)


def test_a_loss_that_is_nan_raises(tmp_path: Path) -> None:
    def broken() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y * np.nan)).batch(2)

    with pytest.raises(est.NanLossDuringTrainingError):
        linear(tmp_path).train(broken)


def test_the_error_of_a_hook_comes_out_and_the_next_call_goes_on(tmp_path: Path) -> None:
    estimator = linear(tmp_path, config={"save_checkpoints_steps": 1})
    with pytest.raises(KeyError, match="stop"):
        estimator.train(
            dataset, steps=5, hooks=[TraceHook([], raises=KeyError("stop"), phase="after_run", at_run=2)]
        )
    estimator.train(dataset, steps=1)
    assert step_of(estimator) == 2 + 1


def test_the_seed_of_the_config_makes_runs_equal(tmp_path: Path) -> None:
    def random_model(features: Any, labels: Any, mode: str) -> Any:
        tf1.get_variable("noise", [3], initializer=tf1.random_normal_initializer())
        return model_fn(features, labels, mode, {})

    def noise(name: str, seed: int) -> Any:
        config = est.RunConfig(tf_random_seed=seed)
        estimator = est.Estimator(random_model, tmp_path / name, config=config).train(dataset, steps=1)
        return estimator.get_variable_value("noise")

    np.testing.assert_array_equal(noise("a", 3), noise("b", 3))
    assert not np.array_equal(noise("c", 4), noise("d", 3))


def test_the_session_config_reaches_the_session(tmp_path: Path) -> None:
    configs = []

    class Look(tf1.train.SessionRunHook):
        def after_create_session(self, session: Any, coord: Any) -> None:
            configs.append(session._config)

    own = tf1.ConfigProto(inter_op_parallelism_threads=3)
    linear(tmp_path / "own", config={"session_config": own}).train(dataset, steps=1, hooks=[Look()])
    linear(tmp_path / "default").train(dataset, steps=1, hooks=[Look()])
    assert configs[0].inter_op_parallelism_threads == 3
    assert configs[1].allow_soft_placement


def test_the_device_function_places_the_operations(tmp_path: Path) -> None:
    asked: list[str] = []

    def device_fn(op: Any) -> str:
        asked.append(op.name)
        return "/cpu:0"

    linear(tmp_path, config={"device_fn": device_fn}).train(dataset, steps=1)
    assert any(name.startswith("w") for name in asked)


def test_a_scaffold_saves_and_initialises(tmp_path: Path) -> None:
    def with_scaffold(features: Any, labels: Any, mode: str) -> Any:
        spec = model_fn(features, labels, mode, {})
        (w,) = [v for v in tf1.global_variables() if v.op.name == "w"]
        value = tf1.placeholder(tf.float32, w.shape)
        assign = tf1.assign(w, value)
        scaffold = tf1.train.Scaffold(
            init_fn=lambda scaffold, session: session.run(assign, {value: [[5.0], [6.0]]}),
            saver=tf1.train.Saver([w, tf1.train.get_global_step()], max_to_keep=1),
        )
        return spec._replace(scaffold=scaffold)

    estimator = est.Estimator(with_scaffold, tmp_path, config=est.RunConfig(save_checkpoints_steps=1))
    estimator.train(dataset, steps=2)
    assert saved_steps(tmp_path) == [2]
    assert not np.allclose(estimator.get_variable_value("w"), trained(2))


def test_keras_callbacks_see_epochs_and_can_stop(tmp_path: Path) -> None:
    seen: list[Any] = []

    class Look(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            seen.append((epoch, sorted(logs)))
            if epoch == 1:
                self.model.stop_training = True

    estimator = linear(tmp_path).train(dataset, steps=100, callbacks=[Look()], steps_per_epoch=4)
    assert seen == [(0, ["loss"]), (1, ["loss"])]
    assert step_of(estimator) == 8


def test_epochs_of_callbacks_go_on_after_a_restart(tmp_path: Path) -> None:
    epochs: list[int] = []
    look = keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: epochs.append(epoch))
    estimator = linear(tmp_path)
    estimator.train(dataset, steps=6, callbacks=[look], steps_per_epoch=4)
    estimator.train(dataset, steps=6, callbacks=[look], steps_per_epoch=4)
    assert epochs == [0, 1, 1, 2]
    assert step_of(estimator) == 12


def test_the_program_stays_eager(tmp_path: Path) -> None:
    linear(tmp_path).train(dataset, steps=1)
    assert tf.executing_eagerly()


def test_warnings_say_which_folder_is_used(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="tensorflow")
    estimator = linear(None)
    assert Path(estimator.model_dir).is_dir()
    assert estimator.model_dir in caplog.text
