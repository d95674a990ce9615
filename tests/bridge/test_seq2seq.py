"""`bridge.seq2seq`, against the values of `tf.contrib.seq2seq` under TensorFlow 1.15.5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import bridge.seq2seq

RANDOM = np.random.RandomState(0)
LOGITS = tf.constant(RANDOM.randn(2, 3, 4), tf.float32)
TARGETS = tf.constant(RANDOM.randint(0, 4, (2, 3)))
WEIGHTS = tf.constant([[1, 0.5, 0], [2, 0, 0]], tf.float32)

# Average over timesteps and batch, sum over timesteps and batch; what contrib makes of it, None if it raises ValueError.
BY_CONTRIB = [
    ("0000", [[0.72391, 0.23202, 0.0], [2.13497, 0.0, 0.0]]),
    ("0001", [1.42944, 0.23202, 0.0]),
    ("0010", [0.47796, 2.13497]),
    ("0011", 1.0303),
    ("0100", [0.95296, 0.46403, 0.0]),
    ("0101", None),
    ("0110", [0.95296, 0.46403, 0.0]),
    ("0111", None),
    ("1000", [0.63728, 1.06749]),
    ("1001", [0.63728, 1.06749]),
    ("1010", None),
    ("1011", None),
    ("1100", 0.88311),
    ("1101", None),
    ("1110", None),
    ("1111", None),
]


@pytest.mark.parametrize(("switches", "expected"), BY_CONTRIB)
def test_each_way_to_average_and_sum_gives_what_contrib_gave(switches: str, expected: Any) -> None:
    flags = [switch == "1" for switch in switches]
    if expected is None:
        with pytest.raises(ValueError, match=r"Either average or sum over the (timesteps|batch), not both"):
            bridge.seq2seq.sequence_loss(LOGITS, TARGETS, WEIGHTS, *flags)
        return
    loss = bridge.seq2seq.sequence_loss(LOGITS, TARGETS, WEIGHTS, *flags)
    np.testing.assert_allclose(loss, expected, atol=2e-5)


def test_in_a_graph_with_open_shapes_it_is_the_same() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        logits = tf.compat.v1.placeholder(tf.float32, [None, None, 4])
        loss = bridge.seq2seq.sequence_loss(logits, TARGETS.numpy(), WEIGHTS.numpy())
        assert loss.op.name.startswith("sequence_loss/")
        np.testing.assert_allclose(
            session.run(loss, {logits: LOGITS.numpy()}), dict(BY_CONTRIB)["1100"], atol=2e-5
        )


def test_another_loss_is_called_with_labels_and_logits() -> None:
    def ones(labels: Any, logits: Any) -> Any:
        assert labels.shape == [6]
        assert logits.shape == [6, 4]
        return tf.ones([6])

    loss = bridge.seq2seq.sequence_loss(LOGITS, TARGETS, WEIGHTS, softmax_loss_function=ones)
    assert float(loss) == 1.0


@pytest.mark.parametrize("what", ["logits", "targets", "weights"])
def test_a_shape_of_other_dimensions_is_named(what: str) -> None:
    given = {"logits": LOGITS, "targets": TARGETS, "weights": WEIGHTS, what: tf.ones([2])}
    with pytest.raises(ValueError, match=rf"{what} must have \d dimensions; their shape is \(2,\)"):
        bridge.seq2seq.sequence_loss(**given)
