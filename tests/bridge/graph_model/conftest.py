"""A fresh default graph for each test: legacy code builds into it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import tensorflow as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """The default graph of the test."""
    with tf.Graph().as_default() as graph:
        yield graph
