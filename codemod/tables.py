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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BUILTIN = Path(__file__).with_name("builtin_tables.json")

_IMPORT = re.compile(
    r"^from[ \t]+([\w.]+)[ \t]+import[ \t]+(?:\(([^)]*)\)|(\w+)(?:[ \t]+as[ \t]+(\w+))?)", re.MULTILINE
)
_PLAIN_IMPORT = re.compile(r"^import[ \t]+([\w.]+)(?:[ \t]+as[ \t]+(\w+))?[ \t]*$", re.MULTILINE)
_STAR_IMPORT = re.compile(r"^from[ \t]+(\S+)[ \t]+import[ \t]+\*", re.MULTILINE)

# Lazy modules whose every attribute raises under Keras 3, and the routes back into the namespaces themselves.
_DEAD = ("layers", "nn.rnn_cell")
_LOOPS = ("compat.v1", "compat.v2")

# What stands at the top level defines names of a module, and what stands in the blocks of its `try` and `if`.
_TOP_LEVEL = re.compile(r"^(?=[^\s#)\]}])", re.MULTILINE)
_BLOCK = re.compile(r"(?:try|except|else|finally|if|elif|with|for|while)\b")
_DEFINITION = re.compile(r"^[ \t]*(?:async )?(?:def|class) (\w+)", re.MULTILINE)
_ASSIGNMENT = re.compile(r"^[ \t]*((?:\w+ *(?:, *\w+ *)*=(?!=) *)+|\w+ *:(?=[^=\n]+=)|^\w+: )", re.MULTILINE)
_IMPORTED = re.compile(r"^[ \t]*(?:from \S+ )?import (\([^)]*\)|[^\n]*)", re.MULTILINE)
_RENAMED = re.compile(r"\w+\s+as\s+")
_ONLY_TF1 = re.compile(r"(?<=^if tf2.enabled\(\):\n)((?: .*\n)*)else:\n(?: .*\n)*", re.MULTILINE)
_WORD = re.compile(r"\w+")

# Packages that cannot be imported beside today's TensorFlow: they need internals that are gone.
_DEAD_PACKAGES = frozenset({"tensorflow_estimator", "tensorflow_core"})

