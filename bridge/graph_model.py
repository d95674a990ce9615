"""`GraphModel`: a legacy v1 graph as a Keras model.

Keras gives epochs, progress bar, History and callbacks; a real v1 session runs the graph, with hooks, scaffold, queue
runners and iterators as they are. The loop over Keras's own list of callbacks is written here and not taken from
`keras.Model.fit`: that one cannot start in the middle of an epoch or train no step at all, and begins the next epoch
when the input has ended.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NoReturn

import keras
import tensorflow as tf

from bridge.callback_calls import CallbackCalls, ProgressBar, as_list, check_callbacks
from bridge.errors import ForeignTensorError, GraphModelError
from bridge.graph_backed import GraphBackedModel
from bridge.graph_logs import Aggregate, GraphLogs, Totals, graph_element
from bridge.hook_errors import check_end

tf1 = tf.compat.v1

FeedFunction = Callable[[], Mapping[Any, Any]]

_END_OF_INPUT = (StopIteration, tf.errors.OutOfRangeError)

# Arguments of Keras's `fit` and `evaluate` that say where data come from, with the values that stand for "not given".
_DATA = {
    "x": None,
    "y": None,
    "batch_size": None,
    "validation_split": 0.0,
    "validation_data": None,
    "class_weight": None,
    "sample_weight": None,
    "validation_batch_size": None,
}


class _Graph:
    """What a GraphModel fetches and feeds; out of reach of Keras's tracking of attributes."""

    def __init__(
        self,
        graph: tf.Graph,
        train_op: Any,
        logs: Any,
        eval_logs: Any,
        aggregate: Aggregate,
        eval_init_op: Any,
        fetches: Mapping[str, Any] | None,
    ) -> None:
        self.train_ops = _operations(graph, train_op, "train_op")
        self.eval_init_ops = [] if eval_init_op is None else _operations(graph, eval_init_op, "eval_init_op")
        self.logs = GraphLogs(logs, graph, "logs", aggregate)
        self.eval_logs = GraphLogs(eval_logs, graph, "eval_logs", aggregate)
        self.fetches = _fetches(graph, fetches, self.logs)


