"""Fills `RunMetadata.step_stats`, as `Session.run` does with `RunOptions(trace_level=FULL_TRACE)`.

Functions that run eagerly have no such option, and `tf.summary.trace_on` gives graphs only. What they have is
TensorFlow's profiler: its trace holds an event for every kernel that an executor ran, with the node's name, and
events around it from which the step, the waiting time of asynchronous kernels and the device can be told. This
module runs a function under the profiler, in memory, and translates what belongs to that function.

What v1 gave in addition and the trace does not have: memory, allocators and the nodes for which TensorFlow runs no
kernel (constants, no-ops, nodes of the branch that was not taken). `partition_graphs` stays empty: TensorFlow gives
partitioned graphs only where a function runs for the first time, and asking for them would end the user's
`tf.summary.trace_on`.
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
import functools
import re
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import tensorflow as tf

# The public `tf.profiler.experimental.start` and `stop` can only write to a directory of TensorBoard.
from tensorflow.python.profiler.internal import _pywrap_profiler

# The message in which the profiler gives its trace; TensorFlow exports none of the profiler's messages.
from tensorflow.tsl.profiler.protobuf import trace_events_pb2

from bridge import tf_internals
from bridge.errors import StepGraphWarning

tf1 = tf.compat.v1

T = TypeVar("T")

# Events of the trace. The executor's are the same from TensorFlow 2.16 to 2.21.
_MARK = "bridge.step_stats"  # Ours, around the whole run.
_FUNCTION_RUN = "FunctionRun"  # A function starts; `id` is the step id that its executors carry.
_PROCESS = "ExecutorState::Process"  # An executor's thread runs nodes of the step `id`.
_DONE = "ExecutorState::ProcessAsync::Done"  # The asynchronous kernel `name` of the step `step_id` finished.
_PROPAGATE = "ExecutorPropagateOutputs"  # The outputs of `kernel_name` go to the nodes that wait for them.

_LEAVE = 0.01  # Seconds within which threads leave their last events.

_ROOT = ""  # Stands for the step id of the code that calls the functions.


def traced(run: Callable[[], T], run_metadata: Any, graph: tf.Graph | None = None) -> T:
    """Calls `run`, and tells in `run_metadata.step_stats` what it executed, when, and where.

    TensorFlow has one profiler. While the user's is running, the call runs without statistics.

    Args:
      run: Runs TensorFlow functions.
      run_metadata: The `tf.compat.v1.RunMetadata` to fill, or None.
      graph: The graph whose nodes the functions run. It adds the inputs and outputs of nodes that run as they are
        there, for the arrows between nodes in a timeline.

    Returns:
      What `run` returns.
    """
    session = None if run_metadata is None else _start()
    if session is None:
        return run()
    try:
        with tf.profiler.experimental.Trace(_MARK):
            began = time.time_ns()
            result = run()
        # The last executor tells its caller before it leaves the events that it is in, which are noted at their end.
        time.sleep(_LEAVE)
    finally:
        trace = session.stop()
    run_metadata.step_stats.CopyFrom(_step_stats(trace_events_pb2.Trace.FromString(trace), began, graph))
    return result


class _Level(int):
    """A number that is no truth value.

    TensorFlow 2.21 takes any option that has a truth value as a bool, and then ignores it where a number is due.
    """

    def __bool__(self) -> bool:
        raise TypeError("This is a number.")


def _start() -> Any:
    """Starts the profiler at the level at which it notes cheap kernels too; returns None if it is in use."""
    session = _pywrap_profiler.ProfilerSession()
    try:
        session.start("", {"host_tracer_level": _Level(3), "python_tracer_level": _Level(0)})
    except tf.errors.AlreadyExistsError:
        _say_in_use()
        return None
    return session


@functools.cache
def _say_in_use() -> None:
    warnings.warn(
        "Another profiler is running, and TensorFlow runs only one at a time: this run, which asked for a trace "
        "(RunOptions.trace_level), gets no step_stats, so that a timeline of it is empty. Let ProfilerHook and "
        "tf.profiler (or the profile_batch of the TensorBoard callback) profile different steps.",
        StepGraphWarning,
        stacklevel=2,
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _Event:
    """An event of the trace; times in nanoseconds since the profiler started."""

    thread: int
    start: int
    end: int
    name: str
    args: Mapping[str, str]


class _Kernel(NamedTuple):
    """A kernel that an executor ran.

    Attributes:
      node: The graph node's name.
      op: What ran for it.
      event: The time of it.
      region: The executor's work on its thread in which it ran; all kernels in there are on one device.
      step: The step id of the region.
      inner: Whether the node belongs to a function that a node of the called function calls.
    """

    node: str
    op: str
    event: _Event
    region: _Event
    step: str
    inner: bool = False


def _step_stats(trace: Any, began: int, graph: tf.Graph | None) -> Any:
    """Translates a trace.

    Args:
      trace: The profiler's `Trace`.
      began: The time in nanoseconds since 1970 at which our mark begins.
      graph: As in `traced`.

    Returns:
      A `StepStats`.
    """
    host = [number for number, device in trace.devices.items() if device.name == "/host:CPU"]
    events = sorted(
        (_read(event) for event in trace.trace_events if event.device_id in host and _of_use(event)),
        key=lambda event: (event.thread, event.start, -event.end),
    )
    mark = next(event for event in events if event.name == _MARK)
    writer = _Writer(began - mark.start)
    home = _home()
    places = _places(_kernels_of_run(events), _nodes_on_gpus(trace, home), graph, home)
    _write_kernels(writer, places, _Ends(events), graph)
    for event in events:  # What XLA ran within the kernels of compiled functions.
        if "hlo_op" in event.args and mark.start <= event.start <= mark.end:
            name = event.args["hlo_op"]
            label = f"{name} = {name.split('.')[0]}()"
            writer.add(f"{home}/xla", name, label, event, event.start, event.end, event.end)
    _write_gpus(writer, trace)
    for number in host:
        names = {thread: resource.name for thread, resource in trace.devices[number].resources.items()}
        writer.name_threads(names)
    return writer.stats


def _of_use(event: Any) -> bool:
    if event.name in (_PROPAGATE, _PROCESS, _DONE, _FUNCTION_RUN, _MARK):
        return True
    return "long_name" in event.args or "hlo_op" in event.args


def _read(event: Any) -> _Event:
    start = event.timestamp_ps // 1000
    return _Event(event.resource_id, start, start + event.duration_ps // 1000, event.name, dict(event.args))


def _node_and_op(event: _Event) -> tuple[str, str] | None:
    """Returns a kernel's node and operation. Names of `tf.data` iterators have colons inside, those of nodes none."""
    node, _, op = event.args.get("long_name", "").rpartition(":")
    return (node, op) if node and ":" not in node else None


