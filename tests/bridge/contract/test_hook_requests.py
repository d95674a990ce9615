"""Contract, "Hook life": what hooks ask for in `before_run` (fetches, feeds, options), and what they get."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from bridge.errors import MissingFeedError
from bridge.live_session import LiveSession
from tests.bridge.support import (
    KERNEL,
    OPENING,
    STEP,
    Calls,
    FetchHook,
    FunctionHook,
    TraceHook,
    batches,
    phases,
    small_model,
    step_of,
    tensor,
    train,
    variable,
)

tf1 = tf.compat.v1

# --- fetches ---------------------------------------------------------------------------------------------------

Pair = collections.namedtuple("Pair", ["first", "second"])

X = np.array([[-5, 0, 5], [-1, 4, -2]], np.float32) / 8  # The first batch.


FETCHES: dict[str, tuple[Callable[[], Any], Any]] = {
    "tensor": (lambda: tensor("batch/x"), X),
    "operation": (lambda: tensor("loss").op, None),
    "tensor's name": (lambda: "batch/x:0", X),
    "operation's name": (lambda: "train_op", None),
    "variable": (lambda: variable("dense/kernel"), KERNEL),
    "list": (lambda: ["batch/x:0", tensor("batch/x")], [X, X]),
    "tuple": (lambda: ("batch/x:0", variable("dense/kernel")), (X, KERNEL)),
    "named tuple": (lambda: Pair("batch/x:0", "global_step:0"), Pair(X, 0)),
    "dictionary": (lambda: {"z": "batch/x:0", "a": "global_step:0"}, {"z": X, "a": 0}),
    "nested": (
        lambda: {"in": [("batch/x:0", {"op": "train_op"}), []], "kernel": variable("dense/kernel")},
        {"in": [(X, {"op": None}), []], "kernel": KERNEL},
    ),
}


def assert_alike(found: Any, expected: Any) -> None:
    """Compares values in their structure, types of the containers and order of keys included."""
    if isinstance(expected, (np.ndarray, int)):
        np.testing.assert_array_equal(found, expected)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        assert_alike(list(found.values()), list(expected.values()))
    elif isinstance(expected, (list, tuple)):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_alike(one, other)
    else:
        assert found is expected


@pytest.mark.parametrize("kind", FETCHES)
def test_a_hooks_results_have_the_structure_of_its_fetches(kind: str) -> None:
    fetches, expected = FETCHES[kind]
    hook = FetchHook(fetches)
    train(hook, steps=1)
    assert_alike(hook.results[0], expected)


def test_a_hook_gets_a_sparse_tensor_as_a_sparse_value() -> None:
    hook = FetchHook(lambda: {"sparse": tf.sparse.from_dense(tensor("batch/x"))})
    train(hook, steps=1)
    value = hook.results[0]["sparse"]
    assert isinstance(value, tf1.SparseTensorValue)
    np.testing.assert_array_equal(value.values, X[X != 0])
    np.testing.assert_array_equal(value.dense_shape, [2, 3])


def test_each_hook_gets_only_its_own_results() -> None:
    first, second = FetchHook(lambda: "global_step:0"), FetchHook(lambda: ["batch/x:0"])
    train([first, second], steps=1)
    assert_alike(first.results[0], 0)
    assert_alike(second.results[0], [X])


def test_results_are_none_for_a_hook_that_asked_for_nothing() -> None:
    silent, without_fetches = FunctionHook(), FetchHook()
    seen: list[Any] = []
    silent.after_run = lambda run_context, run_values: seen.append(run_values.results)  # type: ignore[method-assign]
    train([FetchHook(lambda: "loss:0"), silent, without_fetches], steps=1)
    assert seen == [None]
    assert without_fetches.results == [None]


def test_original_args_are_the_fetches_of_the_step_itself() -> None:
    seen: list[tuple[Any, bool]] = []

    def look(run_context: Any, built: Any) -> None:
        args = run_context.original_args
        flat = tf.nest.flatten(args.fetches)
        train_op = run_context.session.graph.get_operation_by_name("train_op")
        seen.append((args.feed_dict, any(fetch is train_op for fetch in flat)))

    train([FetchHook(lambda: "loss:0"), FunctionHook(before_run=look)], steps=1)
    assert seen == [(None, True)]


def test_the_session_of_a_run_context_is_the_raw_one() -> None:
    calls: Calls = []
    seen: list[Any] = []

    def use(run_context: Any, built: Any) -> None:
        seen.append(run_context.session)
        run_context.session.run("global_step:0")

    train([TraceHook(calls), FunctionHook(before_run=use)], steps=1)
    assert isinstance(seen[0], LiveSession)
    assert phases(calls) == [*OPENING, *STEP, "end"]


@pytest.mark.parametrize("whole", [True, False], ids=["dataset", "generator"])
@pytest.mark.parametrize("phase", ["before_run", "after_run"])
def test_a_hooks_own_run_within_a_step_is_refused_the_batch(phase: str, whole: bool) -> None:
    """It would take the next batch away from training, or find the batch used up: hooks ask in `before_run`."""
    hook = FunctionHook(**{phase: lambda run_context, *arguments: run_context.session.run("batch/x:0")})
    with pytest.raises(MissingFeedError, match="ask for the tensor in `before_run`"):
        train(hook, data=batches(4) if whole else (batch for batch in batches(4)))


# --- feeds -----------------------------------------------------------------------------------------------------


def test_the_feeds_of_all_hooks_are_merged_into_one_run() -> None:
    class Adder(tf1.train.SessionRunHook):
        def begin(self) -> None:
            self.addend = tf1.placeholder(tf.float32, [], name="addend")
            self.sum = self.addend + tensor("learning_rate")

        def before_run(self, run_context: Any) -> Any:
            return tf1.train.SessionRunArgs(self.sum, {self.addend: 2.0})

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.result = run_values.results

    adder = Adder()
    model = train([adder, FetchHook(feeds=lambda: {tensor("learning_rate"): 0.0})], steps=1)
    assert adder.result == 2.0
    np.testing.assert_array_equal(model.get_weights()[0], KERNEL)  # The step itself had a rate of zero.


def test_a_hooks_feed_dictionary_stays_as_it_was() -> None:
    kept: list[dict[Any, Any]] = []

    def feeds() -> dict[Any, Any]:
        kept.append({tensor("learning_rate"): 0.5})
        return kept[0]

    train([FetchHook(feeds=feeds), FetchHook(feeds=lambda: {tensor("batch/y"): np.zeros((2, 1))})], steps=2)
    assert [(key.name, value) for key, value in kept[0].items()] == [("learning_rate:0", 0.5)]


def test_two_hooks_that_feed_the_same_tensor_raise_a_runtime_error_before_the_step() -> None:
    model = small_model()
    hooks = [FetchHook(feeds=lambda: {tensor("learning_rate"): 0.5}) for _ in range(2)]
    with pytest.raises(RuntimeError, match=r"Same tensor is fed by two hooks.*learning_rate"):
        train(hooks, model=model)
    assert step_of(model) == 0


# --- options and metadata --------------------------------------------------------------------------------------


def merged_options(monkeypatch: pytest.MonkeyPatch, *options: Any) -> Any:
    """What reaches the session if each of these options is asked for by a hook of its own."""
    reached: list[Any] = []
    run = LiveSession.run

    def noting_run(
        self: LiveSession, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        if options is not None:
            reached.append(type(options).FromString(options.SerializeToString()))
        return run(self, fetches, feed_dict, options=options, run_metadata=run_metadata)

    monkeypatch.setattr(LiveSession, "run", noting_run)
    train([FetchHook(options=option) for option in options], steps=1)
    return reached[0]


def test_the_highest_trace_level_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = tf1.RunOptions.NO_TRACE, tf1.RunOptions.FULL_TRACE, tf1.RunOptions.SOFTWARE_TRACE
    merged = merged_options(monkeypatch, *(tf1.RunOptions(trace_level=level) for level in levels))
    assert merged.trace_level == tf1.RunOptions.FULL_TRACE


def test_the_longest_timeout_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    timeouts = 10_000, 90_000, 50_000
    merged = merged_options(monkeypatch, *(tf1.RunOptions(timeout_in_ms=timeout) for timeout in timeouts))
    assert merged.timeout_in_ms == 90_000


def test_flags_of_run_options_are_joined_by_or(monkeypatch: pytest.MonkeyPatch) -> None:
    merged = merged_options(
        monkeypatch, tf1.RunOptions(), tf1.RunOptions(output_partition_graphs=True), tf1.RunOptions()
    )
    assert merged.output_partition_graphs


def test_debug_watches_of_run_options_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    options = [tf1.RunOptions(), tf1.RunOptions()]
    for option, name in zip(options, ["dense/output", "loss"], strict=True):
        option.debug_options.debug_tensor_watch_opts.add(node_name=name)
    merged = merged_options(monkeypatch, *options)
    assert [watch.node_name for watch in merged.debug_options.debug_tensor_watch_opts] == [
        "dense/output",
        "loss",
    ]


def test_run_metadata_holds_what_the_step_executed() -> None:
    hook = FetchHook(options=tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE))
    train(hook, steps=1)
    metadata = hook.values[0].run_metadata
    executed = [node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats]
    assert any("MatMul" in name for name in executed)
    assert hook.values[0].options.trace_level == tf1.RunOptions.FULL_TRACE


def test_run_metadata_is_empty_where_nobody_asked_for_a_trace() -> None:
    hook = FetchHook()
    train(hook, steps=1)
    assert not hook.values[0].run_metadata.step_stats.dev_stats
