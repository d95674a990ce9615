"""How TensorFlow's and Keras's generated `__init__.py` files are read: they only import, one name after the other."""

from __future__ import annotations

import re
from pathlib import Path

IMPORT = re.compile(
    r"^from[ \t]+([\w.]+)[ \t]+import[ \t]+(?:\(([^)]*)\)|(\w+)(?:[ \t]+as[ \t]+(\w+))?)", re.MULTILINE
)


def read_file(path: Path, prefix: str, package: str, names: dict[str, str]) -> None:
    """Adds what one generated `__init__.py` imports; an import from the namespace itself is one of its modules."""
    text = path.read_text("utf-8")
    for module, several, single, alias in IMPORT.findall(text):
        pairs = [(single, alias)] if single else [split_alias(p) for p in several.split(",") if p.strip()]
        for name, asname in pairs:
            public = asname or name
            if public.startswith("_") and not public.startswith("__"):
                continue
            # What is public in Keras stands beside what defines it.
            internal = f"{module}.".startswith(f"{package}.") and not module.startswith("keras.src.")
            key = f"{prefix}.{public}" if prefix else public
            if internal:
                names.setdefault(key, "")
            else:
                names[key] = f"{module}.{name}"


def split_alias(text: str) -> tuple[str, str]:
    """`X as Y` as two names; the second is empty if there is none."""
    name, _, alias = text.strip().partition(" as ")
    return name.strip(), alias.strip()
