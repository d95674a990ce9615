"""The graph's variables as the model's weights: read, set, saved and loaded through the session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tensorflow as tf

from bridge.errors import GraphModelError
from bridge.graph_model import GraphModel
from tests.bridge.graph_model.support import Legacy, open_session
from tests.bridge.support import Calls, TraceHook, phases

tf1 = tf.compat.v1


class Network:
    """A layer trained by Adam, and a moving average beside it, with resource or reference variables."""

    def __init__(self, *, resource: bool = True) -> None:
        options = {"use_resource": resource}
        self.kernel = tf1.get_variable("net/kernel", [2, 2], initializer=tf1.ones_initializer(), **options)
        self.mean = tf1.get_variable("net/mean", initializer=0.5, trainable=False, **options)
        self.step = tf1.train.get_or_create_global_step()
        loss = tf.reduce_sum(tf.square(self.kernel))
        self.train_op = tf1.train.AdamOptimizer(0.1).minimize(loss, self.step)
        self.model = GraphModel(self.train_op, {"loss": loss})

    NAMES = ("net/kernel", "net/mean", "beta1_power", "beta2_power", "net/kernel/Adam", "net/kernel/Adam_1")


def trained(model: GraphModel, session: Any, steps: int = 2) -> list[np.ndarray]:
    """Trains, and returns the weights."""
    model.fit_in(session, steps_per_epoch=steps, verbose=0)
    return model.get_weights()


def assert_same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


both_kinds = pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])


@both_kinds
def test_weights_are_all_global_variables_but_the_step(resource: bool) -> None:
    network = Network(resource=resource)
    with open_session() as session:
        weights = trained(network.model, session)
        assert_same(weights, session.run([tf1.global_variables()[i] for i in (0, 1, 3, 4, 5, 6)]))
        assert [weight.name for weight in network.model.weights] == list(Network.NAMES)
        assert [weight.name for weight in network.model.trainable_weights] == ["net/kernel"]
        assert [weight.name for weight in network.model.non_trainable_weights] == list(Network.NAMES[1:])
        assert type(weights[0]) is np.ndarray


@both_kinds
def test_weights_can_be_put_back_and_the_step_goes_on(resource: bool) -> None:
    network = Network(resource=resource)
    with open_session() as session:
        before = trained(network.model, session)
        trained(network.model, session)
        network.model.set_weights(before)
        assert_same(network.model.get_weights(), before)
        assert session.run(network.step) == 4


def test_training_from_weights_that_were_put_back_repeats_bit_for_bit() -> None:
    network = Network()
    with open_session() as session:
        before = trained(network.model, session)
        after = trained(network.model, session)
        network.model.set_weights(before)
        assert_same(trained(network.model, session), after)


def test_variables_that_share_an_initial_value_are_set_apart() -> None:
    initial = tf.constant(1.0)
    one, two = (tf1.Variable(initial, use_resource=True, name=name) for name in ("one", "two"))
    model = GraphModel(tf.group(one.assign_add(1.0), two.assign_add(1.0)))
    with open_session() as session:
        trained(model, session, 1)
        model.set_weights([5.0, 6.0])
        assert model.get_weights() == [5.0, 6.0]


def test_hooks_do_not_see_what_the_model_reads_and_sets() -> None:
    network = Network()
    calls: Calls = []
    with open_session(TraceHook(calls)) as session:
        weights = trained(network.model, session, 1)
        network.model.set_weights(weights)
    assert phases(calls).count("before_run") == 1


def test_the_variables_can_be_chosen() -> None:
    legacy = Legacy([1, 2])
    model = legacy.model(variables=[legacy.w])
    with open_session() as session:
        assert trained(model, session) == [2.0]


def test_the_learning_rate_is_not_put_back() -> None:
    legacy = Legacy([1, 2])
    with open_session() as session:
        model = legacy.model(learning_rate=legacy.rate)
        trained(model, session, 1)
        assert [weight.name for weight in model.weights] == ["w"]


def test_callbacks_can_run_tensors_past_the_hooks() -> None:
    network = Network()
    calls: Calls = []
    with open_session(TraceHook(calls)) as session:
        trained(network.model, session, 1)
        assert network.model.session is session
        assert network.model.run({"mean": network.mean}) == {"mean": 0.5}
    assert phases(calls).count("before_run") == 1


def test_a_summary_lists_the_variables() -> None:
    lines: list[str] = []
    network = Network()
    network.model.summary(print_fn=lines.append)
    assert lines[0].split("  ") == ["net/kernel", "(2, 2)", "float32"]
    assert lines[-1] == "Total: 15"
    assert network.model.count_params() == 15


def test_a_preemption_while_weights_are_read_is_recovered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    legacy = Legacy([1, 2, 3])
    model = legacy.model(variables=[legacy.w])
    original = tf1.Session.run
    failures: list[Exception] = []

    def run(session: Any, fetches: Any, *args: Any, **options: Any) -> Any:
        if failures and isinstance(fetches, list) and fetches[0] is legacy.w:
            raise failures.pop()
        return original(session, fetches, *args, **options)

    with open_session(directory=tmp_path, save_checkpoint_steps=1) as session:
        trained(model, session, 2)
        monkeypatch.setattr(tf1.Session, "run", run)
        failures.append(tf.errors.AbortedError(None, None, "preempted"))
        assert model.get_weights() == [2.0]
        assert not failures


def test_weights_go_through_a_server(tmp_path: Path) -> None:
    legacy = Legacy([1, 2, 3])
    model = legacy.model(variables=[legacy.w])
    server = tf1.train.Server.create_local_server()
    with open_session(directory=tmp_path, master=server.target) as session:
        assert trained(model, session, 2) == [2.0]
        model.set_weights([7.0])
        assert trained(model, session, 1) == [8.0]


# --- files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["best.weights.h5", "best.ckpt"])
@both_kinds
def test_saved_weights_load_again_and_the_step_goes_on(tmp_path: Path, name: str, resource: bool) -> None:
    network = Network(resource=resource)
    path = tmp_path / "new" / "folder" / name
    with open_session() as session:
        before = trained(network.model, session)
        network.model.save_weights(path)
        trained(network.model, session)
        network.model.load_weights(path)
        assert_same(network.model.get_weights(), before)
        assert session.run(network.step) == 4


def test_an_hdf5_file_holds_every_variable_under_its_name(tmp_path: Path) -> None:
    network = Network()
    with open_session() as session:
        weights = trained(network.model, session)
        network.model.save_weights(tmp_path / "w.weights.h5")
    with h5py.File(tmp_path / "w.weights.h5") as file:
        for name, weight in zip(Network.NAMES, weights, strict=True):
            np.testing.assert_array_equal(file[f"{name}:0"][()], weight)
        assert file["global_step:0"][()] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["w.weights.h5"]


def test_a_checkpoint_is_one_that_a_v1_saver_restores(tmp_path: Path) -> None:
    network = Network()
    with open_session() as session:
        weights = trained(network.model, session)
        network.model.save_weights(tmp_path / "model.ckpt")
    with tf.Graph().as_default():
        again = Network()
        with tf1.Session() as session:
            tf1.train.Saver().restore(session, str(tmp_path / "model.ckpt"))
            again.model.bind(session)
            assert_same(again.model.get_weights(), weights)
            assert session.run(again.step) == 2


def test_the_session_s_own_checkpoints_load(tmp_path: Path) -> None:
    network = Network()
    with open_session(directory=tmp_path) as session:
        weights = trained(network.model, session)
    with tf.Graph().as_default():
        again = Network()
        with open_session() as session:
            trained(again.model, session, 1)
            again.model.load_weights(tmp_path)
            assert_same(again.model.get_weights(), weights)


@pytest.mark.parametrize("name", ["p.weights.h5", "p.ckpt"])
def test_partitioned_variables_are_saved_and_loaded(tmp_path: Path, name: str) -> None:
    with tf1.variable_scope("", partitioner=tf1.fixed_size_partitioner(3)):
        table = tf1.get_variable("table", initializer=tf.reshape(tf.range(12.0), [6, 2]))
    model = GraphModel([part.assign_add(tf.ones_like(part)) for part in table])
    with open_session() as session:
        before = trained(model, session)
        model.save_weights(tmp_path / name)
        trained(model, session)
        model.load_weights(tmp_path / name)
        assert_same(model.get_weights(), before)
    assert len(before) == 3
    if name.endswith(".ckpt"):
        whole = tf.train.load_checkpoint(str(tmp_path / name)).get_tensor("table")
        np.testing.assert_array_equal(whole, np.arange(12).reshape(6, 2) + 2)


@pytest.mark.parametrize("name", ["b.weights.h5", "b.ckpt"])
def test_types_that_hdf5_does_not_know_come_back_exactly(tmp_path: Path, name: str) -> None:
    values = tf.constant([1.5, -0.0078125], tf.bfloat16)
    variable = tf1.get_variable("b", initializer=values)
    model = GraphModel(variable.assign(variable * 2))
    with open_session() as session:
        trained(model, session, 1)
        model.save_weights(tmp_path / name)
        trained(model, session, 1)
        model.load_weights(tmp_path / name)
        (found,) = model.get_weights()
    assert found.dtype == tf.bfloat16.as_numpy_dtype
    assert found.astype(np.float32).tolist() == [3.0, -0.015625]


def test_strings_go_into_a_checkpoint_and_not_into_hdf5(tmp_path: Path) -> None:
    words = tf1.get_variable("words", initializer=tf.constant(["a"]))
    model = GraphModel(words.assign(["b"]))
    with open_session() as session:
        trained(model, session, 1)
        with pytest.raises(GraphModelError, match=r"words holds strings.*v1 checkpoint"):
            model.save_weights(tmp_path / "s.weights.h5")
        model.save_weights(tmp_path / "s.ckpt")
        model.set_weights([["c"]])
        model.load_weights(tmp_path / "s.ckpt")
        assert model.get_weights()[0].tolist() == [b"b"]
    assert not (tmp_path / "s.weights.h5").exists()


# --- errors -----------------------------------------------------------------------------------------------------


def test_too_few_weights_and_wrong_shapes_are_refused_and_nothing_is_set() -> None:
    network = Network()
    with open_session() as session:
        before = trained(network.model, session)
        with pytest.raises(
            GraphModelError, match=r"1 weights were given for 6 variables.*net/kernel, net/mean"
        ):
            network.model.set_weights([0.0])
        with pytest.raises(GraphModelError, match=r"shape \(3,\).*beta1_power, whose shape is \(\)"):
            network.model.set_weights([*(w + 1 for w in before[:2]), np.zeros(3), *before[3:]])
        assert_same(network.model.get_weights(), before)


@pytest.mark.parametrize("name", ["w.weights.h5", "w.ckpt"])
def test_a_file_without_a_variable_is_refused_and_nothing_is_set(tmp_path: Path, name: str) -> None:
    network = Network()
    with open_session() as session:
        trained(network.model, session)
        network.model.save_weights(tmp_path / name)
    with tf.Graph().as_default():
        other = Network()
        tf1.get_variable("net/kernel_2", initializer=7.0)
        with open_session() as session:
            before = trained(other.model, session, 1)
            with pytest.raises(
                GraphModelError, match=r"1 of the graph's 7 variables, such as 'net/kernel_2'.*variables="
            ):
                other.model.load_weights(tmp_path / name)
            assert_same(other.model.get_weights(), before)


@pytest.mark.parametrize("name", ["w.weights.h5", "w.ckpt"])
def test_a_file_is_replaced_unless_that_is_refused(tmp_path: Path, name: str) -> None:
    network = Network()
    with open_session() as session:
        trained(network.model, session)
        network.model.save_weights(tmp_path / name)
        network.model.save_weights(tmp_path / name)
        with pytest.raises(GraphModelError, match="exists"):
            network.model.save_weights(tmp_path / name, overwrite=False)


def test_weights_without_a_session_are_an_error_that_says_where_they_live() -> None:
    model = Network().model
    for use in (model.get_weights, lambda: model.save_weights("w.weights.h5"), lambda: model.weights):
        with pytest.raises(GraphModelError, match=r"not there yet.*sess\.fit"):
            use()


def test_weights_of_a_closed_session_are_an_error() -> None:
    network = Network()
    with open_session() as session:
        trained(network.model, session)
    with pytest.raises(GraphModelError, match="closed"):
        network.model.get_weights()
