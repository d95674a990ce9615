"""Keras's own callbacks over a v1 graph: they work, or are refused before anything runs."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import h5py
import keras
import pytest
import tensorflow as tf

import bridge
from bridge.errors import GraphModelError, UnsupportedCallbackError
from bridge.graph_model import GraphModel
from tests.bridge.graph_model.support import At, Legacy, Notes, fit, open_session, stop_after
from tests.bridge.support import read_events, scalars

tf1 = tf.compat.v1
callbacks = keras.callbacks


def tensors(directory: Path, tag: str) -> list[tuple[int, float]]:
    """Steps and values of a scalar that Keras's TensorBoard wrote."""
    return [
        (event.step, float(tf.make_ndarray(event.tensor_proto)))
        for event in read_events(directory).Tensors(tag)
    ]


# --- EarlyStopping ----------------------------------------------------------------------------------------------


def test_early_stopping_stops_the_fit_and_puts_the_best_weights_back() -> None:
    legacy = Legacy([3, 1, 2, 2, 2])
    with open_session() as session:
        history = legacy.model().fit_in(
            session,
            epochs=5,
            steps_per_epoch=1,
            verbose=0,
            callbacks=[callbacks.EarlyStopping("loss", patience=2, restore_best_weights=True)],
        )
        assert history.history == {"loss": [3.0, 1.0, 2.0, 2.0]}
        assert session.run(legacy.w) == 2.0  # That of the second epoch.
        assert session.run(legacy.step) == 4


def test_best_weights_are_put_back_after_a_hook_stopped_the_session(tmp_path: Path) -> None:
    legacy = Legacy([3, 1, 2, 2, 2])
    model = legacy.model()
    stopping = callbacks.EarlyStopping("loss", patience=9, restore_best_weights=True)
    with open_session(stop_after(4), directory=tmp_path) as session:
        model.fit_in(session, epochs=5, steps_per_epoch=1, verbose=0, callbacks=[stopping])
        assert model.get_weights()[1] == 2.0
    # The session saves its last step when it closes: with the weights that were put back.
    assert tf.train.load_checkpoint(str(tmp_path)).get_tensor("w") == 2.0


def test_early_stopping_watches_validation() -> None:
    legacy = Legacy([1], repeat=True)
    model = legacy.model(eval_logs={"w": legacy.w})
    stopping = callbacks.EarlyStopping("val_w", mode="min", patience=1)
    assert fit(model, epochs=9, steps_per_epoch=1, callbacks=[stopping])["val_w"] == [1.0, 2.0]


# --- files ------------------------------------------------------------------------------------------------------


def test_tensorboard_gets_the_epochs_means_and_the_steps_values(tmp_path: Path) -> None:
    legacy = Legacy([1, 3, 5, 7])
    model = legacy.model(eval_logs={"w": legacy.w})
    board = callbacks.TensorBoard(str(tmp_path), update_freq=1)
    fit(model, epochs=2, steps_per_epoch=2, callbacks=[board])
    assert tensors(tmp_path / "train", "epoch_loss") == [(0, 2.0), (1, 6.0)]
    assert [value for _, value in tensors(tmp_path / "train", "batch_loss")] == [1.0, 3.0, 5.0, 7.0]
    assert tensors(tmp_path / "validation", "epoch_w") == [(0, 2.0), (1, 4.0)]
    assert tensors(tmp_path / "validation", "evaluation_w_vs_iterations") == [(2, 2.0), (4, 4.0)]


def test_tensorboard_gets_histograms_and_images_of_the_variables(tmp_path: Path) -> None:
    legacy = Legacy([1, 3])
    tf1.get_variable("layer/kernel", [3, 2])
    board = callbacks.TensorBoard(str(tmp_path), histogram_freq=1, write_images=True)
    fit(legacy.model(), steps_per_epoch=2, callbacks=[board])
    tags = read_events(tmp_path / "train").Tags()["tensors"]
    assert {"w/histogram", "rate/histogram", "layer/kernel/histogram", "layer/kernel/image"} <= set(tags)


def test_tensorboard_counts_the_steps_of_a_second(tmp_path: Path) -> None:
    board = callbacks.TensorBoard(str(tmp_path), write_steps_per_second=True)
    fit(Legacy([1, 3]).model(), steps_per_epoch=2, callbacks=[board])
    ((_, rate),) = tensors(tmp_path / "train", "epoch_steps_per_second")
    assert rate > 0


