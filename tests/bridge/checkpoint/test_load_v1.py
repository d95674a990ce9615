"""`load_v1`: which entry goes where, what the report says, and what is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from bridge.checkpoint import CheckpointReport, Converted, gru, load_v1, lstm, model_state
from bridge.errors import (
    BridgeError,
    CheckpointMismatchError,
    CheckpointNotFoundError,
    NameMapError,
    UnreadableCheckpointError,
    UnsupportedModelError,
)
from tests.bridge.checkpoint import worlds
from tests.bridge.checkpoint.support import (
    COUNTS,
    EXPECTED,
    GOLDEN,
    TOLERANCE,
    Keras,
    adam,
    assert_weights,
    both,
    dense_model,
    entries_of,
    expected,
    golden,
    names,
    sources,
    state_of,
    step_of,
    train,
    write,
)

KERNEL, BIAS = worlds.KERNEL, worlds.BIAS


def two_layers(k: Keras, **options: Any) -> Any:
    layers = [k.Input((3,)), k.layers.Dense(2, name="body"), k.layers.Dense(1, name="head")]
    model = k.Sequential(layers)
    if options:
        model.compile(loss="mse", **options)
    return model


def body_and_head(prefix: Path, **more: Any) -> str:
    """A checkpoint of `two_layers`."""
    values = {
        "body/kernel": worlds.weights(3, 2),
        "body/bias": worlds.weights(2),
        "head/kernel": worlds.weights(2, 1) + 1,
        "head/bias": worlds.weights(1) + 1,
    }
    return write(prefix, {**values, **more})


def mismatch(model: Any, *arguments: Any, **options: Any) -> CheckpointReport:
    """The report of a load that is refused, after which nothing may have changed."""
    before = state_of(model)
    with pytest.raises(CheckpointMismatchError) as error:
        load_v1(model, *arguments, **options)
    for value, now in zip(before, state_of(model), strict=True):
        np.testing.assert_array_equal(now, value)
    assert isinstance(error.value, (BridgeError, ValueError))
    assert str(error.value.report) in str(error.value)
    return error.value.report


# --- kinds of checkpoints --------------------------------------------------------------------------------------


@pytest.mark.oracle
@both
def test_ref_variables_of_dense_and_normalised_layers_are_read(k: Keras) -> None:
    layers = [k.Input((3,)), k.layers.Dense(4), k.layers.BatchNormalization(momentum=0.5), k.layers.Dense(1)]
    model = k.Sequential(layers)
    model.compile(adam(k), "mse")
    report = load_v1(model, golden("ref_variables"))
    assert not report.problems
    normed = next(layer for layer in model.layers if "norm" in layer.name)
    wanted = [
        expected("ref_variables", f"batch_normalization/{part}")
        for part in ("gamma", "beta", "moving_mean", "moving_variance")
    ]
    for value, found in zip(wanted, normed.get_weights(), strict=True):
        np.testing.assert_array_equal(found, value)
    train(model)
    for name, found in zip(("dense_1/kernel", "dense_1/bias"), model.layers[-1].get_weights(), strict=True):
        np.testing.assert_allclose(found, expected("ref_variables", name, "after"), rtol=1e-4, atol=1e-5)


@pytest.mark.oracle
@both
@pytest.mark.parametrize("name", ["sharded", "old_format_sharded", "old_format", "moving_averages"])
def test_every_format_of_the_saver_is_read(k: Keras, name: str) -> None:
    model = dense_model(k, k.optimizers.SGD() if "sharded" in name else adam(k))
    load_v1(model, golden(name))
    assert_weights(model, name)
    assert step_of(model) == worlds.STEPS_BEFORE


@pytest.mark.oracle
def test_one_shard_of_the_old_format_stands_for_all() -> None:
    model = dense_model(keras, keras.optimizers.SGD())
    load_v1(model, golden("old_format_sharded") + "-00000-of-00003")
    assert_weights(model, "old_format_sharded")


@pytest.mark.oracle
@both
@pytest.mark.parametrize("name", ["partitioned", "parts"])
def test_a_partitioned_variable_is_put_together_with_its_slots(k: Keras, name: str) -> None:
    model = dense_model(k, adam(k))
    report = load_v1(model, golden(name))
    whole = np.concatenate([expected(name, f"dense/kernel/part_{number}") for number in (0, 1)])
    np.testing.assert_array_equal(model.get_weights()[0], whole)
    slot = next(entry for entry in report.matched if re.search(r"kernel/(velocity|v)$", entry.name))
    found = next(v.variable for v in model_state.state_of(model) if v.name == slot.name)
    whole = np.concatenate([expected(name, f"dense/kernel/part_{number}/Adam_1") for number in (0, 1)])
    np.testing.assert_array_equal(found.numpy(), whole)
    joined = "dense/kernel/part_0/Adam_1 + dense/kernel/part_1/Adam_1"
    assert slot.source == (joined if name == "parts" else "dense/kernel/Adam_1")


def test_parts_along_another_axis_are_put_together(tmp_path: Path) -> None:
    value = worlds.weights(3, 2)
    parts = {"body/kernel/part_0": value[:, :1], "body/kernel/part_1": value[:, 1:]}
    path = body_and_head(tmp_path / "model.ckpt")
    entries = {n: v for n, v in entries_of(path).items() if n != "body/kernel"}
    model = two_layers(keras)
    load_v1(model, write(tmp_path / "parts.ckpt", {**entries, **parts}))
    np.testing.assert_array_equal(model.get_weights()[0], value)


def test_parts_that_do_not_add_up_are_a_shape_mismatch(tmp_path: Path) -> None:
    path = write(
        tmp_path / "model.ckpt",
        {"dense/kernel/part_0": KERNEL, "dense/kernel/part_1": KERNEL, "dense/bias": BIAS},
    )
    (entry,) = mismatch(dense_model(keras), path).shape_mismatches
    assert entry.name == "dense/kernel"
    assert "the parts do not add up" in entry.note


@pytest.mark.oracle
@both
def test_a_directory_stands_for_its_latest_checkpoint(k: Keras) -> None:
    model = dense_model(k, adam(k))
    report = load_v1(model, GOLDEN / "monitored")
    assert step_of(model) == worlds.STEPS_BEFORE
    assert report.path == str(GOLDEN / "monitored" / "model.ckpt-4")
    earlier = dense_model(k, adam(k))
    load_v1(earlier, GOLDEN / "monitored" / "model.ckpt-2")
    assert step_of(earlier) == 2
    train(earlier, 2)
    for one, other in zip(earlier.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.oracle
@both
def test_values_of_other_types_are_cast_and_the_report_says_so(k: Keras) -> None:
    model = dense_model(k, k.optimizers.SGD())
    report = load_v1(model, golden("other_types"))
    np.testing.assert_array_equal(model.get_weights()[0], KERNEL)
    assert step_of(model) == COUNTS["other_types"]
    casts = {entry.name: (entry.source_dtype, entry.dtype) for entry in report.casts}
    assert casts["dense/kernel"] == ("float64", "float32")
    assert casts["dense/bias"] == ("float16", "float32")
    assert "(3, 1) float64 -> (3, 1) float32" in str(report)


def test_a_number_that_does_not_fit_into_the_type_is_refused(tmp_path: Path) -> None:
    class Counts(keras.layers.Layer):
        def build(self, shape: Any) -> None:
            self.add_weight(name="count", shape=(), dtype="int32", trainable=False, initializer="zeros")

        def call(self, inputs: Any) -> Any:
            return inputs

    model = keras.Sequential([keras.Input((3,)), Counts(name="counts")])
    load_v1(model, write(tmp_path / "small", {"counts/count": np.int64(7)}))
    assert int(model.get_weights()[0]) == 7
    path = write(tmp_path / "large", {"counts/count": np.int64(2**40)})
    assert names(mismatch(model, path).dtype_mismatches) == ["counts/count"]


def test_integers_are_not_made_of_floats(tmp_path: Path) -> None:
    model = dense_model(keras)
    path = write(tmp_path / "model.ckpt", {"dense/kernel": KERNEL.astype(np.int64), "dense/bias": BIAS})
    assert names(mismatch(model, path).dtype_mismatches) == ["dense/kernel"]
    report = load_v1(model, path, strict=False)
    assert names(report.matched) == ["dense/bias"]


@both
def test_half_precision_models_keep_their_types(k: Keras, tmp_path: Path) -> None:
    model = k.Sequential([k.Input((3,)), k.layers.Dense(1, name="dense", dtype="float16")])
    report = load_v1(model, write(tmp_path / "model.ckpt", {"dense/kernel": KERNEL, "dense/bias": BIAS}))
    assert model.get_weights()[0].dtype == np.float16
    assert names(report.casts) == ["dense/kernel", "dense/bias"]


@pytest.mark.multiprocess
@both
def test_mirrored_variables_are_assigned_on_every_replica(k: Keras, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bridge.checkpoint.mirrored_program", k.__name__, str(tmp_path)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    count = int(re.search(r"(\d+) variables on two replicas", done.stdout)[1])
    assert count >= 6  # Two weights with two slots each.


# --- models ----------------------------------------------------------------------------------------------------


@both
def test_a_model_that_is_not_compiled_gets_the_weights_alone(k: Keras) -> None:
    model = dense_model(k)
    report = load_v1(model, golden("optimizer_adam"))
    assert_weights(model, "optimizer_adam")
    assert not report.problems
    reasons = {entry.source: entry.note for entry in report.not_needed}
    assert "not compiled" in reasons["global_step"]
    assert "not compiled" in reasons["dense/kernel/Adam"]
    assert reasons["beta1_power"] == "follows from the step"


@both
def test_the_optimizer_is_built_if_it_is_not(k: Keras) -> None:
    model = dense_model(k, adam(k))
    load_v1(model, golden("optimizer_adam"))
    assert len(model.optimizer.variables) > 4


@both
def test_what_the_process_built_before_changes_no_name(k: Keras) -> None:
    for _ in range(3):
        k.Sequential([k.Input((3,)), k.layers.Dense(2), k.layers.BatchNormalization()])
    model = k.Sequential([k.Input((3,)), k.layers.Dense(1)])
    load_v1(model, golden("optimizer_sgd"))
    np.testing.assert_array_equal(model.get_weights()[0], expected("optimizer_sgd", "dense/kernel"))


@both
def test_slots_of_weights_that_are_not_trained_are_not_needed(k: Keras) -> None:
    model = dense_model(k)
    model.layers[-1].trainable = False
    model.compile(adam(k), "mse")
    report = load_v1(model, golden("optimizer_adam"))
    assert_weights(model, "optimizer_adam")
    assert {entry.note for entry in report.not_needed if "Adam" in entry.source} == {
        "dense/kernel is not trained here",
        "dense/bias is not trained here",
    }


@both
def test_a_model_without_variables_is_told_to_be_built(k: Keras) -> None:
    model = k.Sequential([k.layers.Dense(1)])
    with pytest.raises(UnsupportedModelError, match=r"model\.build\(input_shape\)"):
        load_v1(model, golden("optimizer_adam"))
    model.build((None, 3))
    load_v1(model, golden("optimizer_adam"))


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(UnsupportedModelError, match="is a Dense"):
        load_v1(keras.layers.Dense(1), golden("optimizer_adam"))


def test_a_graph_as_default_is_refused_with_the_way_out() -> None:
    model = dense_model(tf_keras)
    with tf.Graph().as_default(), pytest.raises(UnsupportedModelError, match=r"tf\.compat\.v1\.train\.Saver"):
        load_v1(model, golden("optimizer_adam"))


@both
def test_random_state_and_rates_of_keras_are_kept(k: Keras) -> None:
    model = k.Sequential([k.Input((3,)), k.layers.Dense(1, name="dense"), k.layers.Dropout(0.5)])
    model.compile(adam(k), "mse", metrics=["mae"])
    report = load_v1(model, golden("optimizer_adam"))
    assert "adam/learning_rate" in names(report.kept)
    assert not [entry for entry in report.entries if "metrics" in entry.name]
    assert float(model.optimizer.learning_rate.numpy()) == pytest.approx(worlds.RATE)


# --- what does not fit -----------------------------------------------------------------------------------------


@both
def test_strict_raises_with_all_that_does_not_fit_and_assigns_nothing(k: Keras, tmp_path: Path) -> None:
    path = write(
        tmp_path / "model.ckpt",
        {"body/kernel": worlds.weights(3, 2), "head/kernel": worlds.weights(1, 2), "tail/bias": BIAS},
    )
    report = mismatch(two_layers(k), path)
    assert names(report.matched) == ["body/kernel"]
    assert names(report.missing) == ["body/bias", "head/bias"]
    assert sources(report.unexpected) == ["tail/bias"]
    assert names(report.shape_mismatches) == ["head/kernel"]
    assert report.summary == "1 matched, 1 shape mismatch, 2 missing, 1 unexpected"


@both
def test_without_strict_what_fits_is_assigned(k: Keras, tmp_path: Path) -> None:
    path = write(
        tmp_path / "model.ckpt", {"body/kernel": worlds.weights(3, 2), "head/kernel": worlds.weights(1, 2)}
    )
    model = two_layers(k)
    before = model.get_weights()
    report = load_v1(model, path, strict=False)
    assert len(report.problems) == 3
    np.testing.assert_array_equal(model.get_weights()[0], worlds.weights(3, 2))
    for value, now in list(zip(before, model.get_weights(), strict=True))[1:]:
        np.testing.assert_array_equal(now, value)


def test_the_report_is_a_table_with_problems_first(tmp_path: Path) -> None:
    path = write(
        tmp_path / "model.ckpt",
        {"body/kernel": worlds.weights(3, 2), "head/kernel": worlds.weights(1, 2), "tail/bias": BIAS},
    )
    text = str(load_v1(two_layers(keras), path, strict=False))
    lines = text.splitlines()
    assert lines[0] == f"{path}: 1 matched, 1 shape mismatch, 2 missing, 1 unexpected"
    assert [line.split("  ")[1] for line in lines[1:]] == [
        "status",
        "shape mismatch",
        "missing",
        "missing",
        "unexpected",
        "matched",
    ]
    assert "(1, 2) float32 -> (2, 1) float32" in lines[2]
    assert "transposed" in lines[2]
    assert len({line.find("float32") for line in lines[3:6]}) == 1


def test_names_that_are_alike_are_suggested(tmp_path: Path) -> None:
    path = write(tmp_path / "model.ckpt", {"dense/kernel": KERNEL, "dense/biases": BIAS})
    (entry,) = mismatch(dense_model(keras), path).missing
    assert entry.note == "The nearest names are: dense/biases."


def test_as_many_elements_in_another_shape_are_hinted_at(tmp_path: Path) -> None:
    values = {"dense/kernel": KERNEL.reshape(1, 1, 3, 1), "dense/bias": BIAS}
    path = write(tmp_path / "model.ckpt", values)
    (entry,) = mismatch(dense_model(keras), path).shape_mismatches
    assert entry.note == "as many elements; bridge.checkpoint.Converted in name_map can reshape it"
    model = dense_model(keras)
    reshaped = Converted("dense/kernel", lambda shape, value: value.reshape(shape))
    load_v1(model, path, name_map={"dense/kernel": reshaped})
    np.testing.assert_array_equal(model.get_weights()[0], KERNEL)


def test_a_conversion_to_a_wrong_shape_is_a_mismatch() -> None:
    wrong = Converted("dense/kernel", lambda shape, value: value.T)
    report = mismatch(dense_model(keras), golden("optimizer_sgd"), {"dense/kernel": wrong})
    (entry,) = report.shape_mismatches
    assert entry.note == "converted; the conversion returns (1, 3)"


def test_slots_of_a_converted_weight_need_a_conversion_of_their_own() -> None:
    same: Callable[..., Any] = lambda shape, value: value  # noqa: E731
    model = dense_model(keras, adam(keras))
    report = mismatch(model, golden("optimizer_adam"), {"dense/kernel": Converted("dense/kernel", same)})
    assert names(report.not_convertible) == ["adam/dense/kernel/momentum", "adam/dense/kernel/velocity"]
    load_v1(model, golden("optimizer_adam"), {"dense/kernel": Converted("dense/kernel", same, same)})
    assert_weights(model, "optimizer_adam")


# --- name_map --------------------------------------------------------------------------------------------------

RENAMED = {"enc/weights": "body/kernel", "enc/biases": "body/bias", "head/kernel": "head/kernel"}


@pytest.fixture
def renamed(tmp_path: Path) -> str:
    """A checkpoint of `two_layers` with other names for the first layer."""
    entries = entries_of(body_and_head(tmp_path / "first"))
    new = {"body/kernel": "enc/weights", "body/bias": "enc/biases"}
    return write(tmp_path / "model.ckpt", {new.get(name, name): value for name, value in entries.items()})


MAPS: dict[str, Any] = {
    "dict": {"body/kernel": "enc/weights", "body/bias": "enc/biases"},
    "dict the other way": {"enc/weights": "body/kernel", "enc/biases": "body/bias"},
    "dict with names that stay": {
        "body/kernel": "enc/weights",
        "body/bias": "enc/biases",
        "head/kernel": "head/kernel",
    },
    "dict the other way with names that stay": {
        "enc/weights": "body/kernel",
        "enc/biases": "body/bias",
        "head/kernel": "head/kernel",
    },
    "pairs": [(r"^body/kernel$", "enc/weights"), (r"^body/bias$", "enc/biases")],
    "pairs in turn": [(r"^body/", "enc/"), (r"^enc/kernel$", "enc/weights"), (r"^enc/bias$", "enc/biases")],
    "pairs the other way": [(r"^enc/", "body/"), ("weights$", "kernel"), ("biases$", "bias")],
    "function": lambda name: {"body/kernel": "enc/weights", "body/bias": "enc/biases"}.get(name, name),
}


@both
@pytest.mark.parametrize("form", MAPS)
def test_name_map_may_be_a_dict_pairs_or_a_function(k: Keras, renamed: str, form: str) -> None:
    model = two_layers(k)
    report = load_v1(model, renamed, name_map=MAPS[form])
    np.testing.assert_array_equal(model.get_weights()[0], worlds.weights(3, 2))
    np.testing.assert_array_equal(model.get_weights()[2], worlds.weights(2, 1) + 1)
    assert {entry.name: entry.source for entry in report.matched}["body/bias"] == "enc/biases"


@pytest.mark.parametrize(
    ("name_map", "message"),
    [
        ({"body/kernel": "enc/weights", "enc/biases": "body/bias"}, "goes both ways"),
        ({"body/kernel": 3}, "'body/kernel': 3"),
        (lambda name: 3, "returned 3"),
        ([("(", "x")], "missing \\)|unterminated"),
        ([("body",)], "regex, replacement"),
        ([("body", 3)], "replaces 'body' by 3"),
        (3, "regex, replacement"),
        ([(r"^(enc/weights|head/kernel)$", "body/kernel")], "two entries"),
    ],
    # Not the value itself: a function is called otherwise in each process.
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_name_map_that_cannot_be_understood_says_why(renamed: str, name_map: Any, message: str) -> None:
    with pytest.raises(NameMapError, match=message):
        load_v1(two_layers(keras), renamed, name_map=name_map)


def test_a_name_that_name_map_asks_for_in_vain_is_missing_and_no_other_is_taken(tmp_path: Path) -> None:
    path = body_and_head(tmp_path / "model.ckpt")
    for name_map in (
        {"body/kernel": "enc/kernel"},
        [("^body/k", "enc/k")],
        lambda n: n.replace("body/k", "enc/k"),
    ):
        report = mismatch(two_layers(keras), path, name_map=name_map)
        (entry,) = report.missing
        assert entry.name == "body/kernel"
        assert entry.note == "name_map asks for enc/kernel, which the checkpoint does not hold"
        assert sources(report.unexpected) == ["body/kernel"]


def test_what_name_map_speaks_of_in_vain_is_noted(tmp_path: Path) -> None:
    report = load_v1(
        two_layers(keras), body_and_head(tmp_path / "model.ckpt"), name_map={"neck/kernel": "enc/kernel"}
    )
    assert report.notes == ("name_map has 'neck/kernel', which fits no name.",)
    assert "Note: name_map has 'neck/kernel'" in str(report)


@both
@pytest.mark.parametrize(
    "name_map",
    [
        {"head/kernel": None, "head/bias": None},
        [(r"^head/", None)],
        lambda name: None if name.startswith("head/") else name,
    ],
    ids=["dict", "pairs", "function"],
)
def test_none_leaves_a_variable_and_its_entry_out(k: Keras, tmp_path: Path, name_map: Any) -> None:
    """A new head on an old body, whatever shape the old head had."""
    path = body_and_head(tmp_path / "model.ckpt", **{"head/kernel": worlds.weights(2, 9)})
    model = two_layers(k, optimizer=k.optimizers.SGD(0.1))
    before = model.get_weights()
    path = write(tmp_path / "with_step", {**entries_of(path), "global_step": np.int64(3)})
    report = load_v1(model, path, name_map=name_map)
    np.testing.assert_array_equal(model.get_weights()[0], worlds.weights(3, 2))
    np.testing.assert_array_equal(model.get_weights()[2], before[2])
    assert {"head/kernel", "head/bias"} <= set(names(report.kept))
    assert sources(report.not_needed) == ["head/bias", "head/kernel"]


@pytest.mark.oracle
@both
@pytest.mark.parametrize(
    "name_map",
    [
        [(r"(kernel|bias)$", r"\1/ExponentialMovingAverage")],
        lambda name: f"{name}/ExponentialMovingAverage",
        {f"dense/{name}": f"dense/{name}/ExponentialMovingAverage" for name in ("kernel", "bias")},
    ],
    ids=["pairs", "function", "dict"],
)
def test_moving_averages_are_taken_through_name_map(k: Keras, name_map: Any) -> None:
    model = dense_model(k, adam(k))
    report = load_v1(model, golden("moving_averages"), name_map=name_map)
    np.testing.assert_array_equal(
        model.get_weights()[0], expected("moving_averages", "dense/kernel/ExponentialMovingAverage")
    )
    assert step_of(model) == worlds.STEPS_BEFORE
    assert "dense/kernel/Adam" in sources(report.matched)
    assert "dense/kernel" in sources(report.not_needed)


@pytest.mark.oracle
def test_moving_averages_are_not_needed_otherwise_and_the_report_says_how_to_get_them() -> None:
    report = load_v1(dense_model(keras), golden("moving_averages"))
    notes = {entry.source: entry.note for entry in report.not_needed}
    assert "name_map can take it" in notes["dense/kernel/ExponentialMovingAverage"]


SLIM = [
    (r"^conv2d/kernel$", "Net/Conv/weights"),
    (r"^batch_normalization/", "Net/Conv/BatchNorm/"),
    (r"^dense/kernel$", "Net/Logits/weights"),
    (r"^dense/bias$", "Net/Logits/biases"),
]
SLIM_BACK = [
    (r"^Net/Conv/weights$", "conv2d/kernel"),
    (r"^Net/Conv/BatchNorm/", "batch_normalization/"),
    (r"^Net/Logits/weights$", "dense/kernel"),
    (r"^Net/Logits/biases$", "dense/bias"),
]


@pytest.mark.oracle
@both
@pytest.mark.parametrize("name_map", [SLIM, SLIM_BACK], ids=["to the checkpoint", "to the model"])
def test_layers_of_slim_give_the_same_answer_in_keras(k: Keras, name_map: Any) -> None:
    model = k.Sequential(
        [
            k.Input((5, 5, 1)),
            k.layers.Conv2D(2, 3, padding="same", use_bias=False),
            k.layers.BatchNormalization(),
            k.layers.ReLU(),
            k.layers.Flatten(),
            k.layers.Dense(1),
        ]
    )
    report = load_v1(model, golden("slim_names"), name_map=name_map)
    assert not report.problems
    np.testing.assert_allclose(
        model.predict(worlds.IMAGES, verbose=0), EXPECTED["slim_names"]["outputs"], rtol=1e-5, atol=1e-5
    )


# --- recurrent cells -------------------------------------------------------------------------------------------


def recurrent(k: Keras, kind: str) -> Any:
    layer = {"lstm": k.layers.LSTM, "gru": k.layers.GRU}[kind]
    options = {"reset_after": False} if kind == "gru" else {}
    inputs = k.Input((4, 3))
    model = k.Model(inputs, layer(worlds.UNITS, **options)(inputs))
    model.compile(adam(k), "mse")
    return model


CELLS = {
    "lstm": lstm("lstm/lstm_cell", "rnn/basic_lstm_cell", worlds.FORGET_BIAS),
    "gru": gru("gru/gru_cell", "rnn/gru_cell"),
}


@pytest.mark.oracle
@both
@pytest.mark.parametrize("kind", CELLS)
def test_a_v1_cell_gives_the_same_answer_and_goes_on_training_in_keras(k: Keras, kind: str) -> None:
    model = recurrent(k, kind)
    report = load_v1(model, golden(kind), name_map=CELLS[kind])
    assert not report.problems
    np.testing.assert_allclose(
        model.predict(worlds.SEQUENCES, verbose=0), EXPECTED[kind]["outputs"], rtol=1e-5, atol=1e-6
    )
    model.fit(
        worlds.SEQUENCES,
        np.full((2, worlds.UNITS), 0.5, np.float32),
        epochs=worlds.STEPS_AFTER,
        shuffle=False,
        verbose=0,
    )
    np.testing.assert_allclose(
        model.predict(worlds.SEQUENCES, verbose=0), EXPECTED[kind]["outputs_after"], rtol=1e-4, atol=1e-5
    )


@pytest.mark.oracle
@both
@pytest.mark.parametrize("kind", CELLS)
def test_a_v1_cell_without_a_map_is_a_mismatch_that_names_the_conversion(k: Keras, kind: str) -> None:
    report = mismatch(recurrent(k, kind), golden(kind))
    cell = {"lstm": "rnn/basic_lstm_cell", "gru": "rnn/gru_cell"}[kind]
    call = f"bridge.checkpoint.{kind}('{kind}/{kind}_cell', '{cell}')"
    notes = {entry.name: entry.note for entry in report.missing}
    for part in ("kernel", "recurrent_kernel", "bias"):
        assert call in notes[f"{kind}/{kind}_cell/{part}"]


@pytest.mark.oracle
def test_a_fused_kernel_under_the_right_name_is_a_shape_mismatch_that_names_the_conversion() -> None:
    name_map = [("lstm/lstm_cell", "rnn/basic_lstm_cell")]
    report = mismatch(recurrent(keras, "lstm"), golden("lstm"), name_map=name_map)
    (entry,) = [entry for entry in report.shape_mismatches if entry.name == "lstm/lstm_cell/kernel"]
    assert "bridge.checkpoint.lstm('lstm/lstm_cell', 'rnn/basic_lstm_cell')" in entry.note


# --- files that are not there, or not whole --------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The prefix of a checkpoint that may be spoilt."""
    for file in (GOLDEN / "optimizer_adam").iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path / "model.ckpt-4"


