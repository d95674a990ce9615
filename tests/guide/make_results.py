"""Writes `migration_guide/examples/results.json`: what the programs in `before/` print under TensorFlow 1.15.5, unmodified.

python3.7 tests/guide/make_results.py       # with tensorflow==1.15.5, as `make oracle` sets it up
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

from tests.codemod import scripts_support
from tests.guide import programs


def main() -> int:
    import tensorflow as tf

    if tf.__version__ != "1.15.5":
        print("The results are those of TensorFlow 1.15.5, and this is", tf.__version__, file=sys.stderr)
        return 2
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for program in programs.PROGRAMS:
            code = Path(folder, program.name, "code")
            scripts_support.copy_code(program, code)
            work = Path(folder, program.name, "work")
            results[program.name] = scripts_support.run(program, code, work, [sys.executable])
            print(program.name, json.dumps(results[program.name])[:90], flush=True)
    made_by = {"command": "python3.7 tests/guide/make_results.py", "tensorflow": tf.__version__}
    programs.RESULTS.write_text(json.dumps({"made_by": made_by, "programs": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
