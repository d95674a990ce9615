"""The command line: arguments, what is printed where, and the exit code.

Findings go to standard error; diffs, machine-readable reports and text from standard input go to standard output. Exit
codes: 0, nothing is left to do; 1, something would change or hand work remains; 2, wrong use, an internal error, or a file
that was not processed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from codemod import config
from codemod.results import FileResult, RunResult
from codemod.settings import Settings

_STDIN = "-"


class UsageError(Exception):
    """A command that makes no sense; the message says why and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
      arguments: Without the program's name; the process's own if left out.

    Returns:
      The exit code.
    """
    options = _parser().parse_args(arguments)
    try:
        run: Callable[[argparse.Namespace], int] = options.run
        return run(options)
    except (UsageError, config.ConfigError) as error:
        print(f"codemod: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("codemod: interrupted; files that were not reached are as they were", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read our output has left. Python would complain about it once more when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2


# ---------------------------------------------------------------------------------------------------------------------
# Arguments.


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m codemod",
        description="Rewrites TensorFlow 1 training code so that it runs on today's TensorFlow through the bridge.",
        epilog="Exit codes: 0 nothing left to do; 1 would change, or hand work remains; 2 something was not processed.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    migrate = commands.add_parser(
        "migrate", help="rewrite what is safe, list what is left", description=_migrate.__doc__
    )
    _add_common(migrate)
    _add_migrate(migrate)
    migrate.set_defaults(run=_migrate)
    scan = commands.add_parser(
        "scan", help="list what there is to do, write nothing", description=_scan.__doc__
    )
    _add_common(scan)
    scan.set_defaults(run=_scan)
    rules = commands.add_parser("rules", help="list the rules", description=_rules.__doc__)
    rules.set_defaults(run=_rules)
    explain = commands.add_parser("explain", help="show the page of a rule", description=_explain.__doc__)
    explain.add_argument("code", metavar="CODE", help="such as TFB201")
    explain.set_defaults(run=_explain)
    return parser


class _Version(argparse.Action):
    """Looks the version up when it is asked for only: that takes as long as the rest of the start."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        """Prints it and ends the program."""
        import importlib.metadata

        try:
            version = importlib.metadata.version("keras-hook-bridge")
        except importlib.metadata.PackageNotFoundError:  # Run from a clone.
            text = Path(__file__).parent.with_name("bridge").joinpath("_version.py").read_text("utf-8")
            version = text.rpartition("= ")[2].strip().strip('"')
        print(f"codemod {version}")
        parser.exit()


def _add_common(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="files and folders; - for standard input")
    add(
        "--stdin-filename",
        default="<stdin>",
        metavar="NAME",
        help="what standard input is called in messages",
    )
    add("--select", action="append", metavar="CODES", help="run only the rules with these codes or prefixes")
    add(
        "--ignore", action="append", metavar="CODES", help="do not run the rules with these codes or prefixes"
    )
    add(
        "--exclude",
        action="append",
        metavar="PATTERN",
        help="leave out files and folders, written as in .gitignore",
    )
    add(
        "--no-gitignore",
        dest="respect_gitignore",
        action="store_false",
        default=None,
        help="look at ignored files too",
    )
    add("-j", "--jobs", type=_number, metavar="N", help="worker processes (default: one per core)")
    add(
        "--output-format",
        choices=("text", "json", "sarif", "github"),
        help="how findings are written (default: text)",
    )
    add("--report", metavar="FILE.html", help="write an HTML report too")
    add(
        "--guide",
        metavar="URL",
        help="where your team publishes the migration guide: the report links to its pages about rules",
    )
    add("--statistics", action="store_true", default=None, help="a table of findings by rule instead of each")
    add(
        "--tensorflow",
        metavar="FOLDER",
        help="the installed tensorflow package to compare with (default: this Python's)",
    )
    add("-q", "--quiet", action="store_true", help="findings and failures only")


def _add_migrate(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--diff", action="store_true", help="print the changes as a diff, write nothing")
    add(
        "--check",
        action="store_true",
        help="write nothing, only the exit code says whether something would change",
    )
    add(
        "--py2",
        action="store_true",
        default=None,
        help="convert files of Python 2 first (needs the extra 'py2')",
    )
    add("--unsafe-fixes", action="store_true", default=None, help="apply fixes too that may change what runs")
    add(
        "--style",
        choices=("import", "explicit"),
        help="import tensorflow.compat.v1 (default), or write tf.compat.v1.X",
    )
    add(
        "--loops",
        choices=("fit", "keep"),
        help="turn training loops into fit where that is the same (default), or keep them",
    )
    add("--no-todo", dest="todo", action="store_false", default=None, help="write no TODO comments")
    add(
        "--allow-dirty",
        action="store_true",
        default=None,
        help="go on although git has uncommitted changes here",
    )


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of processes is needed, at least 1, not {text!r}")
    return int(text)


def _configured(options: argparse.Namespace) -> dict[str, Any]:
    """What `[tool.codemod]` says, with what the command line says on top."""
    file = config.find(options.paths)
    values: dict[str, Any] = {
        key.replace("-", "_"): value for key, value in (config.read(file) if file else {}).items()
    }
    for key, value in vars(options).items():
        if key in ("select", "ignore", "exclude"):
            lists = [
                part.strip()
                for text in value or ()
                for part in (text.split(",") if key != "exclude" else [text])
            ]
            if value is not None:
                values[key] = lists + (values.get(key, []) if key == "exclude" else [])
        elif value is not None or key not in values:
            values[key] = value
    return values


def _settings(values: dict[str, Any], *, scan: bool) -> Settings:
    select = tuple(code.upper() for code in values.get("select") or ())
    ignore = tuple(code.upper() for code in values.get("ignore") or ())
    _check_codes((*select, *ignore))
    return Settings(
        style=values.get("style") or "import",
        loops=values.get("loops") or "fit",
        unsafe_fixes=bool(values.get("unsafe_fixes")),
        py2=bool(values.get("py2")),
        select=select,
        ignore=ignore,
        todo=values.get("todo") is not False,
        tensorflow=values.get("tensorflow"),
        scan=scan,
    )


def _check_codes(prefixes: Sequence[str]) -> None:
    """A prefix that fits no rule is a typing error that would silently change what is run."""
    from codemod.rules import all_rules

    codes = [rule.code for rule in all_rules()]
    for prefix in prefixes:
        if not any(code.startswith(prefix) for code in codes):
            raise UsageError(f"no rule's code begins with {prefix!r}; 'rules' lists them")


# ---------------------------------------------------------------------------------------------------------------------
# The commands.


def _migrate(options: argparse.Namespace) -> int:
    """Rewrites what is safe in the files given, and lists what is left."""
    return _process(options, scan=False)


def _scan(options: argparse.Namespace) -> int:
    """Lists what the rules find in the files given; writes nothing but the reports."""
    return _process(options, scan=True)


def _rules(_: argparse.Namespace) -> int:
    """Lists the rules: code, name, what it is about."""
    from codemod.rules import all_rules

    for rule in sorted(all_rules(), key=lambda rule: rule.code):
        print(f"{rule.code}  {rule.name:20}  {rule.title}")
    return 0


def _explain(options: argparse.Namespace) -> int:
    """Shows a rule's page: what it does, why, before and after, and whether it is safe."""
    from codemod.rules import find_rule

    rule = find_rule(options.code)
    if rule is None:
        raise UsageError(f"there is no rule {options.code!r}; 'rules' lists them")
    print(f"{rule.code} ({rule.name}): {rule.page.strip()}")
    return 0


