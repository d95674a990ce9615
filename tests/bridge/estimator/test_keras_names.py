"""Keras layers in a `model_fn` are named by graph, as TensorFlow 1 named them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow.compat.v1 as tf

import bridge


def input_fn() -> Any:
    x = np.random.RandomState(0).randn(32, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(axis=1, keepdims=True))).repeat(20).batch(8)


def model_fn(features: Any, labels: Any, mode: str) -> bridge.estimator.EstimatorSpec:
    hidden = keras.layers.Dense(2, kernel_initializer="ones")(features["x"])
    y = keras.layers.Dense(1, kernel_initializer="ones")(hidden)
    if mode == bridge.estimator.ModeKeys.PREDICT:
        return bridge.estimator.EstimatorSpec(mode, predictions={"y": y})
    loss = tf.losses.mean_squared_error(labels, y)
    optimizer = tf.train.GradientDescentOptimizer(0.01)
    return bridge.estimator.EstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(loss, tf.train.get_global_step())
    )


def test_a_model_of_keras_layers_is_trained_evaluated_and_predicted_from_one_checkpoint(
    tmp_path: Path,
) -> None:
    estimator = bridge.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(input_fn, steps=5)
    first = estimator.evaluate(input_fn, steps=4)
    estimator.train(input_fn, steps=60)
    result = estimator.evaluate(input_fn, steps=4)
    assert result["global_step"] == 65
    assert result["loss"] < first["loss"] / 2
    assert next(estimator.predict(input_fn))["y"].shape == (1,)
    names = estimator.get_variable_names()
    assert names[:2] == ["dense/bias", "dense/kernel"]
    assert len(names) == 5


def test_layers_outside_of_estimators_go_on_being_counted_by_keras(tmp_path: Path) -> None:
    before = keras.layers.Embedding(2, 2).name
    bridge.estimator.Estimator(model_fn, str(tmp_path)).train(input_fn, steps=1)
    after = keras.layers.Embedding(2, 2).name
    count = int(before.partition("_")[2] or 0)
    assert after == f"embedding_{count + 1}"


def test_models_outside_of_estimators_go_on_being_named_by_keras(tmp_path: Path) -> None:
    def paths() -> list[str]:
        model = keras.Sequential([keras.layers.Dense(2, name="a"), keras.layers.Dense(2, name="b")], name="c")
        model.build((1, 2))
        return [variable.path for variable in model.variables]

    before = paths()
    bridge.estimator.Estimator(model_fn, str(tmp_path)).train(input_fn, steps=1)
    assert paths() == before == ["c/a/kernel", "c/a/bias", "c/b/kernel", "c/b/bias"]
    with tf.Graph().as_default():
        inputs = keras.layers.Dense(1, name="d")
        inputs(tf.ones([1, 2]))
        assert [variable.path for variable in inputs.variables] == ["d/kernel", "d/bias"]
