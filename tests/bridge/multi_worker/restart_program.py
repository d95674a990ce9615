"""One worker of a job that trains under bridge.MonitoredTrainingSession, and may be killed. Prints a line of JSON.

    python restart_program.py keras|tf_keras FOLDER [SIGNAL WORKER STEP]

With the last three arguments, that worker sends itself a signal (SIGKILL, SIGTERM) in that step.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import bridge

tf1 = tf.compat.v1
k: Any = importlib.import_module(sys.argv[1])
TASK = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
faulthandler.dump_traceback_later(200, exit=True)
strategy = tf.distribute.MultiWorkerMirroredStrategy()


class Watch(tf1.train.SessionRunHook):
    """Keeps the steps that it saw, and may end its process in one."""

    def __init__(self, kill_at: int | None) -> None:
        self.seen: list[int] = []
        self._kill_at = kill_at

    def before_run(self, run_context: tf1.train.SessionRunContext) -> tf1.train.SessionRunArgs:
        return tf1.train.SessionRunArgs("global_step:0")

    def after_run(
        self, run_context: tf1.train.SessionRunContext, run_values: tf1.train.SessionRunValues
    ) -> None:
        self.seen.append(int(run_values.results))
        if self.seen[-1] == self._kill_at:
            os.kill(os.getpid(), signal.Signals[sys.argv[3]])


k.utils.set_random_seed(1)
with strategy.scope():
    layers = [
        k.layers.Dense(4, "relu"),
        k.layers.BatchNormalization(),
        k.layers.Dropout(0.2),
        k.layers.Dense(1),
    ]
    model = k.Sequential([k.Input((3,)), *layers])
    model.compile("adam", "mse", jit_compile=False)
x = np.random.default_rng(0).normal(size=(24, 3)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(4)  # 6 steps
watch = Watch(int(sys.argv[5]) if sys.argv[4:5] == [str(TASK)] else None)


def report() -> None:
    optimizer = model.optimizer.variables
    variables = [*model.variables, *(optimizer() if callable(optimizer) else optimizer)]
    print(
        json.dumps(
            {
                "seen": watch.seen,
                "weights": [weight.tolist() for weight in model.get_weights()],
                "optimizer": [np.asarray(variable).tolist() for variable in variables],
                "wrote": sorted(path.name for path in Path(sys.argv[2]).iterdir()),
            }
        ),
        flush=True,
    )


try:
    with bridge.MonitoredTrainingSession(
        checkpoint_dir=sys.argv[2], hooks=[watch], save_checkpoint_steps=4, save_checkpoint_secs=None
    ) as session:
        history = session.fit(model, data, epochs=3, verbose=0, resume_data=True)
except SystemExit:  # After SIGTERM, to this worker or another.
    report()
    raise
report()