class _Frame(NamedTuple):
    """What the current event lies in, on its thread."""

    event: _Event
    step: str
    region: _Event | None
    op: str


def _kernels_of_run(events: Iterable[_Event]) -> list[_Kernel]:
    """Returns the kernels of functions that were called within our mark, and of functions that those called.

    Other threads work at the same time, such as those of `tf.data`, whose functions v1 left out as well.

    Args:
      events: By thread, and in the order of time; an event precedes the events that lie in it.
    """
    kernels: list[_Kernel] = []
    # From step ids to those of the functions called.
    called: dict[str, set[str]] = collections.defaultdict(set)
    stack: list[_Frame] = []
    loose: _Event | None = None  # The thread's last kernel, if it was in a region that had no end yet.
    open_regions: dict[tuple[int, str], _Event] = {}
    for event in events:
        if stack and stack[-1].event.thread != event.thread:
            stack.clear()
        while stack and stack[-1].event.end <= event.start:
            stack.pop()
        region = stack[-1].region if stack else None
        if event.name == _MARK:
            stack.append(_Frame(event, _ROOT, None, ""))
        elif event.name == _PROCESS:
            stack.append(_Frame(event, event.args["id"], event, ""))
        elif event.name == _FUNCTION_RUN:
            if stack and not re.search("Iterator|Dataset", stack[-1].op):
                called[stack[-1].step].add(event.args["id"])
        elif kernel := _node_and_op(event):
            if region is not None:
                kernels.append(_Kernel(*kernel, event, region, stack[-1].step))
                stack.append(_Frame(event, stack[-1].step, region, kernel[1]))
            else:
                loose = event
        elif (
            event.name == _PROPAGATE and loose is not None and region is None and loose.thread == event.thread
        ):
            kernel = _node_and_op(loose)
            if kernel and kernel[0] == event.args["kernel_name"]:
                step = event.args["id"]
                region = open_regions.setdefault((event.thread, step), loose)
                kernels.append(_Kernel(*kernel, loose, region, step))
            loose = None
    steps = {_ROOT}
    new = [_ROOT]
    while new:
        found = called[new.pop()] - steps
        steps |= found
        new.extend(found)
    return [
        kernel._replace(inner=kernel.step not in called[_ROOT])
        for kernel in sorted(kernels, key=lambda kernel: kernel.event.start)
        if kernel.step in steps
    ]


