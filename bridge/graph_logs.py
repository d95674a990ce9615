"""The named values that a v1 graph yields in every step, and what they come to over an epoch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from bridge.errors import ForeignTensorError, GraphModelError, UnknownNameError, nearest_names

AGGREGATES = ("mean", "last")

Aggregate = str | Mapping[str, str] | None


def graph_element(graph: tf.Graph, item: Any, argument: str) -> Any:
    """Finds a tensor or operation in a graph.

    Args:
      graph: The graph.
      item: A tensor, operation or variable of it, or a name.
      argument: What the caller calls it, for error messages.

    Returns:
      The tensor or operation; a variable's value for a variable.

    Raises:
      UnknownNameError: if the graph has nothing of that name.
      ForeignTensorError: if it is of another graph, or an eager tensor.
      GraphModelError: if it is none of those.
    """
    if isinstance(item, str):
        return _named(graph, item, argument)
    owner = getattr(item, "graph", None)  # Eager tensors and variables have none.
    if owner is not graph and (owner is not None or tf.is_tensor(item) or isinstance(item, tf.Variable)):
        raise ForeignTensorError(
            f"{argument} holds {item!r}, which is not in the graph that was the default one when the GraphModel or the "
            "hook was made. Make both inside the same `with graph.as_default():`."
        )
    try:
        return graph.as_graph_element(item)
    except (TypeError, ValueError) as error:
        raise GraphModelError(
            f"{argument} holds a {type(item).__name__} ({item!r}), which is neither a tensor nor an operation of the "
            "graph. Give what you would give to session.run."
        ) from error


def _named(graph: tf.Graph, name: str, argument: str) -> Any:
    try:
        element = graph.as_graph_element(name)
    except (KeyError, ValueError):
        known = [operation.name for operation in graph.get_operations()]
        raise UnknownNameError(
            f"{argument} names {name!r}, which the graph does not have. {nearest_names(name, known)}"
        ) from None
    if isinstance(element, tf.Operation) and len(element.outputs) == 1 and argument != "train_op":
        return element.outputs[0]
    return element


class GraphLogs:
    """Named tensors of a graph that are fetched in every step.

    Attributes:
      tensors: What to fetch.
    """

    def __init__(
        self, logs: Any, graph: tf.Graph, argument: str = "logs", aggregate: Aggregate = None
    ) -> None:
        """Checks and names the tensors.

        Args:
          logs: A dict from names to tensors; or tensors (one or a list), named by their operations; or None. A pair
            `(value, update_op)`, as `tf.compat.v1.metrics` returns it, may stand for a tensor in a dict.
          graph: Their graph.
          argument: What the caller calls it, for error messages.
          aggregate: What an epoch's value is: "mean" of the steps' or "last"; for all, or a dict by name. None, and
            names that are not in the dict: "mean" for floating-point tensors, "last" for others and for streaming
            metrics.

        Raises:
          GraphModelError: if something is not a number, or an unknown aggregate is asked for.
        """
        self._entries: list[tuple[str, Callable[[Any], Any], bool]] = []
        self.tensors: list[Any] = []
        given = _by_name(logs, graph, argument)
        wanted = _aggregates(aggregate, list(given))
        for name, item in given.items():
            is_metric = isinstance(item, (tuple, list))
            if is_metric and len(item) != 2:
                raise GraphModelError(
                    f"{argument}[{name!r}] is a list of {len(item)}. Give one tensor for a name, or the pair "
                    "(value, update_op) of a tf.compat.v1.metrics function."
                )
            tensor = graph_element(graph, item[1] if is_metric else item, argument)
            converter = _converter(tensor, f"{argument}[{name!r}]")
            default = "mean" if tensor.dtype.is_floating and not is_metric else "last"
            self.tensors.append(tensor)
            self._entries.append((name, converter, wanted.get(name, default) == "mean"))

    def totals(self) -> Totals:
        """Returns a fresh count for one epoch."""
        return Totals(self._entries)


class Totals:
    """Adds up the values of an epoch's steps.

    Attributes:
      names: The names, in order.
      steps: How many steps were added.
    """

    def __init__(self, entries: Sequence[tuple[str, Callable[[Any], Any], bool]]) -> None:
        """Starts at nothing; `entries` are a GraphLogs'."""
        self._entries = entries
        self.names = [name for name, _, _ in entries]
        self._sums = {name: 0.0 for name, _, is_mean in entries if is_mean}
        self._last: dict[str, Any] = {}
        self.steps = 0

    def add(self, values: Sequence[Any]) -> dict[str, Any]:
        """Adds one step.

        Args:
          values: What was fetched, in the order of `GraphLogs.tensors`.

        Returns:
          The step's own values by name, as Python numbers.
        """
        self.steps += 1
        sums = self._sums
        last: dict[str, Any] = {}
        for (name, convert, is_mean), value in zip(self._entries, values, strict=True):
            number = convert(value)
            last[name] = number
            if is_mean:
                sums[name] += number
        self._last = last
        return last

    def result(self) -> dict[str, Any]:
        """Returns what the steps came to so far."""
        return {
            **self._last,
            **{name: total / self.steps for name, total in self._sums.items() if self.steps},
        }


def _by_name(logs: Any, graph: tf.Graph, argument: str) -> dict[str, Any]:
    if logs is None:
        return {}
    if isinstance(logs, Mapping):
        return {str(name): tensor for name, tensor in logs.items()}
    found: dict[str, Any] = {}
    for item in logs if isinstance(logs, (list, tuple)) else [logs]:
        if isinstance(item, (list, tuple)):
            raise GraphModelError(
                f"{argument} holds a list in a list. Give a dict from names to tensors or to (value, update_op) pairs."
            )
        tensor = graph_element(graph, item, argument)
        name = tensor.name.removesuffix(":0") if not isinstance(item, tf.Variable) else item.op.name
        found[name] = tensor
    return found


def _aggregates(aggregate: Aggregate, names: Sequence[str]) -> Mapping[str, str]:
    found = (
        aggregate if isinstance(aggregate, Mapping) else dict.fromkeys(names, aggregate) if aggregate else {}
    )
    for name, kind in found.items():
        if kind not in AGGREGATES:
            raise GraphModelError(f"The aggregate of {name!r} is {kind!r}. Use 'mean' or 'last'.")
    return found


def _converter(tensor: Any, described: str) -> Callable[[Any], Any]:
    """Returns what makes a Python number of a fetched value."""
    if isinstance(tensor, tf.Operation):
        raise GraphModelError(
            f"{described} is the operation {tensor.name}, which has no value. Give a tensor."
        )
    dtype = tensor.dtype.base_dtype
    if not (dtype.is_floating or dtype.is_integer or dtype.is_bool):
        raise GraphModelError(f"{described} is of type {dtype.name}, but logs are numbers. Leave it out.")
    size = tensor.shape.num_elements()
    if size is not None and size != 1:
        raise GraphModelError(
            f"{described} has the shape {tensor.shape}, but logs are single numbers. Reduce it: tf.reduce_mean(...)."
        )
    number: Callable[[Any], Any] = float if dtype.is_floating else bool if dtype.is_bool else int
    if tensor.shape.rank == 0:
        return number

    def single(value: Any) -> Any:
        if np.size(value) != 1:
            raise GraphModelError(
                f"{described} came out with the shape {np.shape(value)}, but logs are single numbers. "
                "Reduce it: tf.reduce_mean(...)."
            )
        return number(np.reshape(value, ())[()])

    return single
