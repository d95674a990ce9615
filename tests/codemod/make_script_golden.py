"""Writes `tests/cases/*/golden.json`: what each program prints under TensorFlow 1.15.5, as it is.

    python3.7 tests/codemod/make_script_golden.py               # with tensorflow==1.15.5, as `make oracle` sets it up
    python3.7 tests/codemod/make_script_golden.py --check       # writes nothing, fails on a change
    python3.7 tests/codemod/make_script_golden.py bare_loop     # only these programs

Each program runs twice, and both must print the same (but for the last bits of a sum, whose order depends on where memory
lies): what differs by chance cannot be golden.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

from tests.codemod import scripts_support
from tests.codemod.scripts_table import SCRIPTS

NOISE = 1e-6


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="programs to run (all)")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a value would change")
    options = parser.parse_args()
    import tensorflow as tf

    if tf.VERSION != "1.15.5":
        print(f"The golden values are those of TensorFlow 1.15.5, and this is {tf.VERSION}.", file=sys.stderr)
        return 2
    made_by = {
        "command": "python3.7 tests/codemod/make_script_golden.py",
        "tensorflow": tf.VERSION,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    chosen = [script for script in SCRIPTS if not options.names or script.name in options.names]
    changed, failed = [], []
    server = scripts_support.ScriptServer()
    for script in chosen:
        try:
            result = _observe(script, server)
        except (AssertionError, scripts_support.ScriptFailedError) as error:
            print(error, file=sys.stderr)
            failed.append(script.name)
            continue
        old = _read(script.folder)
        if list(scripts_support.differences(result, old.get(script.name), rtol=NOISE)):
            changed.append(script.name)
            if not options.check:
                _write(script.folder, {**old, script.name: result}, made_by)
        print(script.name, json.dumps(result)[:100], flush=True)
    server.close()
    print("changed:", ", ".join(changed) or "nothing")
    if failed:
        print("failed:", ", ".join(failed), file=sys.stderr)
    return 1 if failed or (options.check and changed) else 0


def _read(folder: str) -> dict[str, Any]:
    return scripts_support.golden(folder) if (scripts_support.CASES / folder / "golden.json").exists() else {}


def _write(folder: str, results: dict[str, Any], made_by: dict[str, str]) -> None:
    """One line a program, in the order of the table; programs that are no longer in it are dropped."""
    names = [script.name for script in SCRIPTS if script.folder == folder and script.name in results]
    lines = [f"  {json.dumps(name)}: {json.dumps(results[name])}" for name in names]
    head = '{\n "made_by": ' + json.dumps(made_by) + ',\n "scripts": {\n'
    (scripts_support.CASES / folder / "golden.json").write_text(head + ",\n".join(lines) + "\n }\n}\n")


def _observe(script: scripts_support.Script, server: scripts_support.ScriptServer) -> Any:
    results = []
    for number in range(2):
        with tempfile.TemporaryDirectory() as directory:
            code, work = Path(directory) / "code", Path(directory) / f"work{number}"
            scripts_support.copy_code(script, code)
            results.append(scripts_support.run(script, code, work, [sys.executable], server))
    by_chance = list(scripts_support.differences(results[1], results[0], rtol=NOISE))
    if by_chance:
        raise AssertionError(f"Two runs of {script.name} differ: {by_chance}")
    return results[0]


if __name__ == "__main__":
    sys.exit(main())
