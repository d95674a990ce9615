"""The private TensorFlow names exist and behave as the bridge assumes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from bridge import tf_internals
from tests.bridge.support import small_model

tf1 = tf.compat.v1

# What the modules of the bridge take from TensorFlow beside its public names, by module of the bridge.
PRIVATE = [
    ("bridge/tf_internals.py", "tensorflow.python.eager.context", "context"),
    ("bridge/tf_internals.py", "tensorflow.python.eager.context", "FunctionCallOptions"),
    ("bridge/tf_internals.py", "tensorflow.python.eager.context", "Context.function_call_options"),
    ("bridge/tf_internals.py", "tensorflow.python.eager.context", "FunctionCallOptions.as_attrs"),
    ("bridge/tf_internals.py", "tensorflow.python.eager.execute", "execute"),
    (
        "bridge/tf_internals.py",
        "tensorflow.python.eager.polymorphic_function.atomic_function",
        "InterpolateRuntimeError",
    ),
    ("bridge/tf_internals.py", "tensorflow.python.framework.stack", "default_session"),
    ("bridge/tf_internals.py", "tensorflow.python.training.training_util", "GLOBAL_STEP_READ_KEY"),
    ("bridge/tf_internals.py", "tensorflow.python.client.session", "_DeviceAttributes"),
    ("bridge/tf_internals.py", "tensorflow.python.client.session", "SessionInterface"),
    ("bridge/tf_internals.py", "tensorflow.python.client.session", "_FetchMapper.for_fetch"),
    ("bridge/tf_internals.py", "tensorflow.python.client.session", "_FetchMapper.unique_fetches"),
    ("bridge/tf_internals.py", "tensorflow.python.client.session", "_FetchMapper.build_results"),
    ("bridge/tf_internals.py", "tensorflow.python.client.session", "_REGISTERED_EXPANSIONS"),
    ("bridge/tf_internals.py", "tensorflow", "__internal__.eager_context.eager_mode"),
    ("bridge/tf_internals.py", "tensorflow", "compat.v1.summary.FileWriterCache._cache"),
    ("bridge/describe.py", "tensorflow", "__internal__.CompositeTensor"),
    ("bridge/live_session.py", "tensorflow", "__internal__.EagerTensor"),
]


@pytest.mark.parametrize(("ours", "module", "name"), PRIVATE)
def test_a_private_name_exists(ours: str, module: str, name: str) -> None:
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        pytest.fail(f"TensorFlow {tf.__version__} has no {module}.{name} ({error}): change {ours}.")


@pytest.mark.parametrize(
    "attribute",
    [
        "_inference_function",
        "captured_inputs",
        "structured_outputs",
        "function_def",
        "inputs",
        "outputs",
        "graph",
    ],
)
def test_a_concrete_function_has_what_is_taken_from_it(attribute: str) -> None:
    concrete = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([]))
    assert hasattr(concrete, attribute), (
        f"ConcreteFunction.{attribute} is gone: change bridge/tf_internals.py (flat_caller), bridge/trace.py and "
        "bridge/step_unit.py."
    )


@pytest.mark.parametrize(
    ("hook", "attribute", "ours"),
    [
        (tf1.train.StopAtStepHook(last_step=3), "_last_step", "bridge/hooked_step.py (last_step_reached)"),
        (
            tf1.train.CheckpointSaverHook(".", save_steps=1),
            "_listeners",
            "bridge/hooked_step.py (flushing of writers)",
        ),
    ],
)
def test_a_built_in_hook_has_what_is_taken_from_it(hook: Any, attribute: str, ours: str) -> None:
    assert hasattr(hook, attribute), f"{type(hook).__name__}.{attribute} is gone: change {ours}."


@pytest.mark.parametrize(
    "piece",
    ["_init_op", "_ready_op", "_ready_for_local_init_op", "_local_init_op", "_summary_op", "_saver"],
)
def test_a_scaffold_keeps_its_pieces_where_the_bridge_takes_them_away(piece: str) -> None:
    assert vars(tf1.train.Scaffold()).get(piece, "gone") is None, (
        f"Scaffold.{piece} is gone: change bridge/session_creator.py (renew)."
    )


# --- behaviour -------------------------------------------------------------------------------------------------


def test_a_session_of_ours_counts_as_a_session() -> None:
    class Session(tf_internals.SessionInterface):
        graph = None

    session = Session()
    with tf_internals.default_session(session):
        assert tf1.get_default_session() is session
    assert tf1.get_default_session() is None


def test_the_fetch_mapper_keeps_structure_and_asks_for_each_tensor_once() -> None:
    with tf.Graph().as_default():
        a, b = tf.constant(1.0), tf.constant(2.0)
        key = object()
        mapper = tf_internals.fetch_mapper({key: [a, (b, a)], "none": tf.no_op()})
        unique = mapper.unique_fetches()
    assert sum(fetch is a for fetch in unique) == 1
    values = [None if isinstance(fetch, tf.Operation) else fetch.name for fetch in unique]
    assert mapper.build_results(values) == {key: [a.name, (b.name, a.name)], "none": None}


def test_composite_feeds_are_taken_apart_as_in_a_session() -> None:
    with tf.Graph().as_default():
        plain = tf1.placeholder(tf.float32, [2])
        sparse = tf1.sparse_placeholder(tf.float32)
        value = tf1.SparseTensorValue([[0, 0]], [1.0], [1, 2])
        pairs = tf_internals.expand_feeds({plain: [1, 2], sparse: value, "name:0": 3})
    assert [feed if isinstance(feed, str) else feed.name for feed, _ in pairs] == [
        plain.name,
        sparse.indices.name,
        sparse.values.name,
        sparse.dense_shape.name,
        "name:0",
    ]


def test_eager_mode_is_eager_below_a_graph() -> None:
    with tf.Graph().as_default():
        assert not tf.executing_eagerly()
        with tf_internals.eager_mode():
            assert tf.executing_eagerly()
        assert float(tf_internals.eager_tensor(np.float32(2.5)).numpy()) == 2.5
        assert not tf.executing_eagerly()


# --- flat_caller -----------------------------------------------------------------------------------------------


def concrete_function() -> tuple[Any, tf.Variable]:
    """A function that counts its calls, checks an input, and returns two tensors."""
    variable = tf.Variable(3.0)

    def body(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
        check = tf.debugging.assert_positive(y, message="y is not positive", name="check_y")
        with tf.control_dependencies([check, variable.assign_add(1.0)]):
            return [x * variable.read_value(), tf.linalg.inv(y, name="inverse")]

    return tf1.wrap_function(body, [tf.TensorSpec([2]), tf.TensorSpec([None, None])]), variable


@pytest.mark.parametrize("optimize", [True, False])
def test_a_flat_call_gives_what_the_public_call_gives(optimize: bool) -> None:
    function, variable = concrete_function()
    inputs = [tf.constant([1.0, 2.0]), tf.constant([[2.0, 1.0], [1.0, 2.0]])]
    results = tf_internals.flat_caller(function, optimize=optimize)(inputs)
    assert variable.numpy() == 4.0
    expected = function(*inputs)
    assert variable.numpy() == 5.0
    np.testing.assert_array_equal(results[0].numpy(), [4.0, 8.0])
    np.testing.assert_array_equal(results[1].numpy(), expected[1].numpy())
    assert len(results) == len(expected)


@pytest.mark.parametrize("bad", [[[-1.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0]]], ids=str)
def test_a_flat_call_raises_what_the_public_call_raises(bad: list[Any]) -> None:
    function, _ = concrete_function()
    inputs = [tf.constant([1.0, 2.0]), tf.constant(bad)]
    with pytest.raises(tf.errors.OpError) as expected:
        function(*inputs)
    with pytest.raises(type(expected.value)) as found:
        tf_internals.flat_caller(function)(inputs)
    first = str(expected.value).splitlines()[0]
    assert first in str(found.value)
    assert "Graph execution error" in str(expected.value), "the public text has changed: change this test"
    assert "Graph execution error" in str(found.value)
    assert str(found.value).count("File ") == str(expected.value).count("File ")


def test_a_flat_caller_keeps_its_function_alive() -> None:
    function, _ = concrete_function()
    run = tf_internals.flat_caller(function)
    del function
    assert len(run([tf.constant([1.0, 2.0]), tf.constant([[2.0]])])) == 2


# --- iterators -------------------------------------------------------------------------------------------------

RANGE = tf.data.Dataset.range(6)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (RANGE.batch(4), 2),
        (RANGE.batch(4).repeat(3), 6),
        (RANGE.repeat(), sys.maxsize),
        (RANGE.filter(lambda x: x > 2), None),
        (
            tf.data.Dataset.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int32)),
            None,
        ),
        (RANGE.filter(lambda x: x > 2).apply(tf.data.experimental.assert_cardinality(3)), 3),
        (RANGE.take(0), 0),
    ],
    ids=["finite", "repeated", "infinite", "filtered", "generator", "asserted", "empty"],
)
def test_the_length_of_a_datasets_iterator(data: tf.data.Dataset, expected: int | None) -> None:
    assert tf_internals.iterator_length(iter(data)) == expected, (
        "iterators know their dataset by another name: change bridge/tf_internals.py (iterator_length)"
    )


def test_other_iterators_have_no_known_length() -> None:
    def numbers() -> Iterator[int]:
        yield 1

    assert tf_internals.iterator_length(numbers()) is None
    assert tf_internals.iterator_length(iter([1, 2])) is None


# --- the rest --------------------------------------------------------------------------------------------------


def test_devices_have_the_form_of_a_session() -> None:
    found = tf_internals.device_attributes()
    with tf.Graph().as_default(), tf1.Session() as session:
        (expected, *_) = session.list_devices()
    assert [type(device) for device in found][:1] == [type(expected)]
    assert (found[0].device_type, found[0].name.rsplit("/", 1)[1]) == ("CPU", "device:CPU:0")
    assert expected.name.endswith("device:CPU:0")


def test_writers_of_the_cache_are_known(tmp_path: Any) -> None:
    with tf.Graph().as_default():
        writer = tf1.summary.FileWriterCache.get(str(tmp_path))
    assert any(found is writer for found in tf_internals.cached_writers())


def test_the_reading_of_the_global_step_is_the_one_that_hooks_use() -> None:
    with tf.Graph().as_default() as graph:
        tf1.train.get_or_create_global_step()
        reading = tf.constant(7)
        tf1.add_to_collection(tf_internals.GLOBAL_STEP_READ_KEY, reading)
        training_util = importlib.import_module("tensorflow.python.training.training_util")
        assert training_util._get_or_create_global_step_read() is reading
        assert len(graph.get_collection(tf_internals.GLOBAL_STEP_READ_KEY)) == 1


def test_the_models_train_function_takes_attributes() -> None:
    model = small_model()
    model.make_train_function()
    model.train_function._bridge_trace = None  # The trace lives on it (bridge/hooked_step.py).
