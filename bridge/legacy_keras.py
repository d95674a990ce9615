"""The opt-in to Keras 2: `import bridge.legacy_keras`, and `tf.layers`, `tf.nn.rnn_cell` and `tf.keras` are those of TensorFlow 1.

TensorFlow 2.16 and later bring Keras 3, under which `tf.compat.v1.layers.dense`, `tf.compat.v1.nn.rnn_cell.LSTMCell` and
`tf.compat.v1.keras` raise. The package tf_keras still has them, and TensorFlow looks for it if TF_USE_LEGACY_KERAS is
set when Keras is first touched; `import tensorflow` alone does not touch it. So this module is imported before the first
use, from the top of the program or of the modules that need it, and it says so if it comes too late.

    import bridge.legacy_keras
    import tensorflow.compat.v1 as tf

The choice is one for the whole process, and for the processes that it starts. Keras 3 itself (`import keras`) stays
what it is. `bridge.HookCallback` and `bridge.MonitoredTrainingSession` take models of both.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import tensorflow as tf

from bridge.errors import LegacyKerasError

_VARIABLE = "TF_USE_LEGACY_KERAS"

# TensorFlow's doors to Keras. Each decides by itself which Keras is behind it, when it is first used.
_DOORS = (
    "keras",
    "losses",
    "metrics",
    "optimizers",
    "initializers",
    "compat.v1.keras",
    "compat.v1.layers",
    "compat.v1.nn.rnn_cell",
    "compat.v2.keras",
)


def is_chosen() -> bool:
    """Tells whether TensorFlow's `tf.keras` is tf_keras (Keras 2) in this process."""
    # The values that TensorFlow itself takes for a yes.
    return os.environ.get(_VARIABLE) in ("1", "true", "True")


def choose() -> None:
    """Makes `tf.keras`, `tf.compat.v1.layers` and `tf.compat.v1.nn.rnn_cell` those of tf_keras; importing this module does it.

    Raises:
      bridge.errors.LegacyKerasError: if tf_keras is not installed, or something has used `tf.keras` in this process already,
        which made it Keras 3 for good.
    """
    spec = importlib.util.find_spec("tf_keras")
    if spec is None or not spec.submodule_search_locations:
        raise LegacyKerasError(
            "bridge.legacy_keras needs the package tf_keras (Keras 2), which is not installed. Install the release that "
            f"goes with TensorFlow {tf.__version__}: pip install 'tf_keras=={tf.__version__.rpartition('.')[0]}.*', or "
            "pip install 'keras-hook-bridge[legacy]'."
        )
    used = list(_used_with_keras_3())
    if used:
        raise LegacyKerasError(
            f"bridge.legacy_keras comes too late: {', '.join(used)} has been used in this process and is Keras 3 by now. "
            "Import bridge.legacy_keras at the top of the program, before every other import that uses tf.keras, or set "
            f"{_VARIABLE}=1 in the environment."
        )
    os.environ[_VARIABLE] = "1"
    _put_first(Path(next(iter(spec.submodule_search_locations))) / "api" / "_v2")


def _used_with_keras_3() -> Iterator[str]:
    for name in _DOORS:
        if _package_behind(_attribute(tf, name)) == "keras":
            yield f"tf.{name}"
    imported = sys.modules.get("tensorflow.keras")
    if imported is not None and "tf_keras" not in Path(imported.__file__ or "").parts:
        yield "tensorflow.keras"


def _package_behind(door: Any) -> str:
    """The package that a lazy module of TensorFlow's has loaded, or an empty string if it has not been used yet.

    There is no public word for that, and asking the module for anything else would load it. Some of them put the module
    itself in their place when they are used.
    """
    state = getattr(door, "__dict__", {})
    if not state.get("_tfll_initialized", True):
        return ""
    if "_tfll_keras_version" in state:
        return "tf_keras" if state["_tfll_keras_version"] == "tf_keras" else "keras"
    return str(state.get("__name__", "")).partition(".")[0]


def _attribute(module: ModuleType, path: str) -> Any:
    found: Any = module
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def _put_first(folder: Path) -> None:
    """Makes `from tensorflow.keras import …` find tf_keras, as TensorFlow does if the variable is set when it starts."""
    if str(folder) not in tf.__path__:
        tf.__path__.insert(0, str(folder))


choose()
