"""What has no meaning for a graph is refused, with the way out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from bridge.errors import ForeignTensorError, GraphModelError
from bridge.graph_model import GraphModel
from tests.bridge.graph_model.support import Legacy, fit, open_session

tf1 = tf.compat.v1

ARRAY = np.zeros((4, 1))


@pytest.mark.parametrize(
    "argument",
    [
        {"x": ARRAY},
        {"y": ARRAY},
        {"batch_size": 32},
        {"validation_split": 0.5},
        {"validation_data": (ARRAY, ARRAY)},
        {"class_weight": {0: 1.0}},
        {"sample_weight": ARRAY},
        {"validation_batch_size": 2},
    ],
    ids=lambda argument: next(iter(argument)),
)
def test_data_of_the_caller_are_refused(argument: dict[str, Any]) -> None:
    (name,) = argument
    with pytest.raises(GraphModelError, match=f"^{name} is given.*feed_fn="):
        fit(Legacy([1]).model(), **argument)


def test_positional_data_are_refused_too() -> None:
    model = Legacy([1]).model()
    with open_session() as session, pytest.raises(GraphModelError, match="x is given"):
        model.fit_in(session, ARRAY, ARRAY)


@pytest.mark.parametrize(
    "counts",
    [
        {"steps_per_epoch": 0},
        {"steps_per_epoch": -1},
        {"epochs": -1},
        {"validation_steps": 0},
        {"epochs": 1.5},
    ],
)
def test_counts_that_cannot_be_are_refused(counts: dict[str, Any]) -> None:
    (name,) = counts
    with pytest.raises(GraphModelError, match=f"^{name} is "):
        fit(Legacy([1]).model(), **counts)


def test_no_epochs_are_no_steps() -> None:
    assert fit(Legacy([1]).model(), epochs=0) == {}


def test_fit_without_a_session_names_the_session_s_fit() -> None:
    model = Legacy([1]).model()
    with pytest.raises(GraphModelError, match=r"bridge\.MonitoredTrainingSession.*sess\.fit\(model"):
        model.fit(epochs=3)
    with pytest.raises(GraphModelError, match=r"sess\.evaluate\(model"):
        model.evaluate()


@pytest.mark.parametrize(
    ("call", "way_out"),
    [
        (lambda model: model.compile("adam"), "loss and optimizer are in the graph"),
        (lambda model: model.save("model.keras"), "save_weights"),
        (lambda model: model.export("folder"), "saved_model"),
        (lambda model: model.predict(ARRAY), r"model\.run"),
        (lambda model: model.train_on_batch(ARRAY), r"sess\.run"),
        (lambda model: model.test_on_batch(ARRAY), r"model\.run"),
        (lambda model: model.predict_on_batch(ARRAY), r"model\.run"),
        (lambda model: model.call(ARRAY), "graph's own tensors"),
    ],
)
def test_what_a_graph_cannot_do_says_what_can(call: Any, way_out: str) -> None:
    with pytest.raises(GraphModelError, match=way_out):
        call(Legacy([1]).model())


def test_a_session_of_another_graph_is_refused() -> None:
    model = Legacy([1]).model()
    with tf.Graph().as_default():
        Legacy([1])
        with open_session() as session, pytest.raises(ForeignTensorError, match="another graph"):
            model.fit_in(session)


def test_a_closed_session_is_refused() -> None:
    model = Legacy([1]).model()
    session = open_session()
    session.close()
    with pytest.raises(GraphModelError, match="closed"):
        model.fit_in(session)


def test_feed_fn_must_be_a_function() -> None:
    x = tf1.placeholder(tf.float32, [])
    with pytest.raises(GraphModelError, match=r"feed_fn is a dict.*lambda"):
        GraphModel(x * 1, feed_fn={x: 1.0})
