"""What is measured: a step in the long run, the start, and peak memory, each with all variants taking turns."""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.benchmarks.report import Samples
from tests.benchmarks.variants import VARIANTS, Pause, Run, Variant
from tests.benchmarks.workloads import Workload

_ROOT = Path(__file__).parents[2]

Progress = Callable[[str], None]


class _Training(threading.Thread):
    """A training that stops after each epoch, so that others can run before the next one."""

    def __init__(self, train: Callable[[Pause], Run]) -> None:
        super().__init__(daemon=True)
        self._train = train
        self._go = threading.Semaphore(0)
        self._back = threading.Semaphore(0)
        self._error: BaseException | None = None
        self.result: Run | None = None
        self.start()

    def run(self) -> None:
        self._go.acquire()
        try:
            self.result = self._train(self._pause)
        except BaseException as error:  # noqa: BLE001 - raised again by `advance`.
            self._error = error
        self._back.release()

    def _pause(self) -> None:
        self._back.release()
        self._go.acquire()

    def advance(self) -> None:
        """Lets it train one epoch (the last call: lets it end)."""
        self._go.release()
        self._back.acquire()
        if self._error is not None:
            raise self._error


EPOCHS_A_ROUND = 3


def steps(
    workload: Workload,
    variants: Sequence[str],
    rounds: int,
    progress: Progress,
    known: Mapping[str, Variant] = VARIANTS,
) -> tuple[Samples, Samples]:
    """Times steps in the long run.

    All variants train at once and take turns, an epoch each, in an order that turns too. The first epoch, in which
    everything is traced and compiled, is not counted. A round is three epochs of each variant, of which the one that
    the machine disturbed least counts.

    Args:
      workload: The network.
      variants: Names of variants.
      rounds: How many rounds.
      progress: Is told what is done just now.
      known: The variants by their names.

    Returns:
      Milliseconds a step, on the clock and of CPU.
    """
    epochs = 1 + rounds * EPOCHS_A_ROUND

    def training(variant: str) -> _Training:
        return _Training(lambda pause: known[variant](workload, workload.steps, epochs, pause))

    trainings = {variant: training(variant) for variant in variants}
    for number in range(epochs + 1):
        progress(f"steps: {workload.name}, epoch {number} of {epochs}")
        for variant in _turned(variants, number):
            trainings[variant].advance()

    clock, cpu = _samples(variants), _samples(variants)
    for variant in variants:
        result = trainings[variant].result
        assert result is not None
        for first in range(1, epochs, EPOCHS_A_ROUND):
            spans = result.epochs[first : first + EPOCHS_A_ROUND]
            clock[variant].append(min(span.clock for span in spans) / workload.steps * 1e3)
            cpu[variant].append(min(span.cpu for span in spans) / workload.steps * 1e3)
    return clock, cpu


def starts(
    workload: Workload, variants: Sequence[str], rounds: int, progress: Progress
) -> tuple[Samples, Samples]:
    """Times the start of fresh models in this process: from `compile` to the first step done.

    Args:
      workload: The network.
      variants: Names of variants.
      rounds: How many rounds, besides a first one that is not counted.
      progress: Is told what is done just now.

    Returns:
      Milliseconds, on the clock and of CPU.
    """
    clock, cpu = _samples(variants), _samples(variants)
    for number in range(rounds + 1):
        for variant in _turned(variants, number):
            progress(f"start: {workload.name}, round {number} of {rounds}, {variant}")
            gc.collect()
            run = VARIANTS[variant](workload, 2, 1, _go_on, first_step=True)
            assert run.start is not None
            if number:
                clock[variant].append(run.start.clock * 1e3)
                cpu[variant].append(run.start.cpu * 1e3)
    return clock, cpu


def processes(
    workload: Workload, variants: Sequence[str], rounds: int, progress: Progress
) -> tuple[Samples, Samples, Samples]:
    """Measures the start and the peak memory of fresh processes.

    Args:
      workload: The network.
      variants: Names of variants.
      rounds: How many rounds.
      progress: Is told what is done just now.

    Returns:
      Milliseconds from `compile` to the first step done, on the clock and of CPU; and the largest resident size after
      an epoch, in MiB.
    """
    clock, cpu, memory = _samples(variants), _samples(variants), _samples(variants)
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
            clock[variant].append(result["clock"])
            cpu[variant].append(result["cpu"])
            memory[variant].append(result["peak"])
    return clock, cpu, memory


def probe(workload: Workload, variant: str) -> dict[str, float]:
    """Does what a fresh process does for `processes`.

    Args:
      workload: The network.
      variant: The name of a variant.

    Returns:
      What is measured in this process.
    """
    run = VARIANTS[variant](workload, workload.steps, 1, _go_on, first_step=True)
    assert run.start is not None
    return {"clock": run.start.clock * 1e3, "cpu": run.start.cpu * 1e3, "peak": _peak_mib()}


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


def _go_on() -> None:
    """Stands for a pause where nobody else trains."""


def _samples(variants: Sequence[str]) -> Samples:
    return {variant: [] for variant in variants}


def _turned(names: Sequence[str], number: int) -> list[str]:
    shift = number % len(names)
    return [*names[shift:], *names[:shift]]
