"""Runs a model's steps with hooks: the function that takes the place of Keras's compiled one during a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from bridge import keras_internals, tf_internals
from bridge.errors import InvalidHookError
from bridge.hook_errors import check_end, name_the_hook
from bridge.live_session import BatchSource, LiveSession
from bridge.program_builder import NEXT_BATCH
from bridge.resume import Replay
from bridge.session_creator import LiveSessionCreator, Restore, renew
from bridge.step_graph import StepGraph
from bridge.trace import StepTrace
from bridge.writers import flush_writers

tf1 = tf.compat.v1

_TRACES = "_bridge_traces"
_END_OF_DATA = (StopIteration, tf.errors.OutOfRangeError)


def resolve_hooks(hooks: Iterable[Any]) -> list[Any]:
    """Makes the hooks that are still to be made, inside the default graph.

    Args:
      hooks: Hooks, or callables without arguments that return one.

    Returns:
      The hooks, in order.

    Raises:
      InvalidHookError: if a callable returns something else.
    """
    resolved = []
    for hook in hooks:
        made = hook if isinstance(hook, tf1.train.SessionRunHook) else hook()
        if not isinstance(made, tf1.train.SessionRunHook):
            raise InvalidHookError(
                f"The callable {hook!r} returned a {type(made).__name__}, not a tf.compat.v1.train.SessionRunHook. "
                "It must return the hook that it makes."
            )
        resolved.append(made)
    return resolved


def last_step_reached(step: Callable[[], int], hooks: Iterable[Any]) -> bool:
    """Tells whether a StopAtStepHook's last step lies behind the model already, so that nothing is to be trained.

    Args:
      step: Returns the model's step; asked only if some hook has a last step.
      hooks: Hooks, or callables that are still to make one.

    Returns:
      True if some hook's `last_step` is not greater than the step.
    """
    # TF1's hook itself notices after one step too many.
    stops = [hook for hook in hooks if isinstance(hook, tf1.train.StopAtStepHook) and hook._num_steps is None]
    limits = [hook._last_step for hook in stops if hook._last_step is not None]
    return bool(limits) and step() >= min(limits)


def step_of(model: Any) -> int:
    """Returns how many batches a model has trained on, by its optimizer's counter; 0 for one without optimizer."""
    optimizers = keras_internals.optimizers_of(model)
    if not optimizers:
        return 0
    with tf_internals.eager_mode():
        step = keras_internals.tf_variable(keras_internals.step_variable(optimizers[0]))
        return int(tf_internals.replicas(step)[0].numpy())


class _Batches:
    """Takes batches from what Keras hands to a compiled function, inside the step's program where that is safe.

    Reading the next batch within the step's own program saves a call. It is done only where the end of the data is
    known beforehand, since hooks must not see the start of a step that then has no data.
    """

    def __init__(self, *, fused: bool, steps: int | None) -> None:
        self._fused = fused
        self._steps = steps
        self._iterator: Any = None
        self._left: int | None = None
        self._guessed = False
        self._resource: list[tf.Tensor] = []
        self.batch: Any = None

    def is_new(self, iterator: Any) -> bool:
        """Tells whether another iterator than before is used now."""
        return iterator is not self._iterator

    def skip(self, iterator: Any) -> None:
        """Reads the next batch and forgets it.

        Args:
          iterator: The epoch's iterator.

        Raises:
          StopIteration: if there is none.
        """
        source, _ = self.take(iterator)
        if source == "iterator":
            next(iterator)

    def take(self, iterator: Any) -> tuple[str, list[tf.Tensor]]:
        """Returns the source of the next batch and its flat inputs.

        Args:
          iterator: The epoch's iterator.

        Raises:
          StopIteration: if there is none.
        """
        if iterator is not self._iterator:
            self._iterator = iterator
            self._guessed = False
            self._left = tf_internals.iterator_length(iterator) if self._fused else None
            self._resource = (
                tf.nest.flatten(iterator, expand_composites=True) if self._left is not None else []
            )
            if self._fused and self._left is None and self._steps and isinstance(iterator, tf.data.Iterator):
                # Keras's own datasets of arrays do not know their length, but Keras does.
                self._left = self._steps
                self._resource = tf.nest.flatten(iterator, expand_composites=True)
                self._guessed = True
        if self._left == 0 and self._guessed:
            self._left = None  # With steps_per_epoch an iterator goes on in the next epoch.
        if self._left is None:
            self.batch = next(iterator)
            return "batch", _flat(self.batch)
        if self._left == 0:
            raise StopIteration
        self._left -= 1
        return "iterator", self._resource


