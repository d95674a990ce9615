"""What `load_v1` did with every variable of the model and every entry of the checkpoint."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

MATCHED = "matched"
MISSING = "missing"
UNEXPECTED = "unexpected"
SHAPE = "shape mismatch"
DTYPE = "dtype mismatch"
NOT_CONVERTIBLE = "not convertible"
KEPT = "kept"
NOT_NEEDED = "not needed"

_PROBLEMS = (SHAPE, DTYPE, NOT_CONVERTIBLE, MISSING, UNEXPECTED)
_ORDER = (*_PROBLEMS, KEPT, NOT_NEEDED, MATCHED)


@dataclasses.dataclass(frozen=True)
class CheckpointEntry:
    """One line of the report: a variable of the model, an entry of the checkpoint, or both.

    Attributes:
      status: "matched", "missing", "unexpected", "shape mismatch", "dtype mismatch", "not convertible", "kept" or
        "not needed".
      name: The variable's v1 name (`dense/kernel`), empty where the model has none.
      source: The entry of the checkpoint, several joined by ` + `, empty where there is none.
      shape: The variable's shape, or the entry's where there is no variable.
      dtype: The variable's element type, or the entry's.
      source_shape: The entry's shape, where it differs.
      source_dtype: The entry's element type, where it differs; for a matched line, the value was cast.
      note: Why, and the way out.
    """

    status: str
    name: str = ""
    source: str = ""
    shape: tuple[int | None, ...] = ()
    dtype: str = ""
    source_shape: tuple[int, ...] | None = None
    source_dtype: str | None = None
    note: str = ""

    @property
    def described(self) -> str:
        """Shape and element type, with an arrow from the checkpoint's where they differ."""
        now = f"{_shape(self.shape)} {self.dtype}"
        if self.source_shape is None and self.source_dtype is None:
            return now
        before = _shape(self.shape if self.source_shape is None else self.source_shape)
        return f"{before} {self.source_dtype or self.dtype} -> {now}"


@dataclasses.dataclass(frozen=True)
class CheckpointReport:
    """What a checkpoint and a model have in common; `print` shows it as a table.

    Attributes:
      path: The checkpoint's prefix.
      entries: All lines, problems first.
      notes: What concerns no single line.
    """

    path: str
    entries: tuple[CheckpointEntry, ...]
    notes: tuple[str, ...] = ()

    @property
    def matched(self) -> tuple[CheckpointEntry, ...]:
        """Variables that have an entry; assigned unless an error was raised."""
        return self._of(MATCHED)

    @property
    def missing(self) -> tuple[CheckpointEntry, ...]:
        """Variables of the model without an entry in the checkpoint."""
        return self._of(MISSING)

    @property
    def unexpected(self) -> tuple[CheckpointEntry, ...]:
        """Entries of the checkpoint that no variable of the model takes."""
        return self._of(UNEXPECTED)

    @property
    def shape_mismatches(self) -> tuple[CheckpointEntry, ...]:
        """Variables whose entry has another shape."""
        return self._of(SHAPE)

    @property
    def dtype_mismatches(self) -> tuple[CheckpointEntry, ...]:
        """Variables whose entry has a type that cannot be cast."""
        return self._of(DTYPE)

    @property
    def not_convertible(self) -> tuple[CheckpointEntry, ...]:
        """Optimizer slots that exist in the checkpoint, but mean something else there."""
        return self._of(NOT_CONVERTIBLE)

    @property
    def kept(self) -> tuple[CheckpointEntry, ...]:
        """Variables that keep their values: left out by `name_map`, or such as TF1 never saved (random seeds)."""
        return self._of(KEPT)

    @property
    def not_needed(self) -> tuple[CheckpointEntry, ...]:
        """Entries that the model does without, and why."""
        return self._of(NOT_NEEDED)

    @property
    def casts(self) -> tuple[CheckpointEntry, ...]:
        """Matched variables whose values were cast from another element type."""
        return tuple(entry for entry in self.matched if entry.source_dtype is not None)

    @property
    def problems(self) -> tuple[CheckpointEntry, ...]:
        """What `strict=True` does not accept."""
        return tuple(entry for entry in self.entries if entry.status in _PROBLEMS)

    def _of(self, status: str) -> tuple[CheckpointEntry, ...]:
        return tuple(entry for entry in self.entries if entry.status == status)

    @property
    def summary(self) -> str:
        """The numbers of lines by status, in one line."""
        counts = {status: len(self._of(status)) for status in (MATCHED, *_ORDER)}
        return ", ".join(f"{count} {status}" for status, count in counts.items() if count) or "nothing"

    def __str__(self) -> str:
        lines = [f"{self.path}: {self.summary}"]
        if self.entries:
            rows = [("status", "variable", "in the checkpoint", "shape and dtype", "note")]
            rows += [(e.status, e.name, e.source, e.described, e.note) for e in self.entries]
            lines += _table(rows)
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])


def ordered(entries: Sequence[CheckpointEntry]) -> tuple[CheckpointEntry, ...]:
    """Sorts lines by status, problems first, and keeps the model's order within one status."""
    return tuple(sorted(entries, key=lambda entry: _ORDER.index(entry.status)))


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return [
        "  ".join(
            ["", *(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]]
        ).rstrip()
        for row in rows
    ]


def _shape(shape: Sequence[int | None]) -> str:
    return "(" + ", ".join("?" if size is None else str(size) for size in shape) + ")"
