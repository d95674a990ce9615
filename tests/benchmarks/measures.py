"""What is measured: a step in the long run, the start, and peak memory, each with all variants taking turns."""

from __future__ import annotations

import gc
import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.report import Samples
from tests.benchmarks.variants import VARIANTS
from tests.benchmarks.workloads import Workload

_ROOT = Path(__file__).parents[2]

Progress = Callable[[str], None]


def steps(workload: Workload, variants: Sequence[str], rounds: int, progress: Progress) -> Samples:
    """Times steps in the long run.

    A round trains each variant anew: an epoch that is not counted, in which everything is traced and compiled, then
    three that are. The order turns from round to round.

    Args:
      workload: The network.
      variants: Names of variants.
      rounds: How many rounds.
      progress: Is told what is done just now.

    Returns:
      By variant, one number a round: milliseconds a step.
    """
    samples: Samples = {variant: [] for variant in variants}
    for number in range(rounds):
        for variant in _turned(variants, number):
            progress(f"steps: {workload.name}, round {number + 1} of {rounds}, {variant}")
            gc.collect()
            run = VARIANTS[variant](workload, workload.steps, 4)
            samples[variant].append(statistics.median(run.epochs[1:]) / workload.steps * 1e3)
    return samples


def starts(workload: Workload, variants: Sequence[str], rounds: int, progress: Progress) -> Samples:
    """Times the start of fresh models in this process: from `compile` to the first step done.

    Args:
      workload: The network.
      variants: Names of variants.
      rounds: How many rounds, one more that is not counted aside.
      progress: Is told what is done just now.

    Returns:
      By variant, one number a round: milliseconds.
    """
    samples: Samples = {variant: [] for variant in variants}
    for number in range(rounds + 1):
        for variant in _turned(variants, number):
            progress(f"start: {workload.name}, round {number} of {rounds}, {variant}")
            gc.collect()
            run = VARIANTS[variant](workload, 2, 1, first_step=True)
            if number:
                samples[variant].append((run.start or 0.0) * 1e3)
    return samples


def processes(
    workload: Workload, variants: Sequence[str], rounds: int, progress: Progress
) -> tuple[Samples, Samples]:
    """Measures the start and the peak memory of fresh processes.

    Args:
      workload: The network.
      variants: Names of variants.
      rounds: How many rounds.
      progress: Is told what is done just now.

    Returns:
      By variant, one number a round: milliseconds from `compile` to the first step done; and the largest resident
      size after some hundred steps, in MiB.
    """
    starts_: Samples = {variant: [] for variant in variants}
    memory: Samples = {variant: [] for variant in variants}
    for number in range(rounds):
        for variant in _turned(variants, number):
            progress(f"process: {workload.name}, round {number + 1} of {rounds}, {variant}")
            command = [sys.executable, "-m", "tests.benchmarks", "--probe", workload.name, variant]
            done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(
                    f"The process of {workload.name}, {variant} failed:\n{done.stderr[-2000:]}"
                )
            result = json.loads(done.stdout.splitlines()[-1])
            starts_[variant].append(result["start_ms"])
            memory[variant].append(result["peak_mib"])
    return starts_, memory


def probe(workload: Workload, variant: str) -> dict[str, Any]:
    """Does what a fresh process does for `processes`.

    Args:
      workload: The network.
      variant: The name of a variant.

    Returns:
      What is measured in this process.
    """
    run = VARIANTS[variant](workload, workload.steps, 1, first_step=True)
    return {"start_ms": (run.start or 0.0) * 1e3, "peak_mib": _peak_mib()}


def _peak_mib() -> float:
    """Returns this process's largest resident size in MiB.

    `ru_maxrss` is handed down from the parent process on Linux, which may be the larger one; `VmHWM` is not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _turned(names: Sequence[str], number: int) -> list[str]:
    shift = number % len(names)
    return [*names[shift:], *names[:shift]]
