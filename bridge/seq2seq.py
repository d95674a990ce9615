"""The loss of `tf.contrib.seq2seq`, for migrated programs: TensorFlow removed contrib and gave it no successor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross entropy of sequences of logits; stands for `tf.contrib.seq2seq.sequence_loss`.

    Args:
      logits: Floats of shape `[batch, steps, classes]`.
      targets: Whole numbers of shape `[batch, steps]`: the right class.
      weights: Floats of shape `[batch, steps]`; 0 for what is only padding.
      average_across_timesteps: Whether to divide by the weights of a sequence, summed over its steps.
      average_across_batch: Whether to divide by the weights of a step, summed over the batch.
      sum_over_timesteps: Whether to sum over the steps, divided by the number of weights that are not 0.
      sum_over_batch: Whether to sum over the batch, likewise.
      softmax_loss_function: Called with `labels` and `logits` in place of the sparse cross entropy.
      name: A name for the operations; `sequence_loss` if left out.

    Returns:
      A scalar if both dimensions are averaged or summed, a vector if one is, and `[batch, steps]` if none is.

    Raises:
      ValueError: If a shape has another number of dimensions, or one dimension is to be both averaged and summed.
    """
    for what, value, rank in (("logits", logits, 3), ("targets", targets, 2), ("weights", weights, 2)):
        shape = tf.TensorShape(tf.convert_to_tensor(value).shape)
        if shape.rank not in (rank, None):
            raise ValueError(f"{what} must have {rank} dimensions; their shape is {shape}.")
    for dimension, both in (
        ("timesteps", average_across_timesteps and sum_over_timesteps),
        ("batch", average_across_batch and sum_over_batch),
    ):
        if both:
            raise ValueError(
                f"Either average or sum over the {dimension}, not both: sum_over_{dimension}=True needs "
                f"average_across_{dimension}=False."
            )
    with tf.name_scope(name or "sequence_loss"):
        loss = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
        flat = tf.reshape(logits, [-1, tf.shape(logits)[2]])
        weights = tf.convert_to_tensor(weights)
        entropies = loss(labels=tf.reshape(targets, [-1]), logits=flat) * tf.reshape(weights, [-1])
        entropies = tf.reshape(entropies, tf.shape(logits)[:2])
        averaged = [
            axis for axis, wanted in ((0, average_across_batch), (1, average_across_timesteps)) if wanted
        ]
        summed = [axis for axis, wanted in ((0, sum_over_batch), (1, sum_over_timesteps)) if wanted]
        if averaged:  # Where the other dimension is to be summed, contrib left it.
            return tf.math.divide_no_nan(tf.reduce_sum(entropies, averaged), tf.reduce_sum(weights, averaged))
        if summed:
            count = tf.cast(tf.math.count_nonzero(weights, summed), entropies.dtype)
            return tf.math.divide_no_nan(tf.reduce_sum(entropies, summed), count)
        return entropies
