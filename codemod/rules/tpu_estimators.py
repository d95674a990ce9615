"""`TPUEstimator` goes on where it is told `use_tpu=False`.

## What it does
Reports each `TPUEstimator` that asks for TPUs: with `use_tpu=True`, or without the argument, whose default is True. One that
is given a flag is left to the flag.

## Why
`bridge.estimator.tpu` trains on CPUs and GPUs, as most public programs ran it. Asked for TPUs, it raises an error.

## Before
```python
import tensorflow as tf


def make(model_fn, config):
    return tf.contrib.tpu.TPUEstimator(model_fn, config=config, train_batch_size=8)
```

## After
```python
import bridge
import tensorflow.compat.v1 as tf


def make(model_fn, config):
    # TODO(codemod TFB602): TPUEstimator asks for TPUs unless it is given use_tpu=False. Pass use_tpu=False, or train a Keras model in tf.distribute.TPUStrategy's scope with fit
    return bridge.estimator.tpu.TPUEstimator(model_fn, config=config, train_batch_size=8)
```

## Is it safe?
Only a comment is written; the new name comes from TFB601.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemod.facts import FileFacts
from codemod.proposals import Proposal
from codemod.rules._estimator_names import before, place

CODE = "TFB602"
TRIGGER = r"TPUEstimator"

_POSITION = 4  # model_fn, model_dir, config, params, use_tpu


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes a finding for each `TPUEstimator` that certainly asks for TPUs."""
    for use in file.names.chains:
        found = place(before(use.name))
        if use.call is None or found is None or found.symbol != "tpu.TPUEstimator" or found.rest:
            continue
        if _asks_for_tpus(use.call):
            finding = file.finding(
                use.call,
                "TPUEstimator asks for TPUs unless it is given use_tpu=False",
                why="A v1 graph cannot run on TPUs any more; bridge.estimator.tpu trains on CPUs and GPUs.",
                remedy="Pass use_tpu=False, or train a Keras model in tf.distribute.TPUStrategy's scope with fit.",
            )
            yield replace(finding, takes=())  # What it is called is another matter.


def _asks_for_tpus(call: ast.Call) -> bool:
    """Whether `use_tpu` is True for certain."""
    if any(keyword.arg is None for keyword in call.keywords) or any(
        isinstance(a, ast.Starred) for a in call.args
    ):
        return False
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "use_tpu"), None)
    if given is None and len(call.args) > _POSITION:
        given = call.args[_POSITION]
    return given is None or (isinstance(given, ast.Constant) and bool(given.value))
