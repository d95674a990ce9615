"""The sets of hooks that are measured: none, five as users set them, and twenty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

tf1 = tf.compat.v1
train = tf1.train


def hook_set(name: str, directory: str, inner: str) -> list[Any]:
    """Makes a set of hooks.

    Args:
      name: "none", "five" or "twenty".
      directory: Where summaries and checkpoints go.
      inner: Name of a layer, for hooks that look at its output.

    Returns:
      Hooks, or functions that make them inside the graph.
    """
    return {
        "none": list,
        "five": lambda: _five(directory),
        "twenty": lambda: _twenty(directory, inner),
    }[name]()


def _five(directory: str) -> list[Any]:
    """Five built-in hooks with the periods that their users choose; a checkpoint is saved at both ends."""
    return [
        train.StepCounterHook(every_n_steps=100, output_dir=directory),
        _summary_saver(directory),
        train.CheckpointSaverHook(directory, save_secs=600),
        train.LoggingTensorHook(["loss", "global_step"], every_n_iter=100),
        train.NanTensorHook("loss:0"),
    ]


def _summary_saver(directory: str) -> Callable[[], Any]:
    def make() -> Any:
        tf1.summary.scalar("loss", tf1.get_default_graph().get_tensor_by_name("loss:0"))
        return train.SummarySaverHook(
            save_steps=100, output_dir=directory, summary_op=tf1.summary.merge_all()
        )

    return make


def _twenty(directory: str, inner: str) -> list[Any]:
    """The five, and fifteen more, nine of which fetch something in every step."""
    return [
        *_five(directory),
        train.StopAtStepHook(last_step=10**9),
        train.LoggingTensorHook(["learning_rate"], every_n_iter=100),
        train.LoggingTensorHook([f"{inner}/output"], every_n_iter=100),
        train.LoggingTensorHook(["logs/loss"], every_n_secs=600),
        train.StepCounterHook(every_n_steps=50, output_dir=directory),
        train.NanTensorHook("logs/loss:0"),
        train.GlobalStepWaiterHook(0),
        train.FinalOpsHook("global_step:0"),
        Watch("loss"),
        Watch("loss", "global_step"),
        Watch("learning_rate", "logs/loss"),
        Watch("global_step"),
        Watch(f"{inner}/output"),
        Norm(f"{inner}/output"),
        Norm("loss"),
    ]


class Watch(train.SessionRunHook):
    """A user's hook that looks at tensors in every step."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def before_run(self, run_context: Any) -> Any:
        return train.SessionRunArgs({name: f"{name}:0" for name in self._names})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.last = run_values.results


class Norm(train.SessionRunHook):
    """A user's hook that adds a computation of its own to every step."""

    def __init__(self, name: str) -> None:
        self._name = name

    def begin(self) -> None:
        self._norm = tf.norm(tf1.get_default_graph().get_tensor_by_name(f"{self._name}:0"))

    def before_run(self, run_context: Any) -> Any:
        return train.SessionRunArgs(self._norm)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.last = run_values.results
