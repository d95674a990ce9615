"""The names of one TensorFlow release: which exist, which are one and the same, and by which public name a private path goes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from codemod.private_modules import PrivateModules

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
      tf_keras: Names below `tf.keras`, likewise: the same Keras, with legacy names that the package itself no longer shows.
      renames: TensorFlow's own table of renamed symbols, `tf.x` to `tf.y`, without targets that are gone.
      reorders: TensorFlow's own table of TF1 argument names per function (None where both agree).
      modules: The files below `tensorflow/python`, `tensorflow/core` and `tensorflow/tools`, as dotted names; only needed
        where there is no folder to look into.
      folder: The `tensorflow` folder, if it is installed.
      private: What its private modules hold.
    """

    version: str
    installed: bool
    v1: dict[str, str]
    v2: dict[str, str]
    keras: dict[str, str]
    tf_keras: dict[str, str]
    renames: dict[str, str]
    reorders: dict[str, list[str | None]]
    modules: frozenset[str]
    folder: Path | None = None
    private: PrivateModules = field(init=False, repr=False)
    _public: dict[str, str] = field(default_factory=dict, repr=False)
    _canonical: dict[str, str] = field(default_factory=dict, repr=False)
    _exists: dict[str, bool] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Turns the table of v1 names around: from the place of definition to the shortest public name."""
        for name, origin in self.v1.items():
            if origin:
                known = self._public.get(origin)
                if known is None or _publicness(name, origin) < _publicness(known, origin):
                    self._public[origin] = name
        self.private = PrivateModules(self.folder, self.modules)

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
                public = self._public.get(self.private.imported_from(module, symbol)) or self._former(
                    module, symbol
                )
            if public is not None:
                return ".".join(["tf", public, *parts[length:]])
        if raw.startswith("tensorflow.python.keras."):
            name = f"tf.keras.{raw[24:]}"
            return name if self.exists(name) and self.private.holds(raw) else raw
        return raw

    def _former(self, module: str, name: str) -> str | None:
        other = _FORMER_NAMES.get(f"{module}.{name}")
        if other is not None:
            return None if self.private.holds(f"{module}.{name}") else other
        home = _FORMER_MODULES.get(module)
        if home is None:
            return None
        public = f"{home}.{_layer_name(name) if home == 'tf.layers' else name}"[3:]
        if public in self.v1:
            # A private function of the same name may still be there, and be another one than the public.
            return None if self.private.holds(f"{module}.{name}") else public
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
                return _known(self.tf_keras, rest[6:])
            return _known(self.v1, rest)
        if name == "keras" or name.startswith("keras."):
            return _known(self.keras, name[6:])
        if name.startswith("tensorflow."):
            return self.private.holds(name)
        return name.partition(".")[0] not in _DEAD_PACKAGES

    def exists_in_v2(self, rest: str) -> bool:
        """Tells whether `tf.<rest>` exists where `tf` is plain `tensorflow`."""
        if rest == "keras" or rest.startswith("keras."):
            return _known(self.tf_keras, rest[6:])
        return _known(self.v2, rest)

    def other_keras(self, name: str) -> str | None:
        """What a name of Keras is called that only the other one of `keras` and `tf.keras` has.

        Args:
          name: `keras.X` or `tf.keras.X`.

        Returns:
          Another name of the same thing in the same package, or else the name in the other package; None if neither has it.
        """
        package, rest = ("tf.keras", name[9:]) if name.startswith("tf.keras.") else ("keras", name[6:])
        here, there = (self.tf_keras, self.keras) if package == "tf.keras" else (self.keras, self.tf_keras)
        if _known(here, rest):
            return None
        symbol = next((end for end in _prefixes(rest) if end in there), "")
        if not symbol or not _known(there, rest):
            return None
        same = sorted(n for n, origin in here.items() if origin and origin == there[symbol])
        if same:
            home = symbol.rpartition(".")[0]
            best = min(same, key=lambda n: (n.rpartition(".")[0] != home, not n.islower(), len(n), n))
            return f"{package}.{best}{rest[len(symbol) :]}"
        return f"{'keras' if package == 'tf.keras' else 'tf.keras'}.{rest}"

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