def data_of(prefix: Path) -> Path:
    return prefix.with_name(prefix.name + ".data-00000-of-00001")


def index_of(prefix: Path) -> Path:
    return prefix.with_name(prefix.name + ".index")


def test_a_missing_checkpoint_says_what_is_there(copy: Path) -> None:
    with pytest.raises(CheckpointNotFoundError, match=r"Give the prefix.*model\.ckpt-4'") as error:
        load_v1(dense_model(keras), copy.with_name("model.ckpt-5"))
    assert isinstance(error.value, FileNotFoundError)


def test_a_missing_directory_says_so(tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFoundError, match="does not exist"):
        load_v1(dense_model(keras), tmp_path / "no" / "model.ckpt-4")


def test_an_empty_directory_says_so(tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFoundError, match="holds no checkpoint"):
        load_v1(dense_model(keras), tmp_path)


def test_a_directory_without_a_state_file_says_what_is_there(copy: Path) -> None:
    with pytest.raises(CheckpointNotFoundError, match=r"'checkpoint' file.*model\.ckpt-4'"):
        load_v1(dense_model(keras), copy.parent)


def test_a_directory_that_was_moved_says_so(copy: Path) -> None:
    (copy.parent / "checkpoint").write_text('model_checkpoint_path: "/elsewhere/model.ckpt-4"\n')
    with pytest.raises(CheckpointNotFoundError, match=r"/elsewhere/model\.ckpt-4.*moved.*model\.ckpt-4'"):
        load_v1(dense_model(keras), copy.parent)


