"""`save_v1`: what it writes is a checkpoint of TF1, which TensorFlow 1.15.5 restores and goes on from."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from bridge.checkpoint import load_v1, save_v1
from bridge.errors import NameMapError, UnsupportedModelError
from tests.bridge.checkpoint import from_bridge, worlds
from tests.bridge.checkpoint.support import (
    EXPECTED,
    GOLDEN,
    Keras,
    adam,
    both,
    dense_model,
    entries_of,
    golden,
    names,
    step_of,
    train,
)
from tests.bridge.checkpoint.test_v1_optimizers import OPTIMIZERS

tf1 = tf.compat.v1

ROOT = Path(__file__).parents[3]
ORACLE = Path(os.environ.get("ORACLE_PYTHON", ROOT / ".venv-oracle" / "bin" / "python"))


def trained(k: Keras, optimizer: Any) -> Any:
    model = dense_model(k, optimizer)
    model.set_weights([worlds.KERNEL, worlds.BIAS])
    train(model, worlds.STEPS_BEFORE)
    return model


# --- TensorFlow 1.15.5 -----------------------------------------------------------------------------------------


@pytest.mark.oracle
def test_tf1_restored_what_it_had_saved_itself_and_went_on_to_the_same_weights() -> None:
    """From TF1 to Keras to TF1, bit for bit."""
    assert EXPECTED["from_bridge"] == EXPECTED["optimizer_adam"]


@pytest.mark.oracle
def test_the_checkpoint_that_tf1_restored_is_the_one_that_is_written_today(tmp_path: Path) -> None:
    written = entries_of(from_bridge.write(tmp_path))
    gone_through_tf1 = entries_of(str(GOLDEN / "from_bridge" / "model.ckpt-4"))
    assert written.keys() == gone_through_tf1.keys()
    for name, value in gone_through_tf1.items():
        assert written[name].dtype == value.dtype
        np.testing.assert_array_equal(written[name], value)
    assert (tmp_path / "checkpoint").read_text() == (GOLDEN / "from_bridge" / "checkpoint").read_text()


@pytest.mark.oracle
@pytest.mark.multiprocess
@pytest.mark.slow
@pytest.mark.skipif(not ORACLE.exists(), reason="needs TensorFlow 1.15.5: make oracle, or ORACLE_PYTHON")
def test_tf1_restores_all_optimizers_and_trains_on_as_keras_does(tmp_path: Path) -> None:
    models = {}
    for k in (keras, tf_keras):
        for name, make in OPTIMIZERS.items():
            folder = f"{k.__name__}/{name}"
            models[folder] = trained(k, make(k))
            save_v1(models[folder], tmp_path / folder / "model.ckpt", v1_slots=True)
    program = Path(__file__).parent / "make_golden.py"
    done = subprocess.run(
        [str(ORACLE), str(program), "--restore", str(tmp_path)],
        # TensorFlow 2 sets TF2_BEHAVIOR for all processes that it starts.
        env={k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "TF2_BEHAVIOR")},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found.keys() == models.keys()
    for folder, model in models.items():
        assert found[folder]["saved"]["global_step"] == worlds.STEPS_BEFORE
        train(model)
        after = found[folder]["after"]
        assert after["global_step"] == step_of(model)
        for weight, value in zip(("kernel", "bias"), model.get_weights(), strict=True):
            np.testing.assert_allclose(
                value, after[f"dense/{weight}"], rtol=2e-5, atol=2e-6, err_msg=f"{folder} {weight}"
            )


# --- what is written -------------------------------------------------------------------------------------------


@both
def test_a_graph_of_v1_restores_it_with_its_saver(k: Keras, tmp_path: Path) -> None:
    model = trained(k, adam(k))
    prefix = save_v1(model, tmp_path / "model.ckpt", global_step=step_of(model))
    with tf.Graph().as_default(), tf1.Session() as session:
        kernel = tf1.get_variable("dense/kernel", (3, 1))
        step = tf1.train.get_or_create_global_step()
        tf1.train.Saver().restore(session, prefix)
        found = session.run({"kernel": kernel.value(), "step": step.value()})
    np.testing.assert_array_equal(found["kernel"], model.get_weights()[0])
    assert found["step"] == worlds.STEPS_BEFORE
    with tf.Graph().as_default():
        step = tf1.train.get_or_create_global_step()
        assert step.dtype.base_dtype == tf.int64


@both
def test_names_are_those_of_the_bridge(k: Keras, tmp_path: Path) -> None:
    model = dense_model(k, adam(k), metrics=["mae"])
    prefix = save_v1(model, tmp_path / "model.ckpt")
    assert prefix == str(tmp_path / "model.ckpt")
    first, second = {keras: ("momentum", "velocity"), tf_keras: ("m", "v")}[k]
    assert set(entries_of(prefix)) == {
        "dense/kernel",
        "dense/bias",
        "global_step",
        "adam/learning_rate",
        *(f"adam/dense/{weight}/{slot}" for weight in ("kernel", "bias") for slot in (first, second)),
    }


@both
def test_loading_what_was_saved_brings_everything_back_bit_for_bit(k: Keras, tmp_path: Path) -> None:
    def build() -> Any:
        layers = [k.layers.Dense(4), k.layers.BatchNormalization(), k.layers.Dropout(0.5), k.layers.Dense(1)]
        model = k.Sequential([k.Input((3,)), *layers])
        model.compile(k.optimizers.Adam(0.01, use_ema=True), "mse", metrics=["mae"])
        return model

    model = build()
    train(model)
    prefix = save_v1(model, tmp_path / "model.ckpt")
    other = build()
    report = load_v1(other, prefix)
    assert not report.problems
    assert not report.unexpected
    for value, found in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(found, value)
    if k is keras:
        for name, value in entries_of(prefix).items():
            np.testing.assert_array_equal(
                entries_of(save_v1(other, tmp_path / "again.ckpt"))[name], value, err_msg=name
            )
        train(model)
        train(other)
        for value, found in zip(model.get_weights(), other.get_weights(), strict=True):
            np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize(("one", "other"), [(keras, tf_keras), (tf_keras, keras)], ids=["3 to 2", "2 to 3"])
@pytest.mark.parametrize("name", ["adam", "momentum", "rmsprop_centered"])
def test_a_model_moves_between_keras_2_and_3(one: Keras, other: Keras, name: str, tmp_path: Path) -> None:
    model = trained(one, OPTIMIZERS[name](one))
    moved = dense_model(other, OPTIMIZERS[name](other))
    load_v1(moved, save_v1(model, tmp_path / "model.ckpt"))
    train(model)
    train(moved)
    for value, found in zip(model.get_weights(), moved.get_weights(), strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-5, atol=1e-6)


@both
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_slots_in_tf1s_form_come_back(k: Keras, name: str, tmp_path: Path) -> None:
    model = trained(k, OPTIMIZERS[name](k))
    prefix = save_v1(model, tmp_path / "model.ckpt", v1_slots=True)
    golden_names = set(entries_of(golden(f"optimizer_{name}")))
    rate = next(n for n in entries_of(prefix) if n.endswith("/learning_rate"))
    assert set(entries_of(prefix)) == golden_names | {rate}
    back = dense_model(k, OPTIMIZERS[name](k))
    load_v1(back, prefix)
    train(model)
    train(back)
    for value, found in zip(model.get_weights(), back.get_weights(), strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-6, atol=1e-7)


@both
def test_momentum_under_a_schedule_keeps_its_name_of_keras(k: Keras, tmp_path: Path) -> None:
    schedule = k.optimizers.schedules.ExponentialDecay(worlds.RATE, 10, 0.5)
    model = trained(k, k.optimizers.SGD(schedule, momentum=0.9))
    found = entries_of(save_v1(model, tmp_path / "model.ckpt", v1_slots=True))
    assert "dense/kernel/Momentum" not in found
    assert f"sgd/dense/kernel/{ {keras: 'momentum', tf_keras: 'm'}[k] }" in found


@both
def test_a_model_that_is_not_compiled_writes_its_weights(k: Keras, tmp_path: Path) -> None:
    model = dense_model(k)
    assert set(entries_of(save_v1(model, tmp_path / "model.ckpt"))) == {"dense/kernel", "dense/bias"}
    prefix = save_v1(model, tmp_path / "model.ckpt", global_step=7)
    assert prefix == str(tmp_path / "model.ckpt-7")
    assert entries_of(prefix)["global_step"] == 7


@both
def test_name_map_renames_leaves_out_and_takes_slots_along(k: Keras, tmp_path: Path) -> None:
    model = trained(k, adam(k))
    name_map = [(r"^dense/kernel$", "Net/Logits/weights"), (r"^dense/bias$", None), (r"learning_rate$", None)]
    prefix = save_v1(model, tmp_path / "model.ckpt", name_map=name_map, v1_slots=True)
    assert set(entries_of(prefix)) == {
        "Net/Logits/weights",
        "Net/Logits/weights/Adam",
        "Net/Logits/weights/Adam_1",
        "beta1_power",
        "beta2_power",
        "global_step",
    }


@pytest.mark.parametrize(
    "name_map",
    [
        {"dense/kernel": "weights"},
        {"weights": "dense/kernel"},
        [("^dense/kernel$", "weights")],
        lambda name: {"dense/kernel": "weights"}.get(name, name),
    ],
    ids=["dict", "dict the other way", "pairs", "function"],
)
def test_name_map_has_the_forms_of_load_v1(tmp_path: Path, name_map: Any) -> None:
    found = entries_of(save_v1(dense_model(keras), tmp_path / "model.ckpt", name_map=name_map))
    assert set(found) == {"weights", "dense/bias"}


def test_two_variables_cannot_have_one_name(tmp_path: Path) -> None:
    with pytest.raises(NameMapError, match="two variables the name 'x'"):
        save_v1(dense_model(keras), tmp_path / "model.ckpt", name_map=lambda name: "x")
    assert not list(tmp_path.iterdir())


def test_conversions_do_not_go_back(tmp_path: Path) -> None:
    from bridge.checkpoint import Converted

    name_map = {"dense/kernel": Converted("dense/kernel", lambda shape, value: value)}
    with pytest.raises(NameMapError, match="from TF1 to Keras only"):
        save_v1(dense_model(keras), tmp_path / "model.ckpt", name_map=name_map)


def test_a_model_without_variables_is_told_to_be_built(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModelError, match=r"model\.build"):
        save_v1(keras.Sequential([keras.layers.Dense(1)]), tmp_path / "model.ckpt")


# --- the directory ---------------------------------------------------------------------------------------------


def test_the_state_file_names_the_latest_and_those_before(tmp_path: Path) -> None:
    model = dense_model(keras, adam(keras))
    for step in (1, 2, 1):
        save_v1(model, tmp_path / "new" / "model.ckpt", global_step=step)
    state = tf.train.get_checkpoint_state(str(tmp_path / "new"))
    folder = tmp_path / "new"
    assert state.model_checkpoint_path == str(folder / "model.ckpt-1")
    assert list(state.all_model_checkpoint_paths) == [
        str(folder / "model.ckpt-2"),
        str(folder / "model.ckpt-1"),
    ]
    assert sorted(path.name for path in folder.iterdir()) == [
        "checkpoint",
        *sorted(f"model.ckpt-{step}.{part}" for step in (1, 2) for part in ("data-00000-of-00001", "index")),
    ]


def test_a_directory_that_is_moved_still_has_its_latest_checkpoint(tmp_path: Path) -> None:
    model = trained(keras, adam(keras))
    save_v1(model, tmp_path / "here" / "model.ckpt", global_step=4)
    (tmp_path / "here").rename(tmp_path / "there")
    other = dense_model(keras, adam(keras))
    load_v1(other, tmp_path / "there")
    assert step_of(other) == 4


def test_checkpoints_of_a_saver_in_the_same_directory_stay_in_the_list(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf1.Session() as session:
        tf1.train.get_or_create_global_step()
        session.run(tf1.global_variables_initializer())
        tf1.train.Saver().save(session, str(tmp_path / "model.ckpt"), 1)
    save_v1(dense_model(keras), tmp_path / "model.ckpt", global_step=2)
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert list(state.all_model_checkpoint_paths) == [str(tmp_path / f"model.ckpt-{step}") for step in (1, 2)]


def test_a_path_without_directory_is_in_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert save_v1(dense_model(keras), "model.ckpt") == "model.ckpt"
    report = load_v1(dense_model(keras), ".")
    assert names(report.matched) == ["dense/kernel", "dense/bias"]
