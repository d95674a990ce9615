"""The mirrored cases, in a process of its own: logical devices must be made before TensorFlow has started.

Run as `python -m tests.bridge.exactness.mirrored_program keras` (or `tf_keras`). Prints one JSON object: from the name
of each case to a list of differences, empty if there are none.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import tensorflow as tf

import bridge
from tests.bridge.exactness import cases, data, models
from tests.bridge.exactness.cases import KERAS, TF_KERAS, Case, and_, logits, mse
from tests.bridge.exactness.models import with_policy
from tests.bridge.exactness.running import Hooks, differences, train

# A table, one combination a line.
# fmt: off
# Batches of an odd number of rows give one replica more than the other, or all. Three combinations are left out since
# Keras 3's own `fit` fails there: `steps_per_execution`, validation in odd batches, and loss scaling (it ends in NaN).
CASES = [
    Case("arrays-adam", models.undropped, data.arrays, mse("Adam")),
    Case("arrays-dropout", models.normed, data.arrays, mse("SGD", momentum=0.9), flavours=(KERAS,)),
    Case("dataset-validation", models.undropped, data.validated, mse("RMSprop", learning_rate=cases.exponential), fit={"validation_batch_size": 6}),
    Case("last-batch-of-one-row", models.undropped, data.one_row_left, mse("Adam")),
    Case("dataset-unknown-length", models.undropped, data.unknown_length, mse("Adam"), plain_data=data.with_length(data.unknown_length)),
    Case("own-train-step", models.own_step, data.full_batches, lambda k: {"optimizer": k.optimizers.Adam(0.01)}),
    Case("mixed-bfloat16-ema", with_policy(models.undropped, "mixed_bfloat16"), data.arrays, mse("Adam", use_ema=True)),
    Case("mixed-float16", with_policy(models.undropped, "mixed_float16"), data.arrays, mse("Adam"), flavours=(TF_KERAS,)),
    Case("steps-per-execution", models.undropped, data.infinite, and_(mse("Adam"), steps_per_execution=3), flavours=(TF_KERAS,)),
    # Last: an error of a collective operation ends all collective operations of the process.
    Case("embedding-sparse-gradients", models.embedding, data.full_token_batches, logits("Adam"), asks=("loss", "embedding/output")),
]
# fmt: on


def in_scope(case: Case, strategy: tf.distribute.Strategy) -> Case:
    """Returns the case with its model built and compiled under the strategy."""

    class Scoped(Case):
        def compiled(self, k: Any) -> Any:
            with strategy.scope():
                return case.compiled(k)

    return Scoped(**{field.name: getattr(case, field.name) for field in dataclasses.fields(case)})


def compare(k: Any, case: Case, strategy: tf.distribute.Strategy) -> list[str]:
    """Trains a case with and without hooks on all replicas."""
    scoped = in_scope(case, strategy)
    try:
        _, plain = train(k, scoped.plain())
        with tempfile.TemporaryDirectory() as directory:
            hooks = Hooks(Path(directory), case.asks)
            _, hooked = train(k, scoped, [hooks.callback()])
            hooks.check_ran()
        found = differences(plain, hooked)
        if found:
            _, again = train(k, scoped.plain())
            found += ["plain fit is not reproducible"] if differences(plain, again) else []
        return found
    except Exception as error:  # noqa: BLE001 - one case must not hide the others
        traceback.print_exc()
        return [f"{type(error).__name__}: {str(error)[-400:]}"]


def refuses_odd_sparse_batches(k: Any, strategy: tf.distribute.Strategy) -> list[str]:
    """Sparse gradients of odd batches end all collective operations: they are refused before the first step."""
    case = Case("odd", models.embedding, data.tokens, logits("Adam"), asks=("loss",))
    try:
        train(
            k, in_scope(case, strategy), [bridge.HookCallback(tf.compat.v1.train.StopAtStepHook(num_steps=9))]
        )
    except bridge.errors.UnsupportedModelError as error:
        return [] if "drop_remainder" in str(error) else [str(error)]
    return ["not refused"]


def main(flavour: str, names: list[str]) -> None:
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy([f"/cpu:{number}" for number in range(2)])
    assert strategy.num_replicas_in_sync == 2
    k = cases.package(flavour)
    chosen = [case for case in CASES if flavour in case.flavours and (not names or case.name in names)]
    found = {case.name: compare(k, case, strategy) for case in chosen}
    found["odd-sparse-batches-refused"] = refuses_odd_sparse_batches(k, strategy)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