class _Ends:
    """Tells when a kernel's work ended, and when its outputs had been passed on."""

    def __init__(self, events: Iterable[_Event]) -> None:
        self._done: dict[tuple[str, str], list[int]] = collections.defaultdict(list)
        self._passed: dict[tuple[str, str], list[tuple[int, int]]] = collections.defaultdict(list)
        for event in sorted(events, key=lambda event: event.start):
            if event.name == _DONE:
                self._done[event.args["step_id"], event.args["name"]].append(event.start)
            elif event.name == _PROPAGATE:
                self._passed[event.args["id"], event.args["kernel_name"]].append((event.start, event.end))

    def of(self, kernel: _Kernel) -> tuple[int, int]:
        """Returns both times. The event of an asynchronous kernel covers only its start."""
        key = (kernel.step, kernel.node)
        done = self._done[key]
        position = bisect.bisect_left(done, kernel.event.start)
        end = done[position] if position < len(done) else kernel.event.end
        passed = self._passed[key]
        position = bisect.bisect_left(passed, (end, 0))
        return end, passed[position][1] if position < len(passed) else end


def _home() -> str:
    """Returns the full name of this process's CPU, as v1 wrote it."""
    with tf_internals.eager_mode(), tf.device("CPU:0"):
        return str(tf.zeros([]).device)


def _full(device: str, home: str) -> str:
    """Completes a device's name by this process's job and task."""
    found = tf.DeviceSpec.from_string(home).make_merged_spec(tf.DeviceSpec.from_string(device))
    return str(found.to_string())


def _places(
    kernels: Sequence[_Kernel], on_gpus: Mapping[str, str], graph: tf.Graph | None, home: str
) -> list[tuple[_Kernel, str]]:
    """Tells on which device each kernel ran.

    The trace does not say so outright. Known are nodes that had work done on a GPU, and both ends of each transfer
    between devices; and what one thread ran at a stretch ran on one device. For others the graph's own device holds,
    or else the CPU.

    Args:
      kernels: The kernels that ran.
      on_gpus: From nodes to the GPU that did work for them.
      graph: As in `traced`.
      home: The CPU.
    """
    known: dict[str, str] = {}
    for kernel in kernels:
        key = kernel.event.args.get("key", "").split(";")  # source;incarnation;destination;edge;frame
        if kernel.op.startswith(("_Send", "_Recv", "_HostSend", "_HostRecv")) and len(key) == 5:
            source, _, destination, _, _ = key
            known[kernel.node] = source if "Send" in kernel.op else destination
            known.setdefault(kernel.event.args.get("from", ""), source)
            known.setdefault(kernel.event.args.get("to", ""), destination)
    known.update(on_gpus)
    regions = {kernel.region: known[kernel.node] for kernel in kernels if kernel.node in known}
    existing = {_full(device.name, home) for device in tf.config.list_logical_devices()}
    places = []
    for kernel in kernels:
        place = known.get(kernel.node) or regions.get(kernel.region)
        if place is None:
            operation = _operation(graph, kernel)
            asked = _full(operation.device, home) if operation is not None and operation.device else home
            place = asked if asked in existing else home
        places.append((kernel, place))
    return places


def _operation(graph: tf.Graph | None, kernel: _Kernel) -> tf.Operation | None:
    if graph is None or kernel.inner:
        return None
    try:
        return graph.get_operation_by_name(kernel.node)
    except KeyError:  # TensorFlow's optimisations made the node.
        return None


