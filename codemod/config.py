"""Settings from `[tool.codemod]` of the nearest `pyproject.toml`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same library under its name from before Python 3.11
    import tomli as tomllib

# Key -> what it must be. A tuple lists the words that are allowed.
KEYS: Mapping[str, type | tuple[str, ...]] = {
    "exclude": list,
    "select": list,
    "ignore": list,
    "style": ("import", "explicit"),
    "loops": ("fit", "keep"),
    "unsafe-fixes": bool,
    "py2": bool,
    "todo": bool,
    "jobs": int,
    "output-format": ("text", "json", "sarif", "github"),
    "allow-dirty": bool,
    "respect-gitignore": bool,
    "statistics": bool,
    "tensorflow": str,
    "guide": str,
}


class ConfigError(Exception):
    """A `pyproject.toml` that cannot be used; the message names the file and the key."""


def find(paths: Sequence[str]) -> Path | None:
    """Finds the `pyproject.toml` with a `[tool.codemod]` that is nearest to the first path, upwards."""
    start = Path(paths[0] if paths and paths[0] != "-" else ".").absolute()
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file() and _table(file) is not None:
            return file
    return None


def read(file: Path) -> dict[str, Any]:
    """Reads the settings.

    Raises:
      ConfigError: If the file is not TOML, or a key is unknown or of the wrong kind.
    """
    table = _table(file)
    if table is None:
        raise ConfigError(f"{file}: there is no [tool.codemod] in it")
    for key, value in table.items():
        expected = KEYS.get(key)
        if expected is None:
            raise ConfigError(f"{file}: [tool.codemod] has no key {key!r}; the keys are {', '.join(KEYS)}")
        if isinstance(expected, tuple):
            if value not in expected:
                raise ConfigError(f"{file}: {key} must be one of {', '.join(expected)}, not {value!r}")
        elif type(value) is not expected or (
            isinstance(value, list) and not all(isinstance(v, str) for v in value)
        ):
            kind = (
                "a list of strings"
                if expected is list
                else {bool: "true or false", int: "a number", str: "a string"}[expected]
            )
            raise ConfigError(f"{file}: {key} must be {kind}, not {value!r}")
    return table


def _table(file: Path) -> dict[str, Any] | None:
    try:
        data = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: not TOML: {error}") from error
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    table = data.get("tool", {}).get("codemod")
    return table if isinstance(table, dict) else None
