"""Two workers train one Keras model under bridge.MonitoredTrainingSession, and only the chief writes.

The launcher below starts both on this machine. On a cluster each machine runs `train`, and whoever schedules the job sets
TF_CONFIG.

    python workers.py              # with Keras 3
    python workers.py tf_keras     # with Keras 2
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # Read when TensorFlow is imported.


def train(keras_package: str, directory: str) -> None:
    """What each worker does. TF_CONFIG tells it which one it is."""
    import numpy as np
    import tensorflow as tf

    import bridge

    keras = importlib.import_module(keras_package)
    tf1 = tf.compat.v1
    strategy = (
        tf.distribute.MultiWorkerMirroredStrategy()
    )  # First of all: it starts the server of this process.

    with strategy.scope():
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
        model.compile("adam", "mse", jit_compile=False)
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1, keepdims=True))).batch(8)

    written: list[int] = []

    class OnChief(tf1.train.SessionRunHook):
        def after_run(self, run_context: object, run_values: object) -> None:
            written.append(1)

    # The same on every worker. Who is chief, the strategy says.
    with bridge.MonitoredTrainingSession(
        checkpoint_dir=directory,
        hooks=[tf1.train.StopAtStepHook(last_step=20)],
        chief_only_hooks=[OnChief()],
        save_checkpoint_steps=10,
    ) as session:
        session.fit(model, data, epochs=5, verbose=0)

    norm = float(sum(np.abs(weight).sum() for weight in model.get_weights()))
    told = {
        "step": int(model.optimizer.iterations.numpy()),
        "weights": norm,
        "chief_hook_calls": len(written),
    }
    print(json.dumps(told), flush=True)


def main() -> None:
    """Starts two workers and compares what they tell."""
    keras_package = sys.argv[1] if len(sys.argv) > 1 else "keras"
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for each in sockets:
            each.bind(("localhost", 0))
        workers = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    with tempfile.TemporaryDirectory() as directory:
        processes = [
            subprocess.Popen(
                [sys.executable, __file__, "--train", keras_package, directory],
                env={
                    **os.environ,
                    "TF_CONFIG": json.dumps(
                        {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
                    ),
                },
                stdout=subprocess.PIPE,
                text=True,
            )
            for index in range(2)
        ]
        outputs = [process.communicate()[0] for process in processes]
        if any(process.returncode for process in processes):
            raise SystemExit(f"The workers ended with {[process.returncode for process in processes]}.")
        told = [json.loads(output.splitlines()[-1]) for output in outputs]
        saved = sorted(int(path.stem.rsplit("-", 1)[1]) for path in Path(directory).glob("*.index"))
    for index, each in enumerate(told):
        print(f"worker {index}: step {each['step']}, chief-only hook called {each['chief_hook_calls']} times")
    print("weights", "are equal" if told[0]["weights"] == told[1]["weights"] else "DIFFER")
    print("checkpoints of steps", saved)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train(*sys.argv[2:])
    else:
        main()
