"""Contract of the live session: it takes what a `tf.compat.v1.Session` takes, over the model's own variables."""

from __future__ import annotations

import collections
import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from bridge.errors import SessionClosedError, UnsupportedSessionCallError
from tests.bridge.support import (
    KERNEL,
    FetchHook,
    FunctionHook,
    batches,
    in_session,
    read_events,
    small_model,
    step_of,
    tensor,
    train,
    variable,
)

tf1 = tf.compat.v1

ONES = np.ones((3, 1), np.float32)
Point = collections.namedtuple("Point", ["x", "y"])

# --- fetches ---------------------------------------------------------------------------------------------------


def run(build: Callable[[], Any], feed: Callable[[Any], Any] = lambda built: None) -> Any:
    """What `session.run(build(), feed(build()))` gives."""
    return in_session(lambda session, built: session.run(built, feed(built)), build)


@pytest.mark.parametrize(
    "value", [np.float32(1.5), np.int64(-3), np.array([True, False]), np.arange(6, dtype=np.uint8).reshape(2, 3)]
)
def test_a_tensor_comes_as_a_numpy_value_of_its_type_and_shape(value: Any) -> None:
    result = run(lambda: tf.constant(value))
    np.testing.assert_array_equal(result, value)
    assert np.asarray(result).dtype == np.asarray(value).dtype


def test_a_string_tensor_comes_as_bytes() -> None:
    scalar, vector = run(lambda: [tf.constant("words"), tf.constant(["ä", ""])])
    assert scalar == b"words"
    assert list(vector) == ["ä".encode(), b""]


def test_an_operation_comes_as_none() -> None:
    assert run(lambda: tf.no_op()) is None


def test_a_tensor_can_be_fetched_by_its_name() -> None:
    assert in_session(lambda session, five: session.run(five.name), lambda: tf.constant(5)) == 5


def test_an_operation_can_be_fetched_by_its_name() -> None:
    def build() -> Any:
        return tf1.assign(tf1.get_variable("mine", initializer=1, use_resource=True), 2).op

    def use(session: Any, assign: Any) -> Any:
        return session.run(assign.name), session.run("mine/Read/ReadVariableOp:0")

    assert in_session(use, build) == (None, 2)


def test_the_name_of_a_variable_stands_for_its_value() -> None:
    kernel, step = in_session(lambda session, _: session.run(["dense/kernel:0", "global_step:0"]))
    np.testing.assert_array_equal(kernel, KERNEL)
    assert step == 0


def test_the_name_of_a_variable_that_something_assigns_stands_for_its_value_still() -> None:
    def build() -> None:
        tf1.assign(variable("dense/kernel"), ONES)
        tf1.assign_add(variable("dense/kernel"), ONES)

    kernel = in_session(lambda session, _: session.run("dense/kernel:0"), build)
    np.testing.assert_array_equal(kernel, KERNEL)


def test_a_variable_comes_as_its_value() -> None:
    np.testing.assert_array_equal(run(lambda: variable("dense/kernel")), KERNEL)


@dataclasses.dataclass
class Holder:
    """Not a structure that a v1 session knows."""

    value: Any


NESTINGS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "empty list": (lambda one: [], []),
    "list": (lambda one: [one, one], [1, 1]),
    "tuple": (lambda one: (one, [one]), (1, [1])),
    "named tuple": (lambda one: Point(x=one, y=(one,)), Point(x=1, y=(1,))),
    "dictionary": (lambda one: {"b": one, "a": [one, one.op]}, {"b": 1, "a": [1, None]}),
    "ordered dictionary": (
        lambda one: collections.OrderedDict([("b", one), ("a", one)]),
        collections.OrderedDict([("b", 1), ("a", 1)]),
    ),
    "keys that are no strings": (lambda one: {3: one, Point(1, 2): one}, {3: 1, Point(1, 2): 1}),
    "deep": (lambda one: {"a": [({"b": [one]},)]}, {"a": [({"b": [1]},)]}),
}


@pytest.mark.parametrize("nesting", NESTINGS)
def test_results_have_the_nesting_of_the_fetches(nesting: str) -> None:
    nest, expected = NESTINGS[nesting]
    result = run(lambda: nest(tf.constant(1)))
    assert result == expected
    assert type(result) is type(expected)
    if isinstance(expected, dict):
        assert list(result) == list(expected)


