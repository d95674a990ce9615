"""Runs many files through worker processes, and writes what they hand back.

Every file is read and migrated in a worker, on a thread with a deep stack, so that a text that crashes Python or a native
parser takes one worker with it and one file fails. What a worker hands back the parent writes, to a temporary file beside
the target that then replaces it: there is never half a file, and a worker's death writes nothing.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import hashlib
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
from typing import TypeAlias

from codemod.discover import Found
from codemod.results import FileResult
from codemod.settings import Settings

# Bytes of address space, not of memory: only what is used is ever backed.
_STACKS = (512 << 20, 64 << 20, 16 << 20)
# Objects made and not freed since the last collection, from which on the next is worth its time.
_GARBAGE = 500_000
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a worker hands back for one file.

    Attributes:
      result: How it ended.
      new: Its new bytes, if it changed.
      digest: What its old bytes were, so that nobody else's change is overwritten.
    """

    result: FileResult
    new: bytes | None = None
    digest: bytes = b""


Task: TypeAlias = "tuple[str, bytes | None]"


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


def run_text(path: str, data: bytes, job: Job) -> Outcome:
    """Takes one text through, in a worker process too; nothing is written."""
    _load()
    return next(_Pool(1, job).run(deque([(path, data)])))


def _results(files: Sequence[Found], job: Job, workers: int) -> Iterator[FileResult]:
    waiting: deque[Task] = deque()
    for found in files:
        if found.reason:
            yield FileResult(found.path, "failed" if found.failed else "skipped", found.reason)
        else:
            waiting.append((found.path, None))
    if waiting:
        if workers > 1:
            waiting = deque(sorted(waiting, key=_size, reverse=True))
        _load()
        for outcome in _Pool(min(workers, len(waiting)), job).run(waiting):
            yield _written(outcome) if job.write and outcome.new is not None else outcome.result


def _size(task: Task) -> int:
    """A file's size. The large ones go first, so that at the end no worker is left alone with one."""
    try:
        return os.stat(task[0]).st_size  # noqa: PTH116 - a tenth of the time of Path.stat
    except OSError:
        return 0  # The worker will say what is the matter.


def _written(outcome: Outcome) -> FileResult:
    """Writes a changed file."""
    result = outcome.result
    assert outcome.new is not None
    try:
        write_atomically(result.path, outcome.new, outcome.digest)
    except OSError as error:
        findings = tuple(replace(finding, fixed=False) for finding in result.findings)
        reason = f"cannot be written, left as it was: {error.strerror or error}"
        return replace(result, status="failed", reason=reason, findings=findings, before=None, after=None)
    return result


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
    connection: Connection[list[Task] | None, Outcome]
    open: deque[Task]


