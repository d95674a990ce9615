"""A small TF1 project is copied, migrated by the codemod, and run: the last part of `make demo`.

The project is `before/project` beside this file: a program, its network, and a hook. Nothing is changed there.

    python migrate.py --output DIR
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE / "before" / "project"
CHECKOUT = HERE.parents[1]


def migrate(project: Path) -> None:
    """Runs the command, and shows what it says."""
    name = os.path.relpath(project)
    print(f"$ python -m codemod migrate {name}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "codemod", "migrate", "--allow-dirty", str(project)],
        check=False,
        env=environment(),
    )
    if done.returncode == 2:
        raise SystemExit("The codemod could not process a file.")


def show_changes(project: Path) -> None:
    """Prints how many lines of each file are new or gone, and the difference of the program itself."""
    print("\nLines of each file, new and gone:")
    for path in sorted(project.rglob("*.py")):
        place = path.relative_to(project)
        lines = [file.read_text().splitlines() for file in (PROJECT / place, path)]
        difference = list(difflib.unified_diff(*lines, str(place), str(place), lineterm="", n=0))[2:]
        new, gone = (sum(line.startswith(sign) for line in difference) for sign in "+-")
        print(f"  {place!s:<18} +{new} -{gone}")
    print("\nThe difference in train.py:")
    lines = [file.read_text().splitlines() for file in (PROJECT / "train.py", project / "train.py")]
    for line in list(difflib.unified_diff(*lines, lineterm="", n=0))[2:]:
        if not line.startswith("@@"):
            print(f"  {line}")


def run(project: Path, model_dir: Path) -> None:
    """Runs the migrated program, and compares its result with that of TensorFlow 1."""
    print(f"\n$ python {os.path.relpath(project / 'train.py')} {os.path.relpath(model_dir)}", flush=True)
    done = subprocess.run(
        [sys.executable, str(project / "train.py"), str(model_dir)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout, end="")
    if done.returncode:
        raise SystemExit(done.stderr)
    result = json.loads(done.stdout.splitlines()[-1])
    expected = json.loads((HERE / "results.json").read_text())
    before = expected["programs"]["project"]
    print(
        f"\nTensorFlow {expected['made_by']['tensorflow']} ended the project, as it was, at step {before['step']} with loss "
        f"{before['loss']:.6g}; today: step {result['step']}, loss {result['loss']:.6g}."
    )
    if result["step"] != before["step"] or abs(result["loss"] / before["loss"] - 1) > 1e-3:
        raise SystemExit("They differ.")


def environment() -> dict[str, str]:
    """The environment of both commands: quiet, and with this checkout's packages."""
    paths = [str(CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def new_directory(parent: Path) -> Path:
    """Makes the next free `project-1`, `project-2`, … in a folder."""
    number = 1
    while (parent / f"project-{number}").exists():
        number += 1
    parent.mkdir(parents=True, exist_ok=True)
    return parent / f"project-{number}"


def main() -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--output", type=Path, default=Path("demo-output"), help="each run gets a folder of its own there"
    )
    directory = new_directory(parser.parse_args().output.absolute())
    project = directory / "code"
    shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns("__pycache__"))
    print("A small TF1 project, migrated:", flush=True)
    migrate(project)
    show_changes(project)
    run(project, directory / "model")


if __name__ == "__main__":
    main()
