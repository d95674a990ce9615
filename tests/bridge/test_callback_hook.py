"""CallbackHook runs Keras callbacks in loops over real v1 sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import keras
import pytest
import tensorflow as tf

import bridge
from bridge.callback_hook import CallbackHook
from bridge.errors import (
    GraphModelError,
    UnknownNameError,
    UnsupportedCallbackError,
    UnsupportedModelError,
)
from tests.bridge.graph_model.support import At, Legacy, Notes, open_session, stop_after, stop_training
from tests.bridge.support import FunctionHook, TraceHook, read_events, small_model, train

tf1 = tf.compat.v1
callbacks = keras.callbacks


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """The default graph of the test."""
    with tf.Graph().as_default() as graph:
        yield graph


def loop(legacy: Legacy, *hooks: Any, **options: Any) -> None:
    """The loop of a legacy script."""
    with open_session(*hooks, **options) as session:
        while not session.should_stop():
            session.run(legacy.train_op)


def shown_losses(legacy: Legacy) -> dict[str, Any]:
    return {"logs": {"loss": legacy.loss}}


# --- what is called, and when -----------------------------------------------------------------------------------


def test_callbacks_are_called_around_the_steps_of_a_loop() -> None:
    legacy, notes = Legacy([1, 2, 3, 4, 5, 6]), Notes()
    hook = CallbackHook(notes, steps_per_epoch=2, **shown_losses(legacy))
    loop(legacy, hook)
    epoch = ["batch_begin 0", "batch_end 0", "batch_begin 1", "batch_end 1"]
    assert notes.calls == [
        "train_begin",
        *["epoch_begin 0", *epoch, "epoch_end 0"],
        *["epoch_begin 1", *epoch, "epoch_end 1"],
        *["epoch_begin 2", *epoch, "epoch_end 2"],
        # The run that found the input's end had begun a batch.
        *["epoch_begin 3", "batch_begin 0"],
        "train_end",
    ]
    assert hook.history.history == {"loss": [1.5, 3.5, 5.5]}
    assert hook.history.epoch == [0, 1, 2]


def test_batches_get_the_step_s_values_and_epochs_their_mean() -> None:
    legacy, notes = Legacy([1, 2, 6]), Notes()
    loop(legacy, CallbackHook([notes], steps_per_epoch=3, **shown_losses(legacy)))
    assert [notes.logs[f"batch_end {n}"]["loss"] for n in range(3)] == [1.0, 2.0, 6.0]
    assert notes.logs["epoch_end 0"] == notes.logs["train_end"] == {"loss": 3.0}


def test_a_stop_in_the_middle_of_an_epoch_ends_it_there() -> None:
    for order in (1, -1):
        with tf.Graph().as_default():
            legacy, notes = Legacy([1, 2, 3, 4, 5]), Notes()
            hook = CallbackHook([notes], steps_per_epoch=3, **shown_losses(legacy))
            loop(legacy, *[stop_after(4), hook][::order])
            assert notes.epochs == [0, 1]
            assert notes.logs["epoch_end 1"] == {"loss": 4.0}
            assert notes.calls.count("train_end") == 1


def test_without_steps_per_epoch_there_is_one_epoch() -> None:
    legacy, notes = Legacy([1, 2, 3]), Notes()
    loop(legacy, CallbackHook([notes], **shown_losses(legacy)))
    assert notes.epochs == [0]
    assert notes.batches == [0, 1, 2]


def test_stop_training_requests_the_stop() -> None:
    for when, steps in ((("batch", 1), 2), (("epoch", 1), 6)):
        with tf.Graph().as_default():
            legacy, notes = Legacy([1], repeat=True), Notes()
            hook = CallbackHook([At(when, stop_training), notes], steps_per_epoch=3, **shown_losses(legacy))
            with open_session(hook) as session:
                while not session.should_stop():
                    session.run(legacy.train_op)
                step = tf1.train.get_global_step()
                assert session.run_step_fn(lambda step_context: step_context.session.run(step)) == steps  # noqa: B023
            assert notes.calls[-1] == "train_end"


def test_logs_may_be_names() -> None:
    legacy = Legacy([1, 3])
    hook = CallbackHook([], steps_per_epoch=2, logs={"the_loss": "loss"})
    loop(legacy, hook)
    assert hook.history.history == {"the_loss": [2.0]}


def test_callbacks_run_in_eager_mode() -> None:
    seen: list[bool] = []
    note = lambda *unused, **unused_options: seen.append(tf.executing_eagerly())  # noqa: E731
    callback = callbacks.LambdaCallback(
        on_train_begin=note,
        on_epoch_begin=note,
        on_train_batch_begin=note,
        on_train_batch_end=note,
        on_epoch_end=note,
        on_train_end=note,
    )
    loop(Legacy([1]), CallbackHook(callback))
    assert len(seen) >= 6
    assert all(seen)


def test_nothing_is_added_to_the_graph(graph: tf.Graph) -> None:
    legacy = Legacy([1])
    hook = CallbackHook([], learning_rate=legacy.rate, **shown_losses(legacy))
    before = len(graph.get_operations())
    hook.begin()
    hook.begin()
    assert len(graph.get_operations()) == before


def test_other_sessions_take_it_too() -> None:
    for kind in (tf1.train.SingularMonitoredSession, tf1.train.MonitoredSession):
        with tf.Graph().as_default():
            legacy = Legacy([1, 3])
            hook = CallbackHook([], **shown_losses(legacy))
            with kind(hooks=[hook]) as session:
                while not session.should_stop():
                    session.run(legacy.train_op)
            assert hook.history.history == {"loss": [2.0]}


def test_one_hook_serves_one_session_after_another() -> None:
    legacy = Legacy([1, 3])
    hook = CallbackHook([], steps_per_epoch=2, **shown_losses(legacy))
    loop(legacy, hook)
    first = hook.history
    loop(legacy, hook)
    assert hook.history is not first
    assert hook.history.history == first.history == {"loss": [2.0]}


# --- resuming and recovery --------------------------------------------------------------------------------------


def test_a_resumed_job_goes_on_in_its_epoch_at_its_batch(tmp_path: Path) -> None:
    for expected in ([0, 1, 2, 0, 1], [2, 0, 1, 2, 0]):
        with tf.Graph().as_default():
            legacy, notes = Legacy([1], repeat=True), Notes()
            hook = CallbackHook([notes], steps_per_epoch=3, **shown_losses(legacy))
            loop(legacy, stop_after(5), hook, directory=tmp_path)
            assert notes.batches == expected
    assert notes.epochs == [1, 2, 3]


def test_after_a_recovery_the_epoch_is_that_of_the_restored_step(tmp_path: Path) -> None:
    legacy, notes = Legacy([1], repeat=True), Notes()
    runs: list[int] = []

    def fail_once(context: Any, values: Any, built: Any) -> None:
        runs.append(1)
        if len(runs) == 6:
            raise tf.errors.AbortedError(None, None, "preempted")

    hook = CallbackHook([notes], steps_per_epoch=4, **shown_losses(legacy))
    with open_session(
        hook, FunctionHook(after_run=fail_once), directory=tmp_path, save_checkpoint_steps=100
    ) as session:
        for _ in range(8):
            session.run(legacy.train_op)
    # Six steps, of which the last was lost with all since the checkpoint at 0; then three more, counted anew.
    begun = [call for call in notes.calls if "begin" in call and "batch" not in call]
    assert begun == ["train_begin", "epoch_begin 0", "epoch_begin 1", "epoch_begin 0"]
    assert notes.batches == [0, 1, 2, 3, 0, 1, 0, 1, 2]
    assert notes.calls.count("train_end") == 1


# --- the model --------------------------------------------------------------------------------------------------


def test_early_stopping_puts_the_best_weights_back_before_the_last_checkpoint(tmp_path: Path) -> None:
    legacy = Legacy([3, 1, 2, 2, 2])
    stopping = callbacks.EarlyStopping("loss", patience=2, restore_best_weights=True)
    hook = CallbackHook([stopping], steps_per_epoch=1, **shown_losses(legacy))
    loop(legacy, hook, directory=tmp_path, save_checkpoint_steps=100)
    saved = tf.train.load_checkpoint(str(tmp_path))
    assert saved.get_tensor("global_step") == 4
    assert saved.get_tensor("w") == 2.0


def test_model_checkpoint_saves_the_graph_s_variables(tmp_path: Path) -> None:
    legacy = Legacy([3, 1, 2])
    checkpoint = callbacks.ModelCheckpoint(
        tmp_path / "w.weights.h5", monitor="loss", mode="min", save_best_only=True, save_weights_only=True
    )
    loop(legacy, CallbackHook([checkpoint], steps_per_epoch=1, **shown_losses(legacy)))
    with h5py.File(tmp_path / "w.weights.h5") as file:
        assert file["w:0"][()] == 2.0


def test_schedules_set_a_variable() -> None:
    legacy, notes = Legacy([1, 1, 1, 1]), Notes()
    scheduler = callbacks.LearningRateScheduler(lambda epoch, rate: rate * 2)
    hook = CallbackHook(
        [scheduler, notes], steps_per_epoch=2, learning_rate=legacy.rate, logs={"w": legacy.w.read_value()}
    )
    with open_session(hook) as session:
        for _ in range(4):
            session.run(legacy.train_op)
        assert session.run_step_fn(lambda step_context: step_context.session.run(legacy.w)) == 12.0
    assert hook.history.history["learning_rate"] == [2.0, 4.0]


def test_schedules_feed_a_placeholder() -> None:
    rate = tf1.placeholder_with_default(1.0, [])
    legacy = Legacy([1, 1, 1, 1], rate=rate)
    scheduler = callbacks.LearningRateScheduler(lambda epoch, rate: rate * 2)
    hook = CallbackHook([scheduler], steps_per_epoch=2, learning_rate=rate)
    with open_session(hook) as session:
        for _ in range(4):
            session.run(legacy.train_op)
        assert session.run_step_fn(lambda step_context: step_context.session.run(legacy.w)) == 12.0


def test_tensorboard_and_csv_write_what_the_loop_did(tmp_path: Path) -> None:
    legacy = Legacy([1, 3, 5])
    board = callbacks.TensorBoard(str(tmp_path / "board"), histogram_freq=1, update_freq=1)
    logger = callbacks.CSVLogger(tmp_path / "log.csv")
    loop(legacy, CallbackHook([board, logger], steps_per_epoch=2, **shown_losses(legacy)))
    events = read_events(tmp_path / "board" / "train")
    means = [float(tf.make_ndarray(event.tensor_proto)) for event in events.Tensors("epoch_loss")]
    assert means == [2.0, 5.0]
    assert "w/histogram" in events.Tags()["tensors"]
    assert [line.split(",")[:2] for line in (tmp_path / "log.csv").read_text().splitlines()] == [
        ["epoch", "loss"],
        ["0", "2.0"],
        ["1", "5.0"],
    ]


def test_a_graph_model_brings_its_logs_and_its_rate() -> None:
    legacy = Legacy([1, 3])
    model = legacy.model(learning_rate=legacy.rate)
    scheduler = callbacks.LearningRateScheduler(lambda epoch, rate: 4.0)
    hook = CallbackHook([scheduler], model, steps_per_epoch=2)
    with open_session(hook) as session:
        for _ in range(2):
            session.run(legacy.train_op)
    assert hook.history.history == {"loss": [2.0], "learning_rate": [4.0]}
    assert hook.history.model is model


def test_a_keras_model_outside_of_the_graph_is_the_callbacks_own(tmp_path: Path) -> None:
    with tf.__internal__.eager_context.eager_mode():
        model = small_model()
    legacy = Legacy([1, 3])
    saver = callbacks.ModelCheckpoint(tmp_path / "m.keras")
    scheduler = callbacks.LearningRateScheduler(lambda epoch, rate: 0.5)
    loop(legacy, CallbackHook([saver, scheduler], model, steps_per_epoch=2, **shown_losses(legacy)))
    with tf.__internal__.eager_context.eager_mode():
        assert float(model.optimizer.learning_rate.numpy()) == 0.5
        assert keras.models.load_model(tmp_path / "m.keras").count_params() == 4


# --- errors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["hook", "loop"])
def test_what_callbacks_wrote_is_on_disk_after_an_error(tmp_path: Path, where: str) -> None:
    legacy = Legacy([1, 2, 3])
    board = callbacks.TensorBoard(str(tmp_path), update_freq=1)
    hooks = [CallbackHook([board], steps_per_epoch=10, **shown_losses(legacy))]
    if where == "hook":
        hooks.append(TraceHook([], raises=ValueError("second"), phase="after_run", at_run=2))
    notes = Notes()
    hooks.append(CallbackHook([notes]))

    def train() -> None:
        with open_session(*hooks) as session:
            session.run(legacy.train_op)
            session.run(legacy.train_op)
            raise ValueError("second, of the loop")

    with pytest.raises(ValueError, match="second"):
        train()
    values = [
        float(tf.make_ndarray(event.tensor_proto))
        for event in read_events(tmp_path / "train").Tensors("batch_loss")
    ]
    assert values == [1.0, 2.0]
    assert "train_end" not in notes.calls
    assert board._writers  # Still open: a flush has put it there.


def test_an_error_of_a_callback_comes_out_of_the_run() -> None:
    error = ZeroDivisionError()

    def fail(model: Any) -> None:
        raise error

    legacy = Legacy([1, 2])
    with pytest.raises(ZeroDivisionError) as caught:
        loop(legacy, CallbackHook([At(("batch", 0), fail)]))
    assert caught.value is error


@pytest.mark.parametrize(
    ("make", "way_out"),
    [
        (lambda: callbacks.BackupAndRestore("backup"), "checkpoint_dir="),
        (lambda: callbacks.ModelCheckpoint("m.keras"), "save_weights_only=True"),
        (lambda: bridge.HookCallback([]), "hooks="),
        (lambda: tf1.train.StopAtStepHook(5), "not a keras"),
    ],
)
def test_what_cannot_work_is_refused_at_once(make: Any, way_out: str) -> None:
    with pytest.raises(UnsupportedCallbackError, match=way_out):
        CallbackHook([make()])


def test_a_keras_model_inside_the_graph_is_refused() -> None:
    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    with pytest.raises(UnsupportedModelError, match=r"inside a v1 graph.*Leave model out"):
        CallbackHook([], model)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(UnsupportedModelError, match="model is a int"):
        CallbackHook([], 5)


def test_arguments_that_do_not_go_together_are_refused() -> None:
    legacy = Legacy([1])
    with pytest.raises(GraphModelError, match="learning_rate and variables"):
        CallbackHook([], legacy.model(), learning_rate=legacy.rate)
    with pytest.raises(GraphModelError, match="steps_per_epoch is 0"):
        CallbackHook([], steps_per_epoch=0)


def test_inside_the_fit_of_a_keras_model_it_is_refused() -> None:
    with tf.__internal__.eager_context.eager_mode():
        model = small_model()
        with pytest.raises(UnsupportedCallbackError, match=r"fit\(\.\.\., callbacks="):
            train(CallbackHook([Notes()]), model=model)


def test_an_unknown_name_is_refused_when_the_session_begins() -> None:
    legacy = Legacy([1])
    with pytest.raises(UnknownNameError, match="nearest names are: loss"):
        loop(legacy, CallbackHook([], logs={"loss": "lss"}))


def test_a_graph_model_of_another_graph_is_refused() -> None:
    with tf.Graph().as_default():
        model = Legacy([1]).model()
    with pytest.raises(GraphModelError, match="another graph"):
        loop(Legacy([1]), CallbackHook([], model))