def test_tensorboard_profiles_steps(tmp_path: Path) -> None:
    board = callbacks.TensorBoard(str(tmp_path), profile_batch=(1, 2))
    fit(Legacy([1, 2, 3]).model(), steps_per_epoch=3, callbacks=[board])
    assert list(tmp_path.glob("**/plugins/profile/*/*"))


def test_keras_and_v1_summaries_go_side_by_side(tmp_path: Path) -> None:
    legacy = Legacy([1, 3])
    tf1.summary.scalar("v1/loss", legacy.loss)
    with open_session(directory=tmp_path / "v1", save_summaries_steps=1) as session:
        board = callbacks.TensorBoard(str(tmp_path / "keras"))
        legacy.model().fit_in(session, steps_per_epoch=2, verbose=0, callbacks=[board])
    assert [value for _, value in scalars(tmp_path / "v1", "v1/loss")] == [1.0, 3.0]
    assert tensors(tmp_path / "keras" / "train", "epoch_loss") == [(0, 2.0)]


def test_csv_logger_writes_a_line_an_epoch(tmp_path: Path) -> None:
    fit(
        Legacy([1, 3, 5, 7]).model(),
        epochs=2,
        steps_per_epoch=2,
        callbacks=[callbacks.CSVLogger(tmp_path / "log.csv")],
    )
    with (tmp_path / "log.csv").open() as file:
        lines = [(line["epoch"], line["loss"]) for line in csv.DictReader(file)]
    assert lines == [("0", "2.0"), ("1", "6.0")]


def test_model_checkpoint_writes_the_variables_of_the_best_epoch(tmp_path: Path) -> None:
    path = tmp_path / "best.weights.h5"
    checkpoint = callbacks.ModelCheckpoint(
        path, monitor="loss", mode="min", save_best_only=True, save_weights_only=True
    )
    fit(Legacy([3, 1, 2]).model(), epochs=3, steps_per_epoch=1, callbacks=[checkpoint])
    with h5py.File(path) as file:
        assert (file["w:0"][()], file["global_step:0"][()]) == (2.0, 2)


def test_model_checkpoint_writes_every_so_many_steps_under_a_pattern(tmp_path: Path) -> None:
    checkpoint = callbacks.ModelCheckpoint(
        tmp_path / "{epoch}-{loss:.0f}.weights.h5", save_weights_only=True, save_freq=2
    )
    fit(Legacy([1, 2, 3, 4]).model(), epochs=2, steps_per_epoch=2, callbacks=[checkpoint])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1-2.weights.h5", "2-4.weights.h5"]


def test_what_callbacks_wrote_is_on_disk_after_an_error(tmp_path: Path) -> None:
    def fail(model: Any) -> None:
        raise ValueError("second")

    board = callbacks.TensorBoard(str(tmp_path), update_freq=1)
    with pytest.raises(ValueError, match="second"):
        fit(Legacy([1, 2, 3]).model(), steps_per_epoch=3, callbacks=[board, At(("batch", 1), fail)])
    # The callback still has its file open, so that nothing but a flush can have put the second value there.
    assert [value for _, value in tensors(tmp_path / "train", "batch_loss")] == [1.0, 2.0]
    assert board._writers


def test_a_flush_that_fails_does_not_hide_the_error(log: pytest.LogCaptureFixture) -> None:
    class Full:
        def flush(self) -> None:
            raise OSError("disk full")

    def fail(model: Any) -> None:
        raise ValueError("first")

    callback = At(("batch", 0), fail)
    callback.files = {"log": [Full()]}
    with pytest.raises(ValueError, match="first"):
        fit(Legacy([1]).model(), steps_per_epoch=1, callbacks=[callback])
    assert "At could not flush its file: disk full" in log.text


# --- the learning rate ------------------------------------------------------------------------------------------


def test_a_schedule_sets_a_variable() -> None:
    legacy = Legacy([1], repeat=True)
    model = legacy.model(learning_rate=legacy.rate)
    scheduler = callbacks.LearningRateScheduler(lambda epoch, rate: rate * 2)
    history = fit(model, epochs=3, steps_per_epoch=2, callbacks=[scheduler, at_end_of_each(legacy.w)])
    assert history["learning_rate"] == [2.0, 4.0, 8.0]
    assert history["value"] == [4.0, 12.0, 28.0]