# Modules of `tensorflow.python` that are gone or have lost parts, whose names had a public home all along.
_FORMER_MODULES = {
    "tensorflow.python.estimator.estimator_lib": "tf.estimator",
    "tensorflow.python.estimator.estimator": "tf.estimator",
    "tensorflow.python.estimator.model_fn": "tf.estimator",
    "tensorflow.python.estimator.run_config": "tf.estimator",
    "tensorflow.python.estimator.training": "tf.estimator",
    "tensorflow.python.estimator.exporter": "tf.estimator",
    "tensorflow.python.estimator.export.export": "tf.estimator.export",
    "tensorflow.python.estimator.inputs.numpy_io": "tf.estimator.inputs",
    "tensorflow.python.estimator.inputs.pandas_io": "tf.estimator.inputs",
    "tensorflow.python.layers.layers": "tf.layers",
    "tensorflow.python.layers.convolutional": "tf.layers",
    "tensorflow.python.layers.core": "tf.layers",
    "tensorflow.python.layers.normalization": "tf.layers",
    "tensorflow.python.layers.pooling": "tf.layers",
    "tensorflow.python.layers.base": "tf.layers",
    "tensorflow.python.ops.rnn_cell": "tf.nn.rnn_cell",
    "tensorflow.python.ops.rnn_cell_impl": "tf.nn.rnn_cell",
    "tensorflow.python.ops.losses.losses": "tf.losses",
    "tensorflow.python.training.training": "tf.train",
    "tensorflow.python.client.session": "tf",
    "tensorflow.python.summary.summary": "tf.summary",
    "tensorflow.python.framework.ops": "tf",
    "tensorflow.python.framework.sparse_tensor": "tf",
    "tensorflow.python.framework.constant_op": "tf",
    "tensorflow.python.framework.graph_util_impl": "tf.graph_util",
    "tensorflow.python.ops.variables": "tf",
    "tensorflow.python.ops.array_ops": "tf",
    "tensorflow.python.ops.math_ops": "tf",
    "tensorflow.python.ops.control_flow_ops": "tf",
    "tensorflow.python.ops.init_ops": "tf",
    "tensorflow.python.ops.nn": "tf.nn",
    "tensorflow.python.ops.nn_ops": "tf.nn",
    "tensorflow.python.ops.rnn": "tf.nn",
    "tensorflow.python.platform.flags": "tf.flags",
    "tensorflow.python.platform.app": "tf.app",
    "tensorflow.python.platform.gfile": "tf.gfile",
    "tensorflow.python.platform.tf_logging": "tf.logging",
    "tensorflow.python.platform.test": "tf.test",
    "tensorflow.python.framework.dtypes": "tf",
    "tensorflow.python.framework.errors": "tf.errors",
    "tensorflow.python.framework.graph_util": "tf.graph_util",
    "tensorflow.python.framework.importer": "tf",
    "tensorflow.python.framework.load_library": "tf",
    "tensorflow.python.framework.random_seed": "tf",
    "tensorflow.python.framework.tensor_shape": "tf",
    "tensorflow.python.framework.tensor_util": "tf",
    "tensorflow.python.feature_column.feature_column": "tf.feature_column",
    "tensorflow.python.lib.io.tf_record": "tf.python_io",
    "tensorflow.python.ops.check_ops": "tf",
    "tensorflow.python.ops.clip_ops": "tf",
    "tensorflow.python.ops.confusion_matrix": "tf",
    "tensorflow.python.ops.data_flow_ops": "tf",
    "tensorflow.python.ops.functional_ops": "tf",
    "tensorflow.python.ops.gradients": "tf",
    "tensorflow.python.ops.histogram_ops": "tf",
    "tensorflow.python.ops.image_ops": "tf.image",
    "tensorflow.python.ops.io_ops": "tf",
    "tensorflow.python.ops.metrics": "tf.metrics",
    "tensorflow.python.ops.parsing_ops": "tf",
    "tensorflow.python.ops.partitioned_variables": "tf",
    "tensorflow.python.ops.random_ops": "tf",
    "tensorflow.python.ops.script_ops": "tf",
    "tensorflow.python.ops.sparse_ops": "tf",
    "tensorflow.python.ops.special_math_ops": "tf",
    "tensorflow.python.ops.state_ops": "tf",
    "tensorflow.python.ops.string_ops": "tf",
    "tensorflow.python.ops.template": "tf",
    "tensorflow.python.ops.tensor_array_ops": "tf",
    "tensorflow.python.ops.variable_scope": "tf",
    "tensorflow.python.platform.resource_loader": "tf.resource_loader",
    "tensorflow.python.training.saver": "tf.train",
    "tensorflow.python.training.checkpoint_management": "tf.train",
    "tensorflow.python.util.compat": "tf.compat",
}

# What the private modules of layers called their layers besides.
_LAYER_NAMES = {
    "AvgPool2D": "AveragePooling2D",
    "BatchNorm": "BatchNormalization",
    "FullyConnected": "Dense",
    "MaxPool2D": "MaxPooling2D",
}
_DECONVOLUTION = re.compile(r"([Dd])econv(?:olution)?(\d[Dd])")
_CONVOLUTION = re.compile(r"([Cc])onvolution")

# Names of private modules that are gone, whose public name is another word.
_FORMER_NAMES = {
    "tensorflow.python.ops.variables.VariableV1": "Variable",
    "tensorflow.python.ops.variable_scope.variable": "Variable",
    "tensorflow.python.pywrap_tensorflow.NewCheckpointReader": "train.NewCheckpointReader",
}


