"""Writes the table of symbols into the guide: `python -m tests.bridge.estimator.symbols_page`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from bridge import estimator
from bridge.estimator.symbols import MISSING

PAGE = Path(__file__).parents[3] / "migration_guide" / "estimators.md"
BEGIN, END = "<!-- table of symbols: begin -->\n", "<!-- table of symbols: end -->\n"


# What lived elsewhere.
_OTHERS = ("model_to_estimator", "forward_features", "clip_gradients_by_norm")
_OTHER_PARTS = ("heads", "predictor", "strategies")  # Of tf.contrib.
_PARTS = ("experimental", "export", "inputs", "tpu")

WORKS = [
    *(name for name in estimator.__all__ if name not in (*_OTHERS, *_PARTS, *_OTHER_PARTS)),
    *(
        f"{part}.{name}"
        for part in _PARTS
        for name in getattr(estimator, part).__all__
        if not inspect.ismodule(getattr(getattr(estimator, part), name))
    ),
]


def table() -> str:
    """The table, of the package's own."""
    rows = dict.fromkeys(WORKS, "works")
    rows.update({name: f"error: {way_out}" for name, way_out in MISSING.items()})
    lines = ["| `tf.estimator.` | in `bridge.estimator` |", "| --- | --- |"]
    lines += [
        f"| `{name}` | {rows[name]} |" for name in sorted(rows, key=lambda name: (name.count("."), name))
    ]
    return "\n".join(lines) + "\n"


def with_table(text: str) -> str:
    """The page with the table in its place."""
    found = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    return found.sub(lambda match: f"{BEGIN}\n{table()}\n{END}", text)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