def test_an_attrs_class_comes_as_an_object_of_its_class() -> None:
    attr = pytest.importorskip("attr")
    made = attr.make_class("Made", ["first", "second"])
    result = run(lambda: made(tf.constant(1), [tf.constant(2)]))
    assert result == made(1, [2])


def test_a_sparse_tensor_comes_as_a_sparse_value() -> None:
    value = run(lambda: tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3]))
    assert isinstance(value, tf1.SparseTensorValue)
    np.testing.assert_array_equal(value.indices, [[0, 1], [1, 0]])
    np.testing.assert_array_equal(value.values, [1.0, 2.0])
    np.testing.assert_array_equal(value.dense_shape, [2, 3])


def test_a_ragged_tensor_comes_as_a_ragged_value() -> None:
    value = run(lambda: tf.ragged.constant([[1, 2], [], [3]]))
    assert isinstance(value, tf1.ragged.RaggedTensorValue)
    assert value.to_list() == [[1, 2], [], [3]]


def test_indexed_slices_come_as_their_value() -> None:
    value = run(lambda: tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]), tf.constant([3, 1])))
    np.testing.assert_array_equal(value.values, [[1.0]])
    np.testing.assert_array_equal(value.indices, [2])
    np.testing.assert_array_equal(value.dense_shape, [3, 1])


@pytest.mark.parametrize("fetch", [None, 3, Holder(1)])
def test_what_cannot_be_fetched_is_a_type_error(fetch: Any) -> None:
    with pytest.raises(TypeError, match="invalid type"):
        run(lambda: fetch)


def test_the_same_fetches_give_new_values_in_each_run() -> None:
    def use(session: Any, count: Any) -> list[int]:
        return [int(session.run(count)) for _ in range(3)]

    def build() -> Any:
        return tf1.assign_add(tf1.get_variable("count", initializer=0, use_resource=True), 1)

    assert in_session(use, build) == [1, 2, 3]


# --- feeds -----------------------------------------------------------------------------------------------------


def test_a_placeholder_can_be_fed() -> None:
    def build() -> Any:
        x = tf1.placeholder(tf.float32, [None, 2])
        return tf.reduce_sum(x, 1), x

    sums = in_session(lambda session, built: session.run(built[0], {built[1]: [[1, 2], [3, 4]]}), build)
    np.testing.assert_array_equal(sums, [3.0, 7.0])


def test_a_placeholder_can_be_fed_by_its_name() -> None:
    double = in_session(
        lambda session, double: session.run(double, {"x:0": 4}), lambda: tf1.placeholder(tf.int32, [], name="x") * 2
    )
    assert double == 8


def test_a_placeholder_with_a_default_needs_no_feed() -> None:
    def build() -> Any:
        x = tf1.placeholder_with_default(1.0, [])
        return x + 1.0, x

    def use(session: Any, built: Any) -> list[float]:
        return [session.run(built[0]), session.run(built[0], {built[1]: 5.0})]

    assert in_session(use, build) == [2.0, 6.0]


def test_a_tensor_in_the_middle_can_be_fed() -> None:
    def build() -> Any:
        middle = tf.constant(1.0) + 1.0
        return middle * 10.0, middle

    assert in_session(lambda session, built: session.run(built[0], {built[1]: 7.0}), build) == 70.0


def test_a_fetch_that_is_fed_comes_back_as_it_was_fed() -> None:
    assert in_session(lambda session, one: session.run(one, {one: 9}), lambda: tf.constant(1)) == 9


def test_the_batch_can_be_fed_outside_of_the_step() -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    model = small_model()
    output = in_session(
        lambda session, _: session.run("dense/output:0", {"batch/x:0": x}), model=model, data=batches(1).unbatch().batch(2)
    )
    np.testing.assert_allclose(output, x @ KERNEL + 0.25, rtol=1e-6)


def test_a_layers_output_can_be_fed_within_the_step() -> None:
    """The loss follows the fed output, and so do the gradients: the targets are met, nothing is learned."""
    hook = FetchHook(
        lambda: ["loss:0", "gradients/dense/kernel:0"],
        feeds=lambda: {tensor("dense/output"): np.zeros((2, 1)), tensor("batch/y"): np.zeros((2, 1))},
    )
    model = train(hook, steps=1)
    loss, gradient = hook.results[0]
    assert loss == 0.0
    np.testing.assert_array_equal(gradient, np.zeros((3, 1)))
    np.testing.assert_array_equal(model.get_weights()[0], KERNEL)


