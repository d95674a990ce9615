"""Hooks that stop a training by its evaluations, in all processes of a job."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from bridge.estimator import evaluation
from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.estimator import Estimator

tf1 = tf.compat.v1
_SessionRunHook: Any = tf1.train.SessionRunHook

_EVENTS = "events.out.tfevents.*"


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """Returns a hook that stops a training when a function says so.

    It stands for `tf.estimator.experimental.make_early_stopping_hook`. In a cluster the chief asks the function, and
    stops the others by a variable.

    Args:
      estimator: The Estimator.
      should_stop_fn: A function without arguments.
      run_every_secs: Seconds between two calls; None if steps are given.
      run_every_steps: Steps between two calls.

    Returns:
      A `SessionRunHook`.

    Raises:
      EstimatorError: (a ValueError) both seconds and steps are given.
      EstimatorTypeError: (a TypeError) `estimator` is none, or the function cannot be called.
    """
    if not isinstance(estimator, Estimator):
        raise EstimatorTypeError(
            f"`estimator` must have type `bridge.estimator.Estimator`, but it is {estimator!r}."
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise EstimatorError(
            "Only one of `run_every_secs` and `run_every_steps` must be set. Set run_every_secs=None."
        )
    if estimator.config.is_chief:
        return _StopOnPredicate(should_stop_fn, run_every_secs, run_every_steps)
    return _StopWithChief()


def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """Returns a hook that stops once a metric was higher than a threshold.

    It stands for `tf.estimator.experimental.stop_if_higher_hook`.

    Args:
      estimator: The Estimator.
      metric_name: The metric's name in the evaluation.
      threshold: The threshold.
      eval_dir: The folder of the evaluation's events; None for `estimator.eval_dir()`.
      min_steps: Evaluations before this step do not count.
      run_every_secs: As for `make_early_stopping_hook`.
      run_every_steps: As for `make_early_stopping_hook`.

    Returns:
      A `SessionRunHook`.
    """
    crossed = _Threshold(eval_dir or estimator.eval_dir(), metric_name, threshold, min_steps, operator.gt)
    return make_early_stopping_hook(estimator, crossed, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """Returns a hook that stops once a metric was lower than a threshold.

    It stands for `tf.estimator.experimental.stop_if_lower_hook`.

    Args:
      estimator: As for `stop_if_higher_hook`.
      metric_name: As for `stop_if_higher_hook`.
      threshold: As for `stop_if_higher_hook`.
      eval_dir: As for `stop_if_higher_hook`.
      min_steps: As for `stop_if_higher_hook`.
      run_every_secs: As for `stop_if_higher_hook`.
      run_every_steps: As for `stop_if_higher_hook`.

    Returns:
      A `SessionRunHook`.
    """
    crossed = _Threshold(eval_dir or estimator.eval_dir(), metric_name, threshold, min_steps, operator.lt)
    return make_early_stopping_hook(estimator, crossed, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """Returns a hook that stops when a metric has not increased for some steps.

    It stands for `tf.estimator.experimental.stop_if_no_increase_hook`.

    Args:
      estimator: As for `stop_if_higher_hook`.
      metric_name: As for `stop_if_higher_hook`.
      max_steps_without_increase: The number of steps.
      eval_dir: As for `stop_if_higher_hook`.
      min_steps: As for `stop_if_higher_hook`.
      run_every_secs: As for `stop_if_higher_hook`.
      run_every_steps: As for `stop_if_higher_hook`.

    Returns:
      A `SessionRunHook`.
    """
    stuck = _NoImprovement(
        eval_dir or estimator.eval_dir(), metric_name, max_steps_without_increase, min_steps, operator.gt
    )
    return make_early_stopping_hook(estimator, stuck, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """Returns a hook that stops when a metric has not decreased for some steps.

    It stands for `tf.estimator.experimental.stop_if_no_decrease_hook`.

    Args:
      estimator: As for `stop_if_higher_hook`.
      metric_name: As for `stop_if_higher_hook`.
      max_steps_without_decrease: The number of steps.
      eval_dir: As for `stop_if_higher_hook`.
      min_steps: As for `stop_if_higher_hook`.
      run_every_secs: As for `stop_if_higher_hook`.
      run_every_steps: As for `stop_if_higher_hook`.

    Returns:
      A `SessionRunHook`.
    """
    stuck = _NoImprovement(
        eval_dir or estimator.eval_dir(), metric_name, max_steps_without_decrease, min_steps, operator.lt
    )
    return make_early_stopping_hook(estimator, stuck, run_every_secs, run_every_steps)


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """Reads what evaluations wrote.

    Args:
      eval_dir: A folder of events.

    Returns:
      From steps, in order, to metrics by name.
    """
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for step, values in evaluation.written(f"{eval_dir}/{_EVENTS}"):
        found[step].update(values)
    return dict(sorted(found.items()))


class _Evaluations:
    """Asks the evaluations for one metric."""

    def __init__(
        self, eval_dir: str, metric: str, limit: float, min_steps: int, is_better: Callable[[Any, Any], bool]
    ) -> None:
        self._eval_dir, self._metric = eval_dir, metric
        self._limit, self._min_steps, self._is_better = limit, min_steps, is_better

    def values(self) -> list[tuple[int, float]]:
        """Returns steps and values, in order.

        Raises:
          EstimatorError: (a ValueError) an evaluation has no such metric.
        """
        made = []
        for step, metrics in read_eval_metrics(self._eval_dir).items():
            if step < self._min_steps:
                continue
            if self._metric not in metrics:
                raise EstimatorError(
                    f"The evaluation at step {step} in {self._eval_dir} has no metric {self._metric!r}. It has "
                    f"{', '.join(sorted(metrics))}."
                )
            made.append((step, metrics[self._metric]))
        return made


class _Threshold(_Evaluations):
    """Tells whether a metric has crossed a threshold."""

    def __call__(self) -> bool:
        for step, value in self.values():
            if self._is_better(value, self._limit):
                tf1.logging.info(
                    "At step %s, metric %s is %s, beyond the threshold %s.",
                    step,
                    self._metric,
                    value,
                    self._limit,
                )
                return True
        return False


class _NoImprovement(_Evaluations):
    """Tells whether a metric has not become better for some steps."""

    def __call__(self) -> bool:
        best: tuple[int, float] | None = None
        for step, value in self.values():
            if best is None or self._is_better(value, best[1]):
                best = step, value
            if step - best[0] >= self._limit:
                tf1.logging.info("Metric %s has not improved for %s steps.", self._metric, step - best[0])
                return True
        return False


def _stop_variable() -> Any:
    """Returns the variable by which the chief stops the others, of the name that it has in v1's checkpoints."""
    with tf1.variable_scope("signal_early_stopping", reuse=tf1.AUTO_REUSE):
        return tf1.get_variable(
            "STOP",
            shape=[],
            dtype=tf.bool,
            initializer=tf1.constant_initializer(False),
            collections=[tf1.GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
        )


class _StopOnPredicate(_SessionRunHook):
    """The chief's: asks a function, and stops all."""

    def __init__(
        self, should_stop_fn: Callable[[], bool], every_secs: float | None, every_steps: int | None
    ) -> None:
        if not callable(should_stop_fn):
            raise EstimatorTypeError(f"`should_stop_fn` must be callable, but it is {should_stop_fn!r}.")
        self._should_stop = should_stop_fn
        self._timer = tf1.train.SecondOrStepTimer(every_secs=every_secs, every_steps=every_steps)

    def begin(self) -> None:
        self._step = tf1.train.get_global_step()
        variable = _stop_variable()
        # Graphs are final by then.
        self._stop = tf1.assign(variable, True)

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf1.train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop():
            tf1.logging.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop)
            run_context.request_stop()


class _StopWithChief(_SessionRunHook):
    """The other workers': stops when the chief has said so."""

    def begin(self) -> None:
        self._variable = _stop_variable()

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf1.train.SessionRunArgs(self._variable)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results:
            tf1.logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()
