"""Predictors, beside `programs/predictors.py`: what TensorFlow 1.15 did otherwise, or did not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from bridge import estimator as est
from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from tests.bridge.estimator.support import X, dataset, linear, trained
from tests.bridge.support import saved

tf1 = tf.compat.v1


def receiver_fn() -> Any:
    x = tf1.placeholder(tf.float32, [None, 2], name="x")
    return est.export.ServingInputReceiver({"x": x}, {"x": x})


def test_a_predictor_keeps_the_weights_that_it_was_made_with(tmp_path: Path) -> None:
    job = linear(tmp_path)
    job.train(dataset, max_steps=2)
    predict = est.predictor.from_estimator(job, receiver_fn)
    job.train(dataset, max_steps=3)
    np.testing.assert_allclose(predict({"x": X})["y"], X @ trained(2), rtol=1e-5)
    newer = est.predictor.from_estimator(job, receiver_fn)
    np.testing.assert_allclose(newer({"x": X})["y"], X @ saved(tmp_path, "w"), rtol=1e-5)
    assert not np.allclose(saved(tmp_path, "w"), trained(2))


def test_a_keras_model_is_a_predictor_too(tmp_path: Path) -> None:
    layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones", name="y")
    model = keras.Sequential([keras.Input((2,), name="x"), layer])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    job = est.model_to_estimator(model, model_dir=str(tmp_path))
    job.train(lambda: dataset().map(lambda features, labels: (features["x"], labels)), steps=2)
    predict = est.predictor.from_estimator(job, receiver_fn)
    np.testing.assert_allclose(predict({"x": X})["y"], X @ layer.kernel.numpy(), rtol=1e-5)
    with pytest.raises(EstimatorError, match="Available signatures"):
        est.predictor.from_estimator(job, receiver_fn, "other")


def test_a_signature_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """TensorFlow 1.15 made a predictor of nothing."""
    job = linear(tmp_path / "job")
    job.train(dataset, steps=1)
    path = job.export_saved_model(tmp_path / "export", receiver_fn)
    with pytest.raises(EstimatorError, match=r"'other'.*serving_default"):
        est.predictor.from_saved_model(path, "other")
    with pytest.raises(EstimatorError, match="output_key must be one of"):
        est.predictor.from_estimator(job, receiver_fn, "other")


def test_a_signature_as_contrib_learn_named_it_is_found(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [None], name="x")
        signature = tf1.saved_model.predict_signature_def({"x": x}, {"y": 2.0 * x})
        builder = tf1.saved_model.Builder(str(tmp_path / "old"))
        signatures = {"default_input_alternative:mine": signature}
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()
    predict = est.predictor.from_saved_model(tmp_path / "old", "mine")
    np.testing.assert_array_equal(predict({"x": [1.0, 2.0]})["y"], [2.0, 4.0])


def test_what_is_no_estimator_is_a_type_error() -> None:
    with pytest.raises(EstimatorTypeError, match="model_to_estimator"):
        est.predictor.from_estimator(keras.Sequential(), receiver_fn)
