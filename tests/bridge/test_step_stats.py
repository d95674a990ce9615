"""`RunMetadata.step_stats`: what it holds, that the profiler behind it disturbs nothing, and how traces are read."""

from __future__ import annotations

import json
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.client.timeline import Timeline
from tensorflow.tsl.profiler.protobuf.trace_events_pb2 import Trace

from bridge import step_stats
from bridge.errors import StepGraphWarning
from bridge.step_graph import STEP_SCOPE
from tests.bridge.support import FetchHook, batches, read_events, small_model, train

tf1 = tf.compat.v1

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
FULL_TRACE = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)


@pytest.fixture(autouse=True)
def _warnings_are_new() -> Iterator[None]:
    step_stats._say_in_use.cache_clear()
    yield
    step_stats._say_in_use.cache_clear()


def stats_of(run: Callable[[], object], graph: tf.Graph | None = None) -> Any:
    metadata = tf1.RunMetadata()
    step_stats.traced(run, metadata, graph)
    return metadata.step_stats


def nodes_of(stats: Any, device: str = CPU) -> dict[str, Any]:
    return {
        node.node_name: node
        for found in stats.dev_stats
        if found.device == device
        for node in found.node_stats
    }


@tf.function
def multiply(x: tf.Tensor) -> tf.Tensor:
    with tf.name_scope("step/dense"):
        return tf.reduce_sum(tf.nn.relu(tf.matmul(x, x, name="MatMul")), name="Sum")


# --- ProfilerHook in fit ---------------------------------------------------------------------------------------


def profiler_hook(directory: Path, **options: Any) -> Callable[[], Any]:
    return lambda: tf1.train.ProfilerHook(save_steps=3, output_dir=str(directory), **options)


def events_of(timeline: Path) -> list[dict[str, Any]]:
    return json.loads(timeline.read_text())["traceEvents"]


@pytest.mark.parametrize("show_memory", [False, True])
def test_a_timeline_shows_the_operations_of_the_step(tmp_path: Path, show_memory: bool) -> None:
    train(profiler_hook(tmp_path, show_memory=show_memory), steps=7)
    timelines = sorted(path.name for path in tmp_path.glob("timeline-*.json"))
    assert timelines == ["timeline-3.json", "timeline-6.json"]
    events = events_of(tmp_path / "timeline-6.json")
    operations = [event["args"] for event in events if event.get("cat") == "Op"]
    assert any(args["name"].startswith(f"{STEP_SCOPE}/") and "MatMul" in args["op"] for args in operations)
    assert all(args["op"] != "unknown" for args in operations)
    assert f"{CPU} Compute" in {
        event["args"].get("name") for event in events if event["name"] == "process_name"
    }


def test_the_event_file_holds_the_step_stats_by_step(tmp_path: Path) -> None:
    train(profiler_hook(tmp_path), steps=7)
    events = read_events(tmp_path)
    assert events.Tags()["run_metadata"] == ["step_3", "step_6"]
    for tag in ("step_3", "step_6"):
        nodes = nodes_of(events.RunMetadata(tag).step_stats)
        assert any(
            name.startswith(f"{STEP_SCOPE}/") and "MatMul" in node.timeline_label
            for name, node in nodes.items()
        )


def noisy_model() -> keras.Model:
    keras.utils.set_random_seed(7)
    layers = [keras.layers.Dense(8, activation="relu"), keras.layers.Dropout(0.5), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((3,)), *layers])
    model.compile("adam", "mse", jit_compile=False)
    return model


