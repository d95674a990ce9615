"""Contract of the live session: it takes what a `tf.compat.v1.Session` takes, over the model's own variables."""

from __future__ import annotations

import collections
import dataclasses
import threading
import types
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
import tensorflow as tf

from bridge.errors import SessionClosedError, UnsupportedSessionCallError
from tests.bridge.support import (
    KERNEL,
    FetchHook,
    batches,
    in_session,
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
    "value",
    [np.float32(1.5), np.int64(-3), np.array([True, False]), np.arange(6, dtype=np.uint8).reshape(2, 3)],
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
    assert run(tf.no_op) is None


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


@dataclasses.dataclass
class Attrs:
    """What a class made by the attrs package looks like to TensorFlow, which knows them by this one attribute."""

    first: Any
    second: Any
    __attrs_attrs__: ClassVar = (types.SimpleNamespace(name="first"), types.SimpleNamespace(name="second"))


def test_an_attrs_class_comes_as_an_object_of_its_class() -> None:
    assert run(lambda: Attrs(tf.constant(1), [tf.constant(2)])) == Attrs(1, [2])


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
        lambda session, double: session.run(double, {"x:0": 4}),
        lambda: tf1.placeholder(tf.int32, [], name="x") * 2,
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
        lambda session, _: session.run("dense/output:0", {"batch/x:0": x}),
        model=model,
        data=batches(1).unbatch().batch(2),
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
    def build() -> Any:
        x = tf1.sparse_placeholder(tf.float32, [1, 3])
        return tf.sparse.to_dense(x), x

    value = tf1.SparseTensorValue([[0, 2]], [5.0], [1, 3])
    dense = in_session(lambda session, built: session.run(built[0], {built[1]: value}), build)
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

    with pytest.raises(TypeError, match=r"cannot be a tf\.Tensor"):
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
        return session.make_callable(one, accept_options=True)(
            options=tf1.RunOptions(), run_metadata=tf1.RunMetadata()
        )

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
        return [
            kernel.eval(session=session),
            successor.eval(session=session),
            successor.eval({x: 4.0}, session),
        ]

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
            threading.Thread(target=lambda: [session.run(increase) for _ in range(20)], daemon=True)
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        coord.join(threads)
        return int(session.run("count/Read/ReadVariableOp:0"))

    assert in_session(use, build) == 80
