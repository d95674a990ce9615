"""`CallbackHook`: Keras callbacks inside a legacy loop over a v1 session, the way back from `GraphModel`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import keras
import tensorflow as tf

from bridge.callback_calls import CallbackCalls, as_list, check_callbacks
from bridge.errors import GraphModelError, UnsupportedCallbackError, UnsupportedModelError
from bridge.graph_backed import GraphBackedModel
from bridge.graph_logs import Aggregate, GraphLogs, Totals
from bridge.graph_model import GraphModel
from bridge.graph_variables import step_variable
from bridge.keras_internals import tf_variable
from bridge.live_session import LiveSession

tf1 = tf.compat.v1
_SessionRunHook: Any = tf1.train.SessionRunHook


class CallbackHook(_SessionRunHook):
    """A `tf.compat.v1.train.SessionRunHook` that runs Keras callbacks in any loop over a monitored session.

    Epochs are counted from the global step that the session starts at, so that a resumed job goes on in the epoch, and
    at the batch in it, where the earlier one stopped. `stop_training`, set by a callback, requests the stop.

    Callbacks end in the step in which the stop is requested, if this hook can see it, and otherwise in `end`. Put the
    hook after StopAtStepHook and before a CheckpointSaverHook of your own, so that weights which EarlyStopping puts
    back are in the last checkpoint.

    Attributes:
      history: Keras's History of the running or the last session, or None before the first.
    """

    history: keras.callbacks.History | None

    def __init__(
        self,
        callbacks: Any,
        model: Any = None,
        steps_per_epoch: int | None = None,
        *,
        logs: Any = None,
        learning_rate: Any = None,
        aggregate: Aggregate = None,
        variables: Iterable[Any] | None = None,
    ) -> None:
        """Takes the callbacks.

        Args:
          callbacks: Keras callbacks, one or many.
          model: What they get as their model: None for the graph's own variables (`get_weights`, `save_weights`,
            `optimizer.learning_rate` … through the session), a GraphModel, or a Keras model outside of the graph.
          steps_per_epoch: Runs of the session in an epoch; None for a single epoch.
          logs: What callbacks are shown, as for GraphModel; None with a GraphModel stands for its logs. Names are
            looked up in `begin`.
          learning_rate: As for GraphModel; only without a model.
          aggregate: As for GraphModel.
          variables: As for GraphModel; only without a model.

        Raises:
          GraphModelError: if arguments do not go together.
          UnsupportedCallbackError: for a callback that cannot work over a graph.
          UnsupportedModelError: for a Keras model that was built inside a graph.
        """
        if steps_per_epoch is not None and (isinstance(steps_per_epoch, bool) or steps_per_epoch < 1):
            raise GraphModelError(
                f"steps_per_epoch is {steps_per_epoch!r}. Give at least 1, or leave it out."
            )
        if model is not None and (learning_rate is not None or variables is not None):
            raise GraphModelError(
                "learning_rate and variables say what the graph's own model is. Leave them out, or leave out model."
            )
        _check_model(model)
        self._callbacks = as_list(callbacks)
        over_graph = model is None or isinstance(model, GraphBackedModel)
        check_callbacks(self._callbacks, over_graph=over_graph)
        self._given_model = model
        self._steps_per_epoch = steps_per_epoch
        self._given_logs = logs
        self._aggregate = aggregate
        self._options = {"learning_rate": learning_rate, "variables": variables}
        self._calls: CallbackCalls | None = None
        self._open = self._ended = False
        self._epoch = self._batch = 0
        self._epoch_logs: dict[str, Any] | None = None
        self.history = None

    def begin(self) -> None:
        """Finds the tensors in the default graph; adds nothing to it."""
        graph = tf1.get_default_graph()
        model = self._given_model
        if isinstance(model, GraphBackedModel) and model.graph is not graph:
            raise GraphModelError(
                "The GraphModel of the CallbackHook is over another graph than the session's. Make it in this one."
            )
        if self._given_logs is None and isinstance(model, GraphModel):
            self._logs = model.logs
        else:
            self._logs = GraphLogs(self._given_logs, graph, "logs", self._aggregate)
        self._model = model if model is not None else GraphBackedModel(graph, **self._options)
        self._step_variable = step_variable(graph)
        self._calls = None

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Begins the training; after a recovery, only goes back to the restored step.

        Args:
          session: The raw session.
          coord: The session's coordinator.

        Raises:
          UnsupportedCallbackError: inside the `fit` of a Keras model, which has callbacks itself.
        """
        if isinstance(session, LiveSession):
            raise UnsupportedCallbackError(
                "CallbackHook brings callbacks into a loop over a v1 graph, but here a Keras model is trained by fit. Give "
                "the callbacks to it: fit(..., callbacks=[...])."
            )
        self._bind(session)
        self._flush_at_join(coord)
        if self._calls is None:
            self._begin_training(session)
        elif self._step_variable is not None:
            epoch, batch = self._position(session)
            self._open = self._open and epoch == self._epoch
            self._epoch, self._batch = epoch, batch

    def before_run(self, run_context: Any) -> Any:
        """Begins an epoch and a batch, and asks for the logs.

        Args:
          run_context: The session's.

        Returns:
          A `tf.compat.v1.train.SessionRunArgs`.
        """
        del run_context
        calls = self._running()
        if not self._open:
            self._totals: Totals = self._logs.totals()
            self._open = True
            calls.call("on_epoch_begin", self._epoch)
        calls.batch_begin(self._batch)
        rate = self._model.rate if isinstance(self._model, GraphBackedModel) else None
        return tf1.train.SessionRunArgs(self._logs.tensors, None if rate is None else rate.feed(None))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Ends the batch, the epoch where it is full, and the training where a stop is requested.

        Args:
          run_context: The session's.
          run_values: What `before_run` asked for.
        """
        calls = self._running()
        logs = self._totals.add(run_values.results)
        calls.batch_end(self._batch, logs)
        self._batch += 1
        if self._batch == self._steps_per_epoch:
            self._end_epoch()
        if self._model.stop_training:
            run_context.request_stop()
        if run_context.stop_requested:
            self._end_training()

    def end(self, session: Any) -> None:
        """Ends the training.

        Args:
          session: The raw session.
        """
        self._bind(session)
        self._end_training()

    def _begin_training(self, session: Any) -> None:
        self._calls = CallbackCalls(
            self._callbacks, self._model, verbose=1, epochs=1, steps=self._steps_per_epoch
        )
        self.history = self._calls.history
        self._open = self._ended = False
        self._epoch, self._batch = self._position(session)
        self._epoch_logs = None
        self._model.stop_training = False
        self._calls.call("on_train_begin")

    def _position(self, session: Any) -> tuple[int, int]:
        """Returns the epoch and the batch in it that the global step stands at."""
        if self._step_variable is None or self._steps_per_epoch is None:
            return 0, 0
        return divmod(int(session.run(self._step_variable)), self._steps_per_epoch)

    def _running(self) -> CallbackCalls:
        assert self._calls is not None
        return self._calls

    def _bind(self, session: Any) -> None:
        if isinstance(self._model, GraphBackedModel):
            self._model.bind(session)

    def _end_epoch(self) -> None:
        self._epoch_logs = self._totals.result()
        self._open = False
        self._running().call("on_epoch_end", self._epoch, self._epoch_logs)
        self._epoch, self._batch = self._epoch + 1, 0

    def _end_training(self) -> None:
        if self._ended:
            return
        self._ended = True
        if self._open and self._totals.steps:
            self._end_epoch()
        self._running().call("on_train_end", self._epoch_logs)

    def _flush_at_join(self, coord: Any) -> None:
        """Has the callbacks' files flushed when the session closes in an error, which no hook is told of.

        Joining the coordinator's threads is what every monitored session does when it closes, after `end` if that is
        called at all.
        """
        join = coord.join

        def joined(*args: Any, **kwargs: Any) -> Any:
            if not self._ended and self._calls is not None:
                self._calls.flush()
            return join(*args, **kwargs)

        coord.join = joined


def _check_model(model: Any) -> None:
    if model is None or isinstance(model, GraphBackedModel):
        return
    if not isinstance(model, keras.Model):
        raise UnsupportedModelError(
            f"model is a {type(model).__name__}. Leave it out for callbacks over the graph's variables, or give a "
            "keras.Model."
        )
    if any(hasattr(tf_variable(v).handle, "op") for v in model.variables):
        raise UnsupportedModelError(
            "The Keras model was built inside a v1 graph, where Keras can neither read nor set its weights. Leave "
            "model out: the callbacks then work on the graph's variables, the model's own among them."
        )