def _write_kernels(
    writer: _Writer, places: Iterable[tuple[_Kernel, str]], ends: _Ends, graph: tf.Graph | None
) -> None:
    for kernel, place in places:
        operation = _operation(graph, kernel)
        if operation is not None and re.sub("^_Mkl(Native)?", "", kernel.op) != operation.type:
            operation = None  # A fused kernel has other inputs.
        inputs = ", ".join(operation.node_def.input) if operation is not None else ""
        label = f"{kernel.node} = {kernel.op}({inputs})"
        end, passed = ends.of(kernel)
        node = writer.add(place, kernel.node, label, kernel.event, kernel.region.start, end, passed)
        for slot, tensor in enumerate(operation.outputs if operation is not None else ()):
            output = node.output.add(slot=slot)
            output.tensor_description.dtype = tensor.dtype.as_datatype_enum
            output.tensor_description.shape.CopyFrom(tensor.shape.as_proto())


def _gpus(trace: Any) -> dict[int, int]:
    """Returns the GPUs' numbers by the numbers that the trace gives them."""
    found = {
        number: re.fullmatch(r"/device:GPU:(\d+)", device.name) for number, device in trace.devices.items()
    }
    return {number: int(match[1]) for number, match in found.items() if match}


def _nodes_on_gpus(trace: Any, home: str) -> dict[str, str]:
    gpus = _gpus(trace)
    return {
        event.args["tf_op"].rpartition(":")[0]: _full(f"/device:GPU:{gpus[event.device_id]}", home)
        for event in trace.trace_events
        if event.device_id in gpus and ":" in event.args.get("tf_op", "")
    }


def _write_gpus(writer: _Writer, trace: Any) -> None:
    """Adds what the GPUs did, under the names that v1 gave their streams and that `Timeline` looks for."""
    gpus = _gpus(trace)
    events = [event for event in trace.trace_events if event.device_id in gpus]
    for event in sorted(events, key=lambda event: event.timestamp_ps):
        gpu = f"/device:GPU:{gpus[event.device_id]}"
        read = _read(event)
        node = read.args.get("tf_op", "") or event.name
        streams = ["memcpy"] if event.name.startswith("Memcpy") else ["stream:all"]
        streams.append(f"stream:{event.resource_id}")
        for stream in streams:
            writer.add(f"{gpu}/{stream}", node, event.name, read, read.start, read.end, read.end)


class _Writer:
    """Writes a `StepStats`."""

    def __init__(self, origin: int) -> None:
        """Starts an empty one.

        Args:
          origin: The time in nanoseconds since 1970 from which the events' times count.
        """
        self.stats = tf1.RunMetadata().step_stats
        self._origin = origin
        self._devices: dict[str, Any] = {}

    def add(
        self, device: str, node: str, label: str, event: _Event, scheduled: int, end: int, passed: int
    ) -> Any:
        """Adds a node's execution.

        Args:
          device: Where it ran.
          node: The node's name.
          label: The label in a timeline.
          event: When it started, and the thread.
          scheduled: When it could have run at the earliest.
          end: When its work ended.
          passed: When its outputs had been passed on.

        Returns:
          The `NodeExecStats`.
        """
        if device not in self._devices:
            self._devices[device] = self.stats.dev_stats.add(device=device)
        scheduled, start, end, passed = (
            self._origin + moment for moment in (scheduled, event.start, end, passed)
        )
        return self._devices[device].node_stats.add(
            node_name=node,
            timeline_label=label,
            thread_id=event.thread,
            scheduled_micros=scheduled // 1000,
            scheduled_nanos=scheduled,
            all_start_micros=start // 1000,
            all_start_nanos=start,
            op_end_rel_micros=end // 1000 - start // 1000,
            op_end_rel_nanos=end - start,
            all_end_rel_micros=passed // 1000 - start // 1000,
            all_end_rel_nanos=passed - start,
        )

    def name_threads(self, names: Mapping[int, str]) -> None:
        """Adds the names of the threads that ran something, of those in `names`."""
        for device in self.stats.dev_stats:
            for node in device.node_stats:
                if node.thread_id in names:
                    device.thread_names[node.thread_id] = names[node.thread_id]
