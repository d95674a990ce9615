"""Measures what hooks and the codemod cost: `python -m tests.benchmarks` (see `--help`)."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.metadata
import json
import logging
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # Read when TensorFlow is imported.

_STEPS = ["plain fit", "no hook", "monitored", "five hooks", "twenty hooks", "v1 session"]
_MORE = [
    "plain fit, numpy",
    "no hook, numpy",
    "five hooks, numpy",
    "plain fit, jit",
    "no hook, jit",
    "five hooks, jit",
]
_STARTS = ["plain fit", "no hook", "five hooks"]


def _targets(workload: str) -> dict[tuple[str, str], float]:
    """Returns the targets of a step. Those with arrays have none: there Keras's data pipeline takes half of the time."""
    small = workload == "mlp"
    return {
        ("no hook", "plain fit"): 0.6 if small else 1.0,
        ("five hooks", "plain fit"): 0.75 if small else 1.0,
        ("five hooks", "v1 session"): 1.5,
        ("monitored", "no hook"): 1.05,
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "workloads", nargs="*", metavar="NETWORK", help="mlp, cnn, lstm; without any, all three"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few rounds and no extras: about a minute, rough numbers"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of timed steps (default 9; quick 3)")
    parser.add_argument(
        "--only",
        choices=["steps", "start", "process", "graph", "estimator", "checkpoints", "codemod"],
        help="one kind of measurement",
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        default=Path(".corpus"),
        metavar="FOLDER",
        help="where the codemod's corpus is kept",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the figures and all samples there too"
    )
    parser.add_argument("--probe", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if wrong := set(arguments.workloads) - {"mlp", "cnn", "lstm"}:
        parser.error(f"no network named {', '.join(sorted(wrong))}; there are mlp, cnn, lstm")
    return arguments


def _load() -> None:
    """Loads TensorFlow without what its C++ code then says, and lets it log, as in a user's program, but to nowhere."""
    screen = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        import tensorflow as tf
    finally:
        os.dup2(screen, 2)
        os.close(nowhere)
        os.close(screen)
    logger = tf.get_logger()
    logger.handlers = [logging.FileHandler(os.devnull)]
    logger.propagate = False
    logger.setLevel(logging.INFO)
    warnings.filterwarnings("ignore")


Add = Callable[..., None]  # (measure, workload, samples, targets, cpu=None)
Progress = Callable[[str], None]


def _of_the_bridge(arguments: argparse.Namespace, add: Add, progress: Progress) -> None:
    """Measures training and checkpoints."""
    from tests.benchmarks import checkpoints, estimator, graph_model, measures
    from tests.benchmarks.workloads import WORKLOADS

    quick = arguments.quick
    start = {(variant, "plain fit"): 1.3 for variant in _STARTS[1:]}
    memory = {(variant, "plain fit"): 1.1 for variant in _STARTS[1:]}
    for name in arguments.workloads or WORKLOADS:
        workload = WORKLOADS[name]
        if arguments.only in (None, "steps"):
            variants = _STEPS + (_MORE if name == "mlp" and not quick else [])
            rounds = arguments.rounds or (3 if quick else 9)
            clock, cpu = measures.steps(workload, variants, rounds, progress)
            add("a step, ms", name, clock, _targets(name), cpu)
        if arguments.only in (None, "start"):
            clock, cpu = measures.starts(workload, _STARTS, 2 if quick else 5, progress)
            add("start of a fresh model, ms", name, clock, start, cpu)
        if arguments.only == "process" or (arguments.only is None and (name == "mlp" or not quick)):
            variants = ["plain fit", "five hooks"] if quick else _STARTS
            clock, cpu, peak = measures.processes(workload, variants, 1 if quick else 3, progress)
            add("start in a fresh process, ms", name, clock, start, cpu)
            add("peak memory, MiB", name, peak, memory)
    if arguments.only == "graph" or (arguments.only is None and not arguments.workloads):
        for workload in (graph_model.TINY, WORKLOADS["mlp"]):
            rounds = arguments.rounds or (3 if quick else 9)
            clock, cpu = measures.steps(
                workload, list(graph_model.VARIANTS), rounds, progress, graph_model.VARIANTS
            )
            add("a step of a legacy graph, ms", workload.name, clock, graph_model.TARGETS, cpu)
    if arguments.only == "estimator" or (arguments.only is None and not arguments.workloads):
        rounds = arguments.rounds or (3 if quick else 9)
        variants, name = estimator.VARIANTS, estimator.WORKLOAD.name
        clock, cpu = measures.steps(estimator.WORKLOAD, list(variants), rounds, progress, variants)
        add("a step of an Estimator, ms", name, clock, estimator.TARGETS, cpu)
    if arguments.only == "checkpoints" or (arguments.only is None and not arguments.workloads):
        for measure, found in checkpoints.measure(2 if quick else 5, progress).items():
            add(measure, "100 MB", found, checkpoints.TARGETS.get(measure, {}))


def _of_the_codemod(arguments: argparse.Namespace, add: Add, progress: Progress) -> None:
    """Measures the codemod."""
    from tests.benchmarks import codemod

    rounds = arguments.rounds or (1 if arguments.quick else 3)
    found = codemod.measure(rounds, arguments.corpus.absolute(), progress, quick=arguments.quick)
    for measure, (clock, cpu) in found.items():
        add(measure, "codemod", clock, codemod.TARGETS[measure], cpu)


def main() -> None:
    """Runs the command."""
    arguments = _arguments()
    begin = time.monotonic()
    if arguments.probe:
        _load()
        from tests.benchmarks import measures
        from tests.benchmarks.workloads import WORKLOADS

        name, variant = arguments.probe
        print(json.dumps(measures.probe(WORKLOADS[name], variant)))
        return

    from tests.benchmarks import report

    machine = {
        "tensorflow": importlib.metadata.version("tensorflow"),
        "keras": importlib.metadata.version("keras"),
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
    }
    lines: list[report.Figure] = []
    samples: list[dict[str, Any]] = []

    def progress(text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def add(
        measure: str,
        workload: str,
        found: report.Samples,
        targets: dict[tuple[str, str], float],
        cpu: report.Samples | None = None,
    ) -> None:
        lines.extend(report.figures(measure, workload, found, targets, cpu))
        samples.append({"measure": measure, "workload": workload, "samples": found, "cpu": cpu})

    if arguments.only == "codemod" or (
        arguments.only is None and not arguments.workloads and not arguments.quick
    ):
        _of_the_codemod(
            arguments, add, progress
        )  # First: its commands are forked from a process without TensorFlow.
    if arguments.only != "codemod":
        _load()
        _of_the_bridge(arguments, add, progress)
    progress("")

    print(", ".join(f"{key} {value}" for key, value in machine.items()))
    print(report.table(lines))
    print(f"\n{report.summary(lines)} {time.monotonic() - begin:.0f} s.")
    if arguments.json:
        figures = [{**dataclasses.asdict(line), "met": line.met} for line in lines]
        arguments.json.write_text(
            json.dumps({**machine, "figures": figures, "rounds": samples}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
