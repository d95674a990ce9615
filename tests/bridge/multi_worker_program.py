"""One worker of a two-worker job on tf_keras; run by test_multi_worker.py. Prints one line of JSON."""

from __future__ import annotations

import json
import os
import sys

task, first_port, second_port, hooked = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] == "hooked"
os.environ["TF_CONFIG"] = json.dumps(
    {
        "cluster": {"worker": [f"127.0.0.1:{first_port}", f"127.0.0.1:{second_port}"]},
        "task": {"type": "worker", "index": task},
    }
)

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf_keras  # noqa: E402

import bridge  # noqa: E402

tf1 = tf.compat.v1


class Steps(tf1.train.SessionRunHook):
    """Counts its runs and keeps the global steps that it saw."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def before_run(self, run_context: tf1.train.SessionRunContext) -> tf1.train.SessionRunArgs:
        return tf1.train.SessionRunArgs("global_step:0")

    def after_run(
        self, run_context: tf1.train.SessionRunContext, run_values: tf1.train.SessionRunValues
    ) -> None:
        self.seen.append(int(run_values.results))


strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    tf_keras.utils.set_random_seed(1)
    model = tf_keras.Sequential([tf_keras.Input((3,)), tf_keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=False)
x = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(8)
everywhere, on_chief = Steps(), Steps()
callbacks = [bridge.HookCallback(everywhere, chief_only_hooks=on_chief)] if hooked else []
history = model.fit(data, epochs=2, verbose=0, callbacks=callbacks)
print(
    json.dumps(
        {
            "loss": history.history["loss"],
            "weights": [w.tolist() for w in model.get_weights()],
            "everywhere": everywhere.seen,
            "on_chief": on_chief.seen,
        }
    )
)
