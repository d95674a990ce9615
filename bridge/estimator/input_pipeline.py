"""What an `input_fn` returned, as tensors of the graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from bridge.estimator.errors import EstimatorError

tf1 = tf.compat.v1
_SessionRunHook: Any = tf1.train.SessionRunHook


class Input(NamedTuple):
    """One batch of the input.

    Attributes:
      features: Features.
      labels: Labels, or None.
      hooks: Hooks that the input needs.
    """

    features: Any
    labels: Any
    hooks: list[Any]


class _DatasetHook(_SessionRunHook):
    """Starts a dataset's iterator in each new session."""

    def __init__(self, iterator: Any) -> None:
        self._initializer = iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        session.run(self._initializer)


def parse_input(result: Any) -> Input:
    """Turns what an `input_fn` returned into tensors.

    Args:
      result: A dataset; a pair of features and labels; or features alone. Also a dataset of either.

    Returns:
      The tensors, and the hooks that they need.

    Raises:
      EstimatorError: (a ValueError) a tuple has another length than two, or the dataset is not of this graph.
    """
    hooks: list[Any] = []
    if isinstance(result, tf.data.Dataset):
        iterator = _iterator(result)
        hooks.append(_DatasetHook(iterator))
        result = iterator.get_next()
    if isinstance(result, (list, tuple)):
        if len(result) != 2:
            raise EstimatorError(
                f"input_fn should return (features, labels) as a len 2 tuple, but it returned {len(result)} values. Put several "
                "features into a dict."
            )
        return Input(result[0], result[1], hooks)
    return Input(result, None, hooks)


def _iterator(dataset: Any) -> Any:
    try:
        return tf1.data.make_initializable_iterator(dataset)
    except (RuntimeError, TypeError, ValueError) as error:
        raise EstimatorError(
            f"The dataset that input_fn returned cannot be read in this call's graph ({error}). Make the whole dataset inside of "
            "input_fn: one that was made before, in eager mode, belongs to no graph."
        ) from error


def ends(features: Any) -> bool:
    """Tells whether the default graph's input comes from a dataset or a queue, and so may come to an end."""
    tensors = tf.nest.flatten(features, expand_composites=True)
    if any(
        getattr(tensor, "op", None) is not None and tensor.op.type == "IteratorGetNext" for tensor in tensors
    ):
        return True
    return bool(tf1.get_collection(tf1.GraphKeys.QUEUE_RUNNERS))
