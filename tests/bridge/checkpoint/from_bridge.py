"""Writes `golden/from_bridge`, which TensorFlow 1.15.5 then restores in `make_golden.py`.

    python -m tests.bridge.checkpoint.from_bridge

It is what TensorFlow 1.15.5 saved in `golden/optimizer_adam`, loaded into a Keras model and saved again.
"""

from __future__ import annotations

import sys
from pathlib import Path

import keras

from bridge.checkpoint import load_v1, save_v1
from tests.bridge.checkpoint import worlds

GOLDEN = Path(__file__).parent / "golden"

# TF1 has no variable for a rate that is a number.
NAME_MAP = {"adam/learning_rate": None}


def write(directory: Path) -> str:
    """Loads and saves; returns the prefix."""
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, name="dense")])
    model.compile(keras.optimizers.Adam(worlds.RATE, epsilon=worlds.EPSILON), "mse")
    load_v1(model, GOLDEN / "optimizer_adam" / "model.ckpt-4")
    step = int(model.optimizer.iterations.numpy())
    return save_v1(model, directory / "model.ckpt", global_step=step, name_map=NAME_MAP, v1_slots=True)


if __name__ == "__main__":
    sys.stdout.write(f"{write(GOLDEN / 'from_bridge')}\n")
