"""Batches of columns in memory, in order or shuffled, across the borders of epochs as v1's queues gave them."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
import tensorflow as tf

from bridge.estimator.errors import EstimatorError

tf1 = tf.compat.v1

Name = TypeVar("Name", bound=Hashable)


def check_shuffle(shuffle: Any) -> None:
    """Raises if `shuffle` was not said.

    Raises:
      EstimatorError: (a ValueError) it is no bool.
    """
    if not isinstance(shuffle, bool):
        raise EstimatorError(
            f"shuffle must be provided and explicitly set as boolean, but it is {shuffle!r}. True is right for training, False for "
            "evaluation and prediction."
        )


def index_batches(
    length: int, batch_size: int, num_epochs: int | None, random: np.random.Generator | None
) -> Iterator[np.ndarray]:
    """Yields the rows of each batch.

    Args:
      length: How many rows there are.
      batch_size: Rows in a batch; the last one may have fewer.
      num_epochs: How often each row comes; None for ever.
      random: Shuffles each epoch; None to keep the order.
    """
    epochs = itertools.count() if num_epochs is None else range(num_epochs)
    rows = itertools.chain.from_iterable(
        range(length) if random is None else random.permutation(length) for _ in epochs
    )
    while batch := list(itertools.islice(rows, batch_size)):
        yield np.array(batch, np.int64)


def read_columns(
    columns: Mapping[Name, np.ndarray],
    *,
    batch_size: int,
    num_epochs: int | None,
    shuffle: bool,
) -> dict[Name, Any]:
    """Adds a reader of columns to the default graph.

    The data stay outside of the graph, so that they are neither copied into it nor saved with it.

    Args:
      columns: From names to arrays of the same length.
      batch_size: Rows in a batch.
      num_epochs: As for `index_batches`.
      shuffle: Whether the rows of each epoch are shuffled; by the graph's seed, if it has one.

    Returns:
      From names to tensors of one batch.
    """
    names = list(columns)
    length = len(columns[names[0]])
    seed = tf1.random.get_seed(None)

    def batches() -> Iterator[tuple[np.ndarray, ...]]:
        random = None
        if shuffle:
            random = np.random.default_rng(None if seed[0] is None else seed)
        for rows in index_batches(length, batch_size, num_epochs, random):
            yield tuple(columns[name][rows] for name in names)

    rows_in_batch = batch_size if num_epochs is None else None
    dataset = tf1.data.Dataset.from_generator(
        batches,
        output_types=tuple(tf.as_dtype(columns[name].dtype) for name in names),
        output_shapes=tuple(tf.TensorShape([rows_in_batch, *np.shape(columns[name])[1:]]) for name in names),
    )
    values = tf1.data.make_one_shot_iterator(dataset.prefetch(2)).get_next()
    return dict(zip(names, values, strict=True))