@dataclass
class Tables:
    """The names of one TensorFlow release.

    Attributes:
      version: The release, such as `2.21.0`.
      installed: Whether it was read from an installed package.
      v1: Names below `tensorflow.compat.v1`, each with the place where it is defined; "" for a module.
      v2: Names below `tensorflow`, likewise.
      keras: Names below `keras`, likewise.
      renames: TensorFlow's own table of renamed symbols, `tf.x` to `tf.y`, without targets that are gone.
      reorders: TensorFlow's own table of TF1 argument names per function (None where both agree).
      modules: The files below `tensorflow/python`, `tensorflow/core` and `tensorflow/tools`, as dotted names; only needed
        where there is no folder to look into.
      folder: The `tensorflow` folder, if it is installed.
    """

    version: str
    installed: bool
    v1: dict[str, str]
    v2: dict[str, str]
    keras: dict[str, str]
    renames: dict[str, str]
    reorders: dict[str, list[str | None]]
    modules: frozenset[str]
    folder: Path | None = None
    _public: dict[str, str] = field(default_factory=dict, repr=False)
    _sources: dict[str, str | None] = field(default_factory=dict, repr=False)
    _checked: dict[str, bool] = field(default_factory=dict, repr=False)
    _packages: frozenset[str] = frozenset()
    _definitions: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _tops: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _canonical: dict[str, str] = field(default_factory=dict, repr=False)
    _exists: dict[str, bool] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Turns the table of v1 names around: from the place of definition to the shortest public name."""
        for name, origin in self.v1.items():
            if origin:
                known = self._public.get(origin)
                if known is None or _publicness(name, origin) < _publicness(known, origin):
                    self._public[origin] = name
        # Without the files, what a package holds is its modules.
        self._packages = frozenset(module.rpartition(".")[0] for module in self.modules)

    @property
    def label(self) -> str:
        """The release, with a word on where the tables come from."""
        return self.version if self.installed else f"{self.version} (built in)"

    def canonical(self, raw: str) -> str:
        """Turns an import path into the name that rules use.

        Args:
          raw: A dotted path as Python would import it, such as `tensorflow.compat.v1.train.Saver`.

        Returns:
          The public TF1 name behind `tf.`; `tf.compat.v2.X` for the other namespace; a private path that has no public
          name, or another package's path, as it is.
        """
        name = self._canonical.get(raw)
        if name is None:
            name = self._canonical[raw] = self._find_canonical(raw)
        return name

    def _find_canonical(self, raw: str) -> str:
        if raw != "tensorflow" and not raw.startswith("tensorflow."):
            return raw
        rest = raw[11:]
        while f"{rest}.".startswith(("compat.v1.", "compat.v2.compat.")):
            rest = rest[10:]  # Each namespace holds both.
        if rest.startswith("python.") and "." in rest:
            return self._canonical_private(raw)
        if rest.startswith(("core.", "tools.", "compiler.")):
            return raw
        return f"tf.{rest}" if rest else "tf"

    def _canonical_private(self, raw: str) -> str:
        parts = raw.split(".")
        for length in range(len(parts), 2, -1):
            prefix = ".".join(parts[:length])
            public = self._public.get(prefix)
            if public is None and length > 3:
                module, symbol = ".".join(parts[: length - 1]), parts[length - 1]
                public = self._public.get(self._imported_from(module, symbol)) or self._former(module, symbol)
            if public is not None:
                return ".".join(["tf", public, *parts[length:]])
        if raw.startswith("tensorflow.python.keras."):
            name = f"tf.keras.{raw[24:]}"
            return name if self.exists(name) and self._private_exists(raw) else raw
        return raw

    def _former(self, module: str, name: str) -> str | None:
        other = _FORMER_NAMES.get(f"{module}.{name}")
        if other is not None:
            return None if self._private_exists(f"{module}.{name}") else other
        home = _FORMER_MODULES.get(module)
        if home is None:
            return None
        public = f"{home}.{_layer_name(name) if home == 'tf.layers' else name}"[3:]
        if public in self.v1:
            # A private function of the same name may still be there, and be another one than the public.
            return None if self._private_exists(f"{module}.{name}") else public
        # Whole modules that went away: no name of theirs can be looked up any more.
        return (
            public if home in ("tf.estimator", "tf.layers", "tf.nn.rnn_cell") or "estimator" in home else None
        )

    def exists(self, name: str) -> bool:
        """Tells whether a canonical name exists on this TensorFlow, in `tensorflow.compat.v1` for `tf.X`.

        Args:
          name: As `canonical` returns it. Names of packages that the tables do not know count as existing.
        """
        known = self._exists.get(name)
        if known is None:
            known = self._exists[name] = self._find(name)
        return known

    def _find(self, name: str) -> bool:
        if name == "tf" or name.startswith("tf."):
            rest = name[3:]
            if rest == "compat.v2" or rest.startswith("compat.v2."):
                return self.exists_in_v2(rest[10:])
            if rest == "keras" or rest.startswith("keras."):
                return _known(self.keras, rest[6:])
            return _known(self.v1, rest)
        if name == "keras" or name.startswith("keras."):
            return _known(self.keras, name[6:])
        if name.startswith("tensorflow."):
            return self._private_exists(name)
        return name.partition(".")[0] not in _DEAD_PACKAGES

    def exists_in_v2(self, rest: str) -> bool:
        """Tells whether `tf.<rest>` exists where `tf` is plain `tensorflow`."""
        if rest == "keras" or rest.startswith("keras."):
            return _known(self.keras, rest[6:])
        return _known(self.v2, rest)

    def same_in_both(self, rest: str) -> bool:
        """Tells whether `tf.<rest>` is one and the same thing in `tensorflow` and in `tensorflow.compat.v1`."""
        if rest == "keras" or rest.startswith("keras."):
            return True
        for end in _prefixes(rest):
            if self.v1.get(end) and self.v2.get(end):
                return self.v1[end] == self.v2[end]
        return False

    def symbol(self, name: str) -> str:
        """Cuts a canonical name after the symbol, leaving off attributes: `tf.GraphKeys.LOSSES` is `tf.GraphKeys`."""
        for end in _prefixes(name[3:]):
            if self.v1.get(end) or self.v2.get(end):
                return f"tf.{end}"
        return name

    def is_symbol(self, name: str) -> bool:
        """Whether a canonical name is a class, function or constant of TensorFlow's, or an attribute of one."""
        return name.startswith("tf.") and any(self.v1.get(end) for end in _prefixes(name[3:]))

    def _private_exists(self, name: str) -> bool:
        parts = name.split(".")
        for length in range(len(parts), 1, -1):
            module = ".".join(parts[:length])
            if self._is_module(module):
                return length == len(parts) or (
                    module not in self._packages and self._defines(module, parts[length])
                )
        return False

    def _is_module(self, name: str) -> bool:
        if self.folder is None:
            return name in self.modules
        known = self._checked.get(name)
        if known is None:
            path = self.folder.parent.joinpath(*name.split("."))
            known = self._checked[name] = path.is_dir() or any(
                path.with_name(path.name + suffix).is_file() for suffix in (".py", ".so", ".pyd")
            )
        return known

    def _defines(self, module: str, symbol: str) -> bool:
        """Looks for a name at the top level of a private module; without the file, nobody can say it is not there."""
        if self.folder is None or symbol.startswith("__") or module.endswith("_pb2"):
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
            for origin in _STAR_IMPORT.findall(text or ""):
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
        if module not in self._sources and self.folder is not None:
            path = self.folder.parent.joinpath(*module.split("."))
            candidates = [path.with_name(path.name + ".py"), path / "__init__.py"]
            found = next((c for c in candidates if c.is_file()), None)
            text = found.read_text("utf-8", "replace") if found else "" if path.is_dir() else None
            self._sources[module] = text
        return self._sources.get(module)

    def _imported_from(self, module: str, symbol: str) -> str:
        """Where a private module has a name from, if it only imports it; else an empty string."""
        text = self._source(module) or ""
        for origin, several, single, alias in _IMPORT.findall(text):
            for name, asname in [(single, alias)] if single else map(_split_alias, several.split(",")):
                if (asname or name) == symbol:
                    return f"{origin}.{name}"
        if self.folder is not None and symbol not in self._own_names(module, text):
            for origin in _STAR_IMPORT.findall(text):
                if origin.startswith("tensorflow.") and symbol in self._defined(origin):
                    return f"{origin}.{symbol}"
        return ""


