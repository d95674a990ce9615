"""`%tensorflow_version 1.x` has nothing to choose from any more.

## What it does
Reports the line in a notebook.

## Why
Colab's magic took TensorFlow 1 from a second installation, which Colab no longer has: the cell ends with an error. A migrated
notebook runs on the TensorFlow that is installed.

## Before
```text
%tensorflow_version 1.x
import tensorflow as tf
```

## After
Take the line out.

## Is it safe?
Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.proposals import Proposal

CODE = "TFB103"
TRIGGER = r"(?!)"


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes nothing."""
    yield from ()
