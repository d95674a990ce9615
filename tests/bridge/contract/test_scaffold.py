"""Contract, "Scaffold": what opens a session, which pieces are made by default, and when each of them runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import bridge
from tests.bridge.support import (
    KERNEL,
    FetchHook,
    FunctionHook,
    at_step,
    batches,
    in_session,
    saved,
    scalars,
    small_model,
    step_of,
    tensor,
    train,
    variable,
)

tf1 = tf.compat.v1

PIECES = ("init_op", "ready_op", "ready_for_local_init_op", "local_init_op", "saver")
ONES = np.ones((3, 1), np.float32)


def pieces_of(scaffold: tf1.train.Scaffold) -> list[str]:
    return [piece for piece in PIECES if getattr(scaffold, piece) is not None]


# --- the default pieces ----------------------------------------------------------------------------------------


def test_nothing_is_built_before_the_graph_is_finalized() -> None:
    scaffold = tf1.train.Scaffold()
    seen: list[list[str]] = [pieces_of(scaffold)]
    train(FunctionHook(lambda: seen.append(pieces_of(scaffold))), scaffold=scaffold)
    assert seen == [[], []]


def test_all_pieces_are_there_once_the_session_is() -> None:
    scaffold = tf1.train.Scaffold()
    assert in_session(lambda session, _: pieces_of(scaffold), scaffold=scaffold) == list(PIECES)


def test_the_default_saver_saves_all_variables_of_model_and_optimizer(tmp_path: Path) -> None:
    scaffold = tf1.train.Scaffold()
    path = in_session(lambda session, _: scaffold.saver.save(session, str(tmp_path / "s")), scaffold=scaffold)
    names = {name for name, _ in tf.train.list_variables(path)}
    assert names == {"dense/kernel", "dense/bias", "global_step", "sgd/learning_rate"}


def test_the_default_init_ops_initialize_what_hooks_create() -> None:
    def build() -> Any:
        normal = tf1.get_variable("normal", initializer=3.0, use_resource=True)
        local = tf1.get_variable(
            "local", initializer=4.0, use_resource=True, collections=[tf1.GraphKeys.LOCAL_VARIABLES]
        )
        return normal, local

    assert in_session(lambda session, built: session.run(built), build) == (3.0, 4.0)


def test_the_default_init_op_leaves_the_model_as_it_is() -> None:
    kernel = in_session(lambda session, _: session.run("dense/kernel:0"))
    np.testing.assert_array_equal(kernel, KERNEL)


def test_the_default_local_init_op_initializes_tables() -> None:
    def build() -> Any:
        values = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        return tf.lookup.StaticHashTable(values, -1).lookup(tf.constant(["b", "c"]))

    np.testing.assert_array_equal(in_session(lambda session, found: session.run(found), build), [2, -1])


def test_the_default_ready_ops_report_no_variable() -> None:
    scaffold = tf1.train.Scaffold()
    ready = in_session(
        lambda session, _: session.run([scaffold.ready_op, scaffold.ready_for_local_init_op]),
        scaffold=scaffold,
    )
    assert [list(names) for names in ready] == [[], []]


def test_the_pieces_are_shared_through_the_collections_of_the_graph() -> None:
    scaffold = tf1.train.Scaffold()

    def look(session: Any, built: Any) -> dict[str, bool]:
        keys = tf1.GraphKeys
        names = {
            "init_op": keys.INIT_OP,
            "ready_op": keys.READY_OP,
            "ready_for_local_init_op": keys.READY_FOR_LOCAL_INIT_OP,
            "local_init_op": keys.LOCAL_INIT_OP,
            "saver": keys.SAVERS,
        }
        return {
            piece: session.graph.get_collection(name) == [getattr(scaffold, piece)]
            for piece, name in names.items()
        }

    assert in_session(look, scaffold=scaffold) == dict.fromkeys(PIECES, True)


def test_a_piece_that_is_in_its_collection_already_is_taken() -> None:
    scaffold = tf1.train.Scaffold()

    def build() -> Any:
        saver = tf1.train.Saver([variable("dense/bias")])
        tf1.add_to_collection(tf1.GraphKeys.SAVERS, saver)
        return saver

    assert in_session(lambda session, saver: scaffold.saver is saver, build, scaffold=scaffold)


def test_two_savers_in_the_collection_are_an_error() -> None:
    def build() -> None:
        for _ in range(2):
            tf1.add_to_collection(tf1.GraphKeys.SAVERS, tf1.train.Saver())

    with pytest.raises(RuntimeError, match="More than one item in"):
        train(FunctionHook(build))


def test_the_default_summary_op_merges_the_summaries_of_the_graph(tmp_path: Path) -> None:
    scaffold = tf1.train.Scaffold()
    train(
        [
            FunctionHook(lambda: tf1.summary.scalar("rate", tensor("learning_rate"))),
            tf1.train.SummarySaverHook(1, output_dir=str(tmp_path), scaffold=scaffold),
        ],
        steps=1,
        scaffold=scaffold,
    )
    assert scalars(tmp_path, "rate") == [(1, 0.125)]


# --- pieces that are passed in ---------------------------------------------------------------------------------


def scaffold_from(make: Callable[[], dict[str, Any]], use: Callable[[Any, Any, dict[str, Any]], Any]) -> Any:
    """Opens a session with `Scaffold(**make())` and returns `use(session, scaffold, pieces)`."""
    kept: list[Any] = []

    def scaffold() -> tf1.train.Scaffold:
        pieces = make()
        kept.extend([tf1.train.Scaffold(**pieces), pieces])
        return kept[0]

    return in_session(lambda session, _: use(session, *kept), scaffold=scaffold)


def test_pieces_that_are_passed_in_are_kept() -> None:
    def make() -> dict[str, Any]:
        return {
            "init_op": tf.no_op(),
            "ready_op": tf.constant([], tf.string),
            "ready_for_local_init_op": tf.constant([], tf.string),
            "local_init_op": tf.no_op(),
            "summary_op": tf1.summary.scalar("rate", tensor("learning_rate")),
            "saver": tf1.train.Saver(),
        }

    kept = scaffold_from(
        make,
        lambda session, scaffold, pieces: {name: getattr(scaffold, name) is pieces[name] for name in pieces},
    )
    assert set(kept.values()) == {True}


def test_init_op_runs_with_init_feed_dict() -> None:
    def make() -> dict[str, Any]:
        value = tf1.placeholder(tf.float32, [3, 1], name="value")
        return {"init_op": tf1.assign(variable("dense/kernel"), value), "init_feed_dict": {value: ONES}}

    kernel = scaffold_from(make, lambda session, *_: session.run("dense/kernel:0"))
    np.testing.assert_array_equal(kernel, ONES)


def test_what_init_op_assigns_is_what_keras_trains() -> None:
    def scaffold() -> tf1.train.Scaffold:
        return tf1.train.Scaffold(init_op=tf1.assign(variable("dense/kernel"), ONES))

    data = batches(2)
    expected = small_model()
    expected.set_weights([ONES, expected.get_weights()[1]])
    train([], data=data, model=expected)
    model = train([], data=data, scaffold=scaffold)
    np.testing.assert_array_equal(model.get_weights()[0], expected.get_weights()[0])


def test_init_fn_runs_after_init_op_and_gets_scaffold_and_session() -> None:
    seen: list[Any] = []

    def init_fn(scaffold: Any, session: Any) -> None:
        seen.extend([scaffold, session.run("dense/kernel:0")])

    def make() -> dict[str, Any]:
        return {"init_op": tf1.assign(variable("dense/kernel"), ONES), "init_fn": init_fn}

    scaffold = scaffold_from(make, lambda session, scaffold, pieces: scaffold)
    assert seen[0] is scaffold
    np.testing.assert_array_equal(seen[1], ONES)


def test_init_fn_may_restore_a_checkpoint_into_the_model(tmp_path: Path) -> None:
    trained = train(tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=9), steps=3)

    def init_fn(scaffold: Any, session: Any) -> None:
        scaffold.saver.restore(session, tf.train.latest_checkpoint(str(tmp_path)))

    kernel = FetchHook(lambda: variable("dense/kernel"))
    model = train(kernel, steps=1, scaffold=tf1.train.Scaffold(init_fn=init_fn))
    np.testing.assert_array_equal(kernel.results[0], trained.get_weights()[0])
    assert step_of(model) == 4


def test_init_op_and_init_fn_do_not_run_for_a_model_that_has_been_trained() -> None:
    model = at_step(4)
    ran: list[str] = []

    def scaffold() -> tf1.train.Scaffold:
        init_op = tf1.assign(variable("dense/kernel"), ONES)
        return tf1.train.Scaffold(init_op=init_op, init_fn=lambda scaffold, session: ran.append("init_fn"))

    kernel = FetchHook(lambda: variable("dense/kernel"))
    train(kernel, steps=1, model=model, scaffold=scaffold)
    assert ran == []
    np.testing.assert_array_equal(kernel.results[0], KERNEL)


def test_variables_of_hooks_are_initialized_even_for_a_model_that_has_been_trained() -> None:
    count = FetchHook(lambda: tf1.get_variable("count", initializer=7, use_resource=True) + 0)
    train(count, steps=1, model=at_step(4))
    assert count.results == [7]


def test_local_init_op_runs_with_its_feed_dict_even_for_a_model_that_has_been_trained() -> None:
    def scaffold() -> tf1.train.Scaffold:
        start = tf1.placeholder(tf.float32, [], name="start")
        local = tf1.get_variable(
            "local", [], use_resource=True, trainable=False, collections=[tf1.GraphKeys.LOCAL_VARIABLES]
        )
        return tf1.train.Scaffold(local_init_op=tf1.assign(local, start), local_init_feed_dict={start: 5.0})

    local = FetchHook(lambda: "local/Read/ReadVariableOp:0")
    train(local, steps=1, model=at_step(4), scaffold=scaffold)
    assert local.results == [5.0]


def test_a_variable_that_ready_op_reports_is_an_error_with_its_name() -> None:
    def scaffold() -> tf1.train.Scaffold:
        return tf1.train.Scaffold(ready_op=tf.constant(["encoder/weights"]))

    model = small_model()
    with pytest.raises(RuntimeError, match="encoder/weights"):
        train([], model=model, scaffold=scaffold)
    assert step_of(model) == 0


def test_local_init_op_does_not_run_before_ready_for_local_init_op_is_content() -> None:
    ran: list[bool] = []

    def scaffold() -> tf1.train.Scaffold:
        local_init = tf1.py_func(lambda: ran.append(True) or np.int64(0), [], tf.int64).op
        return tf1.train.Scaffold(ready_for_local_init_op=tf.constant(["encoder"]), local_init_op=local_init)

    with pytest.raises(RuntimeError, match="encoder"):
        train([], scaffold=scaffold)
    assert ran == []


def test_a_summary_op_that_is_passed_in_is_what_is_written(tmp_path: Path) -> None:
    scaffolds: list[tf1.train.Scaffold] = []

    def scaffold() -> tf1.train.Scaffold:
        tf1.summary.scalar("other", tensor("learning_rate"))
        scaffolds.append(tf1.train.Scaffold(summary_op=tf1.summary.scalar("mine", tensor("learning_rate"))))
        return scaffolds[0]

    def saver() -> tf1.train.SessionRunHook:
        return tf1.train.SummarySaverHook(1, output_dir=str(tmp_path), scaffold=scaffolds[0])

    train(saver, steps=1, scaffold=scaffold)
    assert scalars(tmp_path, "mine") == [(1, 0.125)]
    with pytest.raises(KeyError):
        scalars(tmp_path, "other")


def test_copy_from_scaffold_takes_over_what_is_not_given() -> None:
    def make() -> dict[str, Any]:
        first = tf1.train.Scaffold(
            init_op=tf1.assign(variable("dense/kernel"), ONES),
            saver=tf1.train.Saver([variable("dense/bias")]),
        )
        return {"copy_from_scaffold": first, "saver": tf1.train.Saver([variable("dense/kernel")])}

    def use(session: Any, scaffold: Any, pieces: dict[str, Any]) -> tuple[Any, bool]:
        return session.run("dense/kernel:0"), scaffold.saver is pieces["saver"]

    kernel, own_saver = scaffold_from(make, use)
    np.testing.assert_array_equal(kernel, ONES)
    assert own_saver


def test_a_scaffolds_saver_may_have_names_of_its_own(tmp_path: Path) -> None:
    def make() -> dict[str, Any]:
        return {"saver": tf1.train.Saver({"old/weights": variable("dense/kernel")})}

    scaffold_from(
        make, lambda session, scaffold, _: scaffold.saver.save(session, str(tmp_path / "model.ckpt"))
    )
    np.testing.assert_array_equal(saved(tmp_path, "old/weights"), KERNEL)


# --- more than one fit -----------------------------------------------------------------------------------------


def test_a_callback_with_a_scaffold_serves_several_fits() -> None:
    calls: list[str] = []
    scaffold = tf1.train.Scaffold(init_fn=lambda scaffold, session: calls.append("init_fn"))
    callback = bridge.HookCallback([], scaffold=scaffold)
    models = [small_model(), small_model()]
    for model in models:
        model.fit(batches(2), callbacks=[callback], shuffle=False, verbose=0)
    assert [step_of(model) for model in models] == [2, 2]
    assert calls == ["init_fn", "init_fn"]
