"""`MultiHead`: several heads on one model."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from bridge.estimator.canned.heads import (
    OF_CLASSES,
    REGULARIZATION_LOSS,
    Head,
    step_of,
    train_op_of,
    write_summaries,
)
from bridge.estimator.errors import EstimatorError
from bridge.estimator.export.outputs import DEFAULT_KEY, PredictOutput
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.model_fn import LOSS, EstimatorSpec

tf1 = tf.compat.v1


class MultiHead(Head):
    """Several heads, whose losses are added (`tf.estimator.MultiHead`).

    Labels are a dict by the heads' names. Logits are such a dict, or one tensor with those of all heads side by side.
    """

    _manner = OF_CLASSES

    def __init__(self, heads: Iterable[Head], head_weights: Sequence[float] | None = None) -> None:
        """Takes the heads.

        Args:
          heads: Heads with names; the first one is served by default.
          head_weights: The weight of each head's loss; None for equal ones.

        Raises:
          EstimatorError: (a ValueError) there is no head, one has no name, or there is another number of weights.
        """
        self._heads = tuple(heads or ())
        if not self._heads:
            raise EstimatorError(f"Must specify heads. Given: {heads}.")
        if head_weights and len(head_weights) != len(self._heads):
            raise EstimatorError(
                f"heads and head_weights must have the same size, but there are {len(self._heads)} and {len(head_weights)}."
            )
        nameless = [head for head in self._heads if head.name is None]
        if nameless:
            raise EstimatorError(f"All given heads must have name specified. Given: {nameless[0]}.")
        self._weights = tuple(head_weights or ())

    @property
    def name(self) -> str:
        """The names of the heads, joined."""
        return "_".join(str(head.name) for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """How many logits all heads have together."""
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self) -> str:
        """How the examples' losses become one, in all heads.

        Raises:
          EstimatorError: (a ValueError) the heads differ in this.
        """
        reductions = list(dict.fromkeys(head.loss_reduction for head in self._heads))
        if len(reductions) > 1:
            raise EstimatorError(
                f"The loss_reduction must be the same for different heads. Given: {reductions}."
            )
        return reductions[0]

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """See the base class."""
        of_heads, those = self._by_head(logits), self._labels(labels)
        losses = [
            head.loss(those[head.name], of_heads[head.name], features=features, mode=mode)
            for head in self._heads
        ]
        return self._merged(losses, regularization_losses)

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        """Returns the predictions by pairs of a head's name and a prediction's name.

        Args:
          logits: The logits.
          keys: Has no effect, as in TensorFlow 1.15.
        """
        del keys
        of_heads = self._by_head(logits)
        return {
            (head.name, key): value
            for head in self._heads
            for key, value in head.predictions(of_heads[head.name]).items()
        }

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        """See the base class."""
        with tf.name_scope(self.name):
            of_heads = self._by_head(logits)
            those = {} if labels is None else self._labels(labels)
            specs = {
                str(head.name): head.create_estimator_spec(
                    features=features,
                    mode=mode,
                    logits=of_heads[head.name],
                    labels=those.get(head.name),
                    train_op_fn=lambda loss: tf.no_op(),
                )
                for head in self._heads
            }
            predictions = {
                (name, key): value for name, spec in specs.items() for key, value in spec.predictions.items()
            }
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions=predictions, export_outputs=_outputs(specs))
            loss = self._merged([spec.loss for spec in specs.values()], regularization_losses)
            regularization = (
                {REGULARIZATION_LOSS: tf.add_n(regularization_losses)} if regularization_losses else {}
            )
            if mode == ModeKeys.EVAL:
                metrics = {f"{LOSS}/{name}": tf1.metrics.mean(spec.loss) for name, spec in specs.items()}
                # Under the name of all heads, though the training's summary is without it, as in TensorFlow 1.15.
                metrics |= {
                    f"{key}/{self.name}": tf1.metrics.mean(value) for key, value in regularization.items()
                }
                for spec in specs.values():
                    metrics |= spec.eval_metric_ops
                return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
            step = step_of(optimizer, trainable_variables, train_op_fn)
            # Neither manner runs the graph's UPDATE_OPS here, unlike a head alone.
            manner = dataclasses.replace(self._manner, runs_updates=False)
            train_op = train_op_of(manner, step, loss, update_ops)
        write_summaries({LOSS: loss, **regularization})
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _merged(self, losses: Sequence[Any], regularization_losses: Sequence[Any] | None) -> Any:
        if self._weights:
            losses = [tf.multiply(loss, weight) for loss, weight in zip(losses, self._weights, strict=True)]
        merged = tf.add_n(losses)
        return merged + tf.add_n(regularization_losses) if regularization_losses else merged

    def _by_head(self, logits: Any) -> Mapping[Any, Any]:
        names = [head.name for head in self._heads]
        if isinstance(logits, Mapping):
            missing = [name for name in names if name not in logits]
            if missing:
                raise EstimatorError(f"logits has missing values for head(s): {missing}.")
            return logits
        logits = tf.convert_to_tensor(logits)
        sizes = [head.logits_dimension for head in self._heads]
        if logits.shape.rank is not None and logits.shape[-1] not in (None, sum(sizes)):
            raise EstimatorError(
                f"Could not split logits of shape {logits.shape} among the heads, which have {sizes}: the last dimension should be "
                f"{sum(sizes)}."
            )
        return dict(zip(names, tf.split(logits, sizes, axis=-1), strict=True))

    def _labels(self, labels: Any) -> Mapping[Any, Any]:
        if not isinstance(labels, Mapping):
            raise EstimatorError(f"labels must be a dict by the heads' names. Given: {labels!r}.")
        missing = [head.name for head in self._heads if head.name not in labels]
        if missing:
            raise EstimatorError(f"labels has missing values for head(s): {missing}.")
        return labels


def _outputs(specs: Mapping[str, EstimatorSpec]) -> dict[str, Any]:
    """Returns what is served: the first head by default, each by its name, and all predictions together."""
    made: dict[str, Any] = {}
    together: dict[str, Any] = {}
    for name, spec in specs.items():
        made.setdefault(DEFAULT_KEY, spec.export_outputs[DEFAULT_KEY])
        for key, output in spec.export_outputs.items():
            made[name if key == DEFAULT_KEY else f"{name}/{key}"] = output
        served = spec.export_outputs.get("predict")
        if isinstance(served, PredictOutput):
            together |= {f"{name}/{key}": value for key, value in served.outputs.items()}
    made["predict"] = PredictOutput(together)
    return made
