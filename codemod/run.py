"""Runs many files through worker processes, and writes what they hand back.

Every file is read and migrated in a worker, on a thread with a deep stack, so that a text that crashes Python or a native
parser takes one worker with it and one file fails. Results come back to the parent, which alone writes to the terminal. A
file is written by its worker, to a temporary file beside it that then replaces it, so that there is never half a file.
"""

from __future__ import annotations

import contextlib
import errno
import multiprocessing
import os
import signal
import stat
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from codemod.discover import Found
from codemod.results import FileResult
from codemod.settings import Settings

_STACK = 512 * 1024 * 1024  # Address space, not memory: only what is used is ever backed.
_RECURSION = 30_000


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done with every file.

    Attributes:
      settings: What the user asked for.
      write: Whether changed files are written.
      keep_texts: Whether results carry the texts before and after.
    """

    settings: Settings
    write: bool = False
    keep_texts: bool = False


def run(
    files: Sequence[Found], job: Job, workers: int = 1, report: Callable[[FileResult], None] | None = None
) -> list[FileResult]:
    """Takes files through.

    Args:
      files: What was found.
      job: What is to be done.
      workers: Number of processes.
      report: Called in this process with each result, in the order in which they come.

    Returns:
      One result per file, sorted by path.
    """
    results: list[FileResult] = []
    for result in _results(files, job, workers):
        results.append(result)
        if report is not None:
            report(result)
    return sorted(results, key=lambda result: result.path)


def _results(files: Sequence[Found], job: Job, workers: int) -> Iterator[FileResult]:
    waiting: deque[str] = deque()
    for found in files:
        if found.reason:
            yield FileResult(found.path, "failed" if found.failed else "skipped", found.reason)
        else:
            waiting.append(found.path)
    if waiting:
        _load()
        yield from _Pool(job, min(workers, len(waiting))).run(waiting)


def _load() -> None:
    """Loads in the parent what forked workers then share."""
    from codemod import migrate, rules

    assert migrate is not None
    rules.all_rules()


# ---------------------------------------------------------------------------------------------------------------------
# The parent's side.


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection[list[str] | None, FileResult]
    open: deque[str]


class _Pool:
    """Workers that may die: one that does costs the file it was working on."""

    def __init__(self, job: Job, count: int) -> None:
        self.job = job
        self.count = count
        self.context = _context()

    def run(self, waiting: deque[str]) -> Iterator[FileResult]:
        workers: dict[int, _Worker] = {}
        try:
            while waiting or any(worker.open for worker in workers.values()):
                while waiting and len(workers) < self.count:
                    worker = self._start()
                    workers[id(worker)] = worker
                    self._give(worker, waiting)
                yield from self._receive(workers, waiting)
        finally:
            for worker in workers.values():
                _end(worker)

    def _start(self) -> _Worker:
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=_work, args=(theirs, self.job), daemon=True)  # type: ignore[attr-defined]
        process.start()
        theirs.close()
        return _Worker(process, ours, deque())

    def _give(self, worker: _Worker, waiting: deque[str]) -> None:
        """Gives a few files at once, fewer towards the end, so that no worker waits for the pipe or for another."""
        size = max(1, min(8, len(waiting) // (self.count * 2)))
        batch = [waiting.popleft() for _ in range(min(size, len(waiting)))]
        worker.open.extend(batch)
        with contextlib.suppress(
            BrokenPipeError, ConnectionResetError
        ):  # It is dead, which `_receive` will see.
            worker.connection.send(batch)

    def _receive(self, workers: dict[int, _Worker], waiting: deque[str]) -> Iterator[FileResult]:
        ready = wait([worker.connection for worker in workers.values()])
        for key, worker in list(workers.items()):
            if worker.connection not in ready:
                continue
            try:
                result = worker.connection.recv()
            except (EOFError, ConnectionResetError):
                del workers[key]
                yield from self._bury(worker, waiting)
                continue
            worker.open.popleft()
            yield result
            if not worker.open and waiting:
                self._give(worker, waiting)

    def _bury(self, worker: _Worker, waiting: deque[str]) -> Iterator[FileResult]:
        """A dead worker's file fails; what it had not begun goes back to the front."""
        worker.process.join()
        worker.connection.close()
        if worker.open:
            yield FileResult(worker.open.popleft(), "failed", _how_it_died(worker.process.exitcode))
            waiting.extendleft(reversed(worker.open))
            worker.open.clear()


