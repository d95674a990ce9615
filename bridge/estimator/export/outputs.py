"""What an exported model returns for a signature."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError, EstimatorTypeError

tf1 = tf.compat.v1

DEFAULT_KEY = tf1.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY

# The methods of signatures for training and evaluation have no public names.
_TRAIN_METHOD = "tensorflow/supervised/training"
_EVAL_METHOD = "tensorflow/supervised/eval"


class ExportOutput(abc.ABC):
    """The base of all outputs (`tf.estimator.export.ExportOutput`)."""

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """Returns the `SignatureDef` of this output for the given inputs.

        Args:
          receiver_tensors: The tensors that are fed.

        Returns:
          The signature.

        Raises:
          EstimatorError: (a ValueError) the output cannot be served with such inputs.
        """


def _require_tensor(value: Any, what: str, kinds: tuple[str, ...]) -> None:
    if not isinstance(value, tf.Tensor):
        raise EstimatorError(f"{what} must be a Tensor, but it is {value!r}.")
    if "float" in kinds and value.dtype.is_floating:
        return
    if "string" in kinds and value.dtype == tf.string:
        return
    raise EstimatorError(f"{what} must be a {' or '.join(kinds)} Tensor, but it is {value}.")


def _only_examples(receiver_tensors: Mapping[str, Any], kind: str) -> Any:
    if len(receiver_tensors) != 1:
        raise EstimatorError(
            f"{kind} needs a single input of serialized examples, but there are {sorted(receiver_tensors)}. Use PredictOutput, or "
            "build_parsing_serving_input_receiver_fn."
        )
    (examples,) = receiver_tensors.values()
    if examples.dtype != tf.string:
        raise EstimatorError(
            f"{kind} needs serialized examples, strings, as its input, but the input is {examples}. Use PredictOutput."
        )
    return examples


class ClassificationOutput(ExportOutput):
    """Scores, classes or both (`tf.estimator.export.ClassificationOutput`).

    Attributes:
      scores: A float tensor, or None.
      classes: A string tensor, or None.
    """

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        """Takes the tensors.

        Args:
          scores: Float scores or probabilities, of shape [batch, classes].
          classes: The classes' names, strings of the same shape.

        Raises:
          EstimatorError: (a ValueError) both are missing, or one is of another type.
        """
        if scores is not None:
            _require_tensor(scores, "Classification scores", ("float",))
        if classes is not None:
            _require_tensor(classes, "Classification classes", ("string",))
        if scores is None and classes is None:
            raise EstimatorError("At least one of scores and classes must be set.")
        self.scores, self.classes = scores, classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """See the base class."""
        examples = _only_examples(receiver_tensors, "ClassificationOutput")
        return tf1.saved_model.classification_signature_def(examples, self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """Values of a regression (`tf.estimator.export.RegressionOutput`).

    Attributes:
      value: A float tensor.
    """

    def __init__(self, value: Any) -> None:
        """Takes the tensor.

        Args:
          value: A float tensor of shape [batch] or [batch, 1].

        Raises:
          EstimatorError: (a ValueError) it is none.
        """
        _require_tensor(value, "Regression output value", ("float",))
        self.value = value

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """See the base class."""
        examples = _only_examples(receiver_tensors, "RegressionOutput")
        return tf1.saved_model.regression_signature_def(examples, self.value)


class PredictOutput(ExportOutput):
    """Any tensors by name (`tf.estimator.export.PredictOutput`).

    Attributes:
      outputs: From names to tensors.
    """

    def __init__(self, outputs: Any) -> None:
        """Takes the tensors.

        Args:
          outputs: A dict from names to tensors, or a single tensor, which is then called `output`.

        Raises:
          EstimatorError: (a ValueError) something else was given.
        """
        self.outputs = _named_tensors(outputs, "output")

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """See the base class."""
        return tf1.saved_model.predict_signature_def(dict(receiver_tensors), self.outputs)


class SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics of a graph for training or evaluation."""

    def __init__(self, mode_is_train: bool, loss: Any, predictions: Any, metrics: Mapping[str, Any]) -> None:
        """Takes what the `model_fn` returned.

        Args:
          mode_is_train: Whether the graph trains.
          loss: The loss.
          predictions: The predictions.
          metrics: From names to pairs `(value, update_op)`.
        """
        self._method = _TRAIN_METHOD if mode_is_train else _EVAL_METHOD
        outputs = {"loss": loss} if loss is not None else {}
        if predictions is not None and not (isinstance(predictions, dict) and not predictions):
            outputs.update(
                {
                    name if name == "predictions" else f"predictions/{name}": value
                    for name, value in _named_tensors(predictions, "predictions").items()
                }
            )
        for name, (value, update) in metrics.items():
            outputs[f"metrics/{name}/value"] = tf.convert_to_tensor(value)
            is_operation = isinstance(update, tf.Operation)
            with tf1.control_dependencies([update] if is_operation else []):
                outputs[f"metrics/{name}/update_op"] = (
                    tf.constant([]) if is_operation else tf.convert_to_tensor(update)
                )
        self.outputs = outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """See the base class."""
        info = tf1.saved_model.build_tensor_info
        return tf1.saved_model.build_signature_def(
            {name: info(tensor) for name, tensor in receiver_tensors.items()},
            {name: info(tensor) for name, tensor in self.outputs.items()},
            self._method,
        )


def _named_tensors(outputs: Any, default: str) -> dict[str, Any]:
    if not isinstance(outputs, Mapping):
        outputs = {default: outputs}
    for name, value in outputs.items():
        if not isinstance(name, str):
            raise EstimatorError(f"The names of outputs must be strings, but there is {name!r}.")
        if not isinstance(value, (tf.Tensor, tf.SparseTensor)):
            raise EstimatorError(f"The output {name!r} must be a Tensor, but it is {value!r}.")
    return dict(outputs)


def serving_outputs(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """Returns the outputs of a served model, with one for the default signature.

    Args:
      export_outputs: As in an `EstimatorSpec`; None for a PredictOutput of the predictions.
      predictions: The predictions.

    Returns:
      From signature names to outputs.

    Raises:
      EstimatorTypeError: (a TypeError) `export_outputs` is of another type.
      EstimatorError: (a ValueError) there are several, but none for the default signature.
    """
    if export_outputs is None:
        return {DEFAULT_KEY: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise EstimatorTypeError(f"export_outputs must be dict, but it is {export_outputs!r}.")
    for output in export_outputs.values():
        if not isinstance(output, ExportOutput):
            raise EstimatorTypeError(
                f"Values in export_outputs must be bridge.estimator.export.ExportOutput objects, but there is {output!r}."
            )
    if len(export_outputs) == 1:
        (output,) = export_outputs.values()
        return {**export_outputs, DEFAULT_KEY: output}
    if DEFAULT_KEY not in export_outputs:
        raise EstimatorError(
            "Multiple export_outputs were provided, but none of them is the default. Name one of them "
            f"{DEFAULT_KEY!r} (signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY)."
        )
    return dict(export_outputs)
