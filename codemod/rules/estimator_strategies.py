"""Strategies of `tf.contrib.distribute` for Estimators are those of `bridge.estimator`.

## What it does
Writes `bridge.estimator.strategies.X` for `tf.contrib.distribute.MirroredStrategy`,
`OneDeviceStrategy`, `CollectiveAllReduceStrategy`, `ParameterServerStrategy`, `DistributeConfig` and the reductions that were
given to them. In a file that makes no `RunConfig` this needs `--unsafe-fixes`: the strategy may be for Keras.

## Why
`tf.contrib` was removed with TensorFlow 2. The bridge's strategies have the old arguments (`num_gpus`), and
`bridge.estimator.RunConfig` takes them.

## Before
```python
import tensorflow as tf


def config(gpus):
    strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=gpus)
    return tf.estimator.RunConfig(train_distribute=strategy)
```

## After
```python
import bridge
import tensorflow.compat.v1 as tf


def config(gpus):
    strategy = bridge.estimator.strategies.MirroredStrategy(num_gpus=gpus)
    return bridge.estimator.RunConfig(train_distribute=strategy)
```

## Is it safe?
Safe: each replica gets a batch of its own, and gradients are joined, as before. A strategy that would span the processes of
TF_CONFIG is refused when the program runs, with the way out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codemod.facts import FileFacts
from codemod.proposals import Proposal
from codemod.rules._estimator_names import learn_name, place
from codemod.rules._moved import Target, moves

CODE = "TFB605"
TRIGGER = r"contrib.*distribute"

_PACKAGE = "tf.contrib.distribute"
_BRIDGE = "bridge.estimator.strategies"
_NEW = {
    "AllReduceCrossDeviceOps": f"{_BRIDGE}.all_reduce",
    "AllReduceCrossTowerOps": f"{_BRIDGE}.all_reduce",
    "CollectiveAllReduceStrategy": f"{_BRIDGE}.CollectiveAllReduceStrategy",
    "DistributeConfig": f"{_BRIDGE}.DistributeConfig",
    "MirroredStrategy": f"{_BRIDGE}.MirroredStrategy",
    "OneDeviceStrategy": f"{_BRIDGE}.OneDeviceStrategy",
    "ParameterServerStrategy": f"{_BRIDGE}.ParameterServerStrategy",
    "ReductionToOneDeviceCrossDeviceOps": "tf.distribute.ReductionToOneDevice",
}
_MODULES = (
    "mirrored_strategy",
    "collective_all_reduce_strategy",
    "one_device_strategy",
    "parameter_server_strategy",
)


_WHY = "Nothing in this file tells whether the strategy is for a RunConfig or for Keras, which counts batches in another way."


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the present name of each use; it is safe where a RunConfig is made."""
    is_safe = any(_is_config(use.name) for use in file.names.chains)

    def find(name: str) -> Target | None:
        target = _find(name)
        return target if target is None or is_safe else replace(target, fix="unsafe", why=_WHY)

    yield from moves(file, lambda name: name.startswith(_PACKAGE), find)


def _is_config(name: str) -> bool:
    found = place(name)
    is_new = found is not None and found.symbol in ("RunConfig", "tpu.RunConfig")
    return is_new or learn_name(name) == "RunConfig" or name == "bridge.estimator.RunConfig"


def _find(name: str) -> Target | None:
    if name == _PACKAGE:
        return Target(_BRIDGE, namespace=True)
    below = name.removeprefix(f"{_PACKAGE}.").split(".")
    if below[0] == "python" and len(below) > 2 and below[1] in _MODULES:
        below = below[2:]
    new = _NEW.get(".".join(below))
    return None if new is None else Target(new)
