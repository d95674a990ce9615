"""What the codemod costs: the whole command against `tf_upgrade_v2` on published packages, its start, its memory."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.report import Samples
from tests.corpus.packages import PACKAGES, fetch

ROOT = Path(__file__).parents[2]

# Those of the corpus that are migrated here: small and large files, old and late code, 86 files with much to rewrite.
_NAMES = ("tf-slim", "OpenNMT-tf", "dltk", "kfac", "tensorforce")
_FEW = ("dltk", "kfac")

TREE, IDLE, START, MEMORY = (
    "the whole command, s",
    "300 files without a hit, s",
    "start, s",
    "peak memory of a worker, MiB",
)
PEER, ONE, TWO = "tf_upgrade_v2", "codemod -j 1", "codemod -j 2"
LIMIT = "the limit"  # A target that is a number, not a ratio, is a variant that always takes that long.

TARGETS = {
    TREE: {(ONE, PEER): 1 / 5, (TWO, PEER): 1 / 8},
    IDLE: {(ONE, LIMIT): 1.0},
    START: {("import codemod", LIMIT): 1.0, ("codemod --help", LIMIT): 1.0},
    MEMORY: {("four times the tree", "the tree"): 1.1},
}
_IDLE_LIMIT, _START_LIMIT = 1.0, 0.5

_PROGRAM = """\
import json, resource, sys
from codemod.cli import main
sys.argv = ["codemod", *sys.argv[1:]]
code = main()
print(json.dumps(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
"""


def measure(
    rounds: int, folder: Path, progress: Callable[[str], None], *, quick: bool = False
) -> dict[str, tuple[Samples, Samples | None]]:
    """Times all commands in turns, an order that turns too.

    Args:
      rounds: How many rounds.
      folder: Where the corpus is kept; packages that are not there are downloaded.
      progress: Is told what is done just now.
      quick: Whether only the small packages are migrated.

    Returns:
      By measure, the samples on the clock and of CPU (None where only memory is measured).
    """
    wanted = _FEW if quick else _NAMES
    trees = [fetch(p, folder) for p in PACKAGES if p.partition("==")[0] in wanted]
    with tempfile.TemporaryDirectory() as work:
        tree, idle = Path(work, "tree"), Path(work, "idle")
        for source in trees:
            shutil.copytree(source, tree / source.name)
        _write_idle(idle)
        return {
            TREE: _turns(_whole_commands(tree, Path(work, "copy")), rounds, progress),
            IDLE: _turns(_with_limit(_IDLE_LIMIT, {ONE: _codemod(idle, 1)}), rounds, progress),
            START: _turns(_with_limit(_START_LIMIT, _starts()), rounds, progress),
            MEMORY: (_memory(tree, Path(work, "copy"), rounds, progress), None),
        }


# ---------------------------------------------------------------------------------------------------------------------
# Commands.

_Timed = tuple[float, float]  # Seconds on the clock, and of CPU.
_Sample = Callable[[], _Timed]


def _whole_commands(tree: Path, copy: Path) -> dict[str, _Sample]:
    def codemod(jobs: int) -> _Sample:
        def sample() -> _Timed:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(tree, copy)
            return _codemod(copy, jobs)()

        return sample

    def peer() -> _Timed:
        shutil.rmtree(copy, ignore_errors=True)
        script = Path(sys.executable).with_name("tf_upgrade_v2")
        options = ["--intree", str(tree), "--outtree", str(copy), "--reportfile", f"{copy}.txt"]
        return _timed([str(script), *options])

    return {PEER: peer, ONE: codemod(1), TWO: codemod(2)}


def _codemod(tree: Path, jobs: int) -> _Sample:
    return lambda: _timed([sys.executable, "-m", "codemod", *_options(tree, jobs)])


def _options(tree: Path, jobs: int) -> list[str]:
    return ["migrate", str(tree), "--allow-dirty", "--no-gitignore", "-q", "-j", str(jobs)]


def _starts() -> dict[str, _Sample]:
    return {
        "import codemod": lambda: _timed([sys.executable, "-c", "import codemod.cli"]),
        "codemod --help": lambda: _timed([sys.executable, "-m", "codemod", "--help"]),
    }


def _with_limit(seconds: float, samples: dict[str, _Sample]) -> dict[str, _Sample]:
    return {LIMIT: lambda: (seconds, seconds), **samples}


def _timed(command: Sequence[str]) -> _Timed:
    cpu, begin = _children(), time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=False)
    clock = time.perf_counter() - begin
    if done.returncode not in (0, 1):  # 1: hand work remains.
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return clock, _children() - cpu


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _environment() -> dict[str, str]:
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}


def _turns(
    samples: dict[str, _Sample], rounds: int, progress: Callable[[str], None]
) -> tuple[Samples, Samples]:
    clock: Samples = {name: [] for name in samples}
    cpu: Samples = {name: [] for name in samples}
    names = list(samples)
    for number in range(rounds):
        shift = number % len(names)
        for name in [*names[shift:], *names[:shift]]:
            progress(f"codemod: round {number + 1} of {rounds}, {name}")
            one, other = samples[name]()
            clock[name].append(one)
            cpu[name].append(other)
    return clock, cpu


# ---------------------------------------------------------------------------------------------------------------------
# Memory, and files that the codemod has nothing to do with.


def _memory(tree: Path, copy: Path, rounds: int, progress: Callable[[str], None]) -> Samples:
    found: Samples = {"the tree": [], "four times the tree": []}
    for number in range(rounds):
        for name, times in (("the tree", 1), ("four times the tree", 4)):
            progress(f"codemod: round {number + 1} of {rounds}, memory, {name}")
            shutil.rmtree(copy, ignore_errors=True)
            for part in range(times):
                shutil.copytree(tree, copy / str(part))
            found[name].append(_peak(copy))
    return found


def _peak(tree: Path) -> float:
    """The largest resident size of any worker, in MiB; a forked one counts what it shares with its parent."""
    command = [sys.executable, "-c", _PROGRAM, *_options(tree, 2)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return float(json.loads(done.stdout.splitlines()[-1])) * unit / (1 << 20)


def _write_idle(folder: Path) -> None:
    """300 files of 300 lines, with nothing of TensorFlow in them."""
    function = "def function_{0}(values, factor={0}):\n    return [factor * value for value in values]\n\n\n"
    text = '"""Some functions."""\n\n\n' + "".join(function.format(number) for number in range(75))
    folder.mkdir()
    for number in range(300):
        (folder / f"module_{number}.py").write_text(text)
