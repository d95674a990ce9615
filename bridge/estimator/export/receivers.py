"""What a served model is fed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from bridge.estimator.errors import EstimatorError

tf1 = tf.compat.v1

SINGLE_FEATURE, SINGLE_LABEL, SINGLE_RECEIVER = "feature", "label", "input"


def _named(tensors: Any, what: str, single: str, *, integers: bool = False) -> Any:
    """Returns tensors by name."""
    if tensors is None:
        raise EstimatorError(f"{what}s must be defined.")
    if not isinstance(tensors, Mapping):
        tensors = {single: tensors}
    for name, tensor in tensors.items():
        if not isinstance(name, str) and not (integers and isinstance(name, int)):
            raise EstimatorError(
                f"{what} keys must be strings{' or ints' if integers else ''}, but there is {name!r}."
            )
        _check_tensor(tensor, f"{what} {name}")
    return tensors


def _check_tensor(tensor: Any, what: str) -> None:
    if not isinstance(tensor, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)):
        raise EstimatorError(f"{what} must be a Tensor or SparseTensor, but it is {tensor!r}.")


class _ServingFields(NamedTuple):
    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any


class ServingInputReceiver(_ServingFields):
    """What a served model is fed, and the features that come of it (`tf.estimator.export.ServingInputReceiver`)."""

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> ServingInputReceiver:
        """Takes the tensors.

        Args:
          features: What the `model_fn` gets; a single tensor is called `feature`.
          receiver_tensors: What is fed; a single tensor is called `input`.
          receiver_tensors_alternatives: From names to other tensors that can be fed instead.

        Raises:
          EstimatorError: (a ValueError) something is missing or no tensor.
        """
        return super().__new__(
            cls,
            _named(features, "feature", SINGLE_FEATURE, integers=True),
            _named(receiver_tensors, "receiver_tensor", SINGLE_RECEIVER),
            _alternatives(receiver_tensors_alternatives),
        )


def _alternatives(alternatives: Mapping[str, Any] | None) -> Any:
    if alternatives is None:
        return None
    if not isinstance(alternatives, Mapping):
        raise EstimatorError(f"receiver_tensors_alternatives must be a dict, but it is {alternatives!r}.")
    return {
        name: _named(tensors, "receiver_tensors_alternative", SINGLE_RECEIVER)
        for name, tensors in alternatives.items()
    }


class TensorServingInputReceiver(_ServingFields):
    """As `ServingInputReceiver`, for a model whose features are one tensor and no dict.

    It stands for `tf.estimator.export.TensorServingInputReceiver`.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> TensorServingInputReceiver:
        """Takes the tensors.

        Args:
          features: The tensor that the `model_fn` gets.
          receiver_tensors: As for `ServingInputReceiver`.
          receiver_tensors_alternatives: As for `ServingInputReceiver`.

        Raises:
          EstimatorError: (a ValueError) something is missing or no tensor.
        """
        if features is None:
            raise EstimatorError("features must be defined.")
        _check_tensor(features, "feature")
        return super().__new__(
            cls,
            features,
            _named(receiver_tensors, "receiver_tensor", SINGLE_RECEIVER),
            _alternatives(receiver_tensors_alternatives),
        )


class SupervisedInputReceiver(NamedTuple):
    """What a graph for training or evaluation is fed.

    Attributes:
      features: What the `model_fn` gets as features.
      labels: What it gets as labels.
      receiver_tensors: What is fed, by name.
    """

    features: Any
    labels: Any
    receiver_tensors: Any


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Returns a receiver function that takes serialized `tf.train.Example`s.

    It stands for `tf.estimator.export.build_parsing_serving_input_receiver_fn`.

    Args:
      feature_spec: As for `tf.io.parse_example`.
      default_batch_size: How many examples are fed at once; None for any number.

    Returns:
      The function.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = tf1.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(tf.io.parse_example(examples, feature_spec), {"examples": examples})

    return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Returns a receiver function that takes the features themselves.

    It stands for `tf.estimator.export.build_raw_serving_input_receiver_fn`.

    Args:
      features: From names to tensors, of whose types and shapes placeholders are made.
      default_batch_size: The first dimension; None for any.

    Returns:
      The function.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        fed = {name: _placeholder(tensor, default_batch_size) for name, tensor in features.items()}
        return ServingInputReceiver(fed, fed)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """Returns a receiver function that takes features and labels, for a graph for training or evaluation.

    It stands for `tf.estimator.experimental.build_raw_supervised_input_receiver_fn`.

    Args:
      features: A tensor, or tensors by name.
      labels: A tensor, or tensors by name.
      default_batch_size: The first dimension; None for any.

    Returns:
      The function.

    Raises:
      EstimatorError: (a ValueError) a name is both a feature's and a label's.
    """
    both = set(features if isinstance(features, Mapping) else [SINGLE_RECEIVER]) & set(
        labels if isinstance(labels, Mapping) else [SINGLE_LABEL]
    )
    if both:
        raise EstimatorError(
            f"Features and labels must have distinct keys. Found overlapping keys: {sorted(both)}."
        )

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        fed: dict[str, Any] = {}

        def placeholders(tensors: Any, single: str) -> Any:
            if not isinstance(tensors, Mapping):
                fed[single] = _placeholder(tensors, default_batch_size)
                return fed[single]
            made = {name: _placeholder(tensor, default_batch_size) for name, tensor in tensors.items()}
            fed.update(made)
            return made

        return SupervisedInputReceiver(
            placeholders(features, SINGLE_RECEIVER), placeholders(labels, SINGLE_LABEL), fed
        )

    return supervised_input_receiver_fn


def _placeholder(tensor: Any, batch_size: int | None) -> Any:
    shape = tf.TensorShape([batch_size]).concatenate(tensor.shape[1:])
    # An eager tensor has no operation, and so no name to keep.
    name = tensor.op.name if hasattr(tensor, "graph") else None
    return tf1.placeholder(tensor.dtype, shape, name=name)
