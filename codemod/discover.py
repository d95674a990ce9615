"""Which files a run looks at.

A folder is walked without what git ignores (all `.gitignore` files from the repository's root down), what the user
excludes, and the folders that hold nobody's own code (virtual environments, build output). Symbolic links to files are
followed inside the tree; those that lead out of it, and those that lead in circles, are named and left. What is named on
the command line is always looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".ipynb")

DEFAULT_EXCLUDES = (
    ".git/",
    ".hg/",
    ".svn/",
    ".venv/",
    "venv/",
    ".env/",
    ".tox/",
    ".nox/",
    ".eggs/",
    "*.egg-info/",
    "__pycache__/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".ipynb_checkpoints/",
    "node_modules/",
    "site-packages/",
    "build/",
    "dist/",
)


@dataclass(frozen=True, slots=True)
class Found:
    """One file that a run has to account for.

    Attributes:
      path: As it is shown.
      reason: Why it is not looked at; empty if it is.
      failed: Whether that reason is a failure rather than a decision.
    """

    path: str
    reason: str = ""
    failed: bool = False


@dataclass(slots=True)
class _Walk:
    root: Path
    excludes: GitIgnoreSpec
    ignores: list[tuple[Path, GitIgnoreSpec]]
    visited: set[tuple[int, int]] = field(default_factory=set)


def discover(
    paths: Sequence[str], excludes: Iterable[str] = (), *, respect_gitignore: bool = True
) -> list[Found]:
    """Finds the files below the given paths.

    Args:
      paths: Files and folders.
      excludes: Patterns as in `.gitignore`, besides `DEFAULT_EXCLUDES`.
      respect_gitignore: Whether `.gitignore` files count.

    Returns:
      The files, sorted, each once.
    """
    found: dict[str, Found] = {}
    excluded = GitIgnoreSpec.from_lines([*DEFAULT_EXCLUDES, *excludes])
    own = GitIgnoreSpec.from_lines(list(excludes))
    for given in paths:
        path = Path(given)
        if path.is_dir():
            walk = _Walk(path, excluded, _ignores_above(path) if respect_gitignore else [])
            for item in _walk(walk, path, respect_gitignore):
                known = found.setdefault(_identity(item.path), item)
                if Path(known.path).is_symlink() and not Path(item.path).is_symlink():
                    found[_identity(item.path)] = item  # A file goes by its own name, not by a link's.
        elif path.is_file():
            item = (
                Found(str(path), "excluded")
                if own.match_file(_relative(path, Path.cwd()))
                else Found(str(path))
            )
            found.setdefault(_identity(given), item)
        elif path.is_symlink():
            found.setdefault(given, Found(given, "a symbolic link that leads nowhere", failed=True))
        elif path.exists():
            found.setdefault(given, Found(given, "neither a file nor a folder", failed=True))
        else:
            found.setdefault(given, Found(given, "no such file or folder", failed=True))
    return sorted(found.values(), key=lambda item: item.path)


def _identity(path: str) -> str:
    return os.path.realpath(path)


def _relative(path: Path, root: Path) -> str:
    try:
        return Path(os.path.abspath(path)).relative_to(os.path.abspath(root)).as_posix()  # noqa: PTH100 - resolve() follows links
    except ValueError:
        return path.name


def _ignores_above(path: Path) -> list[tuple[Path, GitIgnoreSpec]]:
    """The `.gitignore` files between the repository's root and a folder, the folder's own left out."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() follows links
    repository = next((p for p in (absolute, *absolute.parents) if (p / ".git").exists()), None)
    if repository is None:
        return []
    above = [p for p in (*reversed(absolute.parents),) if p == repository or repository in p.parents]
    specs = [(p, spec) for p in above if (spec := _read_ignore(p)) is not None]
    info = repository / ".git" / "info" / "exclude"
    if info.is_file():
        specs.insert(
            0, (repository, GitIgnoreSpec.from_lines(info.read_text("utf-8", "replace").splitlines()))
        )
    # What is named on the command line is looked at, though it may lie in a folder that git ignores.
    return [] if _is_matched(specs, absolute, "/") else specs


def _read_ignore(folder: Path) -> GitIgnoreSpec | None:
    file = folder / ".gitignore"
    if not file.is_file():
        return None
    return GitIgnoreSpec.from_lines(file.read_text("utf-8", "replace").splitlines())


def _walk(walk: _Walk, folder: Path, respect_gitignore: bool) -> Iterator[Found]:
    try:
        status = folder.stat()
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Found(str(folder), f"cannot be read: {error.strerror}", failed=True)
        return
    walk.visited.add((status.st_dev, status.st_ino))
    own = _read_ignore(folder) if respect_gitignore else None
    if own is not None:
        walk.ignores.append((Path(os.path.abspath(folder)), own))  # noqa: PTH100 - resolve() follows links
    for entry in entries:
        yield from _entry(walk, entry, respect_gitignore)
    if own is not None:
        walk.ignores.pop()


def _entry(walk: _Walk, entry: os.DirEntry[str], respect_gitignore: bool) -> Iterator[Found]:
    is_link = entry.is_symlink()
    try:
        is_folder = entry.is_dir()
        is_file = entry.is_file()
    except OSError:
        is_folder = is_file = False
    path = Path(entry.path)
    if not is_folder and not entry.name.endswith(SUFFIXES):
        return
    if _is_ignored(walk, path, is_folder):
        return
    if is_link:
        yield from _link(walk, path, is_folder, is_file)
    elif is_folder:
        yield from _walk(walk, path, respect_gitignore)
    elif is_file:
        yield Found(str(path))
    else:
        yield Found(str(path), "not a regular file")


def _link(walk: _Walk, path: Path, is_folder: bool, is_file: bool) -> Iterator[Found]:
    """A link to a file inside the tree is the file; a link to a folder is never walked: it is inside, outside or a circle."""
    if is_folder:
        return
    root = os.path.realpath(walk.root)
    target = os.path.realpath(path)
    if not is_file:
        yield Found(str(path), "a symbolic link that leads nowhere")
    elif os.path.commonpath([root, target]) != root:
        yield Found(str(path), "a symbolic link that leads out of the tree")
    else:
        yield Found(str(path))


def _is_ignored(walk: _Walk, path: Path, is_folder: bool) -> bool:
    tail = "/" if is_folder else ""
    if walk.excludes.match_file(_relative(path, walk.root) + tail):
        return True
    return _is_matched(walk.ignores, path, tail)


def _is_matched(ignores: Sequence[tuple[Path, GitIgnoreSpec]], path: Path, tail: str) -> bool:
    ignored = False
    for base, spec in ignores:  # The deeper file has the last word.
        result = spec.check_file(_relative(path, base) + tail)
        if result.include is not None:
            ignored = result.include
    return ignored
