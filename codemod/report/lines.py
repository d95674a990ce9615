"""Which lines of two texts belong together: the part that the unified and the side-by-side diff share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

Tag = Literal["equal", "replace", "delete", "insert"]


class Block(NamedTuple):
    """A run of lines that are equal, or were replaced, deleted or inserted: `[a0:a1]` before, `[b0:b1]` after."""

    tag: Tag
    a0: int
    a1: int
    b0: int
    b1: int


def blocks(before: Sequence[str], after: Sequence[str]) -> Iterator[Block]:
    """Yields the blocks of two texts, in order, without a gap and never two equal ones in a row.

    Args:
      before: The lines before.
      after: The lines after.
    """
    head = _common(before, after, len(before), len(after))
    rest = min(len(before), len(after)) - head
    tail = _common(before[::-1], after[::-1], rest, rest)
    a_end, b_end = len(before) - tail, len(after) - tail
    if head:
        yield Block("equal", 0, head, 0, head)
    # Nearly all of a migrated file is equal, so what is left for the slow part is short.
    matcher = SequenceMatcher(None, before[head:a_end], after[head:b_end], autojunk=a_end - head > 2000)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        yield Block(tag, a0 + head, a1 + head, b0 + head, b1 + head)
    if tail:
        yield Block("equal", a_end, len(before), b_end, len(after))


def hunks(before: Sequence[str], after: Sequence[str], context: int = 3) -> Iterator[list[Block]]:
    """Yields the groups of blocks that a diff shows together, with up to `context` equal lines around the changes.

    Args:
      before: The lines before.
      after: The lines after.
      context: How many equal lines are shown before and after a change.
    """
    group: list[Block] = []
    for block in blocks(before, after):
        tag, a0, a1, b0, b1 = block
        if tag != "equal":
            group.append(block)
            continue
        is_last = a1 == len(before) and b1 == len(after)
        if group and a1 - a0 <= 2 * context and not is_last:
            group.append(block)
            continue
        if group:
            yield [*group, Block("equal", a0, min(a1, a0 + context), b0, min(b1, b0 + context))]
        first = max(a0, a1 - context)
        group = [] if is_last else [Block("equal", first, a1, first + b0 - a0, b1)]
    if any(block.tag != "equal" for block in group):
        yield group


def _common(before: Sequence[str], after: Sequence[str], a_limit: int, b_limit: int) -> int:
    """The number of equal items at the start."""
    limit = min(a_limit, b_limit)
    return next((index for index in range(limit) if before[index] != after[index]), limit)
