"""A `model_fn` under a strategy: called once for each replica, in one graph, and what it returned is joined."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError
from bridge.estimator.input_pipeline import (
    Input,
    IteratorHook,
    check_dataset,
    features_and_labels,
    parse_input,
)
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.model_fn import EstimatorSpec

tf1 = tf.compat.v1


# What joins gradients by operations of a graph.
_IN_GRAPHS = (
    tf.distribute.HierarchicalCopyAllReduce,
    tf.distribute.NcclAllReduce,
    tf.distribute.ReductionToOneDevice,
)


def replicas_of(strategy: Any) -> Alone:
    """Returns what builds a model under a strategy; None is for none."""
    return Alone() if strategy is None else Replicas(strategy)


class Alone:
    """Builds a model once."""

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """Returns the context in which everything is built."""
        return contextlib.nullcontext()

    def read(self, call_input_fn: Callable[..., Any]) -> Input:
        """Reads the input.

        Args:
          call_input_fn: Calls the `input_fn`.

        Returns:
          The features and labels.
        """
        with tf.device("/cpu:0"):
            return parse_input(call_input_fn())

    def build(self, call_model_fn: Callable[[Any, Any], EstimatorSpec], data: Input) -> EstimatorSpec:
        """Builds the model.

        Args:
          call_model_fn: Calls the `model_fn` with features and labels.
          data: What `read` returned.

        Returns:
          The spec.
        """
        return call_model_fn(data.features, data.labels)


class Replicas(Alone):
    """Builds a model once for each replica of a strategy, with a batch for each, as v1's Estimator did."""

    def __init__(self, strategy: Any) -> None:
        """Takes the strategy.

        Args:
          strategy: A `tf.distribute.Strategy` or `tf.compat.v1.distribute.Strategy`.
        """
        self._strategy = strategy

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Returns the strategy's scope, in which v1's optimizers divide a mean loss by the number of replicas."""
        # There is no public name: the flag was made for Estimators, and v1's optimizers still ask for it.
        scaled = self._strategy._scale_loss_for_estimator_enabled()
        with (
            _joined_in_sessions(self._strategy.extended),
            self._strategy.scope(),
            scaled,
            tf.variable_creator_scope(_collected_once),
        ):
            yield

    def read(self, call_input_fn: Callable[..., Any]) -> Input:
        """Reads a batch for each replica; see the base class.

        Raises:
          EstimatorError: (a ValueError) the `input_fn` did not return a dataset.
        """

        def dataset(context: Any) -> Any:
            with tf.device("/cpu:0"):
                made = call_input_fn(context)
            if not isinstance(made, tf.data.Dataset):
                raise EstimatorError(
                    f"Under {type(self._strategy).__name__} each replica has a batch of its own, so that input_fn must return a "
                    f"tf.data.Dataset, but it returned {made!r}. Give tf.data.Dataset.from_tensor_slices(...).batch(...), or leave the "
                    "strategy out of RunConfig."
                )
            check_dataset(made)
            return made

        iterator = self._strategy.make_input_fn_iterator(dataset)
        features, labels = features_and_labels(iterator.get_next())
        return Input(features, labels, [IteratorHook(iterator)])

    def build(self, call_model_fn: Callable[[Any, Any], EstimatorSpec], data: Input) -> EstimatorSpec:
        """Builds the model for each replica, and joins the specs; see the base class."""
        spec = self._strategy.extended.call_for_each_replica(call_model_fn, args=(data.features, data.labels))
        return EstimatorSpec(
            spec.mode,
            loss=self._strategy.reduce(_loss_reduction(), spec.loss, axis=None),
            train_op=None if spec.train_op is None else self._strategy.group(spec.train_op),
            eval_metric_ops=self._metrics(spec),
            training_chief_hooks=self._first(spec.training_chief_hooks),
            training_hooks=self._first(spec.training_hooks),
            evaluation_hooks=self._first(spec.evaluation_hooks),
            scaffold=_joined(self._of_all(spec.scaffold)),
        )

    def _of_all(self, value: Any) -> Sequence[Any]:
        return self._strategy.experimental_local_results(value)

    def _first(self, hooks: Sequence[Any]) -> list[Any]:
        """Returns the first replica's hooks: there is one session, and it needs them once."""
        return [self._of_all(hook)[0] for hook in hooks]

    def _metrics(self, spec: EstimatorSpec) -> dict[str, Any]:
        if spec.mode != ModeKeys.EVAL:
            return {}
        return {name: self._metric(name, *pair) for name, pair in spec.eval_metric_ops.items()}

    def _metric(self, name: str, value: Any, update: Any) -> tuple[Any, Any]:
        if len(self._of_all(value)) > 1:
            raise EstimatorError(
                f"The metric {name!r} has a value of its own in each replica, so that there is no value of the evaluation. Take a function "
                "of tf.compat.v1.metrics, whose value is joined."
            )
        return value, self._strategy.group(update)


