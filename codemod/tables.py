"""What TensorFlow offers today, read from the installed package's files without importing it.

TensorFlow generates its public namespaces as folders of `__init__.py` files that only import; Keras does the same.
Read as text they say which names exist and where each is defined, which also turns a private
`tensorflow.python.training.saver.Saver` into the public `tf.train.Saver`. TensorFlow's own upgrade script carries
tables of renames and reordered arguments as literals; those whose target is gone are left out.

Without an installed TensorFlow the same tables come from `builtin_tables.json`, made by

    python -m codemod.tables --write
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib.util
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from codemod.api_files import read_file
from codemod.release import Tables

BUILTIN = Path(__file__).with_name("builtin_tables.json")

# Lazy modules whose every attribute raises under Keras 3, and the routes back into the namespaces themselves.
_DEAD = ("layers", "nn.rnn_cell")
_LOOPS = ("compat.v1", "compat.v2")


@functools.cache
def load(folder: str | None = None) -> Tables:
    """Reads the tables of an installed TensorFlow, or the built-in ones if there is none.

    Args:
      folder: The `tensorflow` package folder; None to look for it where Python would.

    Raises:
      FileNotFoundError: If `folder` is given and holds no TensorFlow.
    """
    found = Path(folder) if folder else find_tensorflow()
    if found is None:
        return load_builtin()
    if not (found / "_api").is_dir():
        raise FileNotFoundError(
            f"{found} is not the folder of an installed tensorflow package: it has no _api folder."
        )
    return read_package(found)


def find_tensorflow() -> Path | None:
    """Finds the folder of the `tensorflow` that Python would import, without importing it."""
    try:
        spec = importlib.util.find_spec("tensorflow")
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(place) / "_api" / "v2" / "compat" / "v1" / "__init__.py").is_file():
            return Path(place)
    return None


def read_package(folder: Path) -> Tables:
    """Reads the tables from the files of an installed TensorFlow."""
    api = folder / "_api" / "v2"
    v1 = _read_namespace(api / "compat" / "v1", "tensorflow._api.v2.compat.v1")
    v2 = _read_namespace(api, "tensorflow._api.v2")
    read_file(api / "v2.py", "", "tensorflow._api.v2", v2)
    for name in ("losses", "metrics", "optimizers", "initializers"):
        v2.setdefault(name, "keras")
    v1["keras"] = v2["keras"] = ""
    v1["app.flags"] = v1.get("flags", "")  # Set by the package's code, not by an import.
    for names in (v1, v2):
        for dead in [n for n in names if any(n == d or n.startswith(d + ".") for d in _DEAD)]:
            del names[dead]
    keras = _read_keras(folder.parent / "keras", "keras")
    tables = Tables(
        version=_version(folder),
        installed=True,
        v1=v1,
        v2=v2,
        keras=keras,
        tf_keras=_read_tf_keras(folder.parent / "keras") or keras,
        renames={},
        reorders={},
        modules=frozenset(),
        folder=folder,
    )
    tables.renames, tables.reorders = _read_upgrade_tables(folder, tables)
    return tables


def _read_namespace(root: Path, package: str) -> dict[str, str]:
    names: dict[str, str] = {}
    for path in root.rglob("__init__.py"):
        prefix = ".".join(path.parent.relative_to(root).parts)
        if any(prefix == loop or prefix.startswith(loop + ".") for loop in _LOOPS):
            continue
        if prefix:
            names[prefix] = ""
        read_file(path, prefix, package, names)
    return names


def _read_tf_keras(folder: Path) -> dict[str, str]:
    """What Keras 3 shows through `tf.keras`: the same things, legacy names besides, and a few by legacy names only."""
    return _read_keras(folder / "_tf_keras" / "keras", "keras._tf_keras.keras")


def _read_keras(root: Path, package: str) -> dict[str, str]:
    names: dict[str, str] = {}
    if not (root / "__init__.py").is_file():
        return names
    for path in root.rglob("__init__.py"):
        parts = path.parent.relative_to(root).parts
        if parts and parts[0] in ("src", "_tf_keras", "api"):
            continue
        prefix = ".".join(parts)
        if prefix:
            names[prefix] = ""
        read_file(path, prefix, package, names)
    for name, origin in list(names.items()):
        if origin == f"keras.{name}":
            names[name] = ""
    return names


def _read_modules(folder: Path) -> frozenset[str]:
    modules = {"tensorflow.python", "tensorflow.core", "tensorflow.tools"}
    base = folder.parent
    for part in ("python", "core", "tools"):
        for path in (folder / part).rglob("*"):
            if path.suffix in (".py", ".so", ".pyd") or path.is_dir():
                if "__pycache__" in path.parts:
                    continue
                relative = path.relative_to(base)
                parts = (
                    relative.parts[:-1]
                    if path.name == "__init__.py"
                    else (*relative.parts[:-1], path.name.partition(".")[0])
                )
                modules.add(".".join(parts))
    return frozenset(modules)


def _read_upgrade_tables(folder: Path, tables: Tables) -> tuple[dict[str, str], dict[str, list[str | None]]]:
    tools = folder / "tools" / "compatibility"
    renames: dict[str, str] = {}
    for file, variable in (("renames_v2.py", "renames"), ("all_renames_v2.py", "manual_symbol_renames")):
        renames.update(_literal(tools / file, variable))
    alive = {old: new for old, new in renames.items() if _target_exists(tables, new)}
    return alive, _literal(tools / "reorders_v2.py", "reorders")


def _target_exists(tables: Tables, target: str) -> bool:
    if not target.startswith("tf."):
        return False
    return (
        tables.exists(tables.canonical("tensorflow" + target[2:]))
        if ".v1." in target
        else tables.exists_in_v2(target[3:])
    )


def _literal(path: Path, variable: str) -> dict[str, Any]:
    """Reads a module's literal dict without running the module."""
    if not path.is_file():
        return {}
    for statement in ast.parse(path.read_text("utf-8")).body:
        if not isinstance(statement, ast.Assign):
            continue
        target = statement.targets[0]
        if isinstance(target, ast.Name) and target.id == variable:
            value: dict[str, Any] = ast.literal_eval(statement.value)
            return value
    return {}