def test_profiled_steps_train_the_same_weights_to_the_bit(tmp_path: Path) -> None:
    plain = noisy_model()
    plain.fit(batches(9), verbose=0)
    profiled = train(profiler_hook(tmp_path), model=noisy_model(), data=batches(9))
    assert len(list(tmp_path.glob("timeline-*.json"))) == 3
    for expected, found in zip(plain.get_weights(), profiled.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_compiled_step_has_statistics_too(tmp_path: Path) -> None:
    train(profiler_hook(tmp_path), steps=4, model=small_model(jit_compile=True))
    devices = read_events(tmp_path).RunMetadata("step_3").step_stats.dev_stats
    assert sum(len(device.node_stats) for device in devices) > 0


# --- what is in there ------------------------------------------------------------------------------------------


def test_nodes_have_their_full_names_and_labels_of_v1() -> None:
    x = tf.ones([64, 64])
    nodes = nodes_of(stats_of(lambda: multiply(x)))
    assert {"step/dense/MatMul", "step/dense/Relu", "step/dense/Sum"} <= nodes.keys()
    assert nodes["step/dense/Relu"].timeline_label == "step/dense/Relu = Relu()"
    assert re.fullmatch(r"step/dense/MatMul = (_Mkl)?MatMul\(\)", nodes["step/dense/MatMul"].timeline_label)


def test_the_graph_adds_inputs_and_outputs() -> None:
    x = tf.ones([64, 64])
    graph = multiply.get_concrete_function(x).graph
    nodes = nodes_of(stats_of(lambda: multiply(x), graph))
    assert nodes["step/dense/Sum"].timeline_label == "step/dense/Sum = Sum(step/dense/Relu, step/dense/Const)"
    (output,) = nodes["step/dense/Relu"].output
    assert output.tensor_description.dtype == tf.float32.as_datatype_enum
    assert tf.TensorShape(output.tensor_description.shape) == [64, 64]


def test_times_are_of_the_clock_on_the_wall_and_in_order() -> None:
    x = tf.ones([256, 256])
    multiply(x)
    before = time.time_ns()
    stats = stats_of(lambda: multiply(x))
    after = time.time_ns()
    nodes = nodes_of(stats)
    for node in nodes.values():
        assert before <= node.scheduled_nanos <= node.all_start_nanos
        assert 0 <= node.op_start_rel_nanos <= node.op_end_rel_nanos <= node.all_end_rel_nanos
        assert node.all_start_nanos + node.all_end_rel_nanos <= after
        assert node.all_start_micros == node.all_start_nanos // 1000
        assert 0 <= node.op_end_rel_micros <= node.all_end_rel_micros
    order = ["step/dense/MatMul", "step/dense/Relu", "step/dense/Sum"]
    ends = [nodes[name].all_start_nanos + nodes[name].op_end_rel_nanos for name in order]
    assert ends == sorted(ends)
    assert all(nodes[b].all_start_nanos >= end for b, end in zip(order[1:], ends, strict=False))


def test_cheap_kernels_are_seen_however_often_they_ran() -> None:
    # Executors stop marking a kernel as expensive once it has proved to be cheap, after some hundred runs.
    x = tf.ones([2, 2])
    for _ in range(300):
        multiply(x)
    assert {"step/dense/MatMul", "step/dense/Relu", "step/dense/Sum"} <= nodes_of(
        stats_of(lambda: multiply(x))
    ).keys()


def test_threads_have_names() -> None:
    (device,) = stats_of(lambda: multiply(tf.ones([2, 2]))).dev_stats
    assert {node.thread_id for node in device.node_stats} == device.thread_names.keys()


def test_an_asynchronous_kernel_lasts_until_it_is_done() -> None:
    def slow() -> Iterator[float]:
        while True:
            time.sleep(0.05)
            yield 1.0

    iterator = iter(tf.data.Dataset.from_generator(slow, output_signature=tf.TensorSpec([], tf.float32)))
    function = tf.function(lambda iterator: next(iterator) + 1.0).get_concrete_function(iterator)
    nodes = nodes_of(stats_of(lambda: function(iterator)))
    assert nodes["IteratorGetNext"].op_end_rel_micros > 40_000
    assert nodes["add"].op_end_rel_micros < 40_000


def test_the_input_pipeline_is_left_out() -> None:
    def prepare(x: tf.Tensor) -> tf.Tensor:
        return tf.nn.softplus(x, name="of_the_pipeline")

    iterator = iter(tf.data.Dataset.from_tensors(tf.ones([64, 64])).repeat().map(prepare).prefetch(2))
    function = tf.function(lambda iterator: tf.square(next(iterator))).get_concrete_function(iterator)
    for _ in range(5):
        names = nodes_of(stats_of(lambda: function(iterator))).keys()
        assert {"IteratorGetNext", "Square"} <= names
        assert "of_the_pipeline" not in names


def test_other_threads_are_left_out() -> None:
    @tf.function
    def other(x: tf.Tensor) -> tf.Tensor:
        return tf.linalg.trace(x, name="of_another_thread")

    x = tf.ones([64, 64])
    other(x)

    def run() -> None:
        threads = [threading.Thread(target=other, args=(x,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        multiply(x)
        for thread in threads:
            thread.join()

    names = nodes_of(stats_of(run)).keys()
    assert "step/dense/MatMul" in names
    assert not any("of_another_thread" in name for name in names)


def test_functions_that_the_function_calls_are_in() -> None:
    @tf.function(experimental_attributes={"_noinline": True})
    def inner(x: tf.Tensor) -> tf.Tensor:
        return tf.square(x, name="inside")

    @tf.function
    def outer(x: tf.Tensor) -> tf.Tensor:
        total = tf.constant(0.0)
        for _ in tf.range(3):
            total += tf.reduce_sum(x)
        return inner(x) + total

    stats = stats_of(lambda: outer(tf.ones([2, 2])))
    names = [node.node_name for device in stats.dev_stats for node in device.node_stats]
    assert "inside" in names
    assert max(names.count(name) for name in names if name.startswith("while/body")) == 3


def test_it_returns_what_the_run_returns_with_and_without_metadata() -> None:
    assert step_stats.traced(lambda: 5, None) == 5
    metadata = tf1.RunMetadata()
    assert step_stats.traced(lambda: float(multiply(tf.ones([2, 2]))), metadata) == 8.0
    assert step_stats.traced(lambda: 5, metadata) == 5
    assert not metadata.step_stats.dev_stats  # Of the last run, as in v1.


def test_an_error_passes_through_and_frees_the_profiler() -> None:
    def fail() -> None:
        raise tf.errors.OutOfRangeError(None, None, "End of sequence")

    metadata = tf1.RunMetadata()
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        step_stats.traced(fail, metadata)
    assert not metadata.step_stats.dev_stats
    assert nodes_of(stats_of(lambda: multiply(tf.ones([2, 2]))))


# --- other profilers -------------------------------------------------------------------------------------------


def test_while_the_user_profiles_runs_have_no_statistics_and_say_so_once(tmp_path: Path) -> None:
    tf.profiler.experimental.start(str(tmp_path))
    try:
        with pytest.warns(StepGraphWarning, match="only one at a time"):
            first = stats_of(lambda: multiply(tf.ones([2, 2])))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            second = stats_of(lambda: multiply(tf.ones([2, 2])))
        assert not first.dev_stats
        assert not second.dev_stats
    finally:
        tf.profiler.experimental.stop()  # It would raise if its profiler had been ended.
    (profile,) = tmp_path.rglob("*.xplane.pb")
    assert b"KernelAndDeviceFunc::Run" in profile.read_bytes()
    assert nodes_of(stats_of(lambda: multiply(tf.ones([2, 2]))))


def test_the_profile_of_the_tensorboard_callback_stays_whole(tmp_path: Path) -> None:
    board = keras.callbacks.TensorBoard(str(tmp_path / "board"), profile_batch=(2, 4), write_graph=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train(profiler_hook(tmp_path), steps=7, callbacks=[board])
    assert [warning.category for warning in caught].count(StepGraphWarning) == 1
    assert list((tmp_path / "board").rglob("*.xplane.pb"))
    events = read_events(tmp_path)
    assert not events.RunMetadata("step_3").step_stats.dev_stats
    assert events.RunMetadata("step_6").step_stats.dev_stats


def test_the_users_graph_trace_goes_on(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.trace_on(graph=True)
        stats_of(lambda: multiply(tf.ones([3, 3])))
        tf.summary.trace_export("of_the_user", step=0)
    assert b"step/dense/MatMul" in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_a_run_that_asks_for_no_trace_starts_no_profiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_stats, "_start", lambda: pytest.fail("started"))
    train(FetchHook(), steps=2)


# --- traces that this machine cannot make ----------------------------------------------------------------------


class TraceMaker:
    """Writes traces by hand; times in nanoseconds."""

    def __init__(self) -> None:
        self.trace = Trace()
        self.trace.devices[701].name = "/host:CPU"
        self.trace.devices[1].name = "/device:GPU:0"
        self.add(1, 0, 1000, "bridge.step_stats")
        self.add(1, 10, 900, "FunctionRun", id="7")

    def add(self, thread: int, start: int, end: int, name: str, /, device: int = 701, **args: str) -> None:
        times = {"timestamp_ps": start * 1000, "duration_ps": (end - start) * 1000}
        self.trace.trace_events.add(device_id=device, resource_id=thread, name=name, args=args, **times)

    def kernel(self, thread: int, start: int, end: int, node: str, op: str, **args: str) -> None:
        self.add(thread, start, end, op, long_name=f"{node}:{op}", **args)

    def stats(self, graph: tf.Graph | None = None) -> Any:
        return step_stats._step_stats(self.trace, 5_000_000, graph)


def gpu_step() -> TraceMaker:
    """A step that sends its batch to a GPU, multiplies there, and fetches the result."""
    maker = TraceMaker()
    transfers = {
        "there": f"{CPU};1;{GPU};edge_1_batch;0:0",
        "back": f"{GPU};1;{CPU};edge_2_MatMul;0:0",
    }
    maker.add(2, 100, 300, "ExecutorState::Process", id="7")
    maker.kernel(2, 110, 120, "batch", "_Arg")
    maker.kernel(2, 130, 140, "batch/_1", "_Send", key=transfers["there"], to="MatMul", **{"from": "batch"})
    maker.add(3, 100, 400, "ExecutorState::Process", id="7")
    maker.kernel(3, 110, 120, "batch/_2", "_Recv", key=transfers["there"], to="MatMul", **{"from": "batch"})
    maker.kernel(3, 200, 220, "MatMul", "MatMul")
    maker.kernel(3, 230, 240, "Identity", "Identity")
    maker.kernel(3, 250, 260, "MatMul/_3", "_Send", key=transfers["back"], to="out", **{"from": "MatMul"})
    maker.add(2, 500, 600, "ExecutorState::Process", id="7")
    maker.kernel(2, 510, 520, "relu", "Relu")
    maker.add(2, 700, 800, "ExecutorState::Process", id="7")
    maker.kernel(2, 710, 720, "count", "AddV2")
    maker.add(13, 300, 380, "volta_sgemm_32x32", device=1, tf_op="MatMul:MatMul")
    maker.add(13, 515, 518, "relu_kernel", device=1, tf_op="relu:Relu")
    maker.add(14, 280, 290, "MemcpyH2D", device=1, tf_op="batch/_2:_Recv")
    return maker


def test_devices_are_told_from_transfers_stretches_and_kernels_on_the_gpu() -> None:
    stats = gpu_step().stats()
    assert list(nodes_of(stats, CPU)) == ["batch", "batch/_1", "count"]
    assert list(nodes_of(stats, GPU)) == ["batch/_2", "MatMul", "Identity", "MatMul/_3", "relu"]


def test_what_a_gpu_did_stands_under_the_names_of_v1() -> None:
    stats = gpu_step().stats()
    streams = {device.device: [node.node_name for node in device.node_stats] for device in stats.dev_stats}
    assert streams["/device:GPU:0/stream:all"] == ["MatMul:MatMul", "relu:Relu"]
    assert streams["/device:GPU:0/stream:13"] == ["MatMul:MatMul", "relu:Relu"]
    assert streams["/device:GPU:0/memcpy"] == streams["/device:GPU:0/stream:14"] == ["batch/_2:_Recv"]
    events = json.loads(Timeline(stats).generate_chrome_trace_format(show_memory=True))["traceEvents"]
    shown = {(event["args"]["name"], event["args"]["op"]) for event in events if event.get("cat") == "Op"}
    assert ("batch/_2", "_Recv") in shown
    assert ("count", "AddV2") in shown


def test_the_graphs_device_counts_where_nothing_else_is_known_and_it_exists() -> None:
    with tf.Graph().as_default() as graph:
        with tf.device("/device:CPU:0"):
            tf.constant(1.0, name="here")
        with tf.device("/device:GPU:7"):  # Placed elsewhere, softly.
            tf.constant(1.0, name="nowhere")
    maker = TraceMaker()
    maker.add(2, 100, 300, "ExecutorState::Process", id="7")
    maker.kernel(2, 110, 120, "here", "Const")
    maker.kernel(2, 130, 140, "nowhere", "Const")
    assert list(nodes_of(maker.stats(graph))) == ["here", "nowhere"]


def test_a_fused_kernel_does_not_take_the_inputs_of_its_node() -> None:
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [2], name="x")
        tf.nn.relu(x, name="relu")
        tf.nn.relu6(x, name="relu6")
    maker = TraceMaker()
    maker.add(2, 100, 300, "ExecutorState::Process", id="7")
    maker.kernel(2, 110, 120, "relu", "_FusedMatMul")
    maker.kernel(2, 130, 140, "relu6", "_MklRelu6")
    labels = [node.timeline_label for node in nodes_of(maker.stats(graph)).values()]
    assert labels == ["relu = _FusedMatMul()", "relu6 = _MklRelu6(x)"]


def test_times_count_from_the_mark() -> None:
    maker = TraceMaker()
    maker.add(2, 100, 400, "ExecutorState::Process", id="7")
    maker.kernel(2, 150, 160, "get", "IteratorGetNext")
    maker.add(3, 300, 310, "ExecutorState::ProcessAsync::Done", step_id="7", name="get")
    maker.add(3, 320, 330, "ExecutorPropagateOutputs", id="7", kernel_name="get")
    (node,) = nodes_of(maker.stats()).values()
    assert node.scheduled_nanos == 5_000_100
    assert node.all_start_nanos == 5_000_150
    assert (node.op_end_rel_nanos, node.all_end_rel_nanos) == (150, 180)


def test_kernels_count_whose_thread_had_not_left_its_last_events() -> None:
    maker = TraceMaker()
    maker.kernel(2, 110, 120, "of_another_run", "Relu")
    maker.add(2, 121, 125, "ExecutorPropagateOutputs", id="8", kernel_name="of_another_run")
    maker.kernel(3, 110, 120, "a", "Relu")
    maker.add(3, 121, 125, "ExecutorPropagateOutputs", id="7", kernel_name="a")
    maker.kernel(3, 130, 140, "b", "Relu")
    maker.add(3, 141, 145, "ExecutorPropagateOutputs", id="7", kernel_name="b")
    maker.kernel(3, 150, 160, "passed_nothing_on", "Relu")
    nodes = nodes_of(maker.stats())
    assert list(nodes) == ["a", "b"]
    assert {node.scheduled_nanos for node in nodes.values()} == {5_000_110}
