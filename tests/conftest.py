"""What all tests share: the garbage collector looks once only at what lives to the end of the process."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

# TensorFlow and Keras alone make more objects than this, and TensorFlow keeps the graph of every traced function.
_MANY_OBJECTS = 200_000


@pytest.fixture(autouse=True)
def _old_objects_are_collected_once() -> Iterator[None]:
    """Keeps `keras.backend.clear_session()`, which collects garbage, from taking longer with every test."""
    yield
    if len(gc.get_objects(generation=2)) > _MANY_OBJECTS:
        gc.collect()
        gc.freeze()
