"""Heads, beside `programs/heads.py`: what they take that TensorFlow 1.15 did not, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from bridge import estimator as est
from bridge.estimator.errors import EstimatorError, EstimatorTypeError, UnsupportedEstimatorError
from tests.bridge.estimator.support import X, dataset
from tests.bridge.support import saved

tf1 = tf.compat.v1


def of_head(head: Any, **more: Any) -> Any:
    """A model_fn of a linear model with a head; `more` are functions of arguments for its spec."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        w = tf1.get_variable("w", [2, head.logits_dimension], initializer=tf1.zeros_initializer())
        given = {name: make() for name, make in more.items()}
        return head.create_estimator_spec(features, mode, tf.matmul(features["x"], w), labels, **given)

    return model_fn


def by_hand(steps: int, rate: float) -> np.ndarray:
    labels = X @ np.array([[1.0], [2.0]], np.float32)
    w = np.zeros((2, 1), np.float32)
    for step in range(steps):
        rows = [(step * 2 + offset) % len(X) for offset in range(2)]
        w = w - rate * X[rows].T @ (X[rows] @ w - labels[rows])
    return w


@pytest.mark.parametrize("head", [est.RegressionHead(), est.heads.regression_head()])
def test_a_v1_optimizer_trains_any_head(tmp_path: Path, head: Any) -> None:
    """Heads of TensorFlow 1.15's classes took Keras's alone."""
    model_fn = of_head(head, optimizer=lambda: tf1.train.GradientDescentOptimizer(0.1))
    est.Estimator(model_fn, tmp_path).train(dataset, steps=3)
    np.testing.assert_allclose(saved(tmp_path, "w"), by_hand(3, 0.1), rtol=1e-5)


def test_an_optimizer_of_tf_keras_trains_the_given_variables(tmp_path: Path) -> None:
    tf_keras = pytest.importorskip("tf_keras")

    def optimizer() -> Any:
        made = tf_keras.optimizers.legacy.SGD(0.1)
        made.iterations = tf1.train.get_global_step()
        return made

    model_fn = of_head(est.RegressionHead(), optimizer=optimizer, trainable_variables=tf1.trainable_variables)
    est.Estimator(model_fn, tmp_path).train(dataset, steps=3)
    np.testing.assert_allclose(saved(tmp_path, "w"), by_hand(3, 0.1), rtol=1e-5)
    assert saved(tmp_path, "global_step") == 3
    without = of_head(est.RegressionHead(), optimizer=optimizer)
    with pytest.raises(EstimatorError, match=r"model\.trainable_variables"):
        est.Estimator(without, tmp_path / "other").train(dataset, steps=1)


def test_an_optimizer_of_keras_3_is_refused_with_the_way_out(tmp_path: Path) -> None:
    model_fn = of_head(est.RegressionHead(), optimizer=lambda: keras.optimizers.SGD(0.1))
    with pytest.raises(EstimatorError, match=r"tf\.compat\.v1\.train, such as AdamOptimizer"):
        est.Estimator(model_fn, tmp_path).train(dataset, steps=1)


def test_a_dnn_estimator_takes_a_head_of_tf_estimators_classes(tmp_path: Path) -> None:
    """In TensorFlow 1.15 it could not: their heads refused its optimizer."""
    column = tf.feature_column.numeric_column("x", [2])
    made = est.DNNEstimator(est.RegressionHead(), [4], [column], tmp_path, batch_norm=True)
    made.train(dataset, steps=4)
    assert set(made.evaluate(dataset, steps=3)) == {
        "average_loss",
        "global_step",
        "label/mean",
        "loss",
        "prediction/mean",
    }
    # Its steps run the updates of batch normalization.
    assert np.abs(saved(tmp_path, "dnn/hiddenlayer_0/batchnorm_0/moving_mean")).sum() > 0


def test_updates_are_run_by_heads_of_contrib_and_if_they_are_given(tmp_path: Path) -> None:
    def model_fn(head: Any, is_given: bool) -> Any:
        def of_updates(features: Any, labels: Any, mode: str) -> Any:
            w = tf1.get_variable("w", [2, 1], initializer=tf1.zeros_initializer())
            runs = tf1.get_variable("runs", initializer=0, trainable=False)
            tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, runs.assign_add(1))
            return head.create_estimator_spec(
                features=features,
                mode=mode,
                logits=tf.matmul(features["x"], w),
                labels=labels,
                optimizer=tf1.train.GradientDescentOptimizer(0.1),
                update_ops=tf1.get_collection(tf1.GraphKeys.UPDATE_OPS) if is_given else None,
            )

        return of_updates

    for name, head, is_given, runs in (
        ("contrib", est.heads.regression_head(), False, 3),
        ("class", est.RegressionHead(), False, 0),
        ("given", est.RegressionHead(), True, 3),
    ):
        est.Estimator(model_fn(head, is_given), tmp_path / name).train(dataset, steps=3)
        assert saved(tmp_path / name, "runs") == runs


def test_metrics_of_keras_are_refused_with_the_way_out() -> None:
    head = est.BinaryClassHead()
    with pytest.raises(UnsupportedEstimatorError, match="eval_metric_ops"):
        head.metrics()
    with pytest.raises(UnsupportedEstimatorError, match="eval_metric_ops"):
        head.update_metrics({}, None, None, None)


def test_a_function_at_the_place_that_contrib_had_for_it_is_a_type_error() -> None:
    head = est.heads.binary_classification_head()
    with tf.Graph().as_default(), pytest.raises(EstimatorTypeError, match="train_op_fn by its name"):
        head.create_estimator_spec(
            {}, "train", tf.constant([[1.0]]), tf.constant([1]), None, lambda loss: tf.no_op()
        )


def test_a_loss_function_that_reduces_is_refused() -> None:
    def reduced(labels: Any, logits: Any) -> Any:
        return tf.reduce_mean(labels - logits)

    head = est.RegressionHead(loss_fn=reduced)
    with tf.Graph().as_default(), pytest.raises(EstimatorError, match="Leave out the reduction"):
        head.loss(tf.constant([[1.0]]), tf.constant([[1.0]]))


def test_weights_that_are_not_there_are_named() -> None:
    head = est.BinaryClassHead(weight_column="w")
    with tf.Graph().as_default(), pytest.raises(EstimatorError, match=r"no 'w'.*\['x'\]"):
        head.loss(tf.constant([[1.0]]), tf.constant([[1.0]]), {"x": 1})
    with tf.Graph().as_default(), pytest.raises(EstimatorError, match="no 'w'"):
        head.loss(tf.constant([[1.0]]), tf.constant([[1.0]]))
    with pytest.raises(EstimatorTypeError), tf.Graph().as_default():
        est.BinaryClassHead(weight_column=3).loss(tf.constant([[1.0]]), tf.constant([[1.0]]), {})
