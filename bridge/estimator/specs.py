"""`TrainSpec` and `EvalSpec`: what `train_and_evaluate` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.exporter import Exporter
from bridge.estimator.model_fn import checked_hooks


def _check_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise EstimatorTypeError(
            f"`input_fn` must be callable, but it is {input_fn!r}. Give the function itself."
        )


class _TrainFields(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[Any, ...]


class TrainSpec(_TrainFields):
    """The training of `train_and_evaluate` (`tf.estimator.TrainSpec`)."""

    __slots__ = ()

    def __new__(
        cls, input_fn: Callable[..., Any], max_steps: int | None = None, hooks: Iterable[Any] | None = None
    ) -> TrainSpec:
        """Checks the parts.

        Args:
          input_fn: As for `Estimator.train`.
          max_steps: As for `Estimator.train`.
          hooks: `SessionRunHook`s.

        Raises:
          EstimatorError: (a ValueError) `max_steps` is not positive.
          EstimatorTypeError: (a TypeError) something is of a wrong type.
        """
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise EstimatorError(f"Must specify max_steps > 0, given: {max_steps}.")
        return super().__new__(cls, input_fn, max_steps, checked_hooks(hooks))


class _EvalFields(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[Any, ...]
    exporters: tuple[Exporter, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_EvalFields):
    """The evaluations of `train_and_evaluate` (`tf.estimator.EvalSpec`)."""

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[Any] | None = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        """Checks the parts.

        Args:
          input_fn: As for `Estimator.evaluate`.
          steps: As for `Estimator.evaluate`.
          name: As for `Estimator.evaluate`.
          hooks: `SessionRunHook`s.
          exporters: An `Exporter`, several, or None.
          start_delay_secs: Seconds before an evaluator's first evaluation.
          throttle_secs: Seconds between two evaluations at least.

        Raises:
          EstimatorError: (a ValueError) a number cannot be.
          EstimatorTypeError: (a TypeError) something is of a wrong type.
        """
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise EstimatorError(f"Must specify steps > 0, given: {steps}.")
        if name is not None and not isinstance(name, str):
            raise EstimatorTypeError(f"`name` must be string, but it is {name!r}.")
        for argument, seconds in (("start_delay_secs", start_delay_secs), ("throttle_secs", throttle_secs)):
            if seconds < 0:
                raise EstimatorError(f"Must specify {argument} >= 0, given: {seconds}.")
        return super().__new__(
            cls,
            input_fn,
            steps,
            name,
            checked_hooks(hooks),
            _checked_exporters(exporters),
            start_delay_secs,
            throttle_secs,
        )


def _checked_exporters(exporters: Any) -> tuple[Exporter, ...]:
    if not exporters:
        return ()
    if isinstance(exporters, Exporter):
        exporters = [exporters]
    made = tuple(exporters) if isinstance(exporters, Iterable) else (exporters,)
    if not all(isinstance(exporter, Exporter) for exporter in made):
        raise EstimatorTypeError(
            f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, but it is {exporters!r}."
        )
    names = [exporter.name for exporter in made]
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise EstimatorError(f"`exporters` must have unique names that are not empty, but they are {names}.")
    return made
