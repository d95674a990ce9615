"""Where the findings about names that are gone send people: to names that exist."""

from __future__ import annotations

import re

import pytest

from codemod import tables
from codemod.rules import _guidance

_NAME = re.compile(r"(?<![\w.])(?:tf|keras)(?:\.\w+)+")


@pytest.mark.parametrize("name", sorted(_guidance._TABLE))
def test_a_remedy_names_only_what_exists(name: str) -> None:
    found = tables.load(None)
    _, remedy = _guidance._TABLE[name]
    assert remedy.endswith(".")
    for mentioned in _NAME.findall(remedy):
        if mentioned in ("tf.layers", "tf.nn.rnn_cell.RNNCell", "tf.nn.rnn_cell.LSTMCell"):
            assert "legacy_keras" in remedy
        elif mentioned.startswith("tf."):
            assert found.exists(mentioned) or found.exists_in_v2(mentioned[3:]), mentioned
        else:
            assert found.exists(mentioned), mentioned


def test_the_longest_beginning_that_is_known_counts() -> None:
    assert "hash_bucket" in _guidance.guidance("tf.contrib.layers.sparse_column_with_hash_bucket")[1]
    assert "tf_slim" in _guidance.guidance("tf.contrib.layers.something.else")[1]
    assert "tf.compat.v2" in _guidance.guidance("tf.contrib.summary.scalar")[1]
    assert _guidance.guidance("tf.no.such.name") == ("Today's TensorFlow has no such name.", "")


@pytest.mark.parametrize(
    "name", [name for name in _guidance._TABLE if name not in ("tf.contrib", "tf.keras", "keras")]
)
def test_what_has_a_remedy_is_really_gone_or_partly_so(name: str) -> None:
    # A namespace such as tf.keras.backend exists; a single name that exists needs no remedy.
    found = tables.load(None)
    if name.startswith(("tf.keras", "keras")) and found.exists(name):
        face = found.tf_keras if name.startswith("tf.") else found.keras
        assert face.get(name.partition("keras.")[2]) == "", name
