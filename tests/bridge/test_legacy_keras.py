"""`import bridge.legacy_keras` brings back what Keras 2 had, in processes of their own: the choice is one for a whole process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.multiprocess

ROOT = Path(__file__).parents[2]


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if name != "TF_USE_LEGACY_KERAS"}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**variables, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def test_layers_with_update_ops_and_cells_train_in_a_session() -> None:
    done = run(
        """
        import bridge.legacy_keras
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()

        x = tf.constant([[[1.0, 2.0]], [[3.0, 5.0]]])
        net = tf.layers.dense(x, 3, name="dense")
        net = tf.layers.batch_normalization(net, momentum=0.5, training=True, name="norm")
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(2), tf.nn.rnn_cell.GRUCell(2)])
        outputs, state = tf.nn.dynamic_rnn(cell, net, dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(outputs - 0.5))
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
        mean = tf.get_default_graph().get_tensor_by_name("norm/moving_mean:0")
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            first = sess.run(loss)
            for _ in range(20):
                sess.run(train_op)
            print(len(updates), bool(sess.run(loss) < first), bool((sess.run(mean) != 0).all()),
                  "dense/kernel" in [v.op.name for v in tf.trainable_variables()])
        """
    )
    assert last_line(done) == "2 True True True"


def test_every_way_to_keras_is_keras_2_and_keras_itself_is_not() -> None:
    done = run(
        """
        import tensorflow as tf
        import bridge.legacy_keras
        import keras
        from tensorflow.keras.layers import Dense
        from tensorflow.keras import backend as K
        modules = {Dense.__module__, tf.keras.Model.__module__, tf.keras.optimizers.SGD.__module__,
                   tf.compat.v1.keras.layers.Dense.__module__, K.get_value.__module__, tf.losses.MeanSquaredError.__module__}
        print({m.partition(".")[0] for m in modules}, keras.layers.Dense.__module__.partition(".")[0],
              hasattr(tf.compat.v1.keras.backend, "set_session"), bridge.legacy_keras.is_chosen())
        """
    )
    assert last_line(done) == "{'tf_keras'} keras True True"


def test_hooks_run_in_the_fit_of_its_models() -> None:
    done = run(
        """
        import bridge.legacy_keras
        import numpy as np
        import tensorflow as tf

        class Count(tf.compat.v1.train.SessionRunHook):
            steps = 0
            def after_run(self, run_context, run_values):
                self.steps += 1

        hook = Count()
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(np.ones((6, 2)), np.ones((6, 1)), batch_size=2, verbose=0, callbacks=[bridge.HookCallback([hook])])
        print(type(model).__module__.partition(".")[0], hook.steps)
        """
    )
    assert last_line(done) == "tf_keras 3"


def test_it_may_be_imported_again_and_after_the_variable_was_set() -> None:
    done = run(
        """
        import tensorflow as tf
        tf.keras.Model
        import bridge.legacy_keras, importlib
        importlib.reload(bridge.legacy_keras)
        print(bridge.legacy_keras.is_chosen())
        """,
        TF_USE_LEGACY_KERAS="1",
    )
    assert last_line(done) == "True"


def test_processes_that_are_started_afterwards_have_the_same_keras() -> None:
    done = run(
        """
        import subprocess, sys
        import bridge.legacy_keras
        child = "import tensorflow as tf; print(tf.keras.Model.__module__.partition('.')[0])"
        print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout.strip())
        """
    )
    assert last_line(done) == "tf_keras"


@pytest.mark.parametrize(
    ("before", "name"),
    [
        ("import tensorflow as tf; tf.keras.Model", "tf.keras"),
        ("import tensorflow as tf; tf.losses.MeanSquaredError", "tf.losses"),
        ("from tensorflow.keras import layers", "tensorflow.keras"),
    ],
)
def test_after_keras_3_has_been_used_it_is_an_error_that_says_what_to_do(before: str, name: str) -> None:
    done = run(
        f"""
        {before}
        import bridge.errors
        try:
            import bridge.legacy_keras
        except bridge.errors.LegacyKerasError as error:
            assert isinstance(error, ImportError)
            import os
            print(error, os.environ.get("TF_USE_LEGACY_KERAS"))
        """
    )
    message = last_line(done)
    assert f"comes too late: {name} has been used" in message
    assert "TF_USE_LEGACY_KERAS=1" in message
    assert message.endswith("None")


def test_without_the_package_it_is_an_error_that_says_what_to_install() -> None:
    done = run(
        """
        import importlib.util, sys
        find = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *rest: None if name == "tf_keras" else find(name, *rest)
        import bridge.errors
        try:
            import bridge.legacy_keras
        except bridge.errors.LegacyKerasError as error:
            print(error)
        """
    )
    message = last_line(done)
    assert "needs the package tf_keras" in message
    assert "pip install" in message
