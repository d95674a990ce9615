"""Fixtures of the bridge's tests: the hooks' clock, TensorFlow's log, and a clean state after each test."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import tensorflow as tf

from tests.bridge.support import HOOKS_MODULE, FakeClock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock that the built-in hooks read during the test."""
    fake = FakeClock()
    monkeypatch.setattr(HOOKS_MODULE, "time", fake)
    return fake


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What TensorFlow logs during the test, from INFO upwards."""
    caplog.set_level(logging.INFO, logger="tensorflow")
    return caplog


@pytest.fixture(autouse=True)
def _no_writers_left() -> Iterator[None]:
    yield
    tf.compat.v1.summary.FileWriterCache.clear()