class _Pool:
    """Workers that may die: one that does costs the file that it was working on."""

    def __init__(self, count: int, job: Job) -> None:
        self.job = job
        self.count = count
        self.context = _context()

    def run(self, waiting: deque[Task]) -> Iterator[Outcome]:
        workers: dict[int, _Worker] = {}
        try:
            while waiting or any(worker.open for worker in workers.values()):
                while waiting and len(workers) < self.count:
                    worker = self._start([worker.connection for worker in workers.values()])
                    workers[id(worker)] = worker
                    self._give(worker, waiting)
                yield from self._receive(workers, waiting)
        finally:
            for worker in workers.values():
                _end(worker)

    def _start(self, open_ends: list[Connection[list[Task] | None, Outcome]]) -> _Worker:
        ours, theirs = self.context.Pipe()
        # A forked worker inherits the parent's ends of all pipes; as long as it has them, it does not see the parent die.
        inherited = [*open_ends, ours] if self.context.get_start_method() == "fork" else []
        process = self.context.Process(target=_work, args=(theirs, self.job, inherited), daemon=True)  # type: ignore[attr-defined]
        process.start()
        theirs.close()
        return _Worker(process, ours, deque())

    def _give(self, worker: _Worker, waiting: deque[Task]) -> None:
        """Gives a few files at once, fewer towards the end, so that no worker waits for the pipe or for another."""
        size = max(1, min(8, len(waiting) // (self.count * 2)))
        batch = [waiting.popleft() for _ in range(min(size, len(waiting)))]
        worker.open.extend(batch)
        with contextlib.suppress(
            BrokenPipeError, ConnectionResetError
        ):  # It is dead, which `_receive` will see.
            worker.connection.send(batch)

    def _receive(self, workers: dict[int, _Worker], waiting: deque[Task]) -> Iterator[Outcome]:
        ready = wait([worker.connection for worker in workers.values()])
        for key, worker in list(workers.items()):
            if worker.connection not in ready:
                continue
            try:
                outcome = worker.connection.recv()
            except (EOFError, ConnectionResetError):
                del workers[key]
                yield from self._bury(worker, waiting)
                continue
            worker.open.popleft()
            if not worker.open and waiting:
                self._give(worker, waiting)
            yield outcome

    def _bury(self, worker: _Worker, waiting: deque[Task]) -> Iterator[Outcome]:
        """A dead worker's file fails; what it had not begun goes back to the front."""
        worker.process.join()
        worker.connection.close()
        if worker.open:
            path, _ = worker.open.popleft()
            waiting.extendleft(reversed(worker.open))
            worker.open.clear()
            yield Outcome(FileResult(path, "failed", _how_it_died(worker.process.exitcode)))


def _context() -> BaseContext:
    """Forked workers start at once; where forking is not possible or not safe, fresh ones are started."""
    methods = multiprocessing.get_all_start_methods()
    forks = "fork" in methods and sys.platform.startswith("linux") and threading.active_count() == 1
    return multiprocessing.get_context("fork" if forks else "spawn")


def _how_it_died(code: int | None) -> str:
    what = f"ended with status {code}"
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            what = f"was ended by {signal.Signals(-code).name}"
    return f"the worker process {what} while it had this file; nothing was written"


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


def _work(
    connection: Connection[Outcome, list[Task] | None],
    job: Job,
    inherited: Sequence[Connection[list[Task] | None, Outcome]] = (),
) -> None:
    """A worker's life: files in, results out, on a thread whose stack is deep enough for deep trees."""
    for end in inherited:
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent is interrupted, and ends its workers.
    sys.setrecursionlimit(_RECURSION)
    for size in _STACKS:
        threading.stack_size(size)
        thread = threading.Thread(target=_loop, args=(connection, job))
        try:
            thread.start()
        except RuntimeError:  # Address space is limited here; a smaller stack will do for most texts.
            continue
        thread.join()
        return
    _loop(connection, job)


def _loop(connection: Connection[Outcome, list[Task] | None], job: Job) -> None:
    # Trees are many small objects that live until their file is done: looking through them for garbage again and again
    # takes a third of the time. What is left over is collected between batches.
    gc.freeze()
    gc.disable()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):  # The parent has gone.
        while (batch := connection.recv()) is not None:
            for path, data in batch:
                connection.send(process(path, data, job))
            if gc.get_count()[0] > _GARBAGE:
                gc.collect()


def process(path: str, data: bytes | None, job: Job) -> Outcome:
    """Takes one file through, in this process.

    Args:
      path: The file.
      data: Its bytes; None to read them.
      job: What is to be done.

    Returns:
      How it ended. Nothing is raised for what belongs to the file, an error of the codemod's own included.
    """
    from codemod import migrate

    try:
        if data is None:
            data = Path(path).read_bytes()
        result, new = migrate.migrate_bytes(path, data, job.settings, keep_texts=job.keep_texts)
    except OSError as error:
        return Outcome(FileResult(path, "failed", f"cannot be read: {error.strerror or error}"))
    except (RecursionError, MemoryError):
        return Outcome(FileResult(path, "failed", "nested too deeply; nothing was written"))
    except Exception as error:  # noqa: BLE001 - one file must not end the run; it is named, and the exit code is 2
        reason = f"internal error, nothing written: {type(error).__name__}: {error}"
        return Outcome(FileResult(path, "failed", reason))
    return Outcome(result, new, _digest(data) if new is not None else b"")


# ---------------------------------------------------------------------------------------------------------------------
# Writing.


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def write_atomically(path: str, data: bytes, digest: bytes) -> None:
    """Replaces a file's bytes at once: at every moment there is the old file or the new one.

    A symbolic link stays one: what it leads to is replaced. Mode and, where permitted, owner stay.

    Args:
      path: The file.
      data: Its new bytes.
      digest: The digest of the bytes that it must still have.

    Raises:
      OSError: If it cannot be written, is read-only, or was changed meanwhile. The file is then as it was.
    """
    target = Path(os.path.realpath(path))
    status = target.stat()
    if not os.access(target, os.W_OK) or not status.st_mode & stat.S_IWUSR:
        raise PermissionError(errno.EACCES, "the file is read-only", path)
    handle, name = tempfile.mkstemp(prefix=".codemod-", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if hasattr(os, "chown") and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):
                os.chown(temporary, status.st_uid, status.st_gid)
        temporary.chmod(stat.S_IMODE(status.st_mode))
        if _digest(target.read_bytes()) != digest:
            raise OSError(errno.EBUSY, "it was changed by something else meanwhile", path)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
