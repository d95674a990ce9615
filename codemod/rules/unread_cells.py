"""A notebook's cell of another language that mentions TensorFlow is named.

## What it does
Reports cells such as `%%bash`, `%%writefile train.py` or those of another kernel, in which TensorFlow or Keras is named.
They are left as they are.

## Why
What such a cell writes or runs may be TF1 code. A notebook is not migrated as long as a cell of it is not.

## Before
```text
%%writefile train.py
import tensorflow as tf
```

## After
The same. Put the text into a file of its own, and run the codemod on that.

## Is it safe?
Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.proposals import Proposal

CODE = "TFB003"
TRIGGER = r"(?!)"  # Rules see a notebook's Python only: `codemod.migrate` reports the other cells.


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes nothing."""
    yield from ()
