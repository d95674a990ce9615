"""A tiny model_fn and its data, with numbers that can be computed by hand."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from bridge import estimator as est

tf1 = tf.compat.v1

X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5], [-2.0, 1.0], [0.0, 1.0], [2.0, 2.0]], np.float32)
Y = (X @ np.array([[1.0], [2.0]], np.float32)).astype(np.float32)


def dataset(batch: int = 2, *, repeat: bool = True) -> tf.data.Dataset:
    """Batches of features `x` and labels, without end or once."""
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    return (data.repeat() if repeat else data).batch(batch)


def once() -> tf.data.Dataset:
    """The data once: three batches of two."""
    return dataset(repeat=False)


def model_fn(features: Any, labels: Any, mode: str, params: Any, more: Any = None) -> Any:
    """Linear regression `y = x w` from zeros, by gradient descent; `more` are further fields of the spec."""
    w = tf1.get_variable("w", [2, 1], initializer=tf1.zeros_initializer())
    y = tf.matmul(features["x"], w, name="y")
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions={"y": y, "twice": 2 * y}, **(more or {}))
    loss = tf.reduce_mean(tf.square(y - labels), name="mse")
    step = tf1.train.get_global_step()
    train_op = tf1.train.GradientDescentOptimizer(params.get("rate", 0.1)).minimize(loss, step)
    metrics = {"mae": tf1.metrics.mean_absolute_error(labels, y)}
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics, **(more or {}))


def linear(
    model_dir: Path | str | None,
    *,
    config: dict[str, Any] | None = None,
    more: dict[str, Any] | None = None,
    **params: Any,
) -> est.Estimator:
    """An Estimator of `model_fn`; `config` are arguments of its RunConfig, `more` further fields of its spec."""
    function = functools.partial(model_fn, more=more)
    return est.Estimator(function, model_dir, config=est.RunConfig(**(config or {})), params=params)


def trained(steps: int, rate: float = 0.1, batch: int = 2) -> np.ndarray:
    """The weights after some steps, computed by numpy."""
    w = np.zeros((2, 1), np.float32)
    for step in range(steps):
        rows = [(step * batch + offset) % len(X) for offset in range(batch)]
        w = w - rate * 2 / batch * X[rows].T @ (X[rows] @ w - Y[rows])
    return w


def loss_of(w: np.ndarray) -> float:
    """The mean of the batches' losses over the data."""
    return float(np.mean(np.square(X @ w - Y)))
