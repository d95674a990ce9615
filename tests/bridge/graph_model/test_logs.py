"""The values that GraphModel shows: what may be shown, and what an epoch's value is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from bridge.errors import ForeignTensorError, GraphModelError, UnknownNameError
from bridge.graph_model import GraphModel
from tests.bridge.graph_model.support import Legacy, Notes, fit

tf1 = tf.compat.v1


def counter(dtype: Any = tf.int64) -> tf.Tensor:
    """1, 2, 3, …, one more in each step."""
    variable = tf1.get_variable("count", [], tf.int64, tf1.zeros_initializer(), trainable=False)
    return tf.cast(variable.assign_add(1), dtype)


def test_a_batch_gets_the_step_s_own_values_and_an_epoch_their_mean() -> None:
    notes = Notes()
    history = fit(Legacy([1, 2, 6]).model(), steps_per_epoch=3, callbacks=[notes])
    assert [notes.logs[f"batch_end {n}"]["loss"] for n in range(3)] == [1.0, 2.0, 6.0]
    assert notes.logs["epoch_end 0"] == notes.logs["train_end"] == {"loss": 3.0}
    assert history == {"loss": [3.0]}


def test_the_mean_begins_anew_in_every_epoch() -> None:
    assert fit(Legacy([1, 2, 3, 4]).model(), epochs=2, steps_per_epoch=2) == {"loss": [1.5, 3.5]}


def test_integers_and_truth_values_are_shown_as_they_were_last() -> None:
    count = counter()
    model = GraphModel(count, {"count": count, "late": count > 2, "half": tf.cast(count, tf.float16)})
    assert fit(model, steps_per_epoch=3) == {"count": [3], "late": [1], "half": [2.0]}


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("mean", {"a": [2.0], "b": [2.0]}),
        ("last", {"a": [3.0], "b": [3]}),
        ({"a": "last"}, {"a": [3.0], "b": [3]}),
        ({"b": "mean"}, {"a": [2.0], "b": [2.0]}),
    ],
)
def test_the_aggregate_can_be_chosen(aggregate: Any, expected: dict[str, list[float]]) -> None:
    count = counter()
    model = GraphModel(count, {"a": tf.cast(count, tf.float32), "b": count}, aggregate=aggregate)
    assert fit(model, steps_per_epoch=3) == expected


def test_an_unknown_aggregate_is_refused() -> None:
    count = counter()
    with pytest.raises(GraphModelError, match=r"'sum'.*'mean' or 'last'"):
        GraphModel(count, {"count": count}, aggregate="sum")


def test_logs_may_be_tensors_names_and_variables() -> None:
    legacy = Legacy([1, 3])
    assert fit(legacy.model(logs=legacy.loss), steps_per_epoch=1) == {"loss": [1.0]}


def test_logs_may_be_a_list_named_by_operations() -> None:
    legacy = Legacy([1, 3])
    history = fit(legacy.model(logs=["loss", legacy.rate, legacy.loss + 1.0]), steps_per_epoch=2)
    assert history == {"loss": [2.0], "rate": [1.0], "add": [3.0]}


def test_a_streaming_metric_is_shown_as_its_last_value() -> None:
    legacy = Legacy([1, 2, 6])
    metric = tf1.metrics.mean(legacy.loss)
    history = fit(legacy.model(logs={"so_far": metric}), epochs=3, steps_per_epoch=1)
    assert history == {"so_far": [1.0, 1.5, 3.0]}


def test_a_single_number_in_a_list_is_a_number() -> None:
    legacy = Legacy([1, 2])
    unknown = tf1.placeholder_with_default([[5.0]], None)
    history = fit(legacy.model(logs={"a": legacy.loss[None], "b": unknown}), steps_per_epoch=2)
    assert history == {"a": [1.5], "b": [5.0]}


def test_low_precision_is_a_number_too() -> None:
    legacy = Legacy([1, 2])
    logs = {"a": tf.cast(legacy.loss, tf.bfloat16), "b": tf.cast(legacy.loss, tf.bfloat16)[None]}
    assert fit(legacy.model(logs=logs), steps_per_epoch=2) == {"a": [1.5], "b": [1.5]}


def test_values_are_python_numbers() -> None:
    notes = Notes()
    count = counter()
    model = GraphModel(count, {"f": tf.cast(count, tf.float32), "i": count, "b": count > 0})
    fit(model, steps_per_epoch=1, callbacks=[notes])
    assert {type(value) for value in notes.logs["batch_end 0"].values()} == {float, int, bool}


def test_a_value_that_is_no_number_is_shown_as_such() -> None:
    history = fit(Legacy([1, float("nan")]).model(), steps_per_epoch=2)
    assert np.isnan(history["loss"]).all()


def test_without_logs_the_history_is_empty() -> None:
    legacy = Legacy([1, 2])
    assert fit(legacy.model(logs=None), steps_per_epoch=2) == {}


# --- what cannot be shown ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.constant("text"), "type string.*numbers"),
        (lambda: tf.constant([1.0, 2.0]), r"shape \(2,\).*reduce_mean"),
        (tf.no_op, "operation NoOp.*Give a tensor"),
        (lambda: 5, "a int.*session.run"),
        (lambda: None, "a NoneType.*session.run"),
        (lambda: [tf.constant(1.0)] * 3, "list of 3.*update_op"),
    ],
)
def test_what_is_no_number_is_refused_at_once(make: Any, message: str) -> None:
    with pytest.raises(GraphModelError, match=message):
        GraphModel(tf.no_op(name="train"), {"value": make()})


def test_a_shape_that_only_shows_in_the_step_is_refused_there() -> None:
    value = tf1.placeholder_with_default([1.0, 2.0], None)
    with pytest.raises(GraphModelError, match=r"logs\['value'\] came out with the shape \(2,\)"):
        fit(GraphModel(value, {"value": value}), steps_per_epoch=1)


def test_tensors_of_another_graph_are_refused() -> None:
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    for arguments in ({"train_op": foreign}, {"train_op": tf.no_op(), "logs": {"a": foreign}}):
        with pytest.raises(ForeignTensorError, match="not in the graph"):
            GraphModel(**arguments)


def test_eager_tensors_and_variables_are_refused() -> None:
    with tf.__internal__.eager_context.eager_mode():
        tensor, variable = tf.constant(1.0), tf.Variable(1.0)
    for value in (tensor, variable):
        with pytest.raises(ForeignTensorError, match="not in the graph"):
            GraphModel(tf.no_op(), {"a": value})


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    legacy = Legacy([1])
    with pytest.raises(UnknownNameError, match=r"'los'.*nearest names are: loss"):
        legacy.model(logs={"a": "los"})


@pytest.mark.parametrize("nothing", [None, [], {}])
def test_a_train_op_that_is_nothing_is_refused(nothing: Any) -> None:
    with pytest.raises(GraphModelError, match="train_op"):
        GraphModel(nothing)


def test_a_batch_gets_what_is_fetched_beside_the_logs_as_the_session_returned_it() -> None:
    legacy, notes = Legacy([1, 2]), Notes()
    fetches = {
        "row": tf.stack([legacy.loss, -legacy.loss]),
        "name": tf.as_string(legacy.step),
        "pair": (legacy.loss, {"op": legacy.train_op}),
    }
    history = fit(legacy.model(fetches=fetches), callbacks=[notes])
    logs = notes.logs["batch_end 1"]
    assert logs["loss"] == 2.0
    assert logs["row"].tolist() == [2.0, -2.0]
    assert isinstance(logs["name"], bytes)
    assert logs["pair"] == (2.0, {"op": None})
    assert isinstance(logs["pair"][0], np.float32)
    assert history == {"loss": [1.5]}
    assert notes.logs["epoch_end 0"] == {"loss": 1.5}


def test_fetches_alone_are_enough() -> None:
    legacy, notes = Legacy([1, 2]), Notes()
    fit(legacy.model(logs=None, fetches={"loss": "loss:0"}), callbacks=[notes])
    assert notes.logs["batch_end 1"] == {"loss": np.float32(2.0)}


def test_the_same_name_in_logs_and_fetches_is_refused() -> None:
    legacy = Legacy([1])
    with pytest.raises(GraphModelError, match=r"'loss' is a name in logs and in fetches.*another name"):
        legacy.model(fetches={"loss": legacy.loss})


@pytest.mark.parametrize("fetches", [["loss"], {1: "loss"}, "loss"])
def test_fetches_must_have_names(fetches: Any) -> None:
    with pytest.raises(GraphModelError, match="Give a dict from names"):
        Legacy([1]).model(fetches=fetches)


def test_fetches_of_another_graph_are_refused() -> None:
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    with pytest.raises(ForeignTensorError, match="fetches"):
        Legacy([1]).model(fetches={"other": [other]})
