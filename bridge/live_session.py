"""A session over a step graph: `tf.compat.v1.Session`'s interface, run on the model's live variables."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

from bridge import cluster, keras_replicas, step_stats, tf_internals
from bridge.errors import (
    ForeignTensorError,
    NotFeedableError,
    SessionClosedError,
    UnknownNameError,
    UnsupportedSessionCallError,
    nearest_names,
)
from bridge.graph_part import in_step
from bridge.program import Program, Request
from bridge.program_builder import ProgramBuilder
from bridge.step_graph import StepGraph

tf1 = tf.compat.v1

_counter = itertools.count()

_MOST_PREPARED = 1000


class _Prepared:
    """Fetches, mapped once: the flat tensors and operations, and how to give results their structure back."""

    def __init__(self, keep: Any, mapper: Any, fetches: tuple[Any, ...], train_op: tf.Operation) -> None:
        self.is_step = any(fetch is train_op for fetch in fetches)
        self.keep = keep  # The cache is keyed by ids: the objects must stay alive.
        self.mapper = mapper
        self.fetches = fetches
        self.ids = tuple(map(id, fetches))


class BatchSource:
    """Where the step that is about to run takes its batch from.

    It outlives a session that is lost and opened anew: the step of one batch runs once, even if the call that ran it
    is repeated because a hook failed afterwards.

    Attributes:
      kind: "none" outside a step, "iterator" or "batch".
      inputs: The iterator's resource tensor, or the batch's flat tensors.
      last: The flat tensors of the batch of the last step that ran, or None.
      last_run: What the step's last run fetched and got.
      last_values: The step's results in its last run, when the steps are over.
      serves_all: Whether every run may have the batch, not only the step's own; so it is when the steps are over.
      results: The session that ran the step and what it gave, by the fetched objects' ids, or None before it ran.
    """

    def __init__(self) -> None:
        """Starts outside a step."""
        self.kind = "none"
        self.inputs: list[tf.Tensor] = []
        self.last: list[tf.Tensor] | None = None
        self.last_run: tuple[Any, Any] = ((), ())
        self.last_values: list[tuple[tf.Tensor, Any]] = []
        self.serves_all = False
        self.results: tuple[LiveSession, dict[int, Any]] | None = None

    def give(self, kind: str, inputs: list[tf.Tensor]) -> None:
        """Offers a batch to the next run of the step."""
        self.kind = kind
        self.inputs = inputs

    def give_last(self, results: Collection[str]) -> None:
        """Offers the last batch to all runs that follow, such as those of hooks in `end`.

        Args:
          results: Names of the step's results, whose last values are offered, too.
        """
        if self.last is not None:
            self.give("batch", self.last)
            pairs = zip(*self.last_run, strict=True)
            self.last_values = [(fetch, value) for fetch, value in pairs if fetch.name in results]
            self.serves_all = True

    def clear(self) -> None:
        """Ends the step."""
        self.kind = "none"
        self.inputs = []
        self.results = None


class LiveSession(tf_internals.SessionInterface):
    """Stands in for `tf.compat.v1.Session` over a Keras step.

    Variables of the model and its optimizer are the live ones: what a run reads or assigns, Keras reads or has
    assigned. Variables, tables and queues that hooks create live as long as the session.
    """

    sess_str = ""

    def __init__(self, step_graph: StepGraph, batch: BatchSource | None = None) -> None:
        """Opens a session.

        Args:
          step_graph: The graph to run.
          batch: Gives the step its batch; None stands for a session in which every batch is fed.
        """
        self._step_graph = step_graph
        self._container = f"live-session-{next(_counter)}"
        self._builder = ProgramBuilder(step_graph, container=self._container)
        self._prepared: dict[Any, _Prepared] = {}
        self._feeds: dict[Any, tuple[tf.Tensor, ...]] = {}
        self._programs: dict[Any, Program] = {}
        self._lock = threading.RLock()
        self._closed = False
        self._batch = batch or BatchSource()
        # Trying again, as a monitored session does, would wait for a process that is gone.
        strategy = step_graph.trace.model.distribute_strategy
        self._lost = (tf.errors.OpError,) if keras_replicas.spans_processes(strategy) else ()

    @property
    def graph(self) -> tf.Graph:
        """The step's v1 graph (`tf.compat.v1.Session.graph`)."""
        return self._step_graph.graph

    @property
    def graph_def(self) -> Any:
        """The graph as a `GraphDef` (`tf.compat.v1.Session.graph_def`)."""
        return self.graph.as_graph_def()

    def run(
        self,
        fetches: Any,
        feed_dict: Mapping[Any, Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Runs parts of the graph, as `tf.compat.v1.Session.run` does.

        Args:
          fetches: Tensors, operations, variables, names, sparse and ragged tensors, in any nesting of lists, tuples,
            named tuples, dictionaries and attrs classes.
          feed_dict: From tensors (or names) to values, which replace them in this run.
          options: A `tf.compat.v1.RunOptions`. With a trace level, `run_metadata.step_stats` is filled.
          run_metadata: A `tf.compat.v1.RunMetadata` that is filled.

        Returns:
          Numpy values in the structure of `fetches`; None in place of operations.

        Raises:
          ForeignTensorError: a fetch or feed belongs to another graph.
          UnknownNameError: the graph has no such name.
          MissingFeedError: a placeholder that is needed has no value.
          ValueError: a fed value does not have the tensor's shape, or the tensor cannot be fed.
          SessionClosedError: the session was closed.
        """
        if self._closed:
            raise SessionClosedError("Attempted to use a closed session. A new fit opens a new one.")
        prepared = self._prepare(fetches)
        feeds, values = self._split_feeds(feed_dict) if feed_dict else ((), [])
        batch = self._batch
        # Only the step itself is given the batch; what a hook runs besides must not draw one from the data.
        kind = batch.kind if prepared.is_step or batch.serves_all else "none"
        if batch.serves_all and not prepared.is_step:
            # What the last step gave, so that nothing of it has to run again.
            given = set(map(id, feeds))
            known = [(tensor, value) for tensor, value in batch.last_values if id(tensor) not in given]
            values = [*values, *(self._feed_value(tensor, value) for tensor, value in known)]
            feeds = (*feeds, *(tensor for tensor, _ in known))
        key = (prepared.ids, tuple(map(id, feeds)), kind)
        program = self._programs.get(key)
        if program is None:
            program = self._build(key, Request(prepared.fetches, feeds, kind))
        if program.trains and not prepared.is_step:
            raise UnsupportedSessionCallError(
                f"To fetch {[fetch.name for fetch in prepared.fetches][:3]} the whole step would have to run, which "
                "trains the model. Ask for it in before_run (SessionRunArgs)."
            )
        arguments = [*batch.inputs, *values] if program.reads_batch else values
        if prepared.is_step and batch.results is not None:
            return prepared.mapper.build_results(self._results_again(prepared.ids))
        try:
            with tf_internals.eager_mode():
                if options is not None and options.trace_level:
                    results = step_stats.traced(lambda: program(arguments), run_metadata, self.graph)
                else:
                    results = program(arguments)
                if program.writes:
                    self._mirror(program.writes)
        except self._lost as error:
            if cluster.is_lost_worker(error):
                raise cluster.worker_lost(error) from error
            raise
        if prepared.is_step:
            batch.results = (self, dict(zip(prepared.ids, results, strict=True)))
            batch.last = program.last_batch if batch.kind == "iterator" else batch.inputs
            batch.last_run = (prepared.fetches, results)
        return prepared.mapper.build_results(results)

    def _results_again(self, ids: tuple[int, ...]) -> list[Any]:
        """Returns what the step of this batch gave, to a session that was opened anew after it had run."""
        assert self._batch.results is not None
        owner, known = self._batch.results
        if owner is self or not known.keys() >= set(ids):
            raise UnsupportedSessionCallError(
                "The step of this batch has run already. A hook cannot run train_op once more: Keras runs one step for "
                "each batch. Several updates for one batch, as a GAN's hooks make them, belong in the model's train_step; "
                "operations of its own a hook may run as often as it likes."
            )
        return [known[key] for key in ids]

    def _build(self, key: Any, request: Request) -> Program:
        with self._lock, tf_internals.eager_mode():
            program = self._builder.build(request)
            # A program without a batch serves inside and outside of steps.
            kinds = [request.source] if program.reads_batch else ["none", "iterator", "batch"]
            self._programs.update(((*key[:2], kind), program) for kind in kinds)
            return program

    def _mirror(self, written: frozenset[str]) -> None:
        """Gives the other replicas of a variable what was assigned to the first."""
        for name in written & self._step_graph.mirrored.keys():
            first, *others = tf_internals.replicas(self._step_graph.mirrored[name])
            for other in others:
                other.assign(first)

    def _prepare(self, fetches: Any) -> _Prepared:
        key = _structure_key(fetches)
        prepared = self._prepared.get(key) if key is not None else None
        if prepared is None:
            with self.graph.as_default():
                try:
                    mapper = tf_internals.fetch_mapper(fetches)
                except (ValueError, TypeError, AttributeError) as error:
                    self._explain(fetches, error)
                flat = tuple(self._readable(fetch) for fetch in mapper.unique_fetches())
            prepared = _Prepared(fetches, mapper, flat, self._step_graph.train_op)
            if len(self._prepared) >= _MOST_PREPARED:
                self._prepared.clear()  # Some hook asks in another structure each time.
            if key is not None:
                self._prepared[key] = prepared
        return prepared

    def _readable(self, fetch: Any) -> Any:
        """Gives the value for the handle: in TF1 the tensor `global_step:0` was the variable's value."""
        if not isinstance(fetch, tf.Tensor) or fetch.dtype != tf.resource:
            return fetch
        name = f"{fetch.op.name}/Read/ReadVariableOp:0"  # The reading that every v1 resource variable has.
        try:
            return self.graph.get_tensor_by_name(name)
        except KeyError:
            return fetch

    def _explain(self, wanted: Any, error: Exception) -> NoReturn:
        """Raises the error of a fetch or feed again, with the hook that asked and the way out."""
        for owner, asked in wanted.items() if isinstance(wanted, Mapping) else [(None, wanted)]:
            who = type(owner).__name__ if isinstance(owner, tf1.train.SessionRunHook) else "A run"
            for leaf in _leaves(asked):
                self._check_element(leaf, who)
        raise error

    def _check_element(self, leaf: Any, who: str) -> None:
        if isinstance(leaf, str):
            operations = {operation.name for operation in self.graph.get_operations()}
            if leaf.lstrip("^").split(":")[0] not in operations:
                documented = [entry.name for entry in self._step_graph.names]
                others = [name for name in operations if not in_step(name)]
                hint = nearest_names(leaf, documented) if documented else nearest_names(leaf, others)
                reason = self._step_graph.absent.get(leaf.split(":")[0])
                raise UnknownNameError(
                    f"{who} asks for {leaf!r}, but the step's graph has nothing of that name. {reason or hint} bridge.describe(model, data) lists all names."
                )
            return
        graph = getattr(leaf, "graph", None)
        if isinstance(leaf, tf.__internal__.EagerTensor) or (
            isinstance(leaf, tf.Variable) and not hasattr(leaf, "op")
        ):
            raise ForeignTensorError(
                f"{who} asks for {leaf!r}, an eager value, not a tensor of the step's graph. Use its name in the graph (see "
                "bridge.describe), make it in the hook's begin(), or give the hook as a callable, which HookCallback calls "
                "inside the step's graph: HookCallback([lambda: MyHook(...)])."
            )
        if graph is not None and graph is not self.graph:
            raise ForeignTensorError(
                f"{who} asks for {getattr(leaf, 'name', leaf)!r}, which belongs to another graph than the step's. Hooks whose constructor "
                "needs tensors must be given as a callable, which HookCallback calls inside the step's graph: "
                "HookCallback([lambda: MyHook(...)]); or ask for the tensor by name."
            )

    def _split_feeds(self, feed_dict: Mapping[Any, Any]) -> tuple[tuple[tf.Tensor, ...], list[tf.Tensor]]:
        pairs = tf_internals.expand_feeds(feed_dict)
        feeds: list[tf.Tensor] = []
        values: list[tf.Tensor] = []
        for feed, value in pairs:
            tensor = self._feed_tensor(feed)
            feeds.append(tensor)
            values.append(self._feed_value(tensor, value))
        return tuple(feeds), values

    def _feed_tensor(self, feed: Any) -> tf.Tensor:
        try:
            tensor = self.graph.as_graph_element(feed, allow_tensor=True, allow_operation=False)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            self._check_element(feed, "A feed")
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from error
        if tensor.name in self._step_graph.unreachable:
            raise NotFeedableError(
                f"{tensor.name} cannot be fed: {self._step_graph.unreachable[tensor.name]}"
            )
        if not self.graph.is_feedable(tensor):
            raise ValueError(f"Tensor {tensor.name} may not be fed.")
        return tensor

    def _feed_value(self, tensor: tf.Tensor, value: Any) -> tf.Tensor:
        if isinstance(value, tf.__internal__.EagerTensor):
            if value.dtype == tensor.dtype:
                return value
            value = value.numpy()
        elif isinstance(value, tf.Tensor):
            raise TypeError(
                "The value of a feed cannot be a tf.Tensor object of a graph. Acceptable feed values include Python "
                "scalars, strings, lists, numpy ndarrays and eager tensors."
            )
        array = np.asarray(value, dtype=tensor.dtype.as_numpy_dtype)
        if not tensor.shape.is_compatible_with(array.shape):
            raise ValueError(
                f"Cannot feed value of shape {array.shape} for Tensor {tensor.name}, which has shape {tensor.shape}"
            )
        with tf_internals.eager_mode():
            return tf.constant(array, tensor.dtype)

    def make_callable(
        self, fetches: Any, feed_list: list[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """Returns a function that runs `fetches`, as `tf.compat.v1.Session.make_callable` does.

        Args:
          fetches: As in `run`.
          feed_list: Tensors that the function's arguments feed, in order.
          accept_options: Whether the function takes `options` and `run_metadata`.

        Returns:
          The function.
        """
        feeds = [self._feed_tensor(feed) for feed in feed_list or ()]

        def call(*arguments: Any, options: Any = None, run_metadata: Any = None) -> Any:
            if len(arguments) != len(feeds):
                raise ValueError(
                    f"The callable takes {len(feeds)} arguments, but {len(arguments)} were given."
                )
            if not accept_options and (options is not None or run_metadata is not None):
                raise TypeError("Make the callable with accept_options=True to pass options or run_metadata.")
            return self.run(fetches, dict(zip(feeds, arguments, strict=True)), options, run_metadata)

        return call

    def list_devices(self) -> list[Any]:
        """Lists the devices that run the graph (`tf.compat.v1.Session.list_devices`)."""
        with tf_internals.eager_mode():
            return tf_internals.device_attributes()

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> NoReturn:
        """Refuses: a partial run would stop the Keras step halfway."""
        del fetches, feeds
        raise UnsupportedSessionCallError(
            "partial_run cannot stop a Keras step halfway. Fetch what you need in before_run, or run the two halves as "
            "two calls of session.run."
        )

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> NoReturn:
        """Refuses, as `partial_run_setup` does."""
        del handle
        self.partial_run_setup(fetches, feed_dict)

    def as_default(self) -> contextlib.AbstractContextManager[Any]:
        """Makes this the default session, for `tensor.eval()` (`tf.compat.v1.Session.as_default`)."""
        return tf_internals.default_session(self)

    def __enter__(self) -> LiveSession:
        self._contexts = contextlib.ExitStack()
        self._contexts.enter_context(self.graph.as_default())
        self._contexts.enter_context(self.as_default())
        return self

    def __exit__(self, *error: object) -> None:
        self._contexts.close()
        self.close()

    def close(self) -> None:
        """Frees what hooks created, and refuses further runs. Closing twice is fine."""
        if not self._closed:
            self._closed = True
            with tf_internals.eager_mode():
                self._builder.hook_state.free(self.graph)
            self._prepared.clear()
            self._programs.clear()


# Types of tensors, operations and variables that were met: to look a type up is faster than to ask for its bases.
_LEAF_TYPES: set[type] = set()


def _structure_key(fetches: Any) -> Any:
    """Returns a key that two fetches share only if they hold the same objects in the same structure, or None."""
    kind = type(fetches)
    if kind in _LEAF_TYPES:
        return id(fetches)
    if kind is str:
        return fetches
    if kind is list or kind is tuple:
        keys = tuple([id(f) if type(f) in _LEAF_TYPES else _structure_key(f) for f in fetches])
        return None if None in keys else (kind, keys)
    if kind is dict:
        keys = tuple([id(f) if type(f) in _LEAF_TYPES else _structure_key(f) for f in fetches.values()])
        names = tuple([key if type(key) is str else id(key) for key in fetches])
        return None if None in keys else (kind, names, keys)
    if isinstance(fetches, (tf.Tensor, tf.Operation, tf.Variable)):
        _LEAF_TYPES.add(kind)
        return id(fetches)
    return None


def _leaves(structure: Any) -> Iterator[Any]:
    if isinstance(structure, Mapping):
        structure = list(structure.values())
    if isinstance(structure, (list, tuple)):
        for value in structure:
            yield from _leaves(value)
    else:
        yield structure