class GraphModel(GraphBackedModel):
    """A Keras model over the current v1 graph: `sess.fit(GraphModel(train_op, ...), ...)` trains the graph.

    It stands for the loop `while not sess.should_stop(): sess.run(train_op)`.

    The values are the graph's. `on_train_batch_end` gets those of the step; the progress bar, `on_epoch_end` and
    History get the mean over the epoch's steps for floating-point tensors, as a Keras user expects, and the last value
    for others, such as the global step. `aggregate="last"` gives what the last line of a v1 loop printed.

    `get_weights`, `set_weights`, `save_weights` and `load_weights`, and so `EarlyStopping(restore_best_weights=True)`
    and `ModelCheckpoint(save_weights_only=True)`, work on the graph's global variables, through the session. The
    global step and the learning rate are saved too, but never set back.
    """

    def __init__(
        self,
        train_op: Any,
        logs: Any = None,
        feed_fn: FeedFunction | None = None,
        eval_logs: Any = None,
        *,
        learning_rate: Any = None,
        aggregate: Aggregate = None,
        eval_feed_fn: FeedFunction | None = None,
        eval_init_op: Any = None,
        variables: Iterable[Any] | None = None,
        fetches: Mapping[str, Any] | None = None,
        raise_at_end: bool = False,
    ) -> None:
        """Takes what the loop ran. The graph is the default graph; nothing is added to it.

        Args:
          train_op: What is run in every step: an operation, a tensor, a name, or any nest of them.
          logs: What is shown: a dict from names to tensors (single numbers), or tensors named by their operations. A
            pair `(value, update_op)` of `tf.compat.v1.metrics` is shown as its last value.
          feed_fn: Called without arguments before every step, for the step's `feed_dict`. StopIteration from it ends
            the training quietly.
          eval_logs: Like `logs`, for `evaluate` and for the validation after each epoch. They run in the raw session,
            without hooks.
          learning_rate: The variable, placeholder or other tensor behind `model.optimizer.learning_rate`, for
            LearningRateScheduler and ReduceLROnPlateau. A variable is assigned; anything else is fed from the moment
            when it is set. A placeholder needs a first value: `model.optimizer.learning_rate = 0.1`.
          aggregate: What a value is over an epoch: "mean" or "last", for all or as a dict by name; None for the rule
            above.
          eval_feed_fn: Like `feed_fn`, for `eval_logs`; None for `feed_fn` itself.
          eval_init_op: What is run before each evaluation, such as an iterator's initializer.
          variables: The variables that count as weights; None for all global variables but the global step and
            the learning rate.
          fetches: What else callbacks need of a step, by name: anything that `session.run` takes, of any shape and type.
            `on_train_batch_end` finds it among its logs, as `session.run` returned it; nothing else shows it.
          raise_at_end: Whether the end of the input comes out of `fit` as the error that it is, when the callbacks have
            ended, as it came out of a v1 loop: the session's `with` then skips what follows the fit, and ends quietly.

        Raises:
          GraphModelError: if something cannot be run or shown.
          ForeignTensorError: if something is of another graph.
          UnknownNameError: if the graph has nothing of a name.
        """
        graph = tf1.get_default_graph()
        work = _Graph(graph, train_op, logs, eval_logs, aggregate, eval_init_op, fetches)
        for argument, function in (("feed_fn", feed_fn), ("eval_feed_fn", eval_feed_fn)):
            if function is not None and not callable(function):
                raise GraphModelError(
                    f"{argument} is a {type(function).__name__}. Give a function without arguments that returns the "
                    f"feed_dict of one step: {argument}=lambda: {{placeholder: value}}."
                )
        super().__init__(graph, variables=variables, learning_rate=learning_rate)
        self._work = work
        self._feed_fn = feed_fn
        self._raise_at_end = raise_at_end
        self._eval_feed_fn = eval_feed_fn or feed_fn

    def fit_in(
        self,
        session: Any,
        x: Any = None,
        y: Any = None,
        batch_size: Any = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: Any = None,
        validation_freq: int | Collection[int] = 1,
        *,
        initial_step: int = 0,
    ) -> keras.callbacks.History:
        """Trains the graph in a session; `bridge.MonitoredTrainingSession.fit` calls it.

        The training ends after `epochs`, when a callback sets `stop_training`, when `session.should_stop()`, or when
        the input ends (OutOfRangeError or StopIteration): quietly, unless `raise_at_end`. The session stays open. An error comes out as
        it is, after the callbacks' files were flushed.

        Args:
          session: What runs the steps: anything with `run(fetches, feed_dict=None)` and `should_stop()`.
          x: Not for a graph, nor are y, batch_size, validation_split, validation_data, class_weight, sample_weight
            and validation_batch_size.
          y: See x.
          batch_size: See x.
          epochs: The epoch at which training ends, counted from the first one ever.
          verbose: As in Keras: "auto", 0, 1 or 2.
          callbacks: Keras callbacks.
          validation_split: See x.
          validation_data: See x.
          shuffle: Has no effect; the graph's input has its own order.
          class_weight: See x.
          sample_weight: See x.
          initial_epoch: The epoch to start at; if given, `initial_step` is not looked at.
          steps_per_epoch: Runs of the train_op in an epoch; None for one epoch until the session stops or the input
            ends.
          validation_steps: Runs of `eval_logs` after an epoch; None for one, or with `eval_init_op` for as many as its
            input has.
          validation_batch_size: See x.
          validation_freq: Every how many epochs, or after which epochs, `eval_logs` are run.
          initial_step: How many steps were run before, by an earlier process: the training goes on at that epoch, and
            at that step in it. Only with steps_per_epoch. A bridge session knows it; given as 0, training begins anew.

        Returns:
          Keras's History.

        Raises:
          GraphModelError: for arguments that a graph has no use for.
          UnsupportedCallbackError: for a callback that cannot work over a graph.
          ForeignTensorError: if the session runs another graph.
        """
        del shuffle
        _refuse_data(locals())
        _check_counts(epochs=epochs, steps_per_epoch=steps_per_epoch, validation_steps=validation_steps)
        first_epoch, first_batch = _start(initial_epoch, initial_step, steps_per_epoch)
        self._check_session(session)
        callbacks = as_list(callbacks)
        check_callbacks(callbacks, over_graph=True)
        calls = CallbackCalls(
            callbacks,
            self,
            bar=ProgressBar() if verbose != 0 else None,
            verbose=verbose,
            epochs=epochs,
            steps=steps_per_epoch,
        )
        validation = _Validation(self, validation_steps, validation_freq)
        self.bind(session)
        with self.graph.as_default():
            try:
                self._train(
                    session, calls, range(first_epoch, epochs), first_batch, steps_per_epoch, validation
                )
            except BaseException:
                calls.flush()
                raise
        assert calls.history is not None
        return calls.history

    def evaluate_in(
        self,
        session: Any,
        steps: int | None = None,
        *,
        x: Any = None,
        y: Any = None,
        batch_size: Any = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        callbacks: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """Runs `eval_logs` in a session, without hooks; `bridge.MonitoredTrainingSession.evaluate` calls it.

        Args:
          session: The session.
          steps: How many runs; None for one, or with `eval_init_op` for as many as its input has.
          x: Not for a graph, nor are y, batch_size and sample_weight.
          y: See x.
          batch_size: See x.
          verbose: As in Keras.
          sample_weight: See x.
          callbacks: Keras callbacks.
          return_dict: Whether a dict by name is returned.

        Returns:
          What the runs came to: a dict, a list in the order of `eval_logs`, or a single number if there is one log.

        Raises:
          GraphModelError: if there are no `eval_logs`, or their input has nothing.
        """
        _refuse_data(locals())
        _check_counts(steps=steps)
        self._check_session(session)
        callbacks = as_list(callbacks)
        check_callbacks(callbacks, over_graph=True)
        bar = ProgressBar() if verbose != 0 else None
        calls = CallbackCalls(
            callbacks, self, bar=bar, add_history=False, verbose=verbose, epochs=1, steps=steps
        )
        self.bind(session)
        with self.graph.as_default():
            try:
                logs = self._evaluate(steps, calls)
            except BaseException:
                calls.flush()
                raise
        if return_dict:
            return logs
        values = list(logs.values())
        return values[0] if len(values) == 1 else values

    def fit(self, *unused: Any, **unused_options: Any) -> NoReturn:
        """Is refused: a session fits the graph.

        Raises:
          GraphModelError: always.
        """
        self._refuse(
            "fit of its own",
            "Let the session fit it: `with bridge.MonitoredTrainingSession(...) as sess: sess.fit(model, ...)`.",
        )

    def evaluate(self, *unused: Any, **unused_options: Any) -> NoReturn:
        """Is refused: a session evaluates the graph.

        Raises:
          GraphModelError: always.
        """
        self._refuse("evaluate of its own", "Let the session evaluate it: sess.evaluate(model, steps=...).")

    @property
    def logs(self) -> GraphLogs:
        """What is fetched beside the train_op in every step."""
        return self._work.logs

    def _check_session(self, session: Any) -> None:
        graph = getattr(session, "graph", self.graph)
        if graph is None:
            raise GraphModelError("The session is closed. Call sess.fit inside of the session's `with`.")
        if graph is not self.graph:
            raise ForeignTensorError(
                "The session runs another graph than the one that was the default when the GraphModel was made. Make "
                "model and session inside the same `with graph.as_default():`."
            )

    def _train(
        self,
        session: Any,
        calls: CallbackCalls,
        epochs: range,
        first_batch: int,
        steps_per_epoch: int | None,
        validation: _Validation,
    ) -> None:
        logs: dict[str, Any] | None = None
        end: Exception | None = None
        self.stop_training = False
        calls.call("on_train_begin")
        for epoch in epochs:
            if self.stop_training or session.should_stop():
                break
            totals = self._work.logs.totals()
            if calls.bar is not None:
                calls.bar.totals = totals
            calls.call("on_epoch_begin", epoch)
            batches = itertools.count() if steps_per_epoch is None else range(first_batch, steps_per_epoch)
            first_batch = 0
            end = self._train_epoch(session, calls, batches, totals)
            if not totals.steps:  # The input ended just at the end of the epoch before.
                break
            logs = totals.result()
            if validation.is_due(epoch):
                logs.update(validation.run(calls))
            calls.call("on_epoch_end", epoch, logs)
        calls.call("on_train_end", logs)
        if end is not None and self._raise_at_end:
            raise end

    def _train_epoch(
        self, session: Any, calls: CallbackCalls, batches: Iterable[int], totals: Totals
    ) -> Exception | None:
        """Runs steps, and returns the error that said that the input has ended, if one did.

        This loop is what a step costs beside the session's own work: it stays in the graph, and enters eager mode only
        for callbacks that look at batches.
        """
        work, rate, feed_fn = self._work, self.rate, self._feed_fn
        fetches = [*work.train_ops, *work.logs.tensors, *([work.fetches] if work.fetches else [])]
        first_log = len(work.train_ops)
        end_of_logs = first_log + len(work.logs.tensors)
        run, should_stop = session.run, session.should_stop
        single = fetches[0] if len(fetches) == 1 else None
        for batch in batches:
            calls.batch_begin(batch)
            try:
                feeds = None if feed_fn is None else feed_fn()
                if rate is not None:
                    feeds = rate.feed(feeds)  # type: ignore[arg-type]
                values = run(fetches if single is None else single, feed_dict=feeds)
            except _END_OF_INPUT as end:
                check_end(end)
                self.stop_training = True
                return end
            logs = totals.add(values[first_log:end_of_logs] if single is None else ())
            if work.fetches:
                logs = {**logs, **values[-1]}
            if should_stop():
                self.stop_training = True
            calls.batch_end(batch, logs)
            if self.stop_training:
                return None
        return None

    def _evaluate(self, steps: int | None, calls: CallbackCalls) -> dict[str, Any]:
        work = self._work
        if not work.eval_logs.tensors:
            raise GraphModelError(
                "There is nothing to evaluate. Say what: GraphModel(..., eval_logs={'accuracy': tensor})."
            )
        if steps is None and not work.eval_init_ops:
            steps = 1
        totals = work.eval_logs.totals()
        if calls.bar is not None and not calls.bar.in_fit:
            calls.bar.totals = totals
        self.stop_evaluating = False
        calls.call("on_test_begin")
        if work.eval_init_ops:
            self.run(work.eval_init_ops)
        for batch in itertools.count() if steps is None else range(steps):
            calls.call("on_test_batch_begin", batch)
            try:
                feeds = None if self._eval_feed_fn is None else self._eval_feed_fn()
                values = self.run(work.eval_logs.tensors, feeds)
            except _END_OF_INPUT:
                break
            calls.call("on_test_batch_end", batch, totals.add(values))
            if self.stop_evaluating:
                break
        if not totals.steps:
            raise GraphModelError(
                "The input of eval_logs ended before the first run. Let it begin anew before each evaluation: "
                "GraphModel(..., eval_init_op=iterator.initializer)."
            )
        logs = totals.result()
        calls.call("on_test_end", logs)
        return logs


class _Validation:
    """The evaluation after an epoch."""

    def __init__(self, model: GraphModel, steps: int | None, freq: int | Collection[int]) -> None:
        self._model, self._steps, self._freq = model, steps, freq
        if steps is not None and not model._work.eval_logs.tensors:
            raise GraphModelError(
                "validation_steps is given, but there is nothing to evaluate. Say what: "
                "GraphModel(..., eval_logs={'loss': tensor})."
            )

    def is_due(self, epoch: int) -> bool:
        """Tells whether to evaluate after this epoch."""
        if not self._model._work.eval_logs.tensors:
            return False
        number = epoch + 1
        return number % self._freq == 0 if isinstance(self._freq, int) else number in self._freq

    def run(self, calls: CallbackCalls) -> dict[str, Any]:
        """Evaluates, and names the values as Keras does."""
        return {f"val_{name}": value for name, value in self._model._evaluate(self._steps, calls).items()}


def _operations(graph: tf.Graph, nest: Any, argument: str) -> list[Any]:
    """Returns the operations of a nest, each once; a tensor's value is not needed to have it computed."""
    found: list[Any] = []
    for item in tf.nest.flatten(nest, expand_composites=True):
        element = graph_element(graph, item, argument)
        operation = element.op if isinstance(element, tf.Tensor) else element
        if operation not in found:
            found.append(operation)
    if not found:
        raise GraphModelError(
            f"{argument} is {nest!r}: there is nothing to run. Give what the loop ran: sess.run(<train_op>)."
        )
    return found


def _fetches(graph: tf.Graph, given: Any, logs: GraphLogs) -> dict[str, Any]:
    """Checks what callbacks want of a step, and leaves it as `session.run` is given it."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise GraphModelError(
            f"fetches is {given!r}. Give a dict from names to what session.run takes: fetches={{'predictions': tensor}}."
        )
    both = sorted(set(given) & set(logs.totals().names))
    if both:
        raise GraphModelError(
            f"{both[0]!r} is a name in logs and in fetches. Callbacks get both in one dict: choose another name."
        )
    for item in tf.nest.flatten(dict(given), expand_composites=True):
        graph_element(graph, item, "fetches")
    return dict(given)


def _refuse_data(arguments: Mapping[str, Any]) -> None:
    for name, missing in _DATA.items():
        value = arguments.get(name, missing)
        if value is not None if missing is None else value != missing:
            raise GraphModelError(
                f"{name} is given, but the data of a GraphModel come from its graph. Leave {name} out: an input in the "
                "graph (tf.data, queues) needs nothing, placeholders are fed by GraphModel(..., feed_fn=lambda: "
                "{placeholder: value}), and validation by eval_logs with eval_feed_fn or eval_init_op."
            )


def _check_counts(**counts: Any) -> None:
    for name, value in counts.items():
        if value is not None and (isinstance(value, bool) or int(value) != value or value < 0):
            raise GraphModelError(f"{name} is {value!r}. Give a number of {name}, or leave it out.")
        if value == 0 and name != "epochs":
            raise GraphModelError(f"{name} is 0. Give at least 1, or leave it out.")


def _start(initial_epoch: int, initial_step: int, steps_per_epoch: int | None) -> tuple[int, int]:
    """Returns the epoch and the batch in it at which to begin."""
    if initial_epoch or steps_per_epoch is None:
        return initial_epoch, 0
    return divmod(initial_step, steps_per_epoch)