class HookedStep:
    """A model's compiled function with hooks around each step.

    Called as Keras calls its own: with a data iterator (Keras 3's prediction: with a list of batches).
    """

    def __init__(
        self,
        model: Any,
        kind: str,
        hooks: Sequence[Any],
        *,
        scaffold: Any,
        plain: Callable[..., Any],
        steps: int | None,
        caller: Callable[[], str],
        clean_up: Callable[[BaseException | None], None],
        replay: Replay | None = None,
        restore: Restore | None = None,
        position: tf.Variable | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        """Prepares; the graph is built when the first batch is there.

        Args:
          model: A compiled model.
          kind: "train", "test" or "predict".
          hooks: Hooks or callables that make them, in the order of their calls.
          scaffold: A `tf.compat.v1.train.Scaffold`, a callable that makes one in the step's graph, or None.
          plain: The model's own compiled function, whose place this object takes.
          steps: How many steps Keras says an epoch has, or None.
          caller: Tells who calls: "own" fit, "another" one after it, or something "nested" in the own one.
          clean_up: Called with the error when a step fails; gives the model its own function back.
          replay: Tells which batches were trained before and are passed over.
          restore: Restores the session's variables from a checkpoint, where there is one.
          position: Counts the batches, beside the optimizer's step.
          stop_grace_period_secs: Seconds that threads of hooks have to stop when the session closes.
        """
        self.plain = plain
        self._model = model
        self._kind = kind
        self._hooks = hooks
        self._made_hooks: list[Any] = []
        self._scaffold = scaffold
        self._restore = restore
        self._position = position
        self._grace = stop_grace_period_secs
        self._batch = BatchSource()
        self._graph: StepGraph | None = None
        self._session: LiveSession | None = None
        self._monitored: Any = None
        self._logs: Any = {}
        self._no_logs: dict[str, None] = {}
        # Tells whether a flag is set on some worker, where several processes train one model and may differ.
        self.together: Callable[[bool], bool] | None = None
        self.start_fit(steps=steps, caller=caller, clean_up=clean_up, replay=replay)

    def start_fit(
        self,
        *,
        steps: int | None,
        caller: Callable[[], str],
        clean_up: Callable[[BaseException | None], None],
        replay: Replay | None = None,
    ) -> None:
        """Prepares for a fit: the first one, or one more in the same session.

        Args:
          steps: How many steps Keras says an epoch has, or None.
          caller: As for `__init__`.
          clean_up: As for `__init__`.
          replay: Tells which batches were trained before and are passed over.
        """
        self._caller = caller
        self._clean_up = clean_up
        self._replay = replay
        self._is_new_fit = self._graph is not None
        self._batches = _Batches(fused=not self._model.run_eagerly, steps=steps)

    def __call__(self, data: Any) -> Any:
        """Runs one execution of Keras's loop: one step, or `steps_per_execution` of them.

        Args:
          data: The epoch's data iterator, or a list of batches.

        Returns:
          The results of the last step; for prediction, of all steps, joined.

        Raises:
          StopIteration: if the data is at its end before the first step.
        """
        iterator = iter(data) if isinstance(data, list) else data
        if self._monitored is _ABORTED or self._batches.is_new(iterator):
            caller = self._caller()
            if self._monitored is _ABORTED or caller == "another":
                # An earlier fit failed where no callback is told; this is another one, which has no hooks.
                self._clean_up(None)
                return self.plain(data)
            if caller == "nested":
                return self.plain(
                    data
                )  # Somebody's train_on_batch or fit inside the fit, which is no step of it.
        results = []
        try:
            # Asked each time: tf_keras changes it for the last execution of an epoch.
            count = keras_internals.steps_per_execution(self._model)
            for step in range(count):
                try:
                    if self._replay is not None and self._replay.left:
                        self._replay.skip(self._batches, iterator)
                        continue
                    source, inputs = self._batches.take(iterator)
                except _END_OF_DATA:
                    if step == 0:
                        raise
                    break
                if not self._step(data, source, inputs):
                    break
                results.append(self._logs)
                stops = self._should_stop() or (self._kind == "train" and self._model.stop_training)
                if (
                    self.together is not None and step < count - 1
                ):  # After the last one, the fit itself agrees.
                    stops = self._model.stop_training = self.together(stops)
                if stops:
                    break
        except _END_OF_DATA:
            raise
        except BaseException as error:
            name_the_hook(error, self._made_hooks)
            self._clean_up(error)
            raise
        if self._kind == "predict" and len(results) > 1:
            return tf.nest.map_structure(lambda *parts: tf.concat(parts, 0), *results)
        return self._logs

    def _step(self, data: Any, source: str, inputs: list[tf.Tensor]) -> bool:
        """Runs one step with its hooks; tells whether it ran to its end."""
        opens = False
        try:
            if self._is_new_fit:
                self._is_new_fit = False
                self._reopen_for(data)
            if self._monitored is None:
                opens = True
                self._open(data, source, inputs)
            if self._should_stop():
                return self._run_for_others(source, inputs, opens)
            if opens and self.together is not None:
                opens = False
                self.together(True)
            self._logs = self._run(source, inputs)
            return True
        except _END_OF_DATA as error:
            if source == "iterator" and f"{NEXT_BATCH}/IteratorGetNext" in str(error):
                raise StopIteration from error  # A dataset that is shorter than it said: Keras warns and goes on.
            check_end(error)
            # A hook ended the run, in the way that leaving a v1 `with` block swallows.
            self.close()
            self._should_stop()
            return self._run_for_others(source, inputs, opens)

    def _run_for_others(self, source: str, inputs: list[tf.Tensor], opens: bool) -> bool:
        """Runs the step without hooks where a hook ended the run before it, but other workers are in it already."""
        if self.together is None or self._graph is None or self._batch.last is inputs:
            return False
        if opens and not self.together(False):
            return False  # The hooks of all workers want no step at all.
        # Not the model's own function: its collective operations would not be those that the others wait for.
        ended, self._monitored = self._monitored, LiveSession(self._graph, self._batch)
        try:
            self._logs = self._run(source, inputs)
        finally:
            self._monitored.close()
            self._monitored = ended
        return True

    def _should_stop(self) -> bool:
        if self._monitored is not None and not self._monitored.should_stop():
            return False
        flag = {"train": "stop_training", "test": "stop_evaluating", "predict": "stop_predicting"}[self._kind]
        setattr(self._model, flag, True)
        return True

    def _run(self, source: str, inputs: list[tf.Tensor]) -> Any:
        assert self._graph is not None
        self._batch.give(source, inputs)
        try:
            with self._graph.graph.as_default():
                outputs, *_ = self._monitored.run(self._fetches)
        finally:
            self._batch.clear()
        if self._kind == "predict":
            tensors = [tf_internals.eager_tensor(value) for value in outputs]
            return tf.nest.pack_sequence_as(self._graph.outputs, tensors, expand_composites=True)
        return {**self._no_logs, **outputs} if self._no_logs else outputs

    def _reopen_for(self, data: Any) -> None:
        """Ends the session of an earlier fit if its graph is for batches of another form."""
        assert self._graph is not None
        if self.is_open and self._graph.trace.spec != self._spec_of(data):
            self.close()
            self._monitored = None

    def _spec_of(self, data: Any) -> Any:
        spec = getattr(data, "element_spec", None)
        return tf.nest.map_structure(_open_spec, self._batches.batch) if spec is None else spec

    def _open(self, data: Any, source: str, inputs: list[tf.Tensor]) -> None:
        """Builds the graph and opens the session; from here on hooks live."""
        graph = StepGraph(self._model, self._trace(self._spec_of(data)), self._position)
        self._graph = graph

        def make_session() -> LiveSession:
            self._session = LiveSession(graph, self._batch)
            return self._session

        with graph.graph.as_default():
            scaffold = self._scaffold() if callable(self._scaffold) else self._scaffold
            if scaffold is not None:
                renew(scaffold)
            self._made_hooks = resolve_hooks(self._hooks)
            for hook in self._made_hooks:
                if isinstance(hook, tf1.train.StopAtStepHook) and hook._num_steps is not None:
                    hook._last_step = None  # Counted from this session, not from an earlier fit's.
            outputs = graph.outputs
            if self._kind == "predict":
                outputs = tf.nest.flatten(outputs, expand_composites=True)
            elif isinstance(outputs, dict):
                self._no_logs = {key: None for key, value in outputs.items() if value is None}
                outputs = {key: value for key, value in outputs.items() if value is not None}
            self._fetches = [outputs, graph.train_op]
            if graph.loss is not None and (graph.trace.jit or graph.trace.eager):
                self._fetches.append(graph.loss)  # A step in one piece cannot give it afterwards.
            if self._kind == "train" and last_step_reached(lambda: step_of(self._model), self._made_hooks):
                self._monitored = _CLOSED
                return
            creator = LiveSessionCreator(make_session, graph, scaffold, self._restore, self._batch)
            self._monitored = tf1.train.MonitoredSession(
                session_creator=creator,
                hooks=self._made_hooks,
                stop_grace_period_secs=self._grace,
            )

    def _trace(self, spec: Any) -> StepTrace:
        # The trace lives as long as the model's own compiled function, which Keras makes anew where it must.
        traces: list[StepTrace] = getattr(self.plain, _TRACES, [])
        for trace in traces:
            if trace.spec == spec:
                return trace
        keras_internals.build_ahead(self._model, self._kind, spec)
        trace = StepTrace(self._model, self._kind, spec)
        setattr(self.plain, _TRACES, [*traces, trace])
        return trace

    def close(self) -> None:
        """Ends the hooks and closes the session, as leaving a `with MonitoredSession` block does. Twice is fine."""
        monitored, self._monitored = self._monitored, _CLOSED
        if monitored is None or isinstance(monitored, _Closed) or self._graph is None:
            return
        try:
            self._batch.give_last(self._graph.unit_outputs)
            with self._graph.graph.as_default():
                monitored.close()
        except BaseException as error:
            name_the_hook(error, self._made_hooks)
            raise
        finally:
            self._flush()

    @property
    def is_open(self) -> bool:
        """Whether the session was made and not closed since."""
        return self._monitored is not None and not isinstance(self._monitored, _Closed)

    @property
    def has_stopped(self) -> bool:
        """Whether a hook has requested the stop, or the last step was reached beforehand."""
        return self._monitored not in (None, _ABORTED) and self._monitored.should_stop()

    @property
    def monitored(self) -> Any:
        """The open `tf.compat.v1.train.MonitoredSession`."""
        return self._monitored

    @property
    def step_variable(self) -> tf.Variable | None:
        """The counter that this step advances, or None before the first step."""
        return self._graph.step_variable if self._graph is not None else None

    @property
    def trained_variables(self) -> list[tf.Variable]:
        """The live variables that a checkpoint holds; none before the first step."""
        found = self._graph.variables if self._graph is not None else []
        return [named.variable for named in found if named.kind != "metric"]

    @property
    def graph(self) -> tf.Graph | None:
        """The step's v1 graph, or None before the first step."""
        return self._graph.graph if self._graph is not None else None

    def __getattr__(self, name: str) -> Any:
        # By these names TensorBoard callbacks ask a compiled function for its graph, to write it.
        asks_for_graph = name in keras_internals.GRAPH_ATTRIBUTES
        if asks_for_graph and self._graph is not None and hasattr(self.plain, "function_spec"):
            return self._graph.trace.function
        raise AttributeError(name)

    def in_session(self, use: Callable[[Any], Any]) -> Any:
        """Uses the open session outside of a step.

        Args:
          use: Is given the `tf.compat.v1.train.MonitoredSession`, with the step's graph as the default one.

        Returns:
          What `use` returns.
        """
        assert self._graph is not None
        try:
            with self._graph.graph.as_default():
                return use(self._monitored)
        except BaseException as error:
            name_the_hook(error, self._made_hooks)
            raise

    @property
    def hooks(self) -> list[Any]:
        """The hooks, or the callables that are still to make them."""
        return list(self._made_hooks or self._hooks)

    @property
    def is_current(self) -> bool:
        """Whether the fit that this object was made for is running."""
        return self._monitored is not _ABORTED and self._caller() != "another"

    def discard(self) -> None:
        """Ends what an earlier fit left, which failed where no callback is told."""
        self._clean_up(None)

    def abort(self, error: BaseException | None) -> None:
        """Closes the session after an error: hooks have no `end`, but what they wrote is flushed.

        Args:
          error: What was raised, or None if it is not known.
        """
        monitored, self._monitored = self._monitored, _ABORTED
        error = error or RuntimeError("the fit did not end")
        try:
            if self._graph is not None and monitored is not None and not isinstance(monitored, _Closed):
                with self._graph.graph.as_default():
                    monitored.__exit__(type(error), error, error.__traceback__)
        finally:
            self._flush()

    def _flush(self) -> None:
        flush_writers(self._made_hooks)
        if self._session is not None:
            self._session.close()


class _Closed:
    """Stands for a session that was closed."""

    def should_stop(self) -> bool:
        """A closed session runs nothing more."""
        return True


_CLOSED = _Closed()
_ABORTED = _Closed()


def _open_spec(value: Any) -> Any:
    """Returns the spec of one value of a batch, with an open batch size."""
    if value is None:
        return None
    if isinstance(value, tf.__internal__.CompositeTensor):
        return tf.type_spec_from_value(value)
    tensor = tf.convert_to_tensor(value)
    return tf.TensorSpec([None, *tensor.shape[1:]] if tensor.shape.rank else tensor.shape, tensor.dtype)


def _flat(batch: Any) -> list[tf.Tensor]:
    flat = [value for value in tf.nest.flatten(batch, expand_composites=True) if value is not None]
    return [
        value if isinstance(value, tf.Tensor) else tf.convert_to_tensor(np.asarray(value)) for value in flat
    ]
