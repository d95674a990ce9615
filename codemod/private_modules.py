"""What the private modules of an installed TensorFlow hold, read from their text without importing them.

Without the files, a list of modules says which there are, and nothing is said about what is in them.
"""

from __future__ import annotations

import re
from pathlib import Path

from codemod.api_files import imports

# These two are searched for behind a line end, which is many times as fast as `^`: texts are given one in front.
_STAR_IMPORT = re.compile(r"\nfrom[ \t]+(\S+)[ \t]+import[ \t]+\*")
_TOP_LEVEL = re.compile(r"\n(?=[^\s#)\]}])")

# What stands at the top level defines names of a module, and what stands in the blocks of its `try` and `if`.
_BLOCK = re.compile(r"(?:try|except|else|finally|if|elif|with|for|while)\b")
_DEFINITION = re.compile(r"^[ \t]*(?:async )?(?:def|class) (\w+)", re.MULTILINE)
_ASSIGNMENT = re.compile(r"^[ \t]*((?:\w+ *(?:, *\w+ *)*=(?!=) *)+|\w+ *:(?=[^=\n]+=)|^\w+: )", re.MULTILINE)
_IMPORTED = re.compile(r"^[ \t]*(?:from \S+ )?import (\([^)]*\)|[^\n]*)", re.MULTILINE)
_RENAMED = re.compile(r"\w+\s+as\s+")
_ONLY_TF1 = re.compile(r"(?<=^if tf2.enabled\(\):\n)((?: .*\n)*)else:\n(?: .*\n)*", re.MULTILINE)
_WORD = re.compile(r"\w+")


class PrivateModules:
    """The modules below `tensorflow.python` and its neighbours.

    Args:
      folder: The `tensorflow` folder; None if it is not installed.
      modules: The modules as dotted names; only needed where there is no folder to look into.
    """

    def __init__(self, folder: Path | None, modules: frozenset[str]) -> None:
        self._folder, self._modules = folder, modules
        # Without the files, what a package holds is its modules.
        self._packages = frozenset(module.rpartition(".")[0] for module in modules)
        self._sources: dict[str, str | None] = {}
        self._checked: dict[str, bool] = {}
        self._imports: dict[str, dict[str, str]] = {}
        self._definitions: dict[str, frozenset[str]] = {}
        self._tops: dict[str, frozenset[str]] = {}

    def holds(self, name: str) -> bool:
        """Tells whether a private path is a module, or something at the top level of one."""
        parts = name.split(".")
        for length in range(len(parts), 1, -1):
            module = ".".join(parts[:length])
            if self._is_module(module):
                return length == len(parts) or (
                    module not in self._packages and self._defines(module, parts[length])
                )
        return False

    def _is_module(self, name: str) -> bool:
        if self._folder is None:
            return name in self._modules
        known = self._checked.get(name)
        if known is None:
            path = self._folder.parent.joinpath(*name.split("."))
            known = self._checked[name] = path.is_dir() or any(
                path.with_name(path.name + suffix).is_file() for suffix in (".py", ".so", ".pyd")
            )
        return known

    def _defines(self, module: str, symbol: str) -> bool:
        """Looks for a name at the top level of a private module; without the file, nobody can say it is not there."""
        if self._folder is None or symbol.startswith("__") or module.endswith("_pb2"):
            return True  # What a protocol buffer's module holds is only made when it is imported.
        defined = self._defined(module)
        return symbol in defined or "*" in defined

    def _defined(self, module: str) -> frozenset[str]:
        """What stands at the top level of a private module, with what its `import *` bring; `*` if nobody can tell."""
        defined = self._definitions.get(module)
        if defined is None:
            text = self._source(module)
            defined = frozenset("*") if text is None else self._own_names(module, text)
            self._definitions[module] = defined  # Seen by modules that import each other.
            for origin in _star_imports(text or ""):
                known = origin.startswith("tensorflow.") and not origin.endswith("_pb2")
                brought = self._defined(origin) if known else frozenset("*")
                defined |= {name for name in brought if not name.startswith("_")}
            self._definitions[module] = defined
        return defined

    def _own_names(self, module: str, text: str) -> frozenset[str]:
        names = self._tops.get(module)
        if names is None:
            names = self._tops[module] = _top_names(text)
        return names

    def _source(self, module: str) -> str | None:
        """A private module's text; empty for a folder without `__init__.py`, None for what is not written in Python."""
        if module not in self._sources and self._folder is not None:
            path = self._folder.parent.joinpath(*module.split("."))
            candidates = [path.with_name(path.name + ".py"), path / "__init__.py"]
            found = next((c for c in candidates if c.is_file()), None)
            text = found.read_text("utf-8", "replace") if found else "" if path.is_dir() else None
            self._sources[module] = text
        return self._sources.get(module)

    def imported_from(self, module: str, symbol: str) -> str:
        """Where a private module has a name from, if it only imports it; else an empty string."""
        text = self._source(module) or ""
        origins = self._imports.get(module)
        if origins is None:
            origins = self._imports[module] = {}
            for origin, name, public in imports(text):
                origins.setdefault(public, f"{origin}.{name}")
        if symbol in origins:
            return origins[symbol]
        if self._folder is not None and symbol not in self._own_names(module, text):
            for origin in _star_imports(text):
                if origin.startswith("tensorflow.") and symbol in self._defined(origin):
                    return f"{origin}.{symbol}"
        return ""


def _star_imports(text: str) -> list[str]:
    """The modules of which a module's text imports all names."""
    found: list[str] = _STAR_IMPORT.findall(f"\n{text}")
    return found


def _top_names(text: str) -> frozenset[str]:
    """What a module's text defines or imports by name at its top level."""
    names: set[str] = set()
    if "if tf2.enabled():" in text:
        text = _ONLY_TF1.sub(r"\1", text)
    for statement in _TOP_LEVEL.split(f"\n{text}"):
        if not _BLOCK.match(statement):
            statement = (
                statement.partition("\n")[0] if statement.startswith(("def ", "class ", "@")) else statement
            )
        names.update(_DEFINITION.findall(statement))
        for targets in _ASSIGNMENT.findall(statement):
            names.update(_WORD.findall(targets))
        for imported in _IMPORTED.findall(statement):
            names.update(_WORD.findall(_RENAMED.sub("", imported)))
    return frozenset(names)
