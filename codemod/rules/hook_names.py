"""Hooks that were reached through `tf.estimator` are `tf.train`'s.

## What it does
Writes `tf.estimator.SessionRunHook`, `tf.estimator.StopAtStepHook` and the other hooks that TensorFlow 1 exported twice by
their other name, which still exists: in base classes, calls and anywhere else. The hooks' own code is not touched.

## Why
`tf.estimator` was removed with TensorFlow 2.16. The classes were always those of `tf.train`.

## Before
```python
import tensorflow as tf


class Stop(tf.estimator.SessionRunHook):
    def begin(self):
        self.step = tf.train.get_global_step()
```

## After
```python
import tensorflow.compat.v1 as tf


class Stop(tf.train.SessionRunHook):
    def begin(self):
        self.step = tf.train.get_global_step()
```

## Is it safe?
Safe: both names stood for one class.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.proposals import Proposal

CODE = "TFB401"
TRIGGER = r"SessionRun|Hook|CheckpointSaverListener|SecondOrStepTimer|NanLossDuringTrainingError"

_NAMES = (
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "FeedFnHook",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LoggingTensorHook",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "ProfilerHook",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
)


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes the name in `tf.train` for each hook's name in `tf.estimator`."""
    for name in _NAMES:
        for use in file.uses(f"tf.estimator.{name}"):
            yield file.rename(use, f"tf.train.{name}", f"tf.estimator.{name} is tf.train.{name}")
