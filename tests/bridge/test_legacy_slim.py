"""`import bridge.legacy_slim`: what of tf_slim would raise on today's TensorFlow, with the values of TensorFlow 1.15.5."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

if importlib.util.find_spec("tf_slim") is None or importlib.util.find_spec("tf_keras") is None:
    pytest.skip("tf_slim or tf_keras is not installed", allow_module_level=True)

import tf_slim as slim

import bridge.legacy_slim

v1 = tf.compat.v1


def run(fetches: Any) -> Any:
    with v1.Session() as session:
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        return session.run(fetches)


def images() -> tf.Tensor:
    return tf.constant(np.random.RandomState(0).rand(2, 4, 4, 3), tf.float32)


def test_batch_norm_normalises_and_leaves_its_updates_in_the_collection() -> None:
    with v1.Graph().as_default():
        net = slim.batch_norm(images(), is_training=True, scale=True)
        names = sorted(variable.op.name for variable in v1.global_variables())
        assert [f"BatchNorm/{n}" for n in ("beta", "gamma", "moving_mean", "moving_variance")] == names
        assert len(v1.get_collection(v1.GraphKeys.UPDATE_OPS)) == 2
        np.testing.assert_allclose(run(tf.reduce_mean(net, [0, 1, 2])), np.zeros(3), atol=1e-6)


def test_batch_norm_of_a_layer_shares_its_variables_in_a_reused_scope() -> None:
    with v1.Graph().as_default():
        with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
            for _ in range(2):
                slim.conv2d(images(), 4, [3, 3], normalizer_fn=slim.batch_norm, scope="conv")
        assert sorted(v.op.name for v in slim.get_model_variables()) == [
            "net/conv/BatchNorm/beta",
            "net/conv/BatchNorm/moving_mean",
            "net/conv/BatchNorm/moving_variance",
            "net/conv/weights",
        ]


@pytest.mark.parametrize("rate", [0.1, "tensor"])
def test_optimize_loss_makes_a_step(rate: Any) -> None:
    with v1.Graph().as_default():
        weights = v1.get_variable("w", [3], initializer=v1.ones_initializer())
        rate = tf.constant(0.1) if rate == "tensor" else rate
        step = v1.train.get_or_create_global_step()
        op = slim.optimize_loss(tf.reduce_sum(weights**2), step, rate, "SGD", clip_gradients=1.0)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(op)
            np.testing.assert_allclose(session.run(weights), np.full(3, 1 - 0.1 / np.sqrt(3)), rtol=1e-6)


def test_create_train_op_clips_and_multiplies_sparse_gradients() -> None:
    with v1.Graph().as_default():
        table = v1.get_variable("e", [5, 2], initializer=v1.ones_initializer())
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 3]) ** 2)
        v1.train.get_or_create_global_step()
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        op = slim.learning.create_train_op(
            loss,
            optimizer,
            clip_gradient_norm=1.0,
            gradient_multipliers={"e": 2.0},
            summarize_gradients=True,
        )
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(op)
            np.testing.assert_allclose(session.run(table)[:2], [[1, 1], [0.95, 0.95]], rtol=1e-6)


def test_local_variables_streaming_metrics_and_sparse_tensors_work() -> None:
    with v1.Graph().as_default():
        local = slim.local_variable(tf.constant(3.0), name="local")
        assert local in v1.local_variables()
        _, held = slim.metrics.streaming_concat(tf.constant([1, 2]))
        sparse = slim.layers.dense_to_sparse(tf.constant([[1, 0], [0, 2]]))
        assert slim.layers.utils.smart_cond(tf.constant(True), lambda: 1, lambda: 2) == 1
        values = [np.asarray(value).tolist() for value in run([local, held, sparse.values])]
        assert values == [3.0, 2, [1, 2]]


def test_tensorflow_itself_and_what_tf_slim_finds_stay() -> None:
    from tensorflow.python.framework import ops

    assert not hasattr(ops, "Tensor")
    bridge.legacy_slim.repair()  # A second time.
    assert slim.conv2d is slim.layers.conv2d
    name = "no_such_name"
    with pytest.raises(AttributeError, match=name):
        getattr(sys.modules["tf_slim.layers.layers"].ops, name)


NORMALISES = """
import bridge.legacy_slim, tf_slim, tensorflow as tf
tf.compat.v1.disable_eager_execution()
tf_slim.batch_norm(tf.zeros([1, 2, 2, 3]), is_training=True)
"""


@pytest.mark.parametrize(
    ("package", "code"), [("tf_slim", "import bridge.legacy_slim"), ("tf_keras", NORMALISES)]
)
def test_a_package_that_is_missing_is_named_with_the_way_to_get_it(package: str, code: str) -> None:
    missing = (
        "import importlib.util as u; find = u.find_spec; "
        f"u.find_spec = lambda name, *a: None if name == {package!r} else find(name, *a)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", missing + code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 1
    assert "LegacySlimError: " in done.stderr
    assert f"needs the package {package}" in done.stderr
    assert "pip install" in done.stderr
