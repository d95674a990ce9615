"""A run that was stopped and goes on ends as one that was never stopped: every variable, bit for bit."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import bridge
from bridge.errors import ResumeWarning, UnsupportedSessionError
from tests.bridge.exactness import cases, data, models
from tests.bridge.exactness.cases import BOTH, Case, and_, mse, package
from tests.bridge.exactness.running import EPOCHS, seed
from tests.bridge.resuming import (
    Session,
    assert_same_state,
    begin,
    in_pieces,
    left_by,
    never_stopped,
    session,
    trained_state,
)
from tests.bridge.support import saved_steps

tf1 = tf.compat.v1

ADAM = Case(
    "adam", models.normed, data.arrays, mse("Adam")
)  # BatchNorm, Dropout; shuffled; 5 steps an epoch.
PLAIN = Case("plain", models.mlp, data.arrays, mse("SGD", momentum=0.9), fit={"shuffle": False})

# What a job's second process must find again: state of optimizers, random numbers, data of every form, and options.
NAMES = [
    "sgd-nesterov-schedule",
    "nadam",
    "adam-ema",
    "adam-gradient-accumulation",
    "loss-scale-optimizer",
    "legacy-adam",
    "deferred-build",
    "gan-two-optimizers",
    "random-augmentation",
    "tensorflow-random-operations",
    "mixed-float16-mlp",
    "dataset-shuffled-ragged-last-batch",
    "dataset-infinite",
    "dataset-goes-on-over-epochs",
    "dataset-unknown-length",
    "py-dataset",
    "python-generator",
    "steps-per-execution-divides",
    "steps-per-execution-does-not-divide",
    "run-eagerly",
    "jit-true",
]
# A step that tf_keras runs eagerly draws its Dropout from the state of TensorFlow's kernels, which nobody can save.
UNDROPPED = Case("run-eagerly", models.undropped, data.arrays, and_(mse("Adam"), run_eagerly=True))
TABLE = [
    (flavour, UNDROPPED if (flavour, case.name) == ("tf_keras", "run-eagerly") else case)
    for flavour, case in cases.by_flavour([case for case in cases.CASES if case.name in NAMES])
]


@pytest.mark.slow
@pytest.mark.parametrize(("flavour", "case"), [pytest.param(f, c, id=f"{c}-{f}") for f, c in TABLE])
def test_stopped_in_the_middle_of_an_epoch_equals_never_stopped(
    flavour: str, case: Case, tmp_path: Path
) -> None:
    k = package(flavour)
    expected = never_stopped(k, case)
    assert_same_state(expected, in_pieces(k, case, tmp_path, [7]))


@pytest.mark.parametrize(
    ("flavour", "model", "eager", "names"),
    [
        ("tf_keras", models.normed, True, "dropout/random_uniform/RandomUniform"),
        ("keras", models.noisy, True, "random_normal/RandomStandardNormal"),
        ("keras", models.shuffled, False, "RandomShuffle"),
        ("keras", models.normed, True, ""),
        ("tf_keras", models.normed, False, ""),
        ("keras", models.noisy, False, ""),
    ],
)
def test_random_numbers_that_cannot_go_on_are_named_in_a_warning(
    flavour: str, model: Any, eager: bool, names: str, tmp_path: Path
) -> None:
    k = package(flavour)
    case = Case("random", model, data.arrays, and_(mse("SGD"), run_eagerly=eager))
    session(k, case, tmp_path, stop_at=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session(k, case, tmp_path, stop_at=3)
    told = [str(warning.message) for warning in caught if warning.category is ResumeWarning]
    assert len(told) == bool(names)
    assert all(names in text and ("run_eagerly" in text) == eager for text in told)


def test_the_table_holds_every_case_that_it_names() -> None:
    assert {case.name for _, case in TABLE} == set(NAMES)


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize(
    "stops",
    [[1], [5], [14], [15], [1, 2, 7, 10, 11]],
    ids=["first-step", "end-of-epoch", "last-but-one", "after-the-last", "often"],
)
def test_where_the_run_was_stopped_does_not_matter(stops: list[int], flavour: str, tmp_path: Path) -> None:
    k = package(flavour)
    expected = never_stopped(k, ADAM)
    found = in_pieces(k, ADAM, tmp_path, stops)
    assert_same_state(expected, found)
    assert saved_steps(tmp_path)[-1] == 15
    # Epochs that ran as a whole in the last process have the same history, too.
    whole = EPOCHS - -(-stops[-1] // 5)
    assert found.epochs == list(range(stops[-1] // 5, EPOCHS))
    for key, values in expected.history.items():
        assert found.history.get(key, [])[len(found.epochs) - whole :] == values[EPOCHS - whole :]


def test_a_run_that_an_error_stopped_goes_on_at_its_last_checkpoint(tmp_path: Path) -> None:
    expected = never_stopped(keras, ADAM)
    model = begin(keras, ADAM)

    def fail(batch: int, logs: Any) -> None:
        if int(model.optimizer.iterations) == 9:
            raise ValueError("at step 9")

    with (  # noqa: PT012 - the block is the session's
        pytest.raises(ValueError, match="at step 9"),
        Session(checkpoint_dir=str(tmp_path), save_checkpoint_steps=3) as opened,
    ):
        callback = keras.callbacks.LambdaCallback(on_train_batch_end=fail)
        opened.fit(model, **data.arrays(keras), epochs=EPOCHS, verbose=0, callbacks=[callback])
    assert saved_steps(tmp_path) == [0, 3, 6, 9]
    (tmp_path / "model.ckpt-9.index").unlink()
    with pytest.warns(bridge.errors.UnreadableCheckpointWarning, match="model.ckpt-9"):
        found = in_pieces(keras, ADAM, tmp_path, [])
    assert_same_state(expected, found)


# --- what callbacks hear -------------------------------------------------------------------------------------------


def recorder(k: Any, heard: list[Any]) -> Any:
    """A callback that notes what it is told: name and number of each call."""
    names = ["on_train_begin", "on_train_end", "on_test_begin", "on_test_end"]
    methods: dict[str, Any] = {
        name: lambda self, logs=None, name=name: heard.append((name.removeprefix("on_"),)) for name in names
    }
    for name in ("on_epoch_begin", "on_epoch_end", "on_train_batch_begin", "on_train_batch_end"):
        methods[name] = lambda self, number, logs=None, name=name: heard.append(
            (name.removeprefix("on_"), number)
        )
    return type("Recorder", (k.callbacks.Callback,), methods)()


@pytest.mark.parametrize("resume_data", [True, False], ids=["data-goes-on", "data-anew"])
@pytest.mark.parametrize("flavour", BOTH)
def test_callbacks_hear_of_nothing_that_was_trained_before(
    flavour: str, resume_data: bool, tmp_path: Path
) -> None:
    k = package(flavour)
    case = Case("validated", models.mlp, data.validated, mse("SGD"))
    whole: list[Any] = []
    session(k, case, None, callbacks=[recorder(k, whole)])
    session(k, case, tmp_path, stop_at=7)
    heard: list[Any] = []
    _, history = session(k, case, tmp_path, callbacks=[recorder(k, heard)], resume_data=resume_data)
    second_epoch = [("train_begin",), ("epoch_begin", 1)]
    assert heard[:2] == second_epoch
    goes_on = whole.index(("train_batch_begin", 2), whole.index(("epoch_begin", 1)))
    assert heard[2:] == whole[goes_on:]
    assert heard.count(("test_begin",)) == 2  # No validation of the epoch that is over.
    assert history.epoch == [1, 2]
    assert len(history.history["val_loss"]) == 2


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize("resume_data", [True, False], ids=["data-goes-on", "data-anew"])
def test_the_progress_bar_goes_on_at_the_epoch_and_batch(
    resume_data: bool, flavour: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    k = package(flavour)
    session(k, PLAIN, tmp_path, stop_at=7)
    capsys.readouterr()
    session(k, PLAIN, tmp_path, verbose=1, resume_data=resume_data)
    text = capsys.readouterr().out
    assert text.lstrip().startswith("Epoch 2/3")
    assert "3/5" in text
    assert "1/5" not in text[: text.index("Epoch 3/3")]
    assert "5/5" in text
    assert "Epoch 1/3" not in text


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize("resume_data", [True, False], ids=["data-goes-on", "data-anew"])
def test_the_steps_of_keras_tensorboard_go_on(resume_data: bool, flavour: str, tmp_path: Path) -> None:
    k = package(flavour)

    def board(name: str) -> Any:
        return k.callbacks.TensorBoard(str(tmp_path / name), write_graph=False, update_freq=1)

    session(k, PLAIN, None, callbacks=[board("whole")])
    session(k, PLAIN, tmp_path / "job", stop_at=7, callbacks=[board("first")])
    session(k, PLAIN, tmp_path / "job", callbacks=[board("second")], resume_data=resume_data)
    steps = {name: board_steps(tmp_path / name / "train") for name in ("whole", "first", "second")}
    for tag, expected in steps["whole"].items():
        first, second = steps["first"][tag], steps["second"][tag]
        if "epoch" in tag:
            assert (expected, second) == ([0, 1, 2], [1, 2]), tag
        else:
            assert [*first, *second] == expected, tag


def board_steps(directory: Path) -> dict[str, list[int]]:
    """The steps of each tag of Keras's own event files."""
    found: dict[str, list[int]] = {}
    for path in directory.glob("events.*"):
        for record in tf.data.TFRecordDataset(str(path)):
            event = tf1.Event.FromString(record.numpy())
            for value in event.summary.value:
                if value.tag.startswith(("epoch_loss", "batch_loss")):
                    found.setdefault(value.tag, []).append(event.step)
    return found