def _process(options: argparse.Namespace, *, scan: bool) -> int:
    values = _configured(options)
    settings = _settings(values, scan=scan)
    label = _tensorflow_label(settings)
    writes = not (scan or values.get("diff") or values.get("check"))
    _check_report(values)
    if _STDIN in values["paths"]:
        if len(values["paths"]) > 1:
            raise UsageError("standard input (-) goes alone, without other paths")
        return _process_stdin(values, settings, label, scan=scan)
    if writes and not values.get("allow_dirty"):
        _refuse_dirty(values["paths"])
    started = time.monotonic()
    files = _run(values, settings, write=writes)
    command = "scan" if scan else "migrate"
    result = RunResult(tuple(files), time.monotonic() - started, writes, command, label)
    _print(values, result)
    return _write_report(values, result)


def _tensorflow_label(settings: Settings) -> str:
    from codemod import tables

    try:
        return tables.load(settings.tensorflow).label
    except FileNotFoundError as error:
        raise UsageError(str(error)) from error


def _run(values: dict[str, Any], settings: Settings, *, write: bool) -> list[FileResult]:
    from codemod import discover, run

    excludes = values.get("exclude") or ()
    found = discover.discover(
        values["paths"], excludes, respect_gitignore=values.get("respect_gitignore") is not False
    )
    keep = bool(values.get("diff") or values.get("report"))
    with _progress(len(found), quiet=values["quiet"]) as advance:
        return run.run(found, run.Job(settings, write, keep), values.get("jobs") or _cores(), advance)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _process_stdin(values: dict[str, Any], settings: Settings, label: str, *, scan: bool) -> int:
    """The new text of standard input goes to standard output; it is always a dry run as far as files go."""
    from codemod import run

    started = time.monotonic()
    data = sys.stdin.buffer.read()
    keep = bool(values.get("diff") or values.get("report"))
    outcome = run.run_text(values["stdin_filename"], data, run.Job(settings, keep_texts=keep))
    prints = not (scan or values.get("diff") or values.get("check") or _format(values) != "text")
    command = "scan" if scan else "migrate"
    result = RunResult((outcome.result,), time.monotonic() - started, prints, command, label)
    if prints:
        sys.stdout.buffer.write(data if outcome.new is None else outcome.new)
        sys.stdout.buffer.flush()
    _print(values, result)
    return _write_report(values, result)


