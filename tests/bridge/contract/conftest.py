"""Fixtures of the contract: a legacy graph, a server that keeps variables, and the clock of waiting workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf

from tests.bridge.contract.legacy import SESSION_MANAGER, Legacy, build
from tests.bridge.support import FakeClock

tf1 = tf.compat.v1


@pytest.fixture
def legacy() -> Iterator[Legacy]:
    with tf.Graph().as_default():
        yield build()


@pytest.fixture
def server() -> Any:
    """A server in this process, which keeps the variables of all sessions that connect to it."""
    return tf1.train.Server({"trainer": ["localhost:0"]})  # Port 0 is any free one.


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock by which a worker waits for its chief."""
    fake = FakeClock()
    monkeypatch.setattr(SESSION_MANAGER, "time", fake)
    return fake
