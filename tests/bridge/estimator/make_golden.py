"""Runs the programs under TensorFlow 1.15.5 (Python 3.7) and writes what they return to `golden/`.

python3.7 tests/bridge/estimator/make_golden.py [PROGRAM ...]
"""

from __future__ import annotations

import glob
import importlib
import json
import os
import platform
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
GOLDEN = os.path.join(HERE, "golden")


def main():
    sys.path.insert(0, ROOT)
    # The package of the bridge's tests imports what Python 3.7 does not have; only its folder is needed.
    for name in ("tests", "tests.bridge"):
        package = type(sys)(name)
        package.__path__ = [os.path.join(ROOT, *name.split("."))]
        sys.modules[name] = package
    import numpy as np
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    made_by = {
        "command": "python3.7 tests/bridge/estimator/make_golden.py",
        "tensorflow": tf.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    names = sys.argv[1:] or sorted(
        os.path.basename(path)[:-3]
        for path in glob.glob(os.path.join(HERE, "programs", "*.py"))
        if not path.endswith("__init__.py")
    )
    if not os.path.isdir(GOLDEN):
        os.makedirs(GOLDEN)
    for name in names:
        program = importlib.import_module("tests.bridge.estimator.programs." + name)
        if name == "old_model_dir":
            shutil.rmtree(program.THERE, ignore_errors=True)
            program.make(program.THERE)
            for path in glob.glob(os.path.join(program.THERE, "*")):
                if not os.path.basename(path).startswith(("checkpoint", "model.ckpt-10.")) or path.endswith(
                    ".meta"
                ):
                    os.remove(path)
        work = tempfile.mkdtemp()
        try:
            result = program.main(work)
        finally:
            shutil.rmtree(work)
        with open(os.path.join(GOLDEN, name + ".json"), "w") as file:
            json.dump({"made_by": made_by, "result": result}, file, indent=None, sort_keys=True)
            file.write("\n")
        print(name)


if __name__ == "__main__":
    main()
