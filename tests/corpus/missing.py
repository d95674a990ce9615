"""Which names of a file the installed TensorFlow lacks: asked of TensorFlow itself, not of the codemod's tables.

Run as a program in a process of its own, `python -m tests.corpus.missing`: reads paths from standard input, one a line,
and prints one line of JSON for each.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

PACKAGES = ("tensorflow", "keras", "tf_keras", "tf_slim", "bridge", "tensorflow_estimator")

_MISSING = object()


def missing_names(text: str) -> list[tuple[int, str]]:
    """Finds the names that do not exist.

    A name counts if it begins with something that the file imports from TensorFlow or its kin, wherever that import
    stands, and binds nowhere else.

    Args:
      text: A Python file's.

    Returns:
      Pairs of line and name, sorted.

    Raises:
      SyntaxError: if it is no Python.
    """
    tree = ast.parse(text)
    imported: dict[str, str] = {}
    found: set[tuple[int, str]] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name):
                    imported[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
                    if _lookup(alias.name) is _MISSING:
                        found.add((node.lineno, alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level and _is_ours(node.module):
            for alias in node.names:
                name = node.module if alias.name == "*" else f"{node.module}.{alias.name}"
                if _lookup(name) is _MISSING:
                    found.add((node.lineno, name))
                imported[alias.asname or alias.name] = name
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
    gone = {name for _, name in found}
    for line, chain in _chains(tree):
        root, *rest = chain
        if root in imported and root not in bound and imported[root] not in gone:
            prefix = _first_missing(imported[root], rest)
            if prefix:
                found.add((line, prefix))
    return sorted(found)


def _is_ours(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] in PACKAGES


def _chains(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    inner: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            parts: list[str] = []
            part: ast.expr = node
            while isinstance(part, ast.Attribute):
                inner.add(id(part))
                parts.append(part.attr)
                part = part.value
            if isinstance(part, ast.Name):
                yield node.lineno, [part.id, *reversed(parts)]


_known: dict[str, Any] = {}


def _lookup(name: str) -> Any:
    """Returns the module or what is in it."""
    if name not in _known:
        _known[name] = _find(name)
    return _known[name]


def _find(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception:  # noqa: BLE001 - a module of another time may raise anything when it is imported.
        head, _, last = name.rpartition(".")
    return _attribute(_lookup(head), last) if head else _MISSING


def _attribute(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except Exception:  # noqa: BLE001 - lazy modules raise what they like for what is gone.
        return _MISSING


def _first_missing(root: str, rest: list[str]) -> str | None:
    value, name = _lookup(root), root
    for part in rest:
        if not isinstance(value, (type(sys), type)) and not hasattr(value, "__path__"):
            return None  # Attributes of values are not TensorFlow's names.
        name = f"{name}.{part}"
        if name not in _known:
            _known[name] = _attribute(value, part)
        value = _known[name]
        if value is _MISSING:
            return name
    return None


def main() -> None:
    """Reads paths, prints what is missing in each; null for a file that does not compile."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.simplefilter("ignore")
    for path in sys.stdin.read().splitlines():
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                compile(source := file.read(), path, "exec")
            text = source.decode(errors="surrogateescape")
            result = missing_names(text)
        except (SyntaxError, ValueError):
            result = None
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
