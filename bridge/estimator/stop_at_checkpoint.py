"""A hook by which workers go on until the chief has saved the last step."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError
from bridge.estimator.estimator import Estimator, global_step_of

tf1 = tf.compat.v1
_SessionRunHook: Any = tf1.train.SessionRunHook


class _StopAtCheckpointStep(_SessionRunHook):
    """Stops when a checkpoint has reached the step."""

    def __init__(
        self, model_dir: str, last_step: int, wait_secs: float, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._model_dir, self._last_step, self._wait_secs = model_dir, last_step, wait_secs
        self._sleep = sleep

    def begin(self) -> None:
        self._step = tf1.train.get_global_step()
        if self._step is None:
            raise RuntimeError("Global step should be created to use make_stop_at_checkpoint_step_hook.")

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf1.train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results + 1 < self._last_step:
            return
        if global_step_of(tf.train.latest_checkpoint(self._model_dir)) >= self._last_step:
            run_context.request_stop()
        else:
            self._sleep(self._wait_secs)


def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> Any:
    """Returns a hook that stops the chief at a step, and the others when that step is saved.

    It stands for `tf.estimator.experimental.make_stop_at_checkpoint_step_hook`.

    Args:
      estimator: The Estimator.
      last_step: The step.
      wait_after_file_check_secs: Seconds between two looks for the checkpoint.

    Returns:
      A `SessionRunHook`.

    Raises:
      EstimatorError: (a ValueError) no step is given.
    """
    if last_step is None:
        raise EstimatorError("last_step must be specified.")
    if estimator.config.is_chief:
        return tf1.train.StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStep(estimator.model_dir, last_step, wait_after_file_check_secs)