def at_end_of_each(tensor: Any) -> keras.callbacks.Callback:
    """Adds a tensor's value at the end of each epoch to the history."""

    class Adds(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            logs["value"] = float(self.model.run(tensor))

    return Adds()


def test_a_schedule_feeds_a_placeholder() -> None:
    rate = tf1.placeholder(tf.float32, [], name="rate")
    legacy = Legacy([1], repeat=True, rate=rate)
    model = legacy.model(learning_rate=rate)
    model.optimizer.learning_rate = 1.0
    scheduler = callbacks.LearningRateScheduler(lambda epoch, rate: rate * 2)
    history = fit(model, epochs=2, steps_per_epoch=2, callbacks=[scheduler, at_end_of_each(legacy.w)])
    assert history["learning_rate"] == [2.0, 4.0]
    assert history["value"] == [4.0, 12.0]


@pytest.mark.parametrize("given", ["default", "name"])
def test_a_schedule_feeds_any_tensor_from_its_first_value_on(given: str) -> None:
    rate = tf1.placeholder_with_default(1.0, [], name="given_rate") * 1.0
    legacy = Legacy([1], repeat=True, rate=rate)
    model = legacy.model(learning_rate=rate if given == "default" else rate.name)
    scheduler = callbacks.LearningRateScheduler(lambda epoch, rate: rate * 2)
    history = fit(model, epochs=2, steps_per_epoch=1, callbacks=[scheduler, at_end_of_each(legacy.w)])
    assert history["value"] == [2.0, 6.0]


def test_the_variable_may_be_given_by_name() -> None:
    legacy = Legacy([1], repeat=True)
    model = legacy.model(learning_rate="rate")
    scheduler = callbacks.LearningRateScheduler(lambda epoch, rate: 5.0)
    history = fit(model, steps_per_epoch=1, callbacks=[scheduler, at_end_of_each(legacy.rate)])
    assert history["value"] == [5.0]


def test_a_plateau_lowers_the_rate() -> None:
    legacy = Legacy([1], repeat=True)
    model = legacy.model(learning_rate=legacy.rate)
    plateau = callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1)
    history = fit(model, epochs=3, steps_per_epoch=1, callbacks=[plateau, at_end_of_each(legacy.rate)])
    assert history["value"] == [1.0, 0.5, 0.25]


def test_feed_fn_goes_on_feeding_the_rest() -> None:
    rate = tf1.placeholder(tf.float32, [], name="rate")
    x = tf1.placeholder(tf.float32, [], name="x")
    fed = {x: 3.0}
    model = GraphModel(tf.no_op(), {"product": rate * x}, lambda: fed, learning_rate=rate)
    model.optimizer.learning_rate = 2.0
    assert fit(model, steps_per_epoch=1) == {"product": [6.0]}
    assert fed == {x: 3.0}


def test_a_rate_that_feed_fn_feeds_too_is_an_error() -> None:
    rate = tf1.placeholder(tf.float32, [], name="rate")
    for key in (rate, rate.name):
        model = GraphModel(rate * 1, feed_fn=lambda key=key: {key: 1.0}, learning_rate=rate)
        model.optimizer.learning_rate = 2.0
        with (
            tf1.Session() as session,
            pytest.raises(GraphModelError, match=r"feed_fn feeds rate:0.*Leave it out"),
        ):
            model.fit_in(_Endless(session), steps_per_epoch=1, verbose=0)


class _Endless:
    """A session that never stops."""

    def __init__(self, session: Any) -> None:
        self.run = session.run

    def should_stop(self) -> bool:
        return False


def test_a_placeholder_without_a_value_is_an_error_that_says_how_to_set_it() -> None:
    rate = tf1.placeholder(tf.float32, [], name="rate")
    legacy = Legacy([1], rate=rate)
    scheduler = callbacks.LearningRateScheduler(lambda epoch, rate: rate)
    with pytest.raises(GraphModelError, match=r"rate:0.*model\.optimizer\.learning_rate = 0\.1"):
        fit(legacy.model(learning_rate=rate), callbacks=[scheduler])


@pytest.mark.parametrize(
    "callback",
    [
        callbacks.LearningRateScheduler(lambda epoch, rate: rate),
        callbacks.ReduceLROnPlateau("loss"),
    ],
    ids=["schedule", "plateau"],
)
def test_a_graph_whose_rate_nobody_named_is_an_error_that_says_how(callback: Any) -> None:
    with pytest.raises(GraphModelError, match="learning_rate=variable_or_placeholder"):
        fit(Legacy([1]).model(), steps_per_epoch=1, callbacks=[callback])


def test_what_can_be_neither_assigned_nor_fed_is_no_rate(graph: tf.Graph) -> None:
    tensor = tf.constant(1.0)
    graph.prevent_feeding(tensor)
    for rate in (tensor, tf.no_op()):
        with pytest.raises(GraphModelError, match="neither assigned nor fed"):
            GraphModel(tf.no_op(), learning_rate=rate)


