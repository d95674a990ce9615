"""Loops that only run the train op are a `fit`.

## What it does
A loop that runs one thing in the bridge's session, as long as the session wants, until the input ends, a number of times,
or while a condition holds, and does not look at the results, becomes `sess.fit(bridge.GraphModel(...))`. The session may be opened by a `with`,
or assigned and closed by hand, or be a parameter or attribute that the file gives only such sessions; of epochs around rounds
the rounds become the fit. What is fed is computed before each step, as it was. If statements follow the loop, the end
of the input still skips them (`raise_at_end=True`), or is still caught where the loop caught it. Every other loop stays, on
the bridge's session; `--statistics` and the JSON report say how many, and why. `--loops keep` leaves all of them.

## Why
Under `fit`, Keras callbacks, History and the progress bar work, and the next step to a Keras model is a small one.

## Before
```python
import tensorflow as tf


def train(train_op, image, batches, hooks):
    with tf.train.MonitoredTrainingSession(checkpoint_dir="logs", hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run(train_op, feed_dict={image: next(batches)})
```

## After
```python
import bridge
import tensorflow.compat.v1 as tf


def train(train_op, image, batches, hooks):
    with bridge.MonitoredTrainingSession(checkpoint_dir="logs", hooks=hooks) as sess:
        sess.fit(bridge.GraphModel(train_op, feed_fn=lambda: {image: next(batches)}), verbose=0)
```

## Is it safe?
Safe: the same steps are run with the same hooks and feeds, and the end of the input ends it as quietly. One thing is
better than it was: a job that is started again after `StopAtStepHook(last_step=...)` has ended it trains nothing, where
TensorFlow 1 trained one step too many.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod import loops
from codemod.facts import FileFacts
from codemod.proposals import Proposal
from codemod.rules.step_loops import proposals

CODE = loops.BARE_LOOPS
TRIGGER = r"should_stop|Monitored(?:Training)?Session"


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes a fit for each loop that only runs the train op."""
    return proposals(file, CODE, "a loop that only runs the train op is a fit")
