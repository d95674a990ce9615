"""`TPUEstimatorSpec`: what a `model_fn` written for TPUs returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import tensorflow as tf

from bridge.estimator.errors import EstimatorTypeError
from bridge.estimator.model_fn import EstimatorSpec, checked_hooks

tf1 = tf.compat.v1
_SessionRunHook: Any = tf1.train.SessionRunHook

# The collection of the operations that open the writers of `tf.summary`; it has no public name.
_WRITERS = "_SUMMARY_WRITER_V2"


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: tuple[Any, ...]
    evaluation_hooks: tuple[Any, ...]
    prediction_hooks: tuple[Any, ...]


class TPUEstimatorSpec(_Fields):
    """The operations of a model (`tf.estimator.tpu.TPUEstimatorSpec`)."""

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Any = None,
        scaffold_fn: Any = None,
        host_call: Any = None,
        training_hooks: Iterable[Any] | None = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> TPUEstimatorSpec:
        """Takes the parts; they are checked as those of an `EstimatorSpec`.

        Args:
          mode: As for `EstimatorSpec`.
          predictions: As for `EstimatorSpec`.
          loss: As for `EstimatorSpec`.
          train_op: As for `EstimatorSpec`.
          eval_metrics: A pair of a function and its arguments, tensors as a list or by name; it returns what
            `EstimatorSpec` calls `eval_metric_ops`.
          export_outputs: As for `EstimatorSpec`.
          scaffold_fn: A function without arguments that returns a scaffold.
          host_call: A pair of a function and its arguments, which is run with every step.
          training_hooks: As for `EstimatorSpec`.
          evaluation_hooks: As for `EstimatorSpec`.
          prediction_hooks: As for `EstimatorSpec`.

        Raises:
          EstimatorTypeError: (a TypeError) a pair is none, or something is no hook.
        """
        for name, pair in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if pair is not None and not (
                isinstance(pair, (tuple, list)) and len(pair) == 2 and callable(pair[0])
            ):
                raise EstimatorTypeError(
                    f"{name} must be a pair of a function and its tensors, but it is {pair!r}."
                )
        return super().__new__(
            cls,
            mode,
            predictions,
            loss,
            train_op,
            eval_metrics,
            export_outputs,
            scaffold_fn,
            host_call,
            checked_hooks(training_hooks),
            checked_hooks(evaluation_hooks),
            checked_hooks(prediction_hooks),
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """Returns the same as an `EstimatorSpec`, with the functions called."""
        metrics = None if self.eval_metrics is None else _called(self.eval_metrics)
        host = () if self.host_call is None else (_HostCallHook(_called(self.host_call)),)
        return EstimatorSpec(
            self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=(*self.training_hooks, *host),
            evaluation_hooks=(*self.evaluation_hooks, *host),
            prediction_hooks=(*self.prediction_hooks, *host),
        )


def _called(pair: Any) -> Any:
    function, tensors = pair
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


class _HostCallHook(_SessionRunHook):
    """Runs a host call with every step, and opens and flushes the writers that it uses."""

    def __init__(self, fetches: Any) -> None:
        self._fetches = fetches

    def begin(self) -> None:
        self._open = tf1.get_collection(_WRITERS)
        self._flush = [tf.raw_ops.FlushSummaryWriter(writer=operation.inputs[0]) for operation in self._open]

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        session.run(self._open)

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf1.train.SessionRunArgs(self._fetches)

    def end(self, session: Any) -> None:
        session.run(self._flush)
