"""What tf_slim needs on today's TensorFlow: `import bridge.legacy_slim`, and `slim.batch_norm` and its like run again.

The package tf_slim holds the code of `tf.contrib.slim` and of most of `tf.contrib.layers`. Its last release reaches into private
modules of TensorFlow for names that have moved since: `slim.batch_norm`, `slim.optimize_loss`, `slim.learning.create_train_op` with
clipped gradients, `slim.local_variable` and others raise `AttributeError` or `ModuleNotFoundError`. All of these names still exist
in public places. Importing this module, before or after tf_slim, makes tf_slim find them there; TensorFlow itself stays as it is.

    import bridge.legacy_slim
    import tf_slim as slim
    import tensorflow.compat.v1 as tf
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import tensorflow as tf

from bridge.errors import LegacySlimError

_PACKAGE = "tf_slim"
_BATCH_NORM = "tf_keras.src.legacy_tf_layers.normalization"


def _batch_normalization() -> Any:
    """The class behind `tf.layers.batch_normalization`, which only Keras 2 has."""
    if importlib.util.find_spec("tf_keras") is None:
        raise LegacySlimError(
            "slim.batch_norm needs the package tf_keras (Keras 2), which is not installed. Install the release that goes "
            f"with TensorFlow {tf.__version__}: pip install 'tf_keras=={tf.__version__.rpartition('.')[0]}.*', or "
            "pip install 'keras-hook-bridge[legacy]'."
        )
    return importlib.import_module(_BATCH_NORM).BatchNormalization


# By the name that tf_slim looks for in some module: where it is now.
_MOVED: dict[str, Callable[[], Any]] = {
    "Assert": lambda: tf.compat.v1.Assert,
    "BatchNormalization": _batch_normalization,
    "IndexedSlices": lambda: tf.IndexedSlices,
    "Tensor": lambda: tf.Tensor,
    "case": lambda: tf.compat.v1.case,
    "cond": lambda: tf.compat.v1.cond,
    "stack": lambda: tf.stack,
    "unstack": lambda: tf.unstack,
    "variable": lambda: tf.compat.v1.Variable,
    "while_loop": lambda: tf.compat.v1.while_loop,
}
# Modules of TensorFlow that held them, as tf_slim's modules call them.
_HOMES = ("ops", "array_ops", "control_flow_ops", "variable_scope", "normalization_layers", "framework_ops")


class _WithMoved(ModuleType):
    """A module of TensorFlow, with what it held when tf_slim was written."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__, module.__doc__)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self._module, name)
        except (AttributeError, ModuleNotFoundError):
            if name not in _MOVED:
                raise
            return _MOVED[name]()


def repair() -> None:
    """Makes tf_slim's modules find what TensorFlow has moved; importing this module does it.

    Raises:
      bridge.errors.LegacySlimError: if tf_slim is not installed.
    """
    for module in _modules():
        for name in _HOMES:
            held = vars(module).get(name)
            if isinstance(held, ModuleType) and not isinstance(held, _WithMoved):
                setattr(module, name, _WithMoved(held))


def _modules() -> Iterator[ModuleType]:
    """tf_slim and all that is below it, but for its own tests."""
    if importlib.util.find_spec(_PACKAGE) is None:
        raise LegacySlimError(
            "bridge.legacy_slim needs the package tf_slim, which is not installed. Install it: pip install tf_slim, or "
            "pip install 'keras-hook-bridge[slim]'."
        )
    package = importlib.import_module(_PACKAGE)
    yield package
    for found in pkgutil.walk_packages(package.__path__, f"{_PACKAGE}."):
        if not found.name.endswith("_test"):
            yield importlib.import_module(found.name)


repair()
