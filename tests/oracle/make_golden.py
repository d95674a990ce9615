"""Writes `golden/*.json`: what TensorFlow 1.15.5 does in every scenario. `make oracle` runs it.

    make oracle                                     # sets up Python 3.7 with tensorflow==1.15.5 and runs this file
    python3.7 tests/oracle/make_golden.py --check   # where that is set up: writes nothing, fails on a change

Each scenario is run twice, and the two records must be equal: what differs by chance cannot be golden.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))

from tests.oracle import session_worlds, v1_world  # noqa: E402
from tests.oracle.scenarios import SCENARIOS  # noqa: E402
from tests.oracle.session_scenarios import SESSIONS  # noqa: E402

GOLDEN = os.path.join(HERE, "golden")
WIDTH = 110


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a file would change")
    check = parser.parse_args().check
    if tf.VERSION != "1.15.5":
        print(f"The oracle is TensorFlow 1.15.5, and this is {tf.VERSION}.", file=sys.stderr)
        return 2
    changed = []
    for name, text in sorted(_golden_files().items()):
        path = os.path.join(GOLDEN, name)
        if not os.path.exists(path) or _content(path) != text:
            changed.append(name)
            if not check:
                with open(path, "w") as file:
                    file.write(text)
    print(f"{len(SCENARIOS) + len(SESSIONS)} scenarios; files that changed: {', '.join(changed) or 'none'}")
    return 1 if check and changed else 0


def _golden_files() -> dict[str, str]:
    rooms: dict[str, dict[str, Any]] = {}
    for name, scenario in {**SCENARIOS, **SESSIONS}.items():
        observe = session_worlds.observe if name in SESSIONS else v1_world.observe
        records = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as directory:
                records.append(observe(scenario, directory))
        first, second = map(layout, records)
        if first != second:
            raise AssertionError(f"Two runs of {name} differ:\n{first}\n{second}")
        rooms.setdefault(scenario.room, {})[name] = records[0]
    made_by = {
        "command": "make oracle",
        "program": "tests/oracle/make_golden.py",
        "tensorflow": tf.VERSION,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    return {
        room + ".json": layout({"made_by": made_by, "scenarios": records}) + "\n"
        for room, records in rooms.items()
    }


def layout(value: Any, indent: int = 0) -> str:
    """JSON in which all that fits stands on one line, so that a change of one fact is a change of one line."""
    flat = json.dumps(value)
    if indent + len(flat) <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return flat
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(key)}: {layout(entry, indent + 1)}" for key, entry in value.items()]
    else:
        lines = [inner + layout(entry, indent + 1) for entry in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([opening, ",\n".join(lines), " " * indent + closing])


def _content(path: str) -> str:
    with open(path) as file:
        return file.read()


if __name__ == "__main__":
    sys.exit(main())