def _top_names(text: str) -> frozenset[str]:
    """What a module's text defines or imports by name at its top level."""
    names: set[str] = set()
    for statement in _TOP_LEVEL.split(_ONLY_TF1.sub(r"\1", text)):
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


def _layer_name(name: str) -> str:
    """The public name of a layer for which the private modules had several."""
    transposed = _DECONVOLUTION.fullmatch(name)
    if transposed:
        stem, end = ("Conv", "Transpose") if transposed[1] == "D" else ("conv", "_transpose")
        return f"{stem}{transposed[2]}{end}"
    return _CONVOLUTION.sub(r"\1onv", _LAYER_NAMES.get(name, name))


def _publicness(name: str, origin: str) -> tuple[bool, int, str]:
    """Sorts the public names of one thing: its own name first, then the short ones."""
    return (name.rpartition(".")[2] != origin.rpartition(".")[2], len(name), name)


def _prefixes(rest: str) -> Iterable[str]:
    while rest:
        yield rest
        rest = rest.rpartition(".")[0]


def _known(names: dict[str, str], rest: str) -> bool:
    """Looks a dotted name up: every module on the way must hold the next part; what a symbol holds is not ours to say."""
    if not rest:
        return True
    if rest in names:
        return True
    for prefix in _prefixes(rest):
        origin = names.get(prefix)
        if origin is not None:
            following = rest[len(prefix) + 1 :].partition(".")[0]
            return bool(origin) or following.startswith("__")
    return rest.partition(".")[0].startswith("__")