def _version(folder: Path) -> str:
    for info in folder.parent.glob("*.dist-info"):
        match = re.fullmatch(
            r"(?:tensorflow|tensorflow_cpu|tensorflow_intel|tf_nightly\w*)-(.+)\.dist-info", info.name
        )
        if match:
            return match[1]
    return "unknown"


# ---------------------------------------------------------------------------------------------------------------------
# The tables of ours, for machines without TensorFlow.


def load_builtin() -> Tables:
    """Loads the tables that come with the codemod."""
    data = json.loads(BUILTIN.read_text("utf-8"))
    return Tables(
        version=data["version"],
        installed=False,
        v1=_ungroup(data["v1"]),
        v2=_ungroup(data["v2"]),
        keras=_ungroup(data["keras"]),
        tf_keras=_ungroup(data["tf_keras"])
        | {
            name: origin for name, origin in _ungroup(data["keras"]).items() if name not in data["keras_only"]
        },
        renames=data["renames"],
        reorders=data["reorders"],
        modules=frozenset(_unnest(data["modules"])),
    )


def write_builtin(tables: Tables, path: Path = BUILTIN) -> None:
    """Writes `builtin_tables.json` from the tables of an installed TensorFlow."""
    data = {
        "version": tables.version,
        "v1": _group(tables.v1),
        "v2": _group(tables.v2),
        "keras": _group(tables.keras),
        "tf_keras": _group({n: o for n, o in tables.tf_keras.items() if n not in tables.keras}),
        "keras_only": sorted(set(tables.keras) - set(tables.tf_keras)),
        "renames": dict(sorted(tables.renames.items())),
        "reorders": dict(sorted(tables.reorders.items())),
        "modules": _nest(_read_modules(tables.folder)) if tables.folder else {},
    }
    path.write_text(
        json.dumps(data, separators=(",", ":"), sort_keys=True).replace('},"', '},\n"') + "\n", "utf-8"
    )


def _group(names: dict[str, str]) -> dict[str, dict[str, list[str]]]:
    """Groups names by their module and by the module that defines them, which says most of the text only once."""
    grouped: dict[str, dict[str, list[str]]] = {}
    for name, origin in sorted(names.items()):
        prefix, _, leaf = name.rpartition(".")
        home, _, symbol = origin.rpartition(".")
        grouped.setdefault(prefix, {}).setdefault(home, []).append(
            leaf if symbol in ("", leaf) and home else f"{leaf}={symbol}"
        )
    return grouped


def _ungroup(grouped: dict[str, dict[str, list[str]]]) -> dict[str, str]:
    names: dict[str, str] = {}
    for prefix, homes in grouped.items():
        for home, leaves in homes.items():
            for entry in leaves:
                leaf, equals, symbol = entry.partition("=")
                origin = f"{home}.{symbol if equals else leaf}" if home else symbol
                names[f"{prefix}.{leaf}" if prefix else leaf] = origin
    return names


def _nest(modules: Iterable[str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for module in sorted(modules):
        node = tree
        for part in module.split("."):
            node = node.setdefault(part, {})
    return tree


def _unnest(tree: dict[str, Any], prefix: str = "") -> Iterable[str]:
    for part, below in tree.items():
        name = f"{prefix}.{part}" if prefix else part
        yield name
        yield from _unnest(below, name)


def main(arguments: list[str] | None = None) -> int:
    """Prints how many names there are; with `--write`, makes the built-in tables anew."""
    parser = argparse.ArgumentParser(prog="python -m codemod.tables", description=main.__doc__)
    parser.add_argument("--write", action="store_true", help="write builtin_tables.json")
    options = parser.parse_args(arguments)
    found = find_tensorflow()
    if found is None:
        print("No TensorFlow is installed for this Python.", file=sys.stderr)
        return 2
    tables = read_package(found)
    if options.write:
        write_builtin(tables)
    print(
        f"TensorFlow {tables.version}: {len(tables.v1)} v1 names, {len(tables.v2)} v2 names, {len(tables.keras)} Keras names."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