def test_the_learning_rate_of_the_step_can_be_fed() -> None:
    model = train(FetchHook(feeds=lambda: {tensor("learning_rate"): 0.0}), steps=2)
    np.testing.assert_array_equal(model.get_weights()[0], KERNEL)
    assert step_of(model) == 2


def test_a_gradient_of_the_step_can_be_fed() -> None:
    model = train(FetchHook(feeds=lambda: {tensor("gradients/dense/kernel"): ONES}), steps=1)
    np.testing.assert_allclose(model.get_weights()[0], KERNEL - 0.125, rtol=1e-6)


def test_a_sparse_placeholder_can_be_fed_by_a_sparse_value() -> None:
    value = tf1.SparseTensorValue([[0, 2]], [5.0], [1, 3])
    dense = in_session(
        lambda session, built: session.run(built[0], {built[1]: value}),
        lambda: (lambda x: (tf.sparse.to_dense(x), x))(tf1.sparse_placeholder(tf.float32, [1, 3])),
    )
    np.testing.assert_array_equal(dense, [[0.0, 0.0, 5.0]])


def test_strings_can_be_fed() -> None:
    def build() -> Any:
        x = tf1.placeholder(tf.string, [None])
        return tf.strings.length(x), x

    lengths = in_session(lambda session, built: session.run(built[0], {built[1]: ["a", b"bcd", "ä"]}), build)
    np.testing.assert_array_equal(lengths, [1, 3, 2])


def test_a_feed_dictionary_of_the_caller_stays_as_it_was() -> None:
    def use(session: Any, x: Any) -> dict[Any, Any]:
        feed = {x: [1]}
        session.run(x, feed)
        return {"size": len(feed), "value": feed[x]}

    assert in_session(use, lambda: tf1.placeholder(tf.int32, [1])) == {"size": 1, "value": [1]}


def test_a_tensor_as_a_value_of_a_feed_is_refused() -> None:
    def build() -> Any:
        return tf1.placeholder(tf.int32, []), tf.constant(1)

    with pytest.raises(TypeError, match="cannot be a tf.Tensor"):
        in_session(lambda session, built: session.run(built[0], {built[0]: built[1]}), build)


# --- options and metadata --------------------------------------------------------------------------------------


def test_options_and_run_metadata_are_taken_by_run() -> None:
    def use(session: Any, product: Any) -> tuple[Any, Any]:
        metadata = tf1.RunMetadata()
        options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
        return session.run(product, options=options, run_metadata=metadata), metadata

    result, metadata = in_session(use, lambda: tf.linalg.matmul(variable("dense/kernel"), [[2.0]]))
    np.testing.assert_array_equal(result, KERNEL * 2)
    labels = [node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats]
    assert any("MatMul" in label for label in labels)


# --- the other methods of a session ----------------------------------------------------------------------------


def test_the_graph_of_the_session_is_the_default_graph_of_begin() -> None:
    def use(session: Any, graph: Any) -> tuple[bool, set[str]]:
        return session.graph is graph, {node.name for node in session.graph_def.node}

    same, names = in_session(use, tf1.get_default_graph)
    assert same
    assert {"train_op", "dense/kernel", "loss"} <= names


def test_make_callable_returns_a_function_of_its_feeds() -> None:
    def build() -> Any:
        a, b = tf1.placeholder(tf.int32, []), tf1.placeholder(tf.int32, [])
        return {"sum": a + b, "difference": a - b}, [a, b]

    def use(session: Any, built: Any) -> list[Any]:
        function = session.make_callable(built[0], feed_list=built[1])
        return [function(5, 3), function(1, 1)]

    assert in_session(use, build) == [{"sum": 8, "difference": 2}, {"sum": 2, "difference": 0}]


def test_a_callable_may_take_options_and_run_metadata() -> None:
    def use(session: Any, one: Any) -> Any:
        return session.make_callable(one, accept_options=True)(options=tf1.RunOptions(), run_metadata=tf1.RunMetadata())

    assert in_session(use, lambda: tf.constant(1)) == 1


def test_list_devices_lists_the_processor() -> None:
    devices = in_session(lambda session, _: session.list_devices())
    assert [device.device_type for device in devices].count("CPU") >= 1
    assert "CPU:0" in devices[0].name


def test_as_default_makes_eval_and_operation_run_use_the_session() -> None:
    def build() -> Any:
        count = tf1.get_variable("count", initializer=1, use_resource=True)
        return count, tf1.assign_add(count, 1)

    def use(session: Any, built: Any) -> list[Any]:
        count, increase = built
        with session.as_default():
            default = tf1.get_default_session() is session
            increase.op.run()
            return [default, count.eval(), increase.eval(), session.run(count)]

    assert in_session(use, build) == [True, 2, 3, 3]


