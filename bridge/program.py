"""One compiled set of fetches and feeds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Request:
    """What one program computes.

    Attributes:
      fetches: Tensors and operations of the graph, each once.
      feeds: Tensors that are given a value at each call, in this order.
      source: Where the batch comes from: "none", "iterator" or "batch".
    """

    fetches: tuple[Any, ...]
    feeds: tuple[tf.Tensor, ...]
    source: str


class Program:
    """A function that runs one request.

    Attributes:
      reads_batch: Whether it takes the batch.
      trains: Whether it runs the step, or so much of it that the model changes.
      returns_batch: How many tensors of the batch follow the function's results, for a batch from an iterator.
      last_batch: The batch of the last call, if the function returns it.
      writes: Names of the bound handles that operations outside the step write.
    """

    def __init__(
        self, request: Request, run: Callable[..., Any], reads_batch: bool, writes: frozenset[str]
    ) -> None:
        """Wraps the compiled function."""
        self._run = run
        self._is_tensor: list[bool] | None = [isinstance(fetch, tf.Tensor) for fetch in request.fetches]
        self.reads_batch = reads_batch
        self.writes = writes
        self.trains = False
        self.returns_batch = 0
        self.last_batch: list[tf.Tensor] | None = None

    @classmethod
    def of_values(cls, run: Callable[..., list[Any]], writes: frozenset[str]) -> Program:
        """Wraps a function that reads a batch and returns the values themselves."""
        program = cls.__new__(cls)
        program._run, program._is_tensor = run, None
        program.returns_batch, program.last_batch, program.trains = 0, None, True
        program.reads_batch, program.writes = True, writes
        return program

    def __call__(self, inputs: Sequence[tf.Tensor]) -> list[Any]:
        """Runs the program.

        Args:
          inputs: The flat batch (or the iterator's resource) if the program takes it, then the feeds.

        Returns:
          A numpy value for each fetched tensor and None for each operation.
        """
        if self._is_tensor is None:
            return self._run(inputs)
        flat = self._run(inputs)
        if self.returns_batch:
            self.last_batch = list(flat[len(flat) - self.returns_batch :])
        values = iter(flat)
        return [next(values).numpy() if is_tensor else None for is_tensor in self._is_tensor]
