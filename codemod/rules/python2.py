"""Python 2 files are named, with the line.

## What it does
Reports a file that Python 3 cannot parse and that looks like Python 2. The file counts as failed: nothing in it was
looked at. With `--py2` and the extra `py2` (`pip install 'keras-hook-bridge[py2]'`), which brings fissix, the successor of
lib2to3, it is converted to Python 3 first, and migrated then.

## Why
Today's TensorFlow runs on Python 3 only, and a text that does not parse cannot be rewritten without guessing.

## Before
```text
print "loss", loss
```

## After
```text
print("loss", loss)
```

## Is it safe?
Unsafe, and done with `--py2` only: what runs is meant to be the same, but the text does not say where `/` divided integers.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.proposals import Proposal

CODE = "TFB001"
TRIGGER = (
    r"(?!)"  # Such a file never gets as far as the rules: `codemod.python2` reports it when parsing fails.
)


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes nothing."""
    yield from ()
