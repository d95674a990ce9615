"""Migrates the corpus in a copy and counts what came of it: `python -m tests.corpus` (see `--help`)."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.corpus.packages import PACKAGES, DownloadError, fetch

ROOT = Path(__file__).parents[2]

_ESTIMATORS = re.compile(rb"\bestimator\b|Estimator|\bcontrib(\.| import )learn\b")


@dataclasses.dataclass
class Row:
    """What came of one package.

    Attributes:
      package: Its name and version.
      files: How many Python files and notebooks the codemod looked at.
      status: How many of them ended as changed, unchanged, skipped, failed.
      compiled: How many compiled before, and after.
      broken: Files that compiled before, and do not after.
      emptied: Files that had text before, and have none after.
      missing: Names that the installed TensorFlow lacks: before, after, and after without a finding at that line.
      resolved: Files of those that use TensorFlow in which no name is missing: before, after, and how many use it.
      estimators: The counts of `missing` and of `resolved` for the files that use Estimators alone.
      codes: Findings by code.
      loops: Training loops by what became of them: `fit`, or why they stay.
      again: Files that a second run changes.
      seconds: Of the codemod, and of tf_upgrade_v2 if it was asked for.
      cpu: The same in seconds of CPU, less disturbed by what else the machine does.
      reasons: Why files failed.
      unnamed: Names without a finding: path, line, name.
    """

    package: str
    files: int = 0
    status: dict[str, int] = dataclasses.field(default_factory=dict)
    compiled: tuple[int, int] = (0, 0)
    broken: list[str] = dataclasses.field(default_factory=list)
    emptied: list[str] = dataclasses.field(default_factory=list)
    missing: tuple[int, int, int] = (0, 0, 0)
    resolved: tuple[int, int, int] = (0, 0, 0)
    estimators: tuple[int, int, int, int, int, int] = (0, 0, 0, 0, 0, 0)
    codes: dict[str, int] = dataclasses.field(default_factory=dict)
    loops: dict[str, int] = dataclasses.field(default_factory=dict)
    again: int = 0
    seconds: tuple[float, float | None] = (0.0, None)
    cpu: tuple[float, float | None] = (0.0, None)
    reasons: list[str] = dataclasses.field(default_factory=list)
    unnamed: list[tuple[str, int, str]] = dataclasses.field(default_factory=list)


def codemod(*arguments: str, jobs: int) -> dict[str, Any]:
    """Runs the command, and returns its JSON."""
    command = [sys.executable, "-m", "codemod", *arguments, "-j", str(jobs), "--output-format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2) or not done.stdout:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


Missing = dict[Path, "list[tuple[int, str]] | None"]


def missing(files: list[Path]) -> Missing:
    """Asks the installed TensorFlow about files; None for those that do not compile.

    Those that choose tf_keras are asked about where it is chosen: one process has one Keras only.
    """
    legacy = {path for path in files if b"import bridge.legacy_keras" in path.read_bytes()}
    answers = {
        **_asked([path for path in files if path not in legacy], {}),
        **_asked(sorted(legacy), {"TF_USE_LEGACY_KERAS": "1"}),
    }
    return {path: answers[path] for path in files}


def _asked(files: list[Path], environment: dict[str, str]) -> Missing:
    if not files:
        return {}
    command = [sys.executable, "-m", "tests.corpus.missing"]
    done = subprocess.run(
        command,
        input="\n".join(map(str, files)),
        env={**os.environ, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(("[", "null"))]
    if len(lines) != len(files):
        raise SystemExit(f"{len(lines)} answers for {len(files)} files:\n{done.stderr[-2000:]}")
    return dict(zip(files, map(json.loads, lines), strict=True))


def examine(requirement: str, folder: Path, jobs: int, *, peer: bool) -> Row:
    """Migrates a copy of one package.

    Args:
      requirement: Name and version.
      folder: Where everything is kept.
      jobs: Worker processes of the codemod.
      peer: Whether tf_upgrade_v2 runs on the same tree, too.

    Returns:
      The counts.
    """
    row = Row(requirement)
    tree = fetch(requirement, folder)
    after = folder / "migrated" / requirement
    shutil.rmtree(after, ignore_errors=True)
    shutil.copytree(tree, after)
    paths = sorted(
        path.relative_to(tree)
        for path in tree.rglob("*")
        if path.suffix in (".py", ".ipynb") and path.is_file()
    )
    before_names = missing([tree / path for path in paths])

    begin = _times()
    report = codemod("migrate", str(after), "--allow-dirty", "--no-gitignore", jobs=jobs)
    ours = _since(begin)
    row.files = len(report["files"])
    row.status = dict(collections.Counter(file["status"] for file in report["files"]))
    row.reasons = [
        f"{file['path']}: {file['reason']}" for file in report["files"] if file["status"] == "failed"
    ]
    row.codes = dict(collections.Counter(f["code"] for file in report["files"] for f in file["findings"]))
    row.loops = dict(
        collections.Counter(loop["kept"] or "fit" for file in report["files"] for loop in file["loops"])
    )
    second = codemod("migrate", str(after), "--allow-dirty", "--no-gitignore", "--check", jobs=jobs)
    row.again = sum(file["status"] == "changed" for file in second["files"])
    named = {place for file in second["files"] for place in _named(file)}

    after_names = missing([after / path for path in paths])
    row.compiled = tuple(sum(v is not None for v in names.values()) for names in (before_names, after_names))
    row.broken = [
        str(p) for p in paths if before_names[tree / p] is not None and after_names[after / p] is None
    ]
    row.emptied = [str(p) for p in paths if (tree / p).stat().st_size and not (after / p).stat().st_size]
    left = [(path, line, name) for path in paths for line, name in after_names[after / path] or () if name]
    row.unnamed = [
        (str(path), line, name)
        for path, line, name in left
        if not {((after / path).resolve(), line), ((after / path).resolve(), 0)} & named
    ]
    users = [path for path in paths if b"tensorflow" in (tree / path).read_bytes()]

    def gone(of: list[Path]) -> tuple[int, int, int]:
        before = sum(len(before_names[tree / path] or ()) for path in of)
        chosen = set(map(str, of))
        found = [[str(place[0]) in chosen for place in places] for places in (left, row.unnamed)]
        return before, *map(sum, found)

    def whole(of: list[Path]) -> tuple[int, int, int]:
        before = sum(before_names[tree / path] == [] for path in of)
        return before, sum(after_names[after / path] == [] for path in of), len(of)

    row.missing, row.resolved = gone(paths), whole(users)
    with_estimators = [path for path in users if _ESTIMATORS.search((tree / path).read_bytes())]
    row.estimators = (*gone(with_estimators), *whole(with_estimators))
    theirs = _peer(tree, folder / "peer" / requirement) if peer else (None, None)
    row.seconds, row.cpu = zip(ours, theirs, strict=True)
    return row


def _times() -> tuple[float, float]:
    """The clock, and the CPU time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter(), usage.ru_utime + usage.ru_stime


