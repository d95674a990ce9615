"""Loops that look at each step's results are a `fit` with a callback.

## What it does
A loop that runs one thing in the bridge's session and then only prints, logs, notes or writes what came out becomes
`sess.fit(bridge.GraphModel(...))`; what it did after each step moves, as it stands, into a function that a callback calls.
The results that it looks at are the step's `fetches`. `break` becomes `model.stop_training = True`, and names that are
read after the loop stay names of the function around. Other runs of the session move with it: those that only compute, and
those that are made now and then (summaries, an evaluation) unless they are known to train. A loop in which more than one run may train, or that calls what is not known to be
harmless, stays as it is: `--statistics` and the JSON report say how many, and why.

## Why
Under `fit`, Keras callbacks, History and the progress bar work, and the next step to a Keras model is a small one.

## Before
```python
import tensorflow as tf


def train(train_op, loss, hooks):
    step = 0
    with tf.train.MonitoredTrainingSession(checkpoint_dir="logs", hooks=hooks) as sess:
        while not sess.should_stop():
            _, loss_value = sess.run([train_op, loss])
            step += 1
            # Not each of them.
            if step % 100 == 0:
                print("step", step, "loss", loss_value)
```

## After
```python
import bridge
import keras
import tensorflow.compat.v1 as tf


def train(train_op, loss, hooks):
    step = 0
    with bridge.MonitoredTrainingSession(checkpoint_dir="logs", hooks=hooks) as sess:
        def after_step(loss_value):
            nonlocal step
            step += 1
            # Not each of them.
            if step % 100 == 0:
                print("step", step, "loss", loss_value)

        sess.fit(
            bridge.GraphModel(train_op, fetches={"loss_value": loss}),
            callbacks=[
                keras.callbacks.LambdaCallback(
                    on_train_batch_end=lambda batch, logs: after_step(**logs)
                )
            ],
            verbose=0,
        )
```

## Is it safe?
Safe: the same steps, the same results, the same function after each of them; see the bare loops for a job that is started
again when it has ended.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemod import loops
from codemod.facts import FileFacts
from codemod.loops import Plan
from codemod.loops.words import words_for
from codemod.proposals import Make, Proposal

if TYPE_CHECKING:
    import libcst as cst

CODE = loops.STEP_LOOPS
TRIGGER = r"should_stop|Monitored(?:Training)?Session"


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes a fit with a callback for each loop that looks at the step's results."""
    return proposals(file, CODE, "a loop that looks at each step's results is a fit with a callback")


def proposals(file: FileFacts, code: str, message: str) -> Iterator[Proposal]:
    """Proposes fits for the loops that are a rule's."""
    for verdict in loops.verdicts(file):
        plan = verdict.plan
        if plan is not None and plan.code == code:
            yield file.edit(verdict.loop, message, _make(file, verdict.loop, plan))


def _make(file: FileFacts, loop: ast.While | ast.For, plan: Plan) -> Make:
    words = words_for(file, loop, plan)

    def make(node: cst.CSTNode) -> cst.FlattenSentinel[cst.CSTNode]:
        from codemod.loops import writing  # libcst is only loaded for files that need it.

        return writing.written(node, plan, words)

    return make