@pytest.mark.parametrize("file", [index_of, data_of], ids=["index", "data"])
def test_a_file_of_a_checkpoint_is_told_from_its_prefix(copy: Path, file: Callable[[Path], Path]) -> None:
    with pytest.raises(CheckpointNotFoundError, match=r"one file of a checkpoint\. Give its prefix") as error:
        load_v1(dense_model(keras), file(copy))
    assert repr(str(copy)) in str(error.value)


@pytest.mark.parametrize("file", [index_of, data_of], ids=["index", "data"])
def test_a_file_that_was_cut_short_is_unreadable_and_nothing_is_assigned(
    copy: Path, file: Callable[[Path], Path]
) -> None:
    content = file(copy).read_bytes()
    file(copy).write_bytes(content[: len(content) // 3])
    model = dense_model(keras, adam(keras))
    before = state_of(model)
    with pytest.raises(UnreadableCheckpointError, match="damaged or incomplete") as error:
        load_v1(model, copy, strict=False)
    assert str(copy) in str(error.value)
    for value, now in zip(before, state_of(model), strict=True):
        np.testing.assert_array_equal(now, value)


def test_a_missing_shard_is_unreadable(copy: Path) -> None:
    data_of(copy).unlink()
    with pytest.raises(UnreadableCheckpointError, match=r"data-00000-of-00001; No such file"):
        load_v1(dense_model(keras), copy)


def test_a_cut_off_checkpoint_of_the_old_format_is_unreadable(tmp_path: Path) -> None:
    old = Path(golden("old_format")).read_bytes()
    (tmp_path / "model.ckpt-4").write_bytes(old[: len(old) // 2])
    with pytest.raises(UnreadableCheckpointError, match="damaged or incomplete"):
        load_v1(dense_model(keras), tmp_path / "model.ckpt-4")


def test_an_object_based_checkpoint_is_told_apart(tmp_path: Path) -> None:
    path = tf.train.Checkpoint(step=tf.Variable(1)).save(str(tmp_path / "object"))
    with pytest.raises(UnreadableCheckpointError, match="object-based"):
        load_v1(dense_model(keras), path)


def test_a_saved_model_says_where_its_variables_are(tmp_path: Path) -> None:
    tf.saved_model.save(tf.Module(), str(tmp_path))
    with pytest.raises(CheckpointNotFoundError, match=r"SavedModel.*variables"):
        load_v1(dense_model(keras), tmp_path)