def test_eval_takes_the_session_as_an_argument() -> None:
    def build() -> Any:
        x = tf1.placeholder_with_default(1.0, [])
        return variable("dense/kernel"), x + 1.0, x

    def use(session: Any, built: Any) -> list[Any]:
        kernel, successor, x = built
        return [kernel.eval(session=session), successor.eval(session=session), successor.eval({x: 4.0}, session)]

    kernel, *successors = in_session(use, build)
    np.testing.assert_array_equal(kernel, KERNEL)
    assert successors == [2.0, 5.0]


def test_an_operation_runs_with_the_session_as_an_argument() -> None:
    def use(session: Any, assign: Any) -> Any:
        assign.op.run(session=session)
        return session.run("dense/kernel:0")

    kernel = in_session(use, lambda: tf1.assign(variable("dense/kernel"), ONES))
    np.testing.assert_array_equal(kernel, ONES)


def test_partial_run_is_refused_with_the_reason() -> None:
    def use(session: Any, one: Any) -> None:
        session.partial_run_setup([one], [])

    with pytest.raises(UnsupportedSessionCallError, match="cannot stop a Keras step halfway"):
        in_session(use, lambda: tf.constant(1))


def test_a_closed_session_refuses_to_run_and_closes_again() -> None:
    session = in_session(lambda session, _: session)
    session.close()
    with pytest.raises(SessionClosedError, match="closed session"):
        session.run("global_step:0")


def test_other_threads_may_use_the_session() -> None:
    def build() -> Any:
        return tf1.assign_add(tf1.get_variable("count", initializer=0, use_resource=True), 1)

    def use(session: Any, increase: Any) -> int:
        coord = tf.train.Coordinator()
        threads = [
            threading.Thread(target=lambda: [session.run(increase) for _ in range(20)], daemon=True) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        coord.join(threads)
        return int(session.run("count/Read/ReadVariableOp:0"))

    assert in_session(use, build) == 80


# --- state -----------------------------------------------------------------------------------------------------


def test_what_the_session_assigns_is_what_keras_has() -> None:
    model = small_model()
    assign = FunctionHook(
        lambda: tf1.assign(variable("dense/kernel"), ONES),
        end=lambda session, assign: session.run(assign),
    )
    train(assign, model=model)
    np.testing.assert_array_equal(model.get_weights()[0], ONES)


def test_what_keras_assigns_is_what_the_session_reads() -> None:
    model = small_model()

    class Assigning(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self.model.layers[0].kernel.assign(ONES * batch)

    hook = FetchHook(lambda: variable("dense/kernel"))
    train(hook, model=model, callbacks=[Assigning()])
    for batch, kernel in enumerate(hook.results):
        np.testing.assert_array_equal(kernel, ONES * batch)


def test_load_assigns_through_the_session() -> None:
    model = small_model()
    train(FunctionHook(end=lambda session, _: None), model=model, steps=1)

    def load(session: Any, built: Any) -> Any:
        variable_of = next(v for v in session.graph.get_collection("variables") if v.op.name == "dense/kernel")
        variable_of.load(ONES, session)
        return session.run(variable_of)

    np.testing.assert_array_equal(in_session(load), ONES)


def test_a_saver_saves_and_restores_the_live_variables(tmp_path: Path) -> None:
    def build() -> Any:
        return tf1.train.Saver(), tf1.assign(variable("dense/kernel"), ONES)

    def use(session: Any, built: Any) -> list[Any]:
        saver, assign = built
        path = saver.save(session, str(tmp_path / "model.ckpt"), global_step=7)
        session.run(assign)
        changed = session.run("dense/kernel:0")
        saver.restore(session, path)
        return [path, changed, session.run("dense/kernel:0")]

    path, changed, restored = in_session(use, build)
    assert path == str(tmp_path / "model.ckpt-7")
    np.testing.assert_array_equal(changed, ONES)
    np.testing.assert_array_equal(restored, KERNEL)


def test_a_checkpoint_restores_in_a_model_that_was_built_after_others(tmp_path: Path) -> None:
    trained = train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=9), steps=3)
    small_model(), small_model()

    def use(session: Any, saver: Any) -> None:
        saver.restore(session, tf.train.latest_checkpoint(str(tmp_path)))

    model = small_model()
    model.layers[0].kernel.assign(ONES)
    kernel = FetchHook(lambda: variable("dense/kernel"))
    train([FunctionHook(tf1.train.Saver, after_create_session=use), kernel], steps=1, model=model)
    np.testing.assert_array_equal(kernel.results[0], trained.get_weights()[0])


