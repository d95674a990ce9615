"""Loads a golden checkpoint under a strategy of two replicas, trains on and saves; `test_load_v1` starts it.

    python -m tests.bridge.checkpoint.mirrored_program keras|tf_keras DIRECTORY

TensorFlow takes logical devices only before it starts, so that this needs a process of its own.
"""

from __future__ import annotations

import importlib
import sys

import numpy as np
import tensorflow as tf

from bridge.checkpoint import load_v1, model_state, save_v1
from bridge.tf_internals import replicas
from tests.bridge.checkpoint.support import adam, assert_weights, dense_model, entries_of, golden


def main(package: str, directory: str) -> None:
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    k = importlib.import_module(package)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        model = dense_model(k, adam(k))
    load_v1(model, golden("optimizer_adam"))
    assert_weights(model, "optimizer_adam")
    saved = entries_of(save_v1(model, f"{directory}/model.ckpt"))
    mirrored = 0
    for named in model_state.state_of(model):
        copies = replicas(named.variable)
        mirrored += len(copies) == 2
        for copy in copies:
            if named.kind != "metric":
                np.testing.assert_array_equal(copy.numpy(), saved[named.name])
    sys.stdout.write(f"{mirrored} variables on two replicas\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
