"""What Keras costs around a legacy graph: GraphModel's step against the loop that a TF1 script wrote by hand."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from bridge.graph_model import GraphModel
from tests.benchmarks.variants import Pause, Run, Span, Variant, _EpochTimes, _now, _since
from tests.benchmarks.workloads import CLASSES, Workload, v1_train_op

tf1 = tf.compat.v1


def _layers() -> list[Any]:
    return [keras.Input((8,)), keras.layers.Dense(CLASSES)]


def _v1_logits(x: tf.Tensor) -> tf.Tensor:
    kernel = tf1.get_variable("kernel", [8, CLASSES], initializer=tf1.zeros_initializer())
    return tf.matmul(x, kernel)


# One small matrix: nearly all of a step's time is what surrounds it.
TINY = Workload("tiny", (8,), _layers, _v1_logits, 400, "dense")


def _fetches(workload: Workload, *, loss: bool) -> list[Any]:
    """Builds the network into the default graph as a TF1 script does; returns the operation and, if asked, the loss."""
    tf1.set_random_seed(1)
    train_op = v1_train_op(workload)
    return [train_op, tf1.get_default_graph().get_tensor_by_name("loss:0")] if loss else [train_op]


def hand_written(*, loss: bool) -> Variant:
    """Makes the variant that is the loop `while not sess.should_stop(): sess.run(train_op)`.

    Args:
      loss: Whether the loop fetches the loss, too.

    Returns:
      The variant.
    """

    def run(workload: Workload, steps: int, epochs: int, pause: Pause, first_step: bool = False) -> Run:
        del first_step
        made: list[Span] = []
        with tf.Graph().as_default():
            fetches = _fetches(workload, loss=loss)
            what = fetches if loss else fetches[0]
            with tf1.train.MonitoredTrainingSession() as session:
                for _ in range(epochs):
                    begin, done = _now(), 0
                    while not session.should_stop():
                        session.run(what)
                        done += 1
                        if done == steps:
                            break
                    made.append(_since(begin))
                    pause()
        return Run(None, made)

    return run


def graph_model(*, loss: bool) -> Variant:
    """Makes the variant that is a GraphModel's fit of the same graph.

    Args:
      loss: Whether the fit shows the loss.

    Returns:
      The variant.
    """

    def run(workload: Workload, steps: int, epochs: int, pause: Pause, first_step: bool = False) -> Run:
        del first_step
        times = _EpochTimes(pause)
        with tf.Graph().as_default():
            train_op, *shown = _fetches(workload, loss=loss)
            model = GraphModel(train_op, {"loss": shown[0]} if shown else None)
            with tf1.train.MonitoredTrainingSession() as session:
                model.fit_in(session, epochs=epochs, steps_per_epoch=steps, verbose=0, callbacks=[times])
        return Run(None, times.epochs)

    return run


VARIANTS: dict[str, Variant] = {
    "hand-written loop": hand_written(loss=False),
    "GraphModel": graph_model(loss=False),
    "hand-written loop, loss": hand_written(loss=True),
    "GraphModel, loss": graph_model(loss=True),
}

TARGETS: dict[tuple[str, str], float] = {
    ("GraphModel", "hand-written loop"): 1.3,
    ("GraphModel, loss", "hand-written loop, loss"): 1.3,
}