def _context() -> BaseContext:
    """Forked workers start at once; where forking is not possible or not safe, fresh ones are started."""
    methods = multiprocessing.get_all_start_methods()
    forks = "fork" in methods and sys.platform.startswith("linux") and threading.active_count() == 1
    return multiprocessing.get_context("fork" if forks else "spawn")


def _how_it_died(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"the worker process was ended by {signal.Signals(-code).name} while it had this file; nothing was written"
    return f"the worker process ended with status {code} while it had this file; nothing was written"


def _end(worker: _Worker) -> None:
    """Ends a worker that waits for files; one that is at work is ended too."""
    if worker.open:
        worker.process.terminate()
    else:
        with contextlib.suppress(OSError):
            worker.connection.send(None)
    worker.process.join()
    worker.connection.close()


# ---------------------------------------------------------------------------------------------------------------------
# The workers' side.


def _work(connection: Connection[FileResult, list[str] | None], job: Job) -> None:
    """A worker's life: files in, results out, on a thread whose stack is deep enough for deep trees."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent is interrupted, and ends its workers.
    sys.setrecursionlimit(_RECURSION)
    threading.stack_size(_STACK)
    thread = threading.Thread(target=_loop, args=(connection, job))
    thread.start()
    thread.join()


def _loop(connection: Connection[FileResult, list[str] | None], job: Job) -> None:
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):  # The parent has gone.
        while (batch := connection.recv()) is not None:
            for path in batch:
                connection.send(process(path, job))


def process(path: str, job: Job) -> FileResult:
    """Takes one file through, in this process.

    Args:
      path: The file.
      job: What is to be done.

    Returns:
      How it ended. Nothing is raised for what belongs to the file, an error of the codemod's own included.
    """
    from codemod import migrate

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        return FileResult(path, "failed", f"cannot be read: {error.strerror or error}")
    try:
        result, new = migrate.migrate_bytes(path, data, job.settings, keep_texts=job.keep_texts)
    except RecursionError:
        return FileResult(path, "failed", "nested too deeply; nothing was written")
    except Exception as error:  # noqa: BLE001 - one file must not end the run; it is named, and the exit code is 2
        return FileResult(path, "failed", f"internal error, nothing written: {type(error).__name__}: {error}")
    if new is not None and job.write:
        try:
            write_atomically(path, new, data)
        except OSError as error:
            reason = f"cannot be written, left as it was: {error.strerror or error}"
            return replace(_unwritten(result), status="failed", reason=reason)
    return result


def _unwritten(result: FileResult) -> FileResult:
    findings = tuple(replace(finding, fixed=False) for finding in result.findings)
    return replace(result, findings=findings, before=None, after=None)


def write_atomically(path: str, data: bytes, expected: bytes) -> None:
    """Replaces a file's bytes at once: at every moment there is the old file or the new one.

    A symbolic link stays one: what it leads to is replaced. Mode and, where permitted, owner stay.

    Args:
      path: The file.
      data: Its new bytes.
      expected: The bytes that it must still have.

    Raises:
      OSError: If it cannot be written, is read-only, or was changed meanwhile. The file is then as it was.
    """
    target = os.path.realpath(path)
    status = os.stat(target)
    if not os.access(target, os.W_OK) or not status.st_mode & stat.S_IWUSR:
        raise PermissionError(errno.EACCES, "the file is read-only", path)
    handle, temporary = tempfile.mkstemp(
        prefix=f".{os.path.basename(target)}.", suffix=".codemod", dir=os.path.dirname(target)
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if hasattr(os, "chown") and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):
                os.chown(temporary, status.st_uid, status.st_gid)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
        if Path(target).read_bytes() != expected:
            raise OSError(errno.EBUSY, "it was changed by something else meanwhile", path)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
