"""`pandas_input_fn`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.inputs.columns import check_shuffle, read_columns


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Returns an `input_fn` over a pandas DataFrame (`tf.estimator.inputs.pandas_input_fn`).

    Args:
      x: A DataFrame; each column is a feature.
      y: The labels: a Series, a DataFrame for several, or None. Its index must be that of `x`.
      batch_size: As for `numpy_input_fn`.
      num_epochs: As for `numpy_input_fn`.
      shuffle: As for `numpy_input_fn`.
      queue_capacity: Has no effect.
      num_threads: Has no effect.
      target_column: A name that no column of `x` may have.

    Returns:
      The function, which returns features by name, or a pair of them and the labels.

    Raises:
      EstimatorError: (a ValueError) an argument cannot be, or a column that is not of floats has missing values.
      EstimatorTypeError: (a TypeError) `x` is no DataFrame, `target_column` no string, or a column holds what no
        tensor can.
    """
    check_shuffle(shuffle)
    del queue_capacity, num_threads
    if not (hasattr(x, "iloc") and hasattr(x, "columns")):
        raise EstimatorTypeError(f"x must be a pandas DataFrame, but it is a {type(x).__name__}.")
    if not isinstance(target_column, str):
        raise EstimatorTypeError(f"target_column must be a string type, but it is {target_column!r}.")
    columns = {("x", name): x[name] for name in x.columns}
    is_frame = hasattr(y, "columns")
    if y is not None:
        if target_column in x:
            raise EstimatorError(
                f"Cannot use name {target_column} for target column: the DataFrame has it already. Give another target_column."
            )
        if not np.array_equal(x.index, y.index):
            raise EstimatorError(
                f"Index for x and y are mismatched: {x.index} and {y.index}. Use y.reindex(x.index)."
            )
        columns.update({("y", name): y[name] for name in y.columns} if is_frame else {("y", None): y})
    arrays = {name: _array(column) for name, column in columns.items()}

    def input_fn() -> Any:
        batch = read_columns(arrays, batch_size=batch_size, num_epochs=num_epochs, shuffle=bool(shuffle))
        features = {name: tensor for (kind, name), tensor in batch.items() if kind == "x"}
        if y is None:
            return features
        labels = {name: tensor for (kind, name), tensor in batch.items() if kind == "y"}
        return features, labels if is_frame else labels[None]

    return input_fn


def _array(column: Any) -> np.ndarray:
    """Returns a copy of a column as an array that a tensor can be made of, whatever pandas keeps the column in.

    Strings and categories may be of pandas' own types, numbers of its nullable ones or of Arrow.
    """
    dtype = getattr(column.dtype, "numpy_dtype", None)  # Only the types that pandas adds to numpy's have it.
    if dtype is None or dtype.kind == "O":
        array = np.array(column)
    elif dtype.kind == "f":
        return column.to_numpy(dtype=dtype, na_value=np.nan, copy=True)
    elif column.isna().any():
        raise _missing_values(column)
    else:
        array = column.to_numpy(dtype=dtype, copy=True)
    if array.dtype.kind == "O" and column.isna().any():
        raise _missing_values(column)
    try:
        tf.as_dtype(array.dtype)
    except TypeError as error:
        raise EstimatorTypeError(
            f"Column {column.name!r} is of {column.dtype}, of which there are no tensors. Convert it, for example with "
            "astype('int64')."
        ) from error
    return array


def _missing_values(column: Any) -> EstimatorError:
    return EstimatorError(
        f"Column {column.name!r} has missing values, and a tensor of {column.dtype} cannot have them. Use fillna or dropna."
    )
