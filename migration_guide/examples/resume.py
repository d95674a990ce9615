"""A run under bridge.MonitoredTrainingSession is killed, started again, and ends as if nothing had happened.

Three processes train the same network on handwritten digits: one to the end, one that is killed in the middle of an
epoch (SIGKILL: it can clean up nothing), and one that goes on from the second one's checkpoints. Then the last
checkpoints of the first and the third are compared, bit for bit.

    python resume.py
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # Read when TensorFlow is imported.

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import bridge

tf1 = tf.compat.v1

EPOCHS = 4
KILLED_AT = 130
SAVED_EVERY = 50


class KillAtStep(tf1.train.SessionRunHook):
    """Kills the process, as a machine that fails does."""

    def __init__(self, step: int) -> None:
        self._step = step

    def before_run(self, run_context: Any) -> tf1.train.SessionRunArgs:
        return tf1.train.SessionRunArgs("global_step:0")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if int(run_values.results) + 1 == self._step:
            os.kill(os.getpid(), signal.SIGKILL)


class ShowWhereItStarts(keras.callbacks.Callback):
    """Prints the step and the epoch in which the fit begins."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        step = int(self.model.optimizer.iterations)
        print(f"  epoch {epoch + 1} of {EPOCHS} begins at step {step}", flush=True)


def train(directory: str, kill_at: int | None) -> None:
    """Trains in this process.

    Args:
      directory: Where checkpoints and summaries go.
      kill_at: The step at which the process is killed, or None.
    """
    tf.get_logger().setLevel("ERROR")
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")[..., np.newaxis]
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"], jit_compile=False)
    newest = tf.train.latest_checkpoint(directory)
    print(f"  restores {Path(newest).name}" if newest else "  starts anew", flush=True)
    hooks = [] if kill_at is None else [KillAtStep(kill_at)]
    with bridge.MonitoredTrainingSession(
        checkpoint_dir=directory, save_checkpoint_steps=SAVED_EVERY, hooks=hooks
    ) as session:
        session.fit(
            model,
            images,
            digits.target,
            batch_size=32,
            epochs=EPOCHS,
            verbose=0,
            callbacks=[ShowWhereItStarts()],
            resume_data=True,  # Go on with the batch after the last one that was trained, in the same shuffled order.
        )


def in_process(title: str, directory: Path, *arguments: str) -> int:
    """Trains in a process of its own, and returns its exit status."""
    print(title, flush=True)
    command = [sys.executable, __file__, "--train", str(directory), *arguments]
    return subprocess.run(command, check=False).returncode


def same(first: Path, second: Path) -> tuple[int, bool]:
    """Compares the newest checkpoints of two folders: how many variables there are, and whether all are equal."""
    readers = [tf.train.load_checkpoint(str(folder)) for folder in (first, second)]
    names = [sorted(reader.get_variable_to_shape_map()) for reader in readers]
    equal = names[0] == names[1] and all(
        np.array_equal(*(reader.get_tensor(name) for reader in readers)) for name in names[0]
    )
    return len(names[0]), equal


def main() -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--train", metavar="FOLDER", help=argparse.SUPPRESS)
    parser.add_argument("--kill-at", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        train(arguments.train, arguments.kill_at)
        return

    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder, "whole"), Path(folder, "killed")
        statuses = [
            in_process("A run that nobody disturbs:", whole),
            in_process(f"A run that is killed at step {KILLED_AT}:", killed, "--kill-at", str(KILLED_AT)),
            in_process("The same command again:", killed),
        ]
        if statuses != [0, -signal.SIGKILL, 0]:
            raise SystemExit(f"The processes ended with {statuses}.")
        count, equal = same(whole, killed)
        verdict = "are equal bit for bit" if equal else "DIFFER"
        print(f"The {count} variables of the last checkpoints (weights, Adam's, dropout's) {verdict}.")
        if not equal:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
