"""One evaluation of a graph: its session, and the events that it writes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from bridge.estimator.errors import EstimatorError
from bridge.estimator.model_fn import LOSS, EstimatorSpec

tf1 = tf.compat.v1
_SessionRunHook: Any = tf1.train.SessionRunHook

# The error of protobuf, which ships no types.
_DECODE_ERROR: Any = importlib.import_module("google.protobuf.message").DecodeError

GLOBAL_STEP = tf1.GraphKeys.GLOBAL_STEP


class StopAfterRuns(_SessionRunHook):
    """Ends an evaluation after a number of batches."""

    def __init__(self, count: int) -> None:
        """Takes the number.

        Args:
          count: Batches to evaluate.

        Raises:
          EstimatorError: (a ValueError) it is not positive.
        """
        if count <= 0:
            raise EstimatorError(f"Must specify steps > 0, given: {count}. None is for the whole input.")
        self._count = count
        self._log_every = max(1, count // 10)
        self._done = 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Starts to count."""
        del session, coord
        self._done = 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Counts, and stops at the number."""
        del run_values
        self._done += 1
        if self._done % self._log_every == 0 or self._done == self._count:
            tf1.logging.info("Evaluation [%d/%d]", self._done, self._count)
        if self._done >= self._count:
            run_context.request_stop()


class Evaluation(NamedTuple):
    """A graph that is ready to be evaluated.

    Attributes:
      scaffold: The scaffold.
      update_op: What is run for each batch.
      values: What is fetched at the end, by name.
      hooks: All hooks, in order.
    """

    scaffold: Any
    update_op: Any
    values: dict[str, Any]
    hooks: list[Any]


def with_loss(spec: EstimatorSpec) -> EstimatorSpec:
    """Adds the loss's mean to a spec's metrics.

    Args:
      spec: What the `model_fn` returned in this graph.

    Returns:
      The spec with the metric.

    Raises:
      EstimatorError: (a ValueError) a metric is called `loss` or `global_step`.
    """
    metrics = dict(spec.eval_metric_ops)
    for name in (LOSS, GLOBAL_STEP):
        if name in metrics:
            raise EstimatorError(
                f"Metric with name {name!r} is not allowed, because Estimator already defines one of this name. Call it "
                "something else."
            )
    metrics[LOSS] = tf1.metrics.mean(spec.loss)
    return spec._replace(eval_metric_ops=metrics)


def prepare(spec: EstimatorSpec, hooks: Sequence[Any]) -> Evaluation:
    """Prepares the evaluation of a spec's metrics, and of the step.

    Args:
      spec: What `with_loss` returned.
      hooks: The hooks before those of the spec.

    Returns:
      The evaluation.
    """
    metrics = spec.eval_metric_ops
    values = {name: metrics[name][0] for name in sorted(metrics)}
    update_op = tf.group(*(metrics[name][1] for name in sorted(metrics)))
    values[GLOBAL_STEP] = tf1.train.get_global_step()
    scaffold = spec.scaffold
    if scaffold.local_init_op is not None:
        scaffold = tf1.train.Scaffold(
            local_init_op=tf.group(scaffold.local_init_op, tf1.train.Scaffold.default_local_init_op()),
            copy_from_scaffold=scaffold,
        )
    return Evaluation(scaffold, update_op, values, [*hooks, *spec.evaluation_hooks])


def run(
    evaluation: Evaluation, *, checkpoint_path: str | None, master: str, config: Any, output_dir: str
) -> dict[str, Any]:
    """Evaluates the default graph, and writes what it came to.

    Args:
      evaluation: What to evaluate.
      checkpoint_path: The checkpoint to restore; None to initialise.
      master: The session's master.
      config: The session's ConfigProto.
      output_dir: The folder of the events.

    Returns:
      The metrics, the loss and the global step, by name.
    """
    final = tf1.train.FinalOpsHook(evaluation.values)
    creator = tf1.train.ChiefSessionCreator(
        scaffold=evaluation.scaffold,
        checkpoint_filename_with_path=checkpoint_path,
        master=master,
        config=config,
    )
    tf1.logging.info("Starting evaluation")
    with tf1.train.MonitoredSession(creator, hooks=[*evaluation.hooks, final]) as session:
        while not session.should_stop():
            session.run(evaluation.update_op)
    results: dict[str, Any] = final.final_ops_values
    write(results, checkpoint_path, output_dir)
    return results


def write(results: Mapping[str, Any], checkpoint_path: str | None, output_dir: str) -> None:
    """Writes what an evaluation came to; the default graph goes with it.

    Args:
      results: The values by name; `global_step` is one of them.
      checkpoint_path: The checkpoint, or None.
      output_dir: The folder of the events.
    """
    step = results[GLOBAL_STEP]
    _write(output_dir, _summary(results), step)
    if checkpoint_path:
        path = tf1.Summary()
        path.value.add(tag="checkpoint_path", tensor=tf.make_tensor_proto(checkpoint_path, tf.string))
        _write(output_dir, path, step)


def written(pattern: str) -> Iterator[tuple[int, dict[str, float]]]:
    """Reads what evaluations wrote.

    Args:
      pattern: The files of events, as for `tf.io.gfile.glob`.

    Yields:
      The step and the numbers by name of each event that has some.
    """
    for path in tf.io.gfile.glob(pattern):
        for event in tf1.train.summary_iterator(path):
            values = event.summary.value
            numbers = {value.tag: value.simple_value for value in values if value.HasField("simple_value")}
            if numbers:
                yield event.step, numbers


def _write(output_dir: str, summary: Any, step: int) -> None:
    writer = tf1.summary.FileWriterCache.get(output_dir)
    writer.add_summary(summary, step)
    writer.flush()


def _summary(results: Mapping[str, Any]) -> Any:
    """Returns the summary of an evaluation's results, with values of the kinds that v1 writes."""
    shown = ", ".join(
        f"{name} = {value}" for name, value in sorted(results.items()) if not isinstance(value, bytes)
    )
    tf1.logging.info("Saving dict for global step %d: %s", results[GLOBAL_STEP], shown)
    summary = tf1.Summary()
    for name, value in results.items():
        if name == GLOBAL_STEP or value is None:
            continue
        if isinstance(value, (float, int, np.float32, np.int32, np.int64)):
            summary.value.add(tag=name, simple_value=float(value))
        elif isinstance(value, bytes):
            _add_serialized(summary, name, value)
        elif isinstance(value, np.ndarray):
            summary.value.add(tag=name, node_name=name, tensor=tf.make_tensor_proto(value))
        else:
            tf1.logging.warning(
                "Skipping summary for %s: it is a %s, and only float, int, arrays and serialized summaries can be written.",
                name,
                type(value).__name__,
            )
    return summary


def _add_serialized(summary: Any, name: str, value: bytes) -> None:
    """Adds a metric that is itself a summary, such as an image."""
    inner = tf1.Summary()
    try:
        inner.ParseFromString(value)
    except _DECODE_ERROR:
        tf1.logging.warning("Skipping summary for %s, cannot parse string to Summary.", name)
        return
    for index, part in enumerate(inner.value):
        part.tag = f"{name}/{index}"
    summary.value.extend(inner.value)
