"""`tf.estimator.tpu.experimental`: nothing of it works without a TPU."""

from typing import Any

from bridge.estimator.symbols import missing

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    return missing(__name__, name, ())