def test_variables_that_a_hook_creates_in_begin_live_through_the_session() -> None:
    def build() -> Any:
        with tf1.variable_scope("mine"):
            total = tf1.get_variable("total", [3, 1], initializer=tf1.zeros_initializer(), use_resource=True)
        return tf1.assign_add(total, variable("dense/kernel"))

    hook = FetchHook(build)
    model = small_model(optimizer=keras.optimizers.SGD(0.0))
    train(hook, model=model, steps=3)
    np.testing.assert_allclose(hook.results[-1], KERNEL * 3)


def test_reference_variables_of_a_hook_work_too() -> None:
    def build() -> Any:
        return tf1.assign_add(tf1.Variable(1.0, use_resource=False, name="reference"), 2.0)

    hook = FetchHook(build)
    train(hook, steps=3)
    assert hook.results == [3.0, 5.0, 7.0]


def test_variables_of_a_hook_start_anew_in_the_next_fit() -> None:
    hook = FetchHook(lambda: tf1.assign_add(tf1.get_variable("count", initializer=0, use_resource=True), 1))
    model = train(hook, steps=2)
    train(hook, steps=2, model=model)
    assert hook.results == [1, 2, 1, 2]


def test_initializers_leave_the_model_alone_and_reset_what_hooks_created() -> None:
    def build() -> Any:
        count = tf1.get_variable("count", initializer=5, use_resource=True)
        return count, tf1.assign_add(count, 1), tf1.global_variables_initializer()

    def use(session: Any, built: Any) -> list[Any]:
        count, increase, initialize = built
        session.run(increase)
        before = session.run(count)
        session.run(initialize)
        return [before, session.run(count), session.run("dense/kernel:0")]

    before, after, kernel = in_session(use, build)
    assert (before, after) == (6, 5)
    np.testing.assert_array_equal(kernel, KERNEL)


def test_metrics_of_v1_accumulate_over_the_steps() -> None:
    class Mean(tf1.train.SessionRunHook):
        def begin(self) -> None:
            self._mean, self._update = tf1.metrics.mean(tensor("loss"))

        def before_run(self, run_context: Any) -> Any:
            return tf1.train.SessionRunArgs(self._update)

        def end(self, session: Any) -> None:
            self.mean = session.run(self._mean)

    mean, losses = Mean(), FetchHook(lambda: "loss:0")
    train([mean, losses], steps=4)
    assert mean.mean == pytest.approx(np.mean(losses.results))


def test_mutable_tables_keep_what_is_inserted() -> None:
    def build() -> Any:
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        key = tf.constant(["a"])
        return table.insert(key, tf.constant([7], tf.int64)), table.lookup(key)

    def use(session: Any, built: Any) -> list[int]:
        insert, found = built
        before = int(session.run(found)[0])
        session.run(insert)
        return [before, int(session.run(found)[0])]

    assert in_session(use, build) == [-1, 7]


