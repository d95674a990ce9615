"""The savers and the step counter that `MonitoredTrainingSession` adds by itself."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

tf1 = tf.compat.v1
_SummarySaverHook: Any = tf1.train.SummarySaverHook

# v1's own sentinel, which has no public name.
USE_DEFAULT: Any = (
    inspect.signature(tf1.train.MonitoredTrainingSession).parameters["save_checkpoint_secs"].default
)


@dataclasses.dataclass(frozen=True)
class Saving:
    """What is saved when, as `MonitoredTrainingSession`'s parameters of the same names say.

    Attributes:
      checkpoint_dir: Folder of the checkpoints, or None.
      summary_dir: Folder of the summaries, or None.
      save_checkpoint_secs: Seconds between two checkpoints, or None.
      save_checkpoint_steps: Steps between two checkpoints, or None.
      save_summaries_secs: Seconds between two summaries, or None.
      save_summaries_steps: Steps between two summaries, or None.
      log_step_count_steps: Steps between two measurements of the speed, or None.
      save_graph_def: Whether graph.pbtxt and .meta files are written.
    """

    checkpoint_dir: str | None
    summary_dir: str | None
    save_checkpoint_secs: float | None
    save_checkpoint_steps: int | None
    save_summaries_secs: float | None
    save_summaries_steps: int | None
    log_step_count_steps: int | None
    save_graph_def: bool

    def __post_init__(self) -> None:
        """Refuses both seconds and steps, before anything is trained.

        Raises:
          ValueError: as the hooks themselves do.
        """
        for is_on, secs, steps in (
            (self.saves_summaries, self.save_summaries_secs, self.save_summaries_steps),
            (self.saves_checkpoints, self.save_checkpoint_secs, self.save_checkpoint_steps),
        ):
            if is_on:
                tf1.train.SecondOrStepTimer(every_secs=secs, every_steps=steps)

    @property
    def counts_steps(self) -> bool:
        """Whether there is a default StepCounterHook."""
        return bool(self.summary_dir) and _positive(self.log_step_count_steps)

    @property
    def saves_summaries(self) -> bool:
        """Whether there is a default SummarySaverHook."""
        every = _positive(self.save_summaries_steps) or _positive(self.save_summaries_secs)
        return bool(self.summary_dir) and every

    @property
    def saves_checkpoints(self) -> bool:
        """Whether there is a default CheckpointSaverHook."""
        every = _positive(self.save_checkpoint_steps) or _positive(self.save_checkpoint_secs)
        return bool(self.checkpoint_dir) and every

    def hooks(
        self, scaffold: Callable[[], Any], *, summaries: bool, checkpoints: bool
    ) -> list[Callable[[], Any]]:
        """Returns functions that make the default hooks inside a graph, in v1's order.

        Args:
          scaffold: Returns the graph's `tf.compat.v1.train.Scaffold`.
          summaries: Whether this process writes summaries.
          checkpoints: Whether this process writes checkpoints.
        """
        made: list[Callable[[], Any]] = []
        if self.counts_steps and summaries:
            made.append(
                lambda: tf1.train.StepCounterHook(
                    output_dir=self.summary_dir, every_n_steps=self.log_step_count_steps
                )
            )
        if self.saves_summaries and summaries:
            made.append(
                lambda: _SummarySaver(
                    scaffold=scaffold(),
                    save_steps=self.save_summaries_steps,
                    save_secs=self.save_summaries_secs,
                    output_dir=self.summary_dir,
                )
            )
        if self.saves_checkpoints and checkpoints:
            made.append(
                lambda: tf1.train.CheckpointSaverHook(
                    self.checkpoint_dir,
                    save_steps=self.save_checkpoint_steps,
                    save_secs=self.save_checkpoint_secs,
                    scaffold=scaffold(),
                    save_graph_def=self.save_graph_def,
                )
            )
        return made


class _SummarySaver(_SummarySaverHook):
    """Asks for nothing where there are no summaries, once its first step has noted the session's start."""

    def before_run(self, run_context: Any) -> Any:
        """Asks for the step and, when it is time, for the summaries."""
        self._is_idle = self._next_step is not None and self._get_summary_op() is None
        return None if self._is_idle else super().before_run(run_context)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Writes the summaries."""
        if not self._is_idle:
            super().after_run(run_context, run_values)


def _positive(value: float | None) -> bool:
    return bool(value) and value > 0  # type: ignore[operator]


def secs_or_steps(
    secs: Any, steps: Any, *, default_secs: float | None, default_steps: int | None
) -> tuple[Any, Any]:
    """Fills in v1's defaults for a pair of parameters of which one or both may be USE_DEFAULT.

    Args:
      secs: Seconds, None, or USE_DEFAULT.
      steps: Steps, None, or USE_DEFAULT.
      default_secs: Seconds if neither is given.
      default_steps: Steps if neither is given.

    Returns:
      Seconds and steps.
    """
    if is_default(secs) and is_default(steps):
        return default_secs, default_steps
    return (None if is_default(secs) else secs), (None if is_default(steps) else steps)


def is_default(value: Any) -> bool:
    """Tells whether a parameter was left at USE_DEFAULT, which is compared by identity like every sentinel."""
    return value is USE_DEFAULT
