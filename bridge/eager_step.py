"""A step that Keras runs eagerly (`run_eagerly=True`), seen through the names of its graph."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from bridge.errors import NotFeedableError, UnsupportedModelError
from bridge.step_graph import STEP_SCOPE, StepGraph


class EagerStep:
    """Runs the model's own step and returns the values of its named tensors."""

    def __init__(self, step_graph: StepGraph, feeds: Sequence[tf.Tensor], shown: Sequence[tf.Tensor]) -> None:
        """Checks that the step can give what is asked for.

        Args:
          step_graph: The step's graph.
          feeds: Tensors that are fed.
          shown: Inner tensors of the step whose values are wanted.

        Raises:
          NotFeedableError: for a feed that an eager step cannot take.
        """
        self._trace = step_graph.trace
        self._shown = [tensor.name.removeprefix(f"{STEP_SCOPE}/") for tensor in shown]
        self._batch_feeds: dict[int, int] = {}
        self._rate_feed: int | None = None
        batch = {id(placeholder): position for position, placeholder in enumerate(step_graph.batch)}
        for position, feed in enumerate(feeds):
            if id(feed) in batch:
                self._batch_feeds[batch[id(feed)]] = position
            elif feed.name == "learning_rate:0" and step_graph.trace.observer.rates:
                self._rate_feed = position
            elif step_graph.shown_by(feed) or feed.name.startswith(f"{STEP_SCOPE}/"):
                raise NotFeedableError(
                    f"{feed.name} cannot be fed, since the model runs its steps eagerly. "
                    "Use model.compile(..., run_eagerly=False)."
                )

    def __call__(self, batch: list[tf.Tensor], fed: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Runs the step.

        Args:
          batch: The flat batch.
          fed: The values of the feeds.

        Returns:
          The values of the wanted tensors.

        Raises:
          UnsupportedModelError: if the eager step does not show one of them.
        """
        batch = list(batch)
        for position, feed in self._batch_feeds.items():
            batch[position] = fed[feed]
        values = self._trace.run_eagerly(batch, None if self._rate_feed is None else fed[self._rate_feed])
        for name in self._shown:
            if name not in values:
                raise UnsupportedModelError(
                    f"{STEP_SCOPE}/{name} lies inside a step that the model runs eagerly (run_eagerly=True), which shows "
                    "only the names that bridge.describe lists. Ask for one of those, or use "
                    "model.compile(..., run_eagerly=False)."
                )
        return [values[name] for name in self._shown]
