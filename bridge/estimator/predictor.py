"""`tf.contrib.predictor`: a trained or exported model as a function of arrays."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.estimator import Estimator
from bridge.estimator.export.outputs import DEFAULT_KEY
from bridge.estimator.keras_estimator import KerasEstimator
from bridge.estimator.mode_keys import ModeKeys

__all__ = ["Predictor", "from_estimator", "from_saved_model"]

tf1 = tf.compat.v1
_OLD_KEY = "default_input_alternative:{}"  # As `tf.contrib.learn` exported.


class Predictor:
    """Predicts in a session that stays open (`tf.contrib.predictor`).

    Attributes:
      graph: The graph.
      session: The session.
      feed_tensors: From names to the tensors that are fed.
      fetch_tensors: From names to the tensors that are fetched.
    """

    def __init__(
        self, graph: tf.Graph, session: Any, inputs: Mapping[str, str], outputs: Mapping[str, str]
    ) -> None:
        """Takes what `from_estimator` and `from_saved_model` made.

        Args:
          graph: The graph.
          session: The session.
          inputs: From names to the names of tensors, or tensors, that are fed.
          outputs: From names to the names of tensors, or tensors, that are fetched.
        """
        self.graph, self.session = graph, session
        self.feed_tensors = {name: graph.as_graph_element(tensor) for name, tensor in inputs.items()}
        self.fetch_tensors = {name: graph.as_graph_element(tensor) for name, tensor in outputs.items()}

    def __repr__(self) -> str:
        return f"{type(self).__name__} with feed tensors {self.feed_tensors} and fetch_tensors {self.fetch_tensors}"

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Predicts.

        Args:
          input_dict: From names of `feed_tensors` to arrays. What is not there, or None, is not fed.

        Returns:
          From the names of `fetch_tensors` to arrays.

        Raises:
          EstimatorError: (a ValueError) there is no such input.
        """
        unexpected = set(input_dict) - set(self.feed_tensors)
        if unexpected:
            raise EstimatorError(
                f"Got unexpected keys in input_dict: {unexpected}. Expected: {set(self.feed_tensors)}."
            )
        feeds = {self.feed_tensors[name]: value for name, value in input_dict.items() if value is not None}
        values: dict[str, Any] = self.session.run(self.fetch_tensors, feed_dict=feeds)
        return values


def from_estimator(
    estimator: Estimator,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: tf.Graph | None = None,
    config: Any = None,
) -> Predictor:
    """Returns a function that predicts by an Estimator's newest checkpoint (`tf.contrib.predictor.from_estimator`).

    Args:
      estimator: The Estimator.
      serving_input_receiver_fn: As for `Estimator.export_saved_model`.
      output_key: Which of the spec's `export_outputs`; None for the one of the default signature.
      graph: The graph to build it in; None for a new one.
      config: The session's ConfigProto.

    Raises:
      EstimatorTypeError: (a TypeError) it is no Estimator of the bridge.
      EstimatorError: (a ValueError) there is no such output.
    """
    if not isinstance(estimator, Estimator):
        raise EstimatorTypeError(
            f"Expected a bridge.estimator.Estimator, but got {estimator!r}. Of a Keras model make one by model_to_estimator, or call the "
            "model."
        )
    key = output_key or DEFAULT_KEY
    if isinstance(estimator, KerasEstimator):
        return _from_keras(estimator, serving_input_receiver_fn, key, graph, config)
    graph = graph or tf.Graph()
    with graph.as_default():
        tf1.train.get_or_create_global_step(graph)  # As in `Estimator.predict`: the model_fn may ask for it.
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(receiver.features, None, ModeKeys.PREDICT, estimator.config)
        if key not in spec.export_outputs:
            raise EstimatorError(f"output_key must be one of {sorted(spec.export_outputs)}; got {key}.")
        signature = spec.export_outputs[key].as_signature_def(receiver.receiver_tensors)
        # Without the spec's scaffold, as in TensorFlow 1.15: what its saver would restore elsewhere, such as averages of
        # weights, is not asked for.
        creator = tf1.train.ChiefSessionCreator(config=config, checkpoint_dir=estimator.model_dir)
        session = tf1.train.MonitoredSession(creator)
    return Predictor(graph, session, *_tensor_names(signature))


def _from_keras(
    estimator: KerasEstimator, receiver_fn: Callable[[], Any], key: str, graph: tf.Graph | None, config: Any
) -> Predictor:
    """Exports a Keras model, which runs in no v1 graph as it is, and loads what came of it."""
    folder = tempfile.mkdtemp()
    try:
        exported = estimator.export_saved_model(folder, receiver_fn)
        return from_saved_model(exported, key, graph=graph, config=config)
    finally:
        tf.io.gfile.rmtree(folder)


def from_saved_model(
    export_dir: str | bytes | os.PathLike[str],
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, Any] | None = None,
    output_names: Mapping[str, Any] | None = None,
    tags: str | None = None,
    graph: tf.Graph | None = None,
    config: Any = None,
) -> Predictor:
    """Returns a function that predicts by a SavedModel (`tf.contrib.predictor.from_saved_model`).

    Args:
      export_dir: The folder of the SavedModel.
      signature_def_key: The signature's name; None for the default one.
      signature_def: A SignatureDef, instead.
      input_names: From names to tensors' names, instead; together with `output_names`.
      output_names: From names to tensors' names.
      tags: The tags of the graph, with commas between; None for "serve".
      graph: The graph to load it into; None for a new one.
      config: The session's ConfigProto.

    Raises:
      EstimatorError: (a ValueError) signature and names are given together, or there is no such signature.
      RuntimeError: there is no graph with these tags.
    """
    if (input_names is None) != (output_names is None):
        raise EstimatorError("input_names and output_names must both be specified or both be unspecified.")
    if sum(given is not None for given in (signature_def_key, signature_def, input_names)) > 1:
        raise EstimatorError(
            "You must specify at most one of signature_def_key OR signature_def OR (input_names AND output_names)."
        )
    folder = os.fsdecode(export_dir)
    wanted = [tag.strip() for tag in (tags or tf1.saved_model.tag_constants.SERVING).split(",")]
    graph = graph or tf.Graph()
    with graph.as_default():
        session = tf1.Session(config=config)
        model = tf1.saved_model.loader.load(session, wanted, folder)
    if input_names is None or output_names is None:
        found = signature_def or _signature(model.signature_def, signature_def_key or DEFAULT_KEY)
        input_names, output_names = _tensor_names(found)
    return Predictor(graph, session, input_names, output_names)


def _signature(signatures: Any, key: str) -> Any:
    for name in (key, _OLD_KEY.format(key)):
        if name in signatures:
            return signatures[name]
    raise EstimatorError(f"Got signature_def_key {key!r}. Available signatures are {sorted(signatures)}.")


def _tensor_names(signature: Any) -> tuple[dict[str, str], dict[str, str]]:
    return (
        {name: info.name for name, info in signature.inputs.items()},
        {name: info.name for name, info in signature.outputs.items()},
    )
