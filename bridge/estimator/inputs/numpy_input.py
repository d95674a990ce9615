"""`numpy_input_fn`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.inputs.columns import check_shuffle, read_columns


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """Returns an `input_fn` over arrays (`tf.estimator.inputs.numpy_input_fn`).

    Args:
      x: An array, or arrays by name, of the same length.
      y: The labels: an array, or arrays by name, or None.
      batch_size: Examples in a batch. Batches go across the border of two epochs; the last one may be smaller.
      num_epochs: How often each example comes; None for ever.
      shuffle: Whether examples are shuffled in each epoch; it must be said.
      queue_capacity: Has no effect: there is no queue any more, and all examples are shuffled.
      num_threads: Has no effect: one thread reads ahead.

    Returns:
      The function, which returns tensors: features, or a pair of features and labels.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be; those of `x` and `y` when the function is called.
    """
    check_shuffle(shuffle)
    del queue_capacity, num_threads

    def input_fn() -> Any:
        features = _arrays(x)
        if y is not None and isinstance(y, Mapping) and not y:
            raise EstimatorError("y cannot be empty dict, use None instead.")
        labels = {} if y is None else dict(y) if isinstance(y, Mapping) else {None: np.asarray(y)}
        both = sorted(set(features) & set(labels), key=str)
        if both:
            raise EstimatorError(f"{len(both)} duplicate keys are found in both x and y: {both}.")
        columns = {("x", name): array for name, array in features.items()}
        columns.update({("y", name): array for name, array in labels.items()})
        if len({len(array) for array in columns.values()}) != 1:
            shapes = {f"{kind}[{name}]": array.shape for (kind, name), array in columns.items()}
            raise EstimatorError(
                f"Length of tensors in x and y is mismatched. All must have the same, but the shapes are {shapes}."
            )
        batch = read_columns(columns, batch_size=batch_size, num_epochs=num_epochs, shuffle=bool(shuffle))
        tensors = {name: batch["x", name] for name in features}
        result = tensors if isinstance(x, Mapping) else tensors[None]
        if y is None:
            return result
        targets = {name: batch["y", name] for name in labels}
        return result, targets if isinstance(y, Mapping) else targets[None]

    return input_fn


def _arrays(x: Any) -> dict[Any, Any]:
    if isinstance(x, Mapping):
        if not x:
            raise EstimatorError("x cannot be an empty dict.")
        return dict(sorted(x.items()))
    if not isinstance(x, np.ndarray):
        raise EstimatorTypeError(f"x must be a dict or array, but it is a {type(x).__name__}.")
    if x.size == 0:
        raise EstimatorError("x cannot be an empty array.")
    return {None: x}
