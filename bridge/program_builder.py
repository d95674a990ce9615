"""Turns a set of fetches and feeds into one TensorFlow function over the live variables.

A v1 session prunes its graph to what is fetched, and caches an executor for each set of fetches and feeds. So does
this module: it cuts the needed part out of the step graph, puts reads by hooks before the step's writes, and imports
the part into a function whose inputs are the live variables, the batch (or the iterator that yields it) and the feeds.
"""

from __future__ import annotations

import collections
import contextlib
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from bridge import cluster, tf_internals
from bridge.eager_step import EagerStep
from bridge.errors import MissingFeedError, StepGraphWarning
from bridge.graph_part import GraphPart, in_step, node_name, tensor_name
from bridge.hook_state import HookState
from bridge.observed_copies import ObservedCopies
from bridge.program import Program, Request
from bridge.random_state import RANDOM_OPERATIONS
from bridge.step_graph import StepGraph
from bridge.step_unit import StepUnit

tf1 = tf.compat.v1

NEXT_BATCH = "next_batch"
_UNIT = "step_unit"
_BARRIER = "hooks_first"


class ProgramBuilder:
    """Builds programs for one step graph."""

    def __init__(self, step_graph: StepGraph, *, container: str) -> None:
        """Prepares to build.

        Args:
          step_graph: The graph that is fetched from.
          container: Name under which stateful operations of hooks keep their state.
        """
        self._graph = step_graph
        # In a cluster, "/device:CPU:0", as hooks and savers say, would be the device of any process.
        self._task = cluster.task_device(step_graph.trace.model.distribute_strategy)
        self._bindings = dict(step_graph.bindings)
        self.hook_state = HookState(container)
        self._copies: ObservedCopies | None = None
        self._copies_version = -1
        self._shown: dict[str, str] = {}
        self._unit: StepUnit | None = None
        self._version = -1
        self._warned: set[str] = set()
        self._drawn: set[str] = set()
        self._nodes: dict[str, Any] = {}
        self._library: dict[str, Any] = {}
        self._gradients: list[Any] = []

    def build(self, request: Request) -> Program:
        """Compiles one request.

        Args:
          request: Fetches, feeds and the source of the batch.

        Returns:
          The program.

        Raises:
          MissingFeedError: if a placeholder is needed that is neither fed nor part of the batch.
        """
        self._refresh()
        fed = self._fed_names(request.feeds)
        part = GraphPart(self._nodes, request.fetches, {*fed, *self._bindings})
        if self._graph.trace.eager and any(map(in_step, part)):
            self._check_placeholders(part, request)
            return self._around_eager_step(request, part)
        return self._build(request)

    def _build(self, request: Request, *, without_step: bool = False) -> Program:
        fed = self._fed_names(request.feeds)
        part = GraphPart(self._nodes, request.fetches, {*fed, *self._bindings}, without_step=without_step)
        for name in [name for name in part if self._nodes[name].op == "OneShotIterator"]:
            self._bindings[f"{name}:0"] = self.hook_state.hold(
                self._graph_def([self._nodes[name]], unit=False)
            )
        part = GraphPart(self._nodes, request.fetches, {*fed, *self._bindings}, without_step=without_step)
        self._check_placeholders(part, request)
        if reads := self._plain_reads(part, request):
            # To read variables eagerly takes a fraction of a function's call.
            return Program(
                request,
                lambda inputs: [tf.raw_ops.ReadVariableOp(resource=r, dtype=kind) for r, kind in reads],
                False,
                frozenset(),
            )
        reads_batch = any(placeholder.op.name in part for placeholder in self._graph.batch)
        self._check_random(part)
        unit = any(map(in_step, part)) and self._stays_unit(part, fed)
        reads_batch = reads_batch or unit
        nodes = self._edited(part, fed, unit, without_step)
        if all(node.op == "NoOp" for node in nodes.values()) and all(
            isinstance(f, tf.Operation) for f in request.fetches
        ):
            return Program(request, lambda inputs: [], False, frozenset())
        function = self._function(request, nodes, fed, reads_batch, unit)
        writes = part.written_outside_step(self._graph.bindings)
        program = Program(
            request, tf_internals.flat_caller(function, optimize=reads_batch), reads_batch, writes
        )
        program.trains = unit or part.step_writes(self._graph.bindings)
        program.returns_batch = len(self._graph.batch) if reads_batch and request.source == "iterator" else 0
        return program

    def _plain_reads(self, part: GraphPart, request: Request) -> list[tuple[tf.Tensor, tf.DType]]:
        """Returns the handles and types of the live variables, if nothing but their values is asked for."""
        reads: list[tuple[tf.Tensor, tf.DType]] = []
        for fetch in () if request.feeds else request.fetches:
            handle = self._bindings.get(part.plain_read_of(fetch) or "")
            if handle is None:
                return []
            reads.append((handle, fetch.dtype))
        return reads

    def _around_eager_step(self, request: Request, part: GraphPart) -> Program:
        """Makes a program whose step runs eagerly, between what hooks read before it and what they make of it."""
        graph = self._graph
        late = part.after_step()

        def is_early(fetch: Any) -> bool:
            return node_name(fetch.name) not in late and not in_step(fetch.name)

        crossing = [graph.graph.get_tensor_by_name(name) for name in part.inputs_from_before(late)]
        crossing = [t for t in crossing if t.dtype not in (tf.resource, tf.variant)]
        shown = [graph.graph.get_tensor_by_name(name) for name in part.step_tensors_used_outside()]
        early = [fetch for fetch in request.fetches if is_early(fetch)]
        last = [fetch for fetch in request.fetches if not is_early(fetch) and not in_step(fetch.name)]
        outer_feeds = [feed for feed in request.feeds if not graph.shown_by(feed)]
        first_program = self._build(Request((*early, *crossing), tuple(request.feeds), request.source))
        feeds = [*outer_feeds, *crossing, *shown]
        last_program = self._build(Request(tuple(last), tuple(feeds), "none"), without_step=True)
        eager_step = EagerStep(graph, request.feeds, shown)

        def run(inputs: Sequence[tf.Tensor]) -> list[Any]:
            count = len(graph.batch)
            batch, given = list(inputs[:count]), list(inputs[count:])
            got = first_program([*batch, *given] if first_program.reads_batch else given)
            results = {id(fetch): value for fetch, value in zip((*early, *crossing), got, strict=True)}
            values = eager_step(batch, given)
            results.update((id(tensor), value.numpy()) for tensor, value in zip(shown, values, strict=True))
            fed = {id(feed): value for feed, value in zip(request.feeds, given, strict=True)}
            between = [tf.constant(results[id(tensor)], tensor.dtype) for tensor in crossing]
            got = last_program([*(fed[id(feed)] for feed in outer_feeds), *between, *values])
            results.update((id(fetch), value) for fetch, value in zip(last, got, strict=True))
            return [results.get(id(fetch)) for fetch in request.fetches]

        return Program.of_values(run, first_program.writes | last_program.writes)

    def _refresh(self) -> None:
        graph = self._graph.graph
        if graph.version != self._version:
            graph_def = graph.as_graph_def()
            self._nodes = {node.name: node for node in graph_def.node}
            self._library = {f.signature.name: f for f in graph_def.library.function}
            self._gradients = list(graph_def.library.gradient)
            self._version = graph.version

    def _fed_names(self, feeds: Iterable[tf.Tensor]) -> dict[str, int]:
        """Maps the names of all tensors that a feed replaces to the feed's position."""
        fed: dict[str, int] = {}
        for position, tensor in enumerate(feeds):
            fed[tensor.name] = position
            for inner in self._graph.shown_by(tensor):
                fed[inner.name] = position
        return fed

    def _check_placeholders(self, part: GraphPart, request: Request) -> None:
        batch = {placeholder.op.name for placeholder in self._graph.batch}
        for name in part:
            if self._nodes[name].op != "Placeholder" or (name in batch and request.source != "none"):
                continue
            remedy = (
                "It is part of the batch, which exists only while the step runs: ask for the tensor in `before_run` "
                "(SessionRunArgs) instead of calling session.run, or feed the batch."
                if name in batch
                else "Pass it in feed_dict."
            )
            fetched = [fetch.name for fetch in request.fetches][:4]
            raise MissingFeedError(
                f"You must feed a value for placeholder tensor '{name}' to fetch {fetched}. {remedy}"
            )

    def _stays_unit(self, part: GraphPart, fed: dict[str, int]) -> bool:
        """Tells whether the step runs as one function for XLA; says so once where it should and cannot."""
        if not self._graph.trace.jit or self._graph.trace.summaries:
            return False  # XLA has no string operations; the model's own summaries are some.
        inner = [name for name in part.step_tensors_used_outside() if name not in self._graph.unit_outputs]
        inner += [name for name in fed if in_step(name)]
        if inner:
            shown = [
                a for a, tensors in self._graph.aliases.items() for t in tensors if t.name in inner
            ] or inner
            self._warn(
                f"A hook asks for {shown[0].split(':')[0]!r}, which lies inside the step that jit_compile compiles as a "
                "whole; steps that ask for it run without XLA. To choose this for all steps, use "
                "model.compile(..., jit_compile=False)."
            )
        return not inner

    def _check_random(self, part: GraphPart) -> None:
        """Says so where several programs draw from random operations that each keep a state of their own."""
        trace = self._graph.trace
        others = [name for name in trace.random.others if any(map(in_step, part))]
        if others and trace.drawn:
            self._warn(
                f"The step draws random numbers in {others[0]!r}, which keeps its state by itself; steps in which hooks "
                "ask for other tensors, and further fits, draw from another state. Draw them with keras.random and a "
                "SeedGenerator."
            )
        trace.drawn = trace.drawn or bool(others)
        own = [name for name in part if not in_step(name) and self._nodes[name].op in RANDOM_OPERATIONS]
        for name in own:
            if name in self._drawn:
                self._warn(
                    f"The random operation {name!r} of a hook draws from another state whenever hooks ask for other "
                    "tensors than before. Use tf.random.stateless_* with the global step as seed."
                )
        self._drawn.update(own)

    def _warn(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            warnings.warn(message, StepGraphWarning, stacklevel=2)

    def _edited(self, part: GraphPart, fed: dict[str, int], unit: bool, without_step: bool) -> dict[str, Any]:
        """Copies the part's nodes, with state kept apart, initialisers disarmed and reads put first."""
        nodes: dict[str, Any] = {}
        for name in part:
            if unit and in_step(name):
                continue
            node = type(self._nodes[name])()
            node.CopyFrom(self._nodes[name])
            node.attr.pop("_class", None)  # Colocation with nodes that may not be in the part.
            if without_step:
                kept = [i for i in node.input if not in_step(i.lstrip("^")) or not i.startswith("^")]
                del node.input[:]
                node.input.extend(kept)
            value = self._graph.initializers.get(name)
            if value is not None and value not in fed:
                # A live variable has its value already: v1 initialisers leave it as it is.
                del node.input[:]
                node.op = "NoOp"
                node.attr.clear()
            elif not in_step(name) and "container" in node.attr:
                self.hook_state.keep(node)
            nodes[name] = node
        if unit:
            self._put_unit(nodes, part)
            return nodes
        if not without_step:
            self._show_copies(nodes, part, fed)
        for first, then in part.around_writes():
            if (
                nodes[first].op != "NoOp" and nodes[then].op != "NoOp"
            ):  # Initialisers of live variables do nothing.
                nodes[then].input.extend(self._when_read(first, nodes, part))
        early, writers = part.before_writes()
        if writers and not without_step:
            nodes[_BARRIER] = self._barrier(early, nodes, part)
            for writer in writers:
                nodes[writer].input.append(f"^{_BARRIER}")
            for read, write in part.reads_before_writes():
                nodes[write].input.append(f"^{read}")
        return nodes

    def _show_copies(self, nodes: dict[str, Any], part: GraphPart, fed: dict[str, int]) -> None:
        """Turns what is outside the step to copies of the inner tensors that it looks at."""
        self._shown = {}
        if self._graph.train_op.name not in part:
            return
        if self._copies is None or self._copies_version != self._version:
            training = GraphPart(self._nodes, [self._graph.train_op], self._bindings)
            graph = self._graph.graph
            self._copies_version = self._version
            self._copies = ObservedCopies(
                self._nodes, training, lambda name: bool(graph.get_operation_by_name(name).op_def.is_stateful)
            )
        results = self._graph.results
        copies: dict[str, Any] = {}
        for tensor in part.step_tensors_used_outside():
            if tensor not in fed and tensor not in results:
                self._shown[tensor] = self._copies.copy(tensor, copies)
        for node in nodes.values():
            if not in_step(node.name):
                inputs = [self._shown.get(tensor_name(i), i) if in_step(i) else i for i in node.input]
                del node.input[:]
                node.input.extend(inputs)
        nodes.update(copies)

    def _barrier(self, early: Iterable[str], nodes: dict[str, Any], part: GraphPart) -> Any:
        """Makes a node that waits for what must be done before the step writes."""
        barrier = tf1.NodeDef(name=_BARRIER, op="NoOp")
        for name in early:
            barrier.input.extend(self._when_read(name, nodes, part))
        placeholders = [t for t in self._graph.batch if t.op.name in part]
        for placeholder in placeholders[:1]:
            # Without data there is no step: not even the writes that need none, such as the step counter's.
            has_data = tf1.NodeDef(name=f"{_BARRIER}/has_data", op="Identity", input=[placeholder.op.name])
            has_data.attr["T"].type = placeholder.dtype.as_datatype_enum
            nodes[has_data.name] = has_data
            barrier.input.append(f"^{has_data.name}")
        return barrier

    def _when_read(self, reader: str, nodes: dict[str, Any], part: GraphPart) -> list[str]:
        """Returns the control inputs that make a node wait until `reader` has read.

        A control edge from a branch or call does not wait for reads inside it once TensorFlow has inlined it; an edge
        from its results does.
        """
        if not part.is_reading_call(reader):
            return [f"^{reader}"]
        types = nodes[reader].attr["T" if "While" in nodes[reader].op else "Tout"].list.type
        waits = []
        for position, kind in enumerate(types):
            wait = tf1.NodeDef(
                name=f"{reader}/has_read_{position}", op="Identity", input=[f"{reader}:{position}"]
            )
            wait.attr["T"].type = kind
            nodes[wait.name] = wait
            waits.append(f"^{wait.name}")
        return waits or [f"^{reader}"]

    def _put_unit(self, nodes: dict[str, Any], part: GraphPart) -> None:
        """Adds the call of the step as one function, and turns its users to it."""
        trace = self._graph.trace
        if self._unit is None:
            self._unit = trace.unit(sorted(name.split("/", 1)[1] for name in self._graph.unit_outputs))
        call = self._unit.call(_UNIT, [self._graph.inputs[t.name].name for t in trace.function.inputs])
        early, _ = part.before_writes(unit=True)
        nodes[_BARRIER] = self._barrier(early, nodes, part)
        if nodes[_BARRIER].input:
            call.input.append(f"^{_BARRIER}")
        for node in nodes.values():
            inputs = []
            for name in node.input:
                if name.startswith("^") and in_step(name[1:]):
                    name = f"^{_UNIT}"
                elif in_step(name):
                    name = self._unit_output(tensor_name(name))
                if name not in inputs or not name.startswith("^"):
                    inputs.append(name)
            del node.input[:]
            node.input.extend(inputs)
        nodes[_UNIT] = call

    def _graph_def(self, nodes: Iterable[Any], *, unit: bool) -> Any:
        library = {**self._library, **self._unit.library} if unit and self._unit else self._library
        graph_def = tf1.GraphDef()
        graph_def.node.extend(nodes)
        needed: set[str] = set()
        queue = collections.deque(_functions_in(graph_def.node))
        while queue:
            name = queue.popleft()
            if name in needed or name not in library:
                continue
            needed.add(name)
            queue.extend(_functions_in(library[name].node_def))
            queue.extend(g.gradient_func for g in self._gradients if g.function_name == name)
        graph_def.library.function.extend(library[name] for name in sorted(needed))
        graph_def.library.gradient.extend(g for g in self._gradients if g.function_name in needed)
        graph_def.versions.CopyFrom(self._graph.graph.graph_def_versions)
        return graph_def

    def _function(
        self, request: Request, nodes: dict[str, Any], fed: dict[str, int], reads_batch: bool, unit: bool
    ) -> Any:
        graph = self._graph
        spec: list[Any] = []
        if reads_batch and request.source == "iterator":
            spec.append(tf.data.IteratorSpec(graph.trace.spec))
        elif reads_batch and request.source == "batch":
            spec.extend(tf.TensorSpec(t.shape, t.dtype) for t in graph.batch)
        leading = len(spec)
        spec.extend(tf.TensorSpec(t.shape, t.dtype) for t in request.feeds)
        graph_def = self._graph_def(nodes.values(), unit=unit)
        used = {
            tensor_name(name) for node in graph_def.node for name in node.input if not name.startswith("^")
        }
        outside = [self._name_outside(fetch, unit) for fetch in request.fetches]

        def program(*arguments: Any) -> list[tf.Tensor]:
            with tf.device(self._task) if self._task else contextlib.nullcontext():
                return placed(*arguments)

        def placed(*arguments: Any) -> list[tf.Tensor]:
            inputs: dict[str, tf.Tensor] = {}
            batch = arguments[:leading]
            if leading and request.source == "iterator":
                with tf.name_scope(NEXT_BATCH):
                    batch = tf.nest.flatten(arguments[0].get_next(), expand_composites=True)
            inputs.update((t.name, value) for t, value in zip(graph.batch, batch, strict=False))
            inputs.update((name, arguments[leading + position]) for name, position in fed.items())
            outer = tf1.get_default_graph()
            for name, live in self._bindings.items():
                if name in used and name not in inputs:
                    inputs[name] = outer.capture(live)
            wanted = [name for name in outside if name not in inputs]
            mapped = {name: value for name, value in inputs.items() if name in used}
            got = iter(
                tf.graph_util.import_graph_def(graph_def, input_map=mapped, name="", return_elements=wanted)
                or ()
            )
            results = [inputs[name] if name in inputs else next(got) for name in outside]
            with tf.control_dependencies([r for r in results if isinstance(r, tf.Operation)]):
                tensors = [tf.identity(r) for r in results if isinstance(r, tf.Tensor)] or [tf.constant(0)]
            return [*tensors, *batch] if request.source == "iterator" else tensors

        return tf1.wrap_function(program, spec)

    def _name_outside(self, fetch: Any, unit: bool) -> str:
        """Returns the name under which a fetch is found in the edited nodes."""
        if not unit or not in_step(fetch.name):
            return self._shown.get(fetch.name, str(fetch.name))
        if isinstance(fetch, tf.Tensor) and self._unit is not None:
            return self._unit_output(fetch.name)
        return _UNIT

    def _unit_output(self, name: str) -> str:
        assert self._unit is not None
        return f"{_UNIT}:{self._unit.positions[name.split('/', 1)[1]]}"


def _functions_in(nodes: Iterable[Any]) -> Iterable[str]:
    for node in nodes:
        yield node.op  # A call may be spelled as an operation of the function's name.
        for value in node.attr.values():
            if value.HasField("func"):
                yield value.func.name
            elif value.HasField("list"):
                for function in value.list.func:
                    yield function.name