# ---------------------------------------------------------------------------------------------------------------------
# Reading an installed package.


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
    _read_file(api / "v2.py", "", "tensorflow._api.v2", v2)
    for name in ("losses", "metrics", "optimizers", "initializers"):
        v2.setdefault(name, "keras")
    v1["keras"] = v2["keras"] = ""
    v1["app.flags"] = v1.get("flags", "")  # Set by the package's code, not by an import.
    for names in (v1, v2):
        for dead in [n for n in names if any(n == d or n.startswith(d + ".") for d in _DEAD)]:
            del names[dead]
    tables = Tables(
        version=_version(folder),
        installed=True,
        v1=v1,
        v2=v2,
        keras=_read_keras(folder.parent / "keras"),
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
        _read_file(path, prefix, package, names)
    return names


def _read_file(path: Path, prefix: str, package: str, names: dict[str, str]) -> None:
    """Adds what one generated `__init__.py` imports; an import from the namespace itself is one of its modules."""
    text = path.read_text("utf-8")
    for module, several, single, alias in _IMPORT.findall(text):
        pairs = [(single, alias)] if single else [_split_alias(p) for p in several.split(",") if p.strip()]
        for name, asname in pairs:
            public = asname or name
            if public.startswith("_") and not public.startswith("__"):
                continue
            internal = module == package or module.startswith(package + ".")
            key = f"{prefix}.{public}" if prefix else public
            if internal:
                names.setdefault(key, "")
            else:
                names[key] = f"{module}.{name}"


def _split_alias(text: str) -> tuple[str, str]:
    name, _, alias = text.strip().partition(" as ")
    return name.strip(), alias.strip()


def _read_keras(folder: Path) -> dict[str, str]:
    """Keras 3's names, seen through `tf.keras`, whose few namespaces of its own add legacy names."""
    if not (folder / "__init__.py").is_file():
        return {}
    names = _read_keras_namespace(folder, "keras")
    shadow = folder / "_tf_keras" / "keras"
    if shadow.is_dir():
        names.update(_read_keras_namespace(shadow, "keras._tf_keras.keras"))
    return names


def _read_keras_namespace(root: Path, package: str) -> dict[str, str]:
    names: dict[str, str] = {}
    for path in root.rglob("__init__.py"):
        parts = path.parent.relative_to(root).parts
        if parts and parts[0] in ("src", "_tf_keras", "api"):
            continue
        prefix = ".".join(parts)
        if prefix:
            names[prefix] = ""
        _read_file(path, prefix, package, names)
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