@contextlib.contextmanager
def _joined_in_sessions(extended: Any) -> Iterator[None]:
    """Lets a strategy that was made in an eager program join gradients as one made in a graph does.

    For devices that are no GPUs of this computer it has collective operations, in which a session's replicas wait for each
    other for ever if the session has fewer devices than the program.
    """
    # There is no public name; strategies without it have nothing to join, or nothing to choose.
    chosen = getattr(extended, "_cross_device_ops", None)
    if chosen is None or isinstance(chosen, _IN_GRAPHS) or _are_gpus(extended.worker_devices):
        yield
        return
    extended._cross_device_ops = tf.distribute.ReductionToOneDevice()
    try:
        yield
    finally:
        extended._cross_device_ops = chosen


def _are_gpus(devices: Sequence[str]) -> bool:
    """Tells whether all devices are GPUs that this computer has."""
    are_gpus = all(":gpu:" in device.lower() for device in devices)
    return are_gpus and len(devices) <= len(tf.config.list_physical_devices("GPU"))


def _collected_once(next_creator: Callable[..., Any], **options: Any) -> Any:
    """Makes a variable that stands in the graph's collections once, and not again for each of its replicas.

    `tf.Variable`, and with it Keras's layers, would put the replicas there too: checkpoints would hold them, and optimizers
    train them one by one.
    """
    variable = next_creator(**options)
    parts = {id(part) for part in getattr(variable, "values", ()) if part is not variable}
    for name in (tf1.GraphKeys.GLOBAL_VARIABLES, tf1.GraphKeys.TRAINABLE_VARIABLES):
        collected = tf1.get_collection_ref(name)
        others = [one for one in collected if id(one) not in parts]
        if len(others) < len(collected) and not any(one is variable for one in others):
            others.append(variable)
        collected[:] = others
    return variable


def _loss_reduction() -> Any:
    """Returns how the replicas' losses are joined: added, where the optimizer did not divide them."""
    # No public name tells whether an optimizer has divided them.
    if tf1.get_default_graph()._is_loss_scaled_by_optimizer:
        return tf1.distribute.get_loss_reduction()
    return tf.distribute.ReduceOp.SUM


def _joined(scaffolds: Sequence[Any]) -> Any:
    """Returns a scaffold that does what those of all replicas do; the saver and the functions are the first one's."""
    first, *others = scaffolds
    if not others:
        return first

    def of_all(part: str, join: Callable[[list[Any]], Any]) -> Any:
        there = [value for value in (getattr(scaffold, part) for scaffold in scaffolds) if value is not None]
        return join(there) if there else None

    return tf1.train.Scaffold(
        init_op=of_all("init_op", lambda there: tf.group(*there)),
        init_feed_dict=of_all("init_feed_dict", _merged),
        ready_op=of_all("ready_op", lambda there: tf.concat(there, 0)),
        ready_for_local_init_op=of_all("ready_for_local_init_op", lambda there: tf.concat(there, 0)),
        local_init_op=of_all("local_init_op", lambda there: tf.group(*there)),
        local_init_feed_dict=of_all("local_init_feed_dict", _merged),
        summary_op=of_all("summary_op", tf1.summary.merge),
        copy_from_scaffold=first,
    )


def _merged(feeds: list[Any]) -> dict[Any, Any]:
    return {tensor: value for feed in feeds for tensor, value in feed.items()}
