"""`bridge.describe`: the list of names, what is printed, and that the list tells the truth."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import bridge
from bridge.errors import UnsupportedModelError
from bridge.step_graph import GraphName
from tests.bridge.exactness import models
from tests.bridge.support import small_model

tf1 = tf.compat.v1

Keras = Any  # The module `keras` or `tf_keras`.
both = pytest.mark.parametrize("k", [keras, tf_keras], ids=["keras", "tf_keras"])

X, Y = np.linspace(-1, 1, 24, dtype="float32").reshape(4, 6), np.ones((4, 1), "float32")


def quiet(model: Any, data: Any, **options: Any) -> list[GraphName]:
    return bridge.describe(model, data, file=io.StringIO(), **options)


def batch_of(model: Any, data: Any, **options: Any) -> dict[str, tuple[Any, str]]:
    """Shape and dtype of what is described of the batch."""
    return {
        entry.name: (entry.shape.as_list(), entry.dtype.name)
        for entry in quiet(model, data, **options)
        if entry.kind == "batch"
    }


def compiled(model: Any, **options: Any) -> Any:
    model.compile(**{"optimizer": "adam", "loss": "mse", "jit_compile": False, **options})
    return model


# --- the table -------------------------------------------------------------------------------------------------


def test_the_table_says_name_kind_shape_and_dtype(capsys: pytest.CaptureFixture[str]) -> None:
    names = bridge.describe(small_model(), (np.ones((2, 3), "float32"), np.ones((2, 1), "float32")))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["dense/kernel", "variable", "(3,", "1)", "float32"],
        ["dense/bias", "variable", "(1,)", "float32"],
        ["global_step", "step", "()", lines[2].split()[-1]],
        ["sgd/learning_rate", "optimizer", "()", "float32"],
        ["metrics/loss/total", "metric", "()", "float32"],
        ["metrics/loss/count", "metric", "()", "float32"],
        ["batch/x", "batch", "(None,", "3)", "float32"],
        ["batch/y", "batch", "(None,", "1)", "float32"],
        ["train_op", "operation"],
        ["logs/loss", "logs", "()", "float32"],
        ["loss", "loss", "()", "float32"],
        ["learning_rate", "rate", "()", "float32"],
        ["dense/output", "layer", "(None,", "1)", "float32"],
        *([["model/output", "layer", "(None,", "1)", "float32"]] if "model/output" in lines[13] else []),
        ["gradients/dense/kernel", "gradient", "(3,", "1)", "float32"],
        ["gradients/dense/bias", "gradient", "(1,)", "float32"],
    ]
    assert [entry.name for entry in names] == [line.split()[0] for line in lines]
    assert len({len(re.match(r"\S+\s+", line)[0]) for line in lines}) == 1, "the kinds are one column"


def test_the_table_goes_where_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    file = io.StringIO()
    names = bridge.describe(small_model(), (X[:, :3], Y), file=file)
    assert capsys.readouterr().out == ""
    assert len(file.getvalue().splitlines()) == len(names)


# --- data ------------------------------------------------------------------------------------------------------


@both
def test_arrays_have_an_open_batch_size_and_keras_types(k: Keras) -> None:
    model = compiled(models.mlp(k))
    weights = np.ones(4)
    assert batch_of(model, (X.astype("float64"), Y.astype("int32"), weights)) == {
        "batch/x": ([None, 6], "float32"),
        "batch/y": ([None, 1], "int32"),
        "batch/sample_weight": ([None], "float32"),
    }


@both
def test_a_dataset_is_described_as_it_is(k: Keras) -> None:
    model = compiled(models.mlp(k))
    data = tf.data.Dataset.from_tensor_slices((X, Y.astype("float64")))
    assert batch_of(model, data.batch(2, drop_remainder=True)) == {
        "batch/x": ([2, 6], "float32"),
        "batch/y": ([2, 1], "float64"),
    }
    assert batch_of(model, data.batch(3))["batch/x"] == ([None, 6], "float32")


@both
def test_inputs_in_dictionaries_are_named_by_their_keys(k: Keras) -> None:
    model = compiled(models.dicts(k))
    targets = {"total": Y, "label": np.ones((4, models.CLASSES), "float32")}
    assert batch_of(model, ({"right": X, "left": X}, targets)) == {
        "batch/x/left": ([None, 6], "float32"),
        "batch/x/right": ([None, 6], "float32"),
        "batch/y/label": ([None, 3], "float32"),
        "batch/y/total": ([None, 1], "float32"),
    }


@both
def test_inputs_in_tuples_are_named_by_their_positions(k: Keras) -> None:
    model = compiled(models.lists(k))
    found = batch_of(model, ((X, X), (Y, np.ones((4, 2), "float32"))))
    assert list(found) == ["batch/x/0", "batch/x/1", "batch/y/0", "batch/y/1"]


@both
def test_strings_can_be_described(k: Keras) -> None:
    model = compiled(models.words(k))
    text = np.array([["word1"] * models.STEPS] * 4)
    found = batch_of(model, ({"text": tf.constant(text), "numbers": X}, Y))
    assert found["batch/x/text"] == ([None, models.STEPS], "string")
    assert batch_of(model, ({"text": text, "numbers": X}, Y)) == found


@both
def test_ragged_rows_are_values_and_splits(k: Keras) -> None:
    rows = tf.ragged.constant([[1, 2], [3], [], [4, 5, 6]], dtype=tf.int64)
    data = tf.data.Dataset.from_tensor_slices((rows, Y)).batch(2)
    found = batch_of(compiled(models.ragged(k)), data)
    assert found == {
        "batch/x/values": ([None], "int64"),
        "batch/x/row_splits": ([None], "int64"),
        "batch/y": ([None, 1], "float32"),
    }
    assert list(batch_of(compiled(models.ragged(k)), (rows, Y))) == list(found)


@both
def test_sparse_inputs_are_indices_values_and_shape(k: Keras) -> None:
    model = compiled(models.sparse(k))
    data = tf.data.Dataset.from_tensor_slices((tf.sparse.from_dense(X), Y)).batch(2)
    found = batch_of(model, data)
    assert {name: dtype for name, (_, dtype) in found.items()} == {
        "batch/x/indices": "int64",
        "batch/x/values": "float32",
        "batch/x/dense_shape": "int64",
        "batch/y": "float32",
    }


# --- what it does to the model ---------------------------------------------------------------------------------


@both
def test_a_model_without_variables_is_built_and_not_trained(k: Keras) -> None:
    k.utils.set_random_seed(3)
    model = compiled(models.deferred(k))
    names = {entry.name for entry in quiet(model, (X, Y))}
    assert {"dense/kernel", "dense_1/kernel", "gradients/dense/kernel"} <= names
    assert model.built
    assert int(model.optimizer.iterations.numpy()) == 0
    assert all(not np.any(v.numpy()) for v in model.optimizer.variables if "momentum" in str(v.name))

    k.utils.set_random_seed(3)
    other = compiled(models.deferred(k))
    other.build((None, 6))
    for found, expected in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)


@both
def test_describing_changes_nothing_of_a_trained_model(k: Keras) -> None:
    model = compiled(models.normed(k), metrics=["mae"])
    model.fit(X, Y, verbose=0)
    variables = [
        *model.variables,
        *model.optimizer.variables,
        *(v for m in model.metrics for v in m.variables),
    ]
    before = [variable.numpy() for variable in variables]
    quiet(model, (X, Y))
    quiet(model, (X, Y), kind="test")
    for value, variable in zip(before, variables, strict=True):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_something_that_is_no_model_is_refused() -> None:
    with pytest.raises(UnsupportedModelError, match="Dense"):
        quiet(keras.layers.Dense(1), (X, Y))


# --- kinds of steps --------------------------------------------------------------------------------------------


@both
def test_each_kind_of_step_has_what_it_has(k: Keras) -> None:
    model = compiled(models.normed(k))
    kinds = {kind: {entry.kind for entry in quiet(model, (X, Y), kind=kind)} for kind in ("train", "test")}
    kinds["predict"] = {entry.kind for entry in quiet(model, X, kind="predict")}
    assert {"loss", "logs", "gradient", "rate", "layer", "batch", "step"} <= kinds["train"]
    assert {"loss", "logs", "layer", "batch", "step"} <= kinds["test"]
    assert "gradient" not in kinds["test"]
    assert {"layer", "batch", "step"} <= kinds["predict"]
    assert not {"gradient", "loss", "logs"} & kinds["predict"]
    assert list(batch_of(model, X, kind="predict")) == ["batch/x"]


# --- the list is true ------------------------------------------------------------------------------------------


class FetchAll(tf1.train.SessionRunHook):
    """Fetches every name of a list, and checks shape and type of what it gets."""

    def __init__(self, names: list[GraphName]) -> None:
        self._names = names
        self.runs = 0

    def before_run(self, run_context: Any) -> Any:
        fetches = {e.name: e.name if e.kind == "operation" else f"{e.name}:0" for e in self._names}
        return tf1.train.SessionRunArgs(fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.runs += 1
        for entry in self._names:
            value = run_values.results[entry.name]
            if entry.kind == "operation":
                assert value is None
            else:
                assert entry.shape is not None
                assert entry.shape.is_compatible_with(np.shape(value)), entry
                assert tf.as_dtype(np.asarray(value).dtype) == entry.dtype, entry


MODELS: dict[str, tuple[Callable[[Keras], Any], Any, Any]] = {
    "normed": (models.normed, X, Y),
    "nested": (models.nested, X, Y),
    "dicts": (
        models.dicts,
        {"left": X, "right": X},
        {"total": Y, "label": np.ones((4, models.CLASSES), "float32")},
    ),
    "conv": (models.conv, np.ones((4, models.SIDE, models.SIDE, 1), "float32"), np.ones((4, 3), "float32")),
    "gru": (models.gru, np.ones((4, models.STEPS, models.STEP_FEATURES), "float32"), Y),
    "attention": (models.attention, np.ones((4, models.STEPS), "int32"), np.ones((4, 3), "float32")),
}


@both
@pytest.mark.parametrize("name", MODELS)
def test_every_name_can_be_fetched_in_fit(k: Keras, name: str) -> None:
    build, x, y = MODELS[name]
    model = compiled(build(k), metrics=["mae"] if name != "dicts" else None)
    hook = FetchAll(quiet(model, (x, y)))
    model.fit(x, y, batch_size=2, epochs=1, verbose=0, callbacks=[bridge.HookCallback(hook)])
    assert hook.runs == 2


@both
def test_every_name_can_be_fetched_in_evaluate_and_predict(k: Keras) -> None:
    model = compiled(models.normed(k), metrics=["mae"])
    test, predict = FetchAll(quiet(model, (X, Y), kind="test")), FetchAll(quiet(model, X, kind="predict"))
    callback = bridge.HookCallback(eval_hooks=test, predict_hooks=predict)
    model.evaluate(X, Y, batch_size=2, verbose=0, callbacks=[callback])
    model.predict(X, batch_size=2, verbose=0, callbacks=[callback])
    assert (test.runs, predict.runs) == (2, 2)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "gru"])
def test_one_architecture_has_the_same_names_in_keras_3_and_tf_keras(name: str) -> None:
    build, x, y = MODELS[name]
    kinds = ("variable", "layer", "gradient", "batch", "logs", "loss", "rate", "step", "operation")
    old, new = (
        {(e.name, e.kind, str(e.shape)) for e in quiet(compiled(build(k)), (x, y)) if e.kind in kinds}
        for k in (tf_keras, keras)
    )
    assert old == new


def test_recurrent_layers_have_the_same_variables_and_gradients_in_keras_3_and_tf_keras() -> None:
    build, x, y = MODELS["gru"]
    old, new = (
        {
            (e.name, str(e.shape))
            for e in quiet(compiled(build(k)), (x, y))
            if e.kind in ("variable", "gradient", "batch")
        }
        for k in (tf_keras, keras)
    )
    assert old == new