def test_a_table_from_a_file_is_looked_up_within_the_step(tmp_path: Path) -> None:
    (tmp_path / "vocabulary.txt").write_text("zero\none\ntwo\n")

    def build() -> Any:
        table = tf.lookup.StaticVocabularyTable(
            tf.lookup.TextFileInitializer(
                str(tmp_path / "vocabulary.txt"),
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            num_oov_buckets=1,
        )
        return table.lookup(tf.constant(["two", "three"]))

    hook = FetchHook(build)
    train(hook, steps=2)
    np.testing.assert_array_equal(hook.results, [[2, 3]] * 2)


def test_queues_keep_what_is_enqueued() -> None:
    def build() -> Any:
        queue = tf1.FIFOQueue(3, tf.int32, shapes=[()])
        return queue.enqueue_many([[1, 2, 3]]), queue.dequeue()

    def use(session: Any, built: Any) -> list[int]:
        enqueue, dequeue = built
        session.run(enqueue)
        return [int(session.run(dequeue)) for _ in range(3)]

    assert in_session(use, build) == [1, 2, 3]


def test_python_functions_run_within_the_step() -> None:
    seen: list[float] = []

    def build() -> Any:
        return tf1.py_func(lambda loss: seen.append(float(loss)) or loss, [tensor("loss")], tf.float32)

    hook = FetchHook(build)
    train(hook, steps=2)
    assert seen == [float(loss) for loss in hook.results]


# --- summaries of the model's own code -------------------------------------------------------------------------


class Summarizing(keras.Model):
    """Makes v1 summaries in `call`, in its loss and in `train_step`."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        outputs = self.dense(inputs)
        tf1.summary.histogram("outputs", outputs)
        return outputs

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        logs = super().train_step(data)
        tf1.summary.scalar("from_train_step", logs["loss"])
        tf1.summary.image("image", tf.reshape(data[0][:1], [1, 1, 3, 1]))
        return logs


def summarized_loss(y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
    error = tf.reduce_mean(tf.square(y_true - y_pred), -1)
    tf1.summary.scalar("from_loss", tf.reduce_mean(error))
    return error


@pytest.mark.parametrize("jit_compile", [False, True])
def test_summaries_of_the_models_own_code_are_in_the_collection(tmp_path: Path, jit_compile: bool) -> None:
    model = Summarizing()
    model.compile("sgd", summarized_loss, jit_compile=jit_compile)
    collected: list[int] = []

    def make() -> tf1.train.SessionRunHook:
        collected.append(len(tf1.get_collection(tf1.GraphKeys.SUMMARIES)))
        return tf1.train.SummarySaverHook(2, output_dir=str(tmp_path), summary_op=tf1.summary.merge_all())

    train(make, steps=3, model=model)
    assert collected == [4]
    tags = read_events(tmp_path).Tags()
    assert [tag.rsplit("/", 1)[-1] for tag in tags["histograms"]] == ["outputs"]
    assert {tag.rsplit("/", 1)[-1] for tag in tags["scalars"]} == {"from_loss", "from_train_step"}
    assert len(tags["images"]) == 1


def test_the_scaffolds_summary_op_holds_the_summaries_of_the_models_own_code(tmp_path: Path) -> None:
    model = Summarizing()
    model.compile("sgd", summarized_loss, jit_compile=False)
    scaffold = tf1.train.Scaffold()
    saver = tf1.train.SummarySaverHook(1, output_dir=str(tmp_path), scaffold=scaffold)
    train(saver, steps=2, model=model, scaffold=scaffold)
    (tag,) = [tag for tag in read_events(tmp_path).Tags()["scalars"] if tag.endswith("from_loss")]
    assert [event.step for event in read_events(tmp_path).Scalars(tag)] == [1, 2]


# --- determinism -----------------------------------------------------------------------------------------------


def test_reads_by_hooks_are_the_values_before_the_step() -> None:
    """Whichever way a hook reads, each of many steps shows it what a run just before the step showed."""

    class Reader(tf1.train.SessionRunHook):
        def __init__(self) -> None:
            self.late: list[tuple[int, str]] = []

        def begin(self) -> None:
            kernel, step = variable("dense/kernel"), tf1.train.get_global_step()
            guarded_step = tf.cond(
                tf1.is_variable_initialized(step), step.read_value, lambda: tf.constant(-1, tf.int64)
            )
            self._reads = {
                "step": step,
                "step by name": "global_step:0",
                "step as the built-in hooks read it": guarded_step + 0,
                "kernel": kernel,
                "kernel's value": kernel.value(),
                "function of the kernel": tf.reduce_sum(kernel),
                "branch": tf.cond(tf.constant(True), lambda: kernel * 1.0, lambda: kernel),
                "row": tf.gather(kernel, [1]),
                "slot": variable("adam/dense/kernel/momentum"),
            }

        def before_run(self, run_context: Any) -> Any:
            self._before = run_context.session.run(self._reads)
            return tf1.train.SessionRunArgs(self._reads)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            step = int(self._before["step"])
            for name, value in run_values.results.items():
                if not np.array_equal(value, self._before[name]):
                    self.late.append((step, name))

    reader = Reader()
    model = small_model(optimizer=keras.optimizers.Adam(0.1))
    train(reader, data=batches(10).repeat(20), model=model)
    assert step_of(model) == 200
    assert reader.late == []


def test_a_read_that_a_hook_orders_after_the_step_gives_the_new_value() -> None:
    def build() -> Any:
        with tf.control_dependencies([tf1.get_default_graph().get_operation_by_name("train_op")]):
            return tf1.train.get_global_step().read_value()

    hook = FetchHook(build)
    train(hook, steps=5)
    assert hook.results == [1, 2, 3, 4, 5]
