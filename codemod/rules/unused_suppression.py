"""A comment `# codemod: ignore` that holds nothing back is reported.

## What it does
Reports `# codemod: ignore[CODE]` on a line where the rule finds nothing.

## Why
A comment that is left behind would one day hide a finding that somebody needs to see.

## Before
```python
import os  # codemod: ignore[TFB101]
```

## After
```python
import os
```

## Is it safe?
Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.facts import FileFacts
from codemod.proposals import Proposal

CODE = "TFB002"
TRIGGER = r"(?!)"  # Only after all other rules is it known: `codemod.migrate` reports it.


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes nothing."""
    yield from ()