def test_a_graph_without_a_step_says_so_to_callbacks_that_ask(tmp_path: Path) -> None:
    variable = tf1.get_variable("v", initializer=0.0)
    board = callbacks.TensorBoard(str(tmp_path), write_steps_per_second=True)
    model = GraphModel(variable.assign_add(1.0))
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        with pytest.raises(GraphModelError, match=r"no global step.*get_or_create_global_step"):
            model.fit_in(_Endless(session), steps_per_epoch=1, verbose=0, callbacks=[board])


# --- others -----------------------------------------------------------------------------------------------------


def test_terminate_on_nan_stops() -> None:
    model = Legacy([1, float("nan"), 3]).model()
    notes = Notes()
    fit(model, steps_per_epoch=3, callbacks=[callbacks.TerminateOnNaN(), notes])
    assert notes.batches == [0, 1]


def test_lambda_callback_is_called_for_batches_and_epochs() -> None:
    seen: list[Any] = []
    callback = callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append(logs["loss"]),
        on_train_batch_end=lambda batch, logs: seen.append((batch, logs["loss"])),
    )
    fit(Legacy([1, 3]).model(), steps_per_epoch=2, callbacks=[callback])
    assert seen == [(0, 1.0), (1, 3.0), 2.0]


def test_old_names_of_batch_methods_are_called() -> None:
    class Old(keras.callbacks.Callback):
        seen: list[str] = []  # noqa: RUF012

        def on_batch_begin(self, batch: int, logs: Any = None) -> None:
            self.seen.append(f"begin {batch}")

        def on_batch_end(self, batch: int, logs: Any = None) -> None:
            self.seen.append(f"end {batch} {logs['loss']}")

    callback = Old()
    fit(Legacy([1]).model(), steps_per_epoch=1, callbacks=[callback])
    assert callback.seen == ["begin 0", "end 0 1.0"]


def test_one_callback_or_keras_s_list_may_be_given() -> None:
    for wrap in (lambda callback: callback, lambda callback: callbacks.CallbackList([callback])):
        with tf.Graph().as_default():
            notes = Notes()
            fit(Legacy([1]).model(), steps_per_epoch=1, callbacks=wrap(notes))
            assert notes.epochs == [0]


def test_callbacks_know_the_parameters_of_the_fit() -> None:
    notes = Notes()
    fit(Legacy([1]).model(), epochs=4, steps_per_epoch=3, callbacks=[notes])
    assert (notes.params["epochs"], notes.params["steps"]) == (4, 3)


# --- refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "way_out"),
    [
        (lambda: callbacks.BackupAndRestore("backup"), "checkpoint_dir="),
        (callbacks.SwapEMAWeights, "ExponentialMovingAverage"),
        (lambda: callbacks.ModelCheckpoint("m.keras"), r"save_weights_only=True.*CheckpointSaverHook"),
        (lambda: callbacks.TensorBoard("logs", embeddings_freq=1), "leave embeddings_freq out"),
        (lambda: bridge.HookCallback([]), r"MonitoredTrainingSession\(hooks="),
        (lambda: tf1.train.StopAtStepHook(5), r"StopAtStepHook, not a keras.*hooks="),
        (lambda: print, "not a keras.callbacks.Callback"),
    ],
    ids=["backup", "ema", "whole model", "embeddings", "HookCallback", "hook", "function"],
)
def test_what_cannot_work_is_refused_before_the_first_step(make: Any, way_out: str) -> None:
    legacy, notes = Legacy([1, 2]), Notes()
    with open_session() as session:
        with pytest.raises(UnsupportedCallbackError, match=way_out):
            legacy.model().fit_in(session, callbacks=[notes, make()])
        assert session.run(legacy.step) == 0
    assert notes.calls == []


def test_tf_keras_callbacks_are_refused_with_the_import_to_use() -> None:
    tf_keras = pytest.importorskip("tf_keras")
    with pytest.raises(UnsupportedCallbackError, match="Import it from keras"):
        fit(Legacy([1]).model(), callbacks=[tf_keras.callbacks.EarlyStopping("loss")])


def test_an_action_in_a_callback_may_use_the_session() -> None:
    legacy = Legacy([1, 2, 3])
    seen: list[float] = []
    fit(
        legacy.model(),
        steps_per_epoch=3,
        callbacks=[At(("batch", 1), lambda model: seen.append(float(model.run(legacy.w))))],
    )
    assert seen == [2.0]
