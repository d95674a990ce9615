"""The optimizers of Keras that findings name take the steps of the optimizers of `tf.train` that they stand for."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from codemod.rules.v1_optimizers import _KERAS

tf1 = tf.compat.v1
RATE, MOMENTUM, STEPS = 0.1, 0.9, 6

OLD: dict[str, Any] = {
    "tf.train.AdadeltaOptimizer": lambda: tf1.train.AdadeltaOptimizer(RATE),
    "tf.train.AdagradOptimizer": lambda: tf1.train.AdagradOptimizer(RATE),
    "tf.train.AdamOptimizer": lambda: tf1.train.AdamOptimizer(RATE),
    "tf.train.GradientDescentOptimizer": lambda: tf1.train.GradientDescentOptimizer(RATE),
    "tf.train.MomentumOptimizer": lambda: tf1.train.MomentumOptimizer(RATE, MOMENTUM),
}


@pytest.mark.parametrize("name", sorted(OLD))
def test_the_steps_are_the_same(name: str) -> None:
    gradients = np.random.RandomState(0).normal(size=(STEPS, 3)).astype(np.float32)
    with tf.Graph().as_default(), tf1.Session() as session:
        gradient = tf1.placeholder(tf.float32, [3])
        variable = tf1.get_variable("v", initializer=np.ones(3, np.float32), use_resource=True)
        step = OLD[name]().apply_gradients([(gradient, variable)])
        session.run(tf1.global_variables_initializer())
        for each in gradients:
            session.run(step, {gradient: each})
        expected = session.run(variable)
    new = eval(_KERAS[name], {"keras": keras, "rate": RATE, "momentum": MOMENTUM})
    found = keras.Variable(np.ones(3, np.float32))
    for each in gradients:
        new.apply([tf.constant(each)], [found])
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)
