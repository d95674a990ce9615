"""What the tests of GraphModel and CallbackHook share: a graph whose losses are given, and callbacks that take notes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from bridge.graph_model import GraphModel

tf1 = tf.compat.v1


class Legacy:
    """A legacy graph: the loss of step n is `losses[n]`, and each step adds `rate` to the variable `w`.

    Attributes:
      train_op: One step.
      loss: The step's loss, which the input yields; it ends after the last one unless `repeat`.
      w: The variable, 0 before the first step.
      rate: A variable of 1.
      step: The global step.
    """

    def __init__(self, losses: Sequence[float], *, repeat: bool = False, rate: Any = None) -> None:
        data = tf1.data.Dataset.from_tensor_slices([float(loss) for loss in losses])
        data = data.repeat() if repeat else data
        self.loss = tf1.data.make_one_shot_iterator(data).get_next(name="loss")
        self.rate = tf1.get_variable("rate", initializer=1.0, trainable=False) if rate is None else rate
        self.w = tf1.get_variable("w", initializer=0.0)
        self.step = tf1.train.get_or_create_global_step()
        with tf1.control_dependencies([self.loss]):
            self.train_op = tf.group(self.w.assign_add(self.rate), self.step.assign_add(1), name="train")

    def model(self, **options: Any) -> GraphModel:
        """A GraphModel that shows the loss."""
        return GraphModel(self.train_op, **{"logs": {"loss": self.loss}, **options})


def open_session(*hooks: Any, directory: Path | None = None, **options: Any) -> Any:
    """A real v1 session, to be used in a `with`."""
    return tf1.train.MonitoredTrainingSession(
        checkpoint_dir=None if directory is None else str(directory),
        hooks=list(hooks),
        log_step_count_steps=None,
        **options,
    )


def fit(
    model: GraphModel, *hooks: Any, session_options: Any = None, **arguments: Any
) -> dict[str, list[Any]]:
    """Trains in a session of its own; returns what History holds."""
    with open_session(*hooks, **(session_options or {})) as session:
        return model.fit_in(session, **{"verbose": 0, **arguments}).history


def stop_after(steps: int) -> Any:
    """A hook that stops the session after that many steps."""
    return tf1.train.StopAtStepHook(num_steps=steps)


class Notes(keras.callbacks.Callback):
    """Notes what is called with which number and logs.

    Attributes:
      calls: Names of the methods, with the epoch's or batch's number where there is one.
      logs: What the methods that end something got, by the same key, the last one for each.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.logs: dict[str, Any] = {}

    def _note(self, name: str, logs: Any = None) -> None:
        self.calls.append(name)
        if logs:
            self.logs[name] = dict(logs)

    def on_train_begin(self, logs: Any = None) -> None:
        self._note("train_begin")

    def on_train_end(self, logs: Any = None) -> None:
        self._note("train_end", logs)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._note(f"epoch_begin {epoch}")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._note(f"epoch_end {epoch}", logs)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._note(f"batch_begin {batch}")

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._note(f"batch_end {batch}", logs)

    def on_test_begin(self, logs: Any = None) -> None:
        self._note("test_begin")

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._note(f"test_batch_begin {batch}")

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        self._note(f"test_batch_end {batch}", logs)

    def on_test_end(self, logs: Any = None) -> None:
        self._note("test_end", logs)

    @property
    def epochs(self) -> list[int]:
        """The epochs that ended."""
        return [int(call.split()[1]) for call in self.calls if call.startswith("epoch_end")]

    @property
    def batches(self) -> list[int]:
        """The training batches that ended."""
        return [int(call.split()[1]) for call in self.calls if call.startswith("batch_end")]


class At(keras.callbacks.Callback):
    """Calls `action(model)` when something ends: ("epoch", 1) or ("batch", 3)."""

    def __init__(self, when: tuple[str, int], action: Any) -> None:
        super().__init__()
        self._when, self._action = when, action

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self._when == ("epoch", epoch):
            self._action(self.model)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._when == ("batch", batch):
            self._action(self.model)


def stop_training(model: Any) -> None:
    """An action for `At`."""
    model.stop_training = True
