"""What an Estimator costs: its step, evaluation and prediction against the loops that a TF1 script wrote by hand."""

from __future__ import annotations

import tempfile
from typing import Any

import tensorflow as tf

from bridge import estimator as est
from tests.benchmarks.graph_model import TINY
from tests.benchmarks.variants import Pause, Run, Span, Variant, _now, _since
from tests.benchmarks.workloads import Workload, _as_in_tf1

tf1 = tf.compat.v1

WORKLOAD = TINY


class _Times(tf1.train.SessionRunHook):
    """Notes how long each so many runs take; the same for all variants."""

    def __init__(self, steps: int, pause: Pause) -> None:
        self._steps, self._pause = steps, pause
        self._runs = 0
        self.spans: list[Span] = []

    def after_create_session(self, session: Any, coord: Any) -> None:
        del session, coord
        self._begin = _now()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        del run_context, run_values
        self._runs += 1
        if self._runs % self._steps == 0:
            self.spans.append(_since(self._begin))
            self._pause()
            self._begin = _now()


def _model_fn(workload: Workload) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        with _as_in_tf1():
            logits = workload.v1_logits(features)
            if mode == est.ModeKeys.PREDICT:
                return est.EstimatorSpec(mode, predictions={"logits": logits})
            loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
            metrics = {"accuracy": tf1.metrics.accuracy(labels, tf.argmax(logits, 1))}
            train_op = tf1.train.AdamOptimizer(1e-3).minimize(loss, tf1.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    return model_fn


def _build(workload: Workload, mode: str) -> est.EstimatorSpec:
    """Builds a mode's graph into the default graph, as the loop's script did."""
    tf1.set_random_seed(1)
    tf1.train.create_global_step()
    features, labels = tf1.data.make_one_shot_iterator(workload.dataset()).get_next()
    return _model_fn(workload)(features, labels, mode)


def hand_written(mode: str) -> Variant:
    """Makes the variant that is the loop of a script in a v1 session, with what TF1's scripts have in it.

    Args:
      mode: One of `ModeKeys`.

    Returns:
      The variant.
    """

    def run(workload: Workload, steps: int, epochs: int, pause: Pause, first_step: bool = False) -> Run:
        del first_step
        times = _Times(steps, pause)
        with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
            spec = _build(workload, mode)
            if mode == est.ModeKeys.TRAIN:
                fetches: Any = [spec.train_op, spec.loss]
                shown = {"loss": spec.loss, "step": tf1.train.get_global_step()}
                hooks = [
                    tf1.train.StopAtStepHook(last_step=steps * epochs),
                    tf1.train.NanTensorHook(spec.loss),
                    tf1.train.LoggingTensorHook(shown, every_n_iter=100),
                    times,
                ]
                opened = tf1.train.MonitoredTrainingSession(checkpoint_dir=directory, hooks=hooks)
            else:
                fetches = spec.predictions or [pair[1] for pair in spec.eval_metric_ops.values()]
                if mode == est.ModeKeys.EVAL:
                    fetches.append(tf1.metrics.mean(spec.loss)[1])
                opened = tf1.train.MonitoredSession(hooks=[times])
            with opened as session:
                for _ in range(steps * epochs):
                    session.run(fetches)
        return Run(None, times.spans)

    return run


def estimators(mode: str) -> Variant:
    """Makes the variant that is a method of an Estimator.

    Args:
      mode: One of `ModeKeys`.

    Returns:
      The variant.
    """

    def run(workload: Workload, steps: int, epochs: int, pause: Pause, first_step: bool = False) -> Run:
        del first_step
        times, count = _Times(steps, pause), steps * epochs
        with tempfile.TemporaryDirectory() as directory:
            config = est.RunConfig(tf_random_seed=1)
            estimator = est.Estimator(_model_fn(workload), directory, config)
            if mode == est.ModeKeys.TRAIN:
                estimator.train(workload.dataset, hooks=[times], steps=count)
            elif mode == est.ModeKeys.EVAL:
                estimator.evaluate(workload.dataset, hooks=[times], steps=count)
            else:
                batches = estimator.predict(workload.dataset, hooks=[times], yield_single_examples=False)
                for _ in range(count):
                    next(batches)
        return Run(None, times.spans)

    return run


_MODES = {
    "train": est.ModeKeys.TRAIN,
    "evaluate": est.ModeKeys.EVAL,
    "predict": est.ModeKeys.PREDICT,
}
VARIANTS: dict[str, Variant] = {
    name: variant
    for method, mode in _MODES.items()
    for name, variant in (
        (f"hand-written {method} loop", hand_written(mode)),
        (f"Estimator.{method}", estimators(mode)),
    )
}

TARGETS: dict[tuple[str, str], float] = {
    (f"Estimator.{method}", f"hand-written {method} loop"): 1.3 for method in _MODES
}
