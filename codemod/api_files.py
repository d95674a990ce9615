"""How TensorFlow's and Keras's generated `__init__.py` files are read: they only import, one name after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

# Searched for behind a line end, which is many times as fast as `^`: texts are given one in front.
_IMPORT = re.compile(r"\nfrom[ \t]+([\w.]+)[ \t]+import[ \t]+(?:\(([^)]*)\)|(\w+)(?:[ \t]+as[ \t]+(\w+))?)")


def read_file(path: Path, prefix: str, package: str, names: dict[str, str]) -> None:
    """Adds what one generated `__init__.py` imports; an import from the namespace itself is one of its modules."""
    for module, name, public in imports(path.read_text("utf-8")):
        if public.startswith("_") and not public.startswith("__"):
            continue
        # What is public in Keras stands beside what defines it.
        internal = f"{module}.".startswith(f"{package}.") and not module.startswith("keras.src.")
        key = f"{prefix}.{public}" if prefix else public
        if internal:
            names.setdefault(key, "")
        else:
            names[key] = f"{module}.{name}"


def imports(text: str) -> Iterator[tuple[str, str, str]]:
    """The names that a module's text imports at its top level: module, name there, name here."""
    for module, several, single, alias in _IMPORT.findall(f"\n{text}"):
        for name, asname in [(single, alias)] if single else map(_split_alias, several.split(",")):
            if name:
                yield module, name, asname or name


def _split_alias(text: str) -> tuple[str, str]:
    """`X as Y` as two names; the second is empty if there is none."""
    name, _, alias = text.strip().partition(" as ")
    return name.strip(), alias.strip()