def _since(begin: tuple[float, float]) -> tuple[float, float]:
    clock, cpu = _times()
    return clock - begin[0], cpu - begin[1]


def _named(file: dict[str, Any]) -> set[tuple[Path, int]]:
    """Where findings are: paths with lines; 0 for a notebook, whose findings count from the beginning of their cells."""
    path = (ROOT / file["path"]).resolve()
    return {
        (path, 0 if path.suffix == ".ipynb" else line)
        for finding in file["findings"]
        for line in range(finding["line"], finding["end_line"] + 1)
    }


def _peer(tree: Path, out: Path) -> tuple[float, float]:
    """Runs tf_upgrade_v2 on the tree, and returns its seconds on the clock and of CPU."""
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [
        str(Path(sys.executable).with_name("tf_upgrade_v2")),
        *("--intree", str(tree), "--outtree", str(out), "--reportfile", f"{out}.txt"),
    ]
    begin = _times()
    subprocess.run(command, capture_output=True, check=False)
    return _since(begin)


def table(rows: list[Row]) -> str:
    """Formats the counts."""
    heads = ["package", "files", "changed", "unchanged", "skipped", "failed", "2nd run", "broken", "emptied"]
    heads += ["names gone", "after", "unnamed", "files whole", "after", "of", "s", "tf_upgrade_v2 s"]
    cells = [heads]
    for row in rows:
        counts = [str(row.status.get(s, 0)) for s in ("changed", "unchanged", "skipped", "failed")]
        peer = "" if row.seconds[1] is None else f"{row.seconds[1]:.1f}"
        cells.append(
            [
                row.package,
                str(row.files),
                *counts,
                *map(str, (row.again, len(row.broken), len(row.emptied), *row.missing, *row.resolved)),
                f"{row.seconds[0]:.1f}",
                peer,
            ]
        )
    total = [sum(float(cell or 0) for cell in column) for column in list(zip(*cells[1:], strict=True))[1:]]
    cells.append(["all", *(f"{n:.1f}" if i >= len(total) - 2 else f"{n:.0f}" for i, n in enumerate(total))])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in cells
    )


def _counted(counts: Iterable[dict[str, int]]) -> str:
    total = sum(map(collections.Counter, counts), collections.Counter())
    return ", ".join(f"{name} {count}" for name, count in sorted(total.items()))


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("packages", nargs="*", metavar="NAME==VERSION", help="without any, all of the corpus")
    parser.add_argument("--folder", type=Path, default=ROOT / ".corpus", help="where everything is kept")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--peer", action="store_true", help="time tf_upgrade_v2 on the same trees")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--unnamed", action="store_true", help="list the names left without a finding")
    arguments = parser.parse_args()
    rows = []
    for requirement in arguments.packages or PACKAGES:
        print(f"{requirement} …", file=sys.stderr, flush=True)
        try:
            rows.append(
                examine(requirement, arguments.folder.absolute(), arguments.jobs, peer=arguments.peer)
            )
        except DownloadError as error:
            print(f"left out: {requirement}: {error}", flush=True)
        if arguments.json:  # After each: a run takes long, and may be ended.
            arguments.json.write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n")
    print(table(rows))
    estimators = [sum(counts) for counts in zip(*(row.estimators for row in rows), strict=True)]
    if estimators:
        before, after, unnamed, whole, whole_after, files = estimators
        print(
            f"\nEstimator files: {files}; names gone {before}, after {after}, without a finding {unnamed}",
            end="; ",
        )
        print(f"whole {whole}, after {whole_after}")
    print(f"\nfindings: {_counted(row.codes for row in rows)}")
    print(f"training loops: {_counted(row.loops for row in rows) or 'none'}")
    ours = sum(row.cpu[0] for row in rows)
    theirs = sum(row.cpu[1] or 0.0 for row in rows)
    if theirs:
        print(f"CPU: {ours:.1f} s, tf_upgrade_v2 {theirs:.1f} s: {theirs / ours:.1f} times as much")
    for row in rows:
        for reason in row.reasons:
            print(f"failed: {row.package}: {reason}")
        for path in (*row.broken, *row.emptied):
            print(f"BROKEN: {row.package}: {path}")
        for path, line, name in row.unnamed if arguments.unnamed else ():
            print(f"no finding: {row.package}: {path}:{line}: {name}")


if __name__ == "__main__":
    main()
