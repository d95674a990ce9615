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


class IteratorHook(_SessionRunHook):
    """Starts an iterator in each new session."""

    def __init__(self, iterator: Any) -> None:
        """Takes the iterator."""
        self._initializer = iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Starts it."""
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
        check_dataset(result)
        iterator = tf1.data.make_initializable_iterator(result)
        hooks.append(IteratorHook(iterator))
        result = iterator.get_next()
    return Input(*features_and_labels(result), hooks)


def features_and_labels(result: Any) -> tuple[Any, Any]:
    """Returns features and labels, or None for these, of a pair or of features alone.

    Args:
      result: What an `input_fn` returned, or an element of its dataset.

    Raises:
      EstimatorError: (a ValueError) a tuple has another length than two.
    """
    if isinstance(result, (list, tuple)):
        if len(result) != 2:
            raise EstimatorError(
                f"input_fn should return (features, labels) as a len 2 tuple, but it returned {len(result)} values. Put several "
                "features into a dict."
            )
        return result[0], result[1]
    return result, None


def check_dataset(dataset: Any) -> None:
    """Checks that a dataset belongs to the default graph.

    Args:
      dataset: The dataset.

    Raises:
      EstimatorError: (a ValueError) it was made in another graph, or eagerly.
    """
    if getattr(tf.data.experimental.to_variant(dataset), "graph", None) is not tf1.get_default_graph():
        raise EstimatorError(
            f"The dataset that input_fn returned ({dataset!r}) cannot be read in this call's graph. Make the whole dataset inside of "
            "input_fn: one that was made before, in eager mode, belongs to no graph."
        )


def ends(features: Any) -> bool:
    """Tells whether the default graph's input comes from a dataset or a queue, and so may come to an end."""
    tensors = tf.nest.flatten(features, expand_composites=True)
    if any(
        getattr(tensor, "op", None) is not None and tensor.op.type == "IteratorGetNext" for tensor in tensors
    ):
        return True
    return bool(tf1.get_collection(tf1.GraphKeys.QUEUE_RUNNERS))
