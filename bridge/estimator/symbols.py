"""The public symbols of TensorFlow 1.15's `tf.estimator` that are not here, each with its way out.

The table in the guide is made of these and of the package's own names; a test compares both with TensorFlow 1.15's own list.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from bridge.errors import nearest_names
from bridge.estimator.errors import UnsupportedEstimatorError

PACKAGE = "bridge.estimator"

_TREES = "Train gradient-boosted trees with tensorflow_decision_forests (Keras models), XGBoost or LightGBM."
_TPU = "On TPUs train a Keras model in tf.distribute.TPUStrategy's scope with fit."

MISSING: dict[str, str] = {
    "BoostedTreesClassifier": _TREES,
    "BoostedTreesEstimator": _TREES,
    "BoostedTreesRegressor": _TREES,
    "experimental.KMeans": "Use scikit-learn's MiniBatchKMeans, whose partial_fit takes batches.",
    "experimental.LinearSDCA": (
        "Use LinearClassifier or LinearRegressor with tf.compat.v1.train.FtrlOptimizer, or keras.layers.Dense with "
        "keras.optimizers.Ftrl."
    ),
    "tpu.experimental.EmbeddingConfigSpec": _TPU,
}


class _Missing(type):
    """The class of what is not there: it can be imported and named, and says the way out once it is used."""

    def __new__(cls, name: str, bases: tuple[Any, ...], namespace: dict[str, Any]) -> _Missing:
        if bases:  # Something is derived from a class that is not there.
            raise _unsupported(bases[0])
        return super().__new__(cls, name, bases, namespace)

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise _unsupported(cls)

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _unsupported(cls)


def _unsupported(cls: Any) -> UnsupportedEstimatorError:
    return UnsupportedEstimatorError(f"{cls.__name__} does not exist in {PACKAGE}: {MISSING[cls.__name__]}")


_made: dict[str, Any] = {}


def missing(module: str, name: str, there: Iterable[str]) -> Any:
    """Finds what a module of this package does not have; it is the modules' `__getattr__`.

    Args:
      module: The module's name.
      name: The attribute that was asked for.
      there: What the module has.

    Returns:
      For a symbol of `tf.estimator`: a class that raises `UnsupportedEstimatorError` when it is called, derived from, or
      asked for an attribute. A program that only imports it goes on.

    Raises:
      AttributeError: there was no such symbol in `tf.estimator` either.
    """
    symbol = f"{module.removeprefix(PACKAGE)}.{name}".removeprefix(".")
    if symbol not in MISSING:
        raise AttributeError(f"module {module!r} has no attribute {name!r}. {nearest_names(name, there)}")
    if symbol not in _made:
        _made[symbol] = _Missing(symbol, (), {"__doc__": MISSING[symbol]})
    return _made[symbol]