def _refuse_dirty(paths: Sequence[str]) -> None:
    """Refuses to write where git could not bring the files back."""
    for path in paths:
        place = Path(path)
        folder = place if place.is_dir() else place.parent
        if not folder.is_dir() or not any(
            (p / ".git").exists() for p in (folder.absolute(), *folder.absolute().parents)
        ):
            continue
        command = [
            "git",
            "status",
            "--porcelain",
            "--untracked-files=no",
            "--",
            "." if place.is_dir() else place.name,
        ]
        try:
            status = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return  # No git, so nobody to bring them back either way.
        if status.returncode:
            raise UsageError(
                f"git status failed in {folder}: {status.stderr.strip()}; --allow-dirty goes on without it"
            )
        if status.stdout.strip():
            count = len(status.stdout.splitlines())
            raise UsageError(
                f"{path} has uncommitted changes ({count} file{'s' if count > 1 else ''}); commit or stash them, "
                "or use --allow-dirty, --diff or --check"
            )


# ---------------------------------------------------------------------------------------------------------------------
# What is printed.


def _format(values: dict[str, Any]) -> str:
    return values.get("output_format") or "text"


def _print(values: dict[str, Any], result: RunResult) -> None:
    from codemod import report

    if values.get("diff") and _format(values) == "text":
        from codemod.report import diff

        if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
            _to_stdout(diff.render(result, color=True))
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(diff.encoded(result))
            sys.stdout.buffer.flush()
    if _format(values) == "text":
        color = sys.stderr.isatty() and "NO_COLOR" not in os.environ
        options: dict[str, Any] = {
            "color": color,
            "quiet": values["quiet"],
            "statistics": bool(values.get("statistics")),
        }
        if options["statistics"]:
            options |= {"pages": _pages(), "width": _width()}
        sys.stderr.write(_writable(report.render("text", result, **options), sys.stderr))
        sys.stderr.flush()
    else:
        options = {"pages": _pages()} if _format(values) == "sarif" else {}
        _to_stdout(report.render(_format(values), result, **options))


def _to_stdout(text: str) -> None:
    sys.stdout.write(_writable(text, sys.stdout))
    sys.stdout.flush()


def _writable(text: str, stream: Any) -> str:
    """Escapes what the stream's encoding has no bytes for, rather than to fail on it."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _pages() -> dict[str, str]:
    from codemod.rules import all_rules

    return {rule.code: rule.page for rule in all_rules()}


def _width() -> int:
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def _guide(values: dict[str, Any]) -> str:
    """The address of a rule's page in the guide, with `{code}` in it; empty if nobody said where the guide is."""
    url = values.get("guide") or ""
    if url and not url.startswith(("http://", "https://")):
        raise UsageError(f"--guide {url}: an address of the web is needed, such as https://example.org/guide")
    return f"{url.rstrip('/')}/rules/{{code}}.html" if url else ""


def _check_report(values: dict[str, Any]) -> None:
    """Refuses a report that has no place, before anything is written."""
    file = Path(values.get("report") or ".")
    if values.get("report") and (file.is_dir() or not file.parent.is_dir()):
        what = "is a folder" if file.is_dir() else f"cannot be written: there is no folder {file.parent}"
        raise UsageError(f"the report {file} {what}")


def _write_report(values: dict[str, Any], result: RunResult) -> int:
    if values.get("report"):
        from codemod import report

        file = Path(values["report"])
        try:
            file.write_text(report.render("html", result, pages=_pages(), guide=_guide(values)), "utf-8")
        except OSError as error:
            raise UsageError(f"the report {file} cannot be written: {error.strerror}") from error
    return result.exit_code


@contextlib.contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[FileResult], None] | None]:
    """A bar on a terminal; nothing elsewhere."""
    if quiet or total < 2 or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Without a thread of its own: the pool forks, which is only safe in a process with one thread.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as progress:
        task = progress.add_task("files", total=total)
        last = time.monotonic()

        def advance(result: FileResult) -> None:
            nonlocal last
            progress.advance(task)
            if time.monotonic() - last > 0.1 or progress.tasks[0].finished:
                last = time.monotonic()
                progress.refresh()

        yield advance