def test_a_schedule_of_epochs_goes_on_by_the_number_of_the_epoch(tmp_path: Path) -> None:
    def scheduler() -> Any:
        return keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))

    expected = never_stopped(keras, PLAIN, callbacks=[scheduler()])
    session(keras, PLAIN, tmp_path, stop_at=7, callbacks=[scheduler()])
    model, history = session(keras, PLAIN, tmp_path, callbacks=[scheduler()])
    assert_same_state(expected, left_by(model, history))


def test_a_rate_that_a_callback_set_is_restored_but_not_what_the_callback_counts(tmp_path: Path) -> None:
    """A callback's own state is no part of a checkpoint: ReduceLROnPlateau begins to wait anew."""

    def plateau() -> Any:
        return keras.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=1e9)

    model, _ = session(keras, PLAIN, tmp_path, stop_at=10, callbacks=[plateau()])
    assert float(model.optimizer.learning_rate) == np.float32(
        0.005
    )  # After the second epoch without progress.
    second = plateau()
    model, _ = session(keras, PLAIN, tmp_path, callbacks=[second], epochs=3)
    # One epoch is the first that the new callback sees: the rate is the restored one, and its patience is whole.
    assert float(model.optimizer.learning_rate) == np.float32(0.005)


def test_early_stopping_counts_anew_after_a_stop(tmp_path: Path) -> None:
    def stopper() -> Any:
        return keras.callbacks.EarlyStopping("loss", patience=2, min_delta=1e9)

    _, whole = session(keras, PLAIN, None, epochs=9, callbacks=[stopper()])
    assert whole.epoch == [0, 1, 2]
    session(keras, PLAIN, tmp_path, stop_at=10, epochs=9, callbacks=[stopper()])
    _, resumed = session(keras, PLAIN, tmp_path, epochs=9, callbacks=[stopper()])
    assert resumed.epoch == [2, 3, 4]


# --- data that begins anew, or goes on -----------------------------------------------------------------------------


def numbered(count: int = 10) -> dict[str, Any]:
    """Data of which each batch of two says its number."""
    x = np.repeat(np.arange(count // 2, dtype=np.float32), 2)[:, None] * np.ones(
        (1, models.FEATURES), np.float32
    )
    return {"x": x, "y": np.zeros((count, 1), np.float32), "batch_size": 2}


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize(
    ("resume_data", "expected"), [(True, [2, 3, 4, 0, 1, 2, 3, 4]), (False, [0, 1, 2, 0, 1, 2, 3, 4])]
)
def test_data_goes_on_or_begins_anew(
    resume_data: bool, expected: list[int], flavour: str, tmp_path: Path
) -> None:
    k = package(flavour)
    case = Case("numbered", models.mlp, lambda k: numbered(), mse("SGD"), fit={"shuffle": False})
    session(k, case, tmp_path, stop_at=7)
    seen: list[int] = []

    class Look(tf1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            return tf1.train.SessionRunArgs(tf1.get_default_graph().get_tensor_by_name("batch/x:0"))

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(int(run_values.results[0, 0]))

    model, history = session(k, case, tmp_path, resume_data=resume_data, hooks=[Look()])
    if not resume_data and flavour == "tf_keras":
        expected = [0, 1, 2, 3, 4, 0, 1, 2]  # It reads arrays through one iterator, which all epochs share.
    assert seen == expected
    assert int(model.optimizer.iterations) == 15
    assert history.epoch == [1, 2]


@pytest.mark.parametrize("flavour", BOTH)
def test_epochs_that_are_over_are_not_read_when_data_begins_anew(flavour: str, tmp_path: Path) -> None:
    k = package(flavour)
    session(k, PLAIN, tmp_path, stop_at=10)
    reads: list[int] = []

    def note(x: Any, y: Any) -> Any:
        reads.append(1)
        return x, y

    def read(k: Any) -> dict[str, Any]:
        given = data.arrays(k)
        rows = tf.data.Dataset.from_tensor_slices((given["x"], given["y"])).batch(data.BATCH)
        spec = [tf.float32, tf.float32]

        def shaped(x: Any, y: Any) -> Any:
            x, y = tf.numpy_function(note, [x, y], spec)
            return tf.ensure_shape(x, [None, models.FEATURES]), tf.ensure_shape(y, [None, 1])

        return {"x": rows.map(shaped).apply(tf.data.experimental.assert_cardinality(5))}

    case = Case("read", models.mlp, read, mse("SGD", momentum=0.9))
    _, history = session(k, case, tmp_path, resume_data=False)
    assert history.epoch == [2]
    assert len(reads) <= 6  # Keras looks at one batch beforehand.


def test_without_a_known_length_data_anew_is_warned_about(tmp_path: Path) -> None:
    case = Case("unknown", models.mlp, data.unknown_length, mse("SGD"))
    session(keras, case, tmp_path, stop_at=2)
    with pytest.warns(ResumeWarning, match="steps_per_epoch"):
        session(keras, case, tmp_path, resume_data=False)


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize("resume_data", [True, False], ids=["data-goes-on", "data-anew"])
def test_epochs_that_are_reached_train_nothing(resume_data: bool, flavour: str, tmp_path: Path) -> None:
    k = package(flavour)
    first, _ = session(k, PLAIN, tmp_path)
    heard: list[Any] = []
    model, history = session(
        k, PLAIN, tmp_path, callbacks=[recorder(k, heard)], resume_data=resume_data, epochs=2
    )
    assert history.epoch == []
    assert [call for call in heard if "batch" in call[0] or "epoch" in call[0]] == []
    for one, other in zip(model.get_weights(), first.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert saved_steps(tmp_path) == [0, 15]


@pytest.mark.parametrize("flavour", BOTH)
def test_more_epochs_than_before_are_trained_from_where_the_job_was(flavour: str, tmp_path: Path) -> None:
    k = package(flavour)
    expected = never_stopped(k, ADAM, epochs=5)
    session(k, ADAM, tmp_path, epochs=3)
    model, history = session(k, ADAM, tmp_path, epochs=5)
    assert history.epoch == [3, 4]
    assert_same_state(expected, left_by(model, history))


# --- several fits, names, models that are not built yet ------------------------------------------------------------


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize("stop_at", [3, 10, 12, 19])
def test_several_fits_of_one_job_are_resumed_where_it_stopped(
    stop_at: int, flavour: str, tmp_path: Path
) -> None:
    """Fits of 2, 1 and 1 epochs of five steps each."""
    k = package(flavour)

    def job(directory: Path | None, stop: int | None) -> tuple[Any, list[Any]]:
        model = begin(k, ADAM)
        hooks = [] if stop is None else [tf1.train.StopAtStepHook(last_step=stop)]
        where = None if directory is None else str(directory)
        with Session(checkpoint_dir=where, hooks=hooks) as opened:
            histories = [
                opened.fit(model, **data.arrays(k), epochs=epochs, verbose=0, resume_data=True)
                for epochs in (2, 1, 1)
            ]
        return left_by(model, histories[-1]), [history.epoch for history in histories]

    expected, epochs = job(None, None)
    assert epochs == [[0, 1], [0], [0]]
    job(tmp_path, stop_at)
    found, epochs = job(tmp_path, None)
    assert_same_state(expected, found)
    assert (
        epochs == {3: [[0, 1], [0], [0]], 10: [[], [0], [0]], 12: [[], [0], [0]], 19: [[], [], [0]]}[stop_at]
    )


@pytest.mark.parametrize("flavour", BOTH)
def test_a_model_built_after_others_in_its_process_goes_on(flavour: str, tmp_path: Path) -> None:
    k = package(flavour)
    expected = never_stopped(k, PLAIN)
    session(k, PLAIN, tmp_path, stop_at=7)
    seed(k)
    for _ in range(3):
        other = PLAIN.compiled(k)
        other.optimizer.build(other.trainable_variables)
    model = PLAIN.compiled(k)
    assert "dense_1" not in [layer.name for layer in model.layers]
    model, history = session(k, PLAIN, tmp_path, model=model)
    found = left_by(model, history)
    for one, other in zip(trained_state(expected).values(), trained_state(found).values(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("flavour", BOTH)
def test_a_model_that_is_not_built_goes_on(flavour: str, tmp_path: Path) -> None:
    k = package(flavour)
    case = Case("deferred", models.deferred, data.arrays, mse("Adam"))
    expected = never_stopped(k, case)
    session(k, case, tmp_path, stop_at=7)
    assert not begin(k, case).built
    model, history = session(k, case, tmp_path)
    assert history.epoch == [1, 2]
    assert_same_state(expected, left_by(model, history))


@pytest.mark.parametrize("flavour", BOTH)
def test_an_initial_epoch_is_where_the_job_begins(flavour: str, tmp_path: Path) -> None:
    k = package(flavour)
    expected = never_stopped(k, ADAM, initial_epoch=1, epochs=4)
    session(k, ADAM, tmp_path, stop_at=7, initial_epoch=1, epochs=4)
    model, history = session(k, ADAM, tmp_path, initial_epoch=1, epochs=4)
    assert history.epoch == [2, 3]
    assert_same_state(expected, left_by(model, history))


def test_a_model_that_was_trained_before_the_job_goes_on_where_the_job_was(tmp_path: Path) -> None:
    def trained() -> Any:
        model = begin(keras, PLAIN)
        model.fit(**data.arrays(keras), epochs=1, verbose=0, shuffle=False)
        return model

    plain = trained()
    history = plain.fit(**data.arrays(keras), epochs=EPOCHS, verbose=0, shuffle=False)
    session(keras, PLAIN, tmp_path, model=trained(), stop_at=5 + 7)
    model, resumed = session(keras, PLAIN, tmp_path, model=trained())
    assert resumed.epoch == [1, 2]
    assert_same_state(left_by(plain, history), left_by(model, resumed))


def test_a_model_that_is_not_built_is_not_evaluated_with_weights_that_were_never_trained(
    tmp_path: Path,
) -> None:
    case = Case("deferred", models.deferred, data.arrays, mse("Adam"))
    session(keras, case, tmp_path)
    given = data.arrays(keras)
    fresh = begin(keras, case)
    with (
        Session(checkpoint_dir=str(tmp_path), is_chief=False) as opened,
        pytest.raises(UnsupportedSessionError, match=r"no variables yet.*Build it"),
    ):
        opened.evaluate(fresh, given["x"], given["y"], verbose=0)


def test_nothing_is_warned_about_in_an_orderly_resume(tmp_path: Path) -> None:
    session(keras, PLAIN, tmp_path, stop_at=7)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        session(keras, PLAIN, tmp_path)


@pytest.mark.parametrize("flavour", BOTH)
def test_another_optimizer_than_the_checkpoints_is_begun_anew_as_the_error_says(
    flavour: str, tmp_path: Path
) -> None:
    k = package(flavour)
    trained, _ = session(k, ADAM, tmp_path, stop_at=5)
    other = Case("sgd", models.normed, data.arrays, mse("SGD", momentum=0.9))
    with pytest.raises(bridge.errors.CheckpointMismatchError, match=r"sess\.fit") as caught:
        session(k, other, tmp_path)
    (name_map,) = re.findall(r"name_map=(\[.*?\])", str(caught.value))
    model, history = session(k, other, tmp_path, stop_at=5, name_map=ast.literal_eval(name_map))
    assert history.epoch == []
    for weight, found in zip(trained.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, found)
