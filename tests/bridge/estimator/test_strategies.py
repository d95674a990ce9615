"""Strategies in `RunConfig`: a model in several replicas, on one computer; what is beside `programs/strategies.py`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from bridge import estimator as est
from bridge.estimator import strategies
from bridge.estimator.errors import EstimatorError, EstimatorTypeError, UnsupportedEstimatorError
from tests.bridge.estimator.programs import strategies as strategies_program
from tests.bridge.estimator.support import dataset, linear, model_fn, once, trained
from tests.bridge.estimator.test_golden import ROOT, golden
from tests.bridge.support import saved

tf1 = tf.compat.v1

TWO = tf1.ConfigProto(device_count={"CPU": 2})
CLUSTER = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}


def two() -> Any:
    with tf.Graph().as_default():  # An eager program would have to have a second logical device.
        return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def both(strategy: Any) -> dict[str, Any]:
    """Arguments of a RunConfig."""
    return {"train_distribute": strategy, "eval_distribute": strategy, "session_config": TWO}


def unmade(kind: Any) -> Any:
    """An object of a class whose constructor needs what is not here."""
    return kind.__new__(kind)


def in_cluster(monkeypatch: pytest.MonkeyPatch, cluster: dict[str, list[str]], task: str = "chief") -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": task, "index": 0}}))


# ---- What runs. ----


def test_two_replicas_with_a_batch_each_do_what_one_does_with_both(tmp_path: Path) -> None:
    linear(tmp_path / "two", config=both(two())).train(lambda: dataset(batch=1), steps=5)
    linear(tmp_path / "one").train(lambda: dataset(batch=2), steps=5)
    np.testing.assert_allclose(saved(tmp_path / "two", "w"), saved(tmp_path / "one", "w"), rtol=1e-6)


@pytest.mark.oracle
def test_replicas_compute_what_a_plain_session_does_to_the_last_bit(tmp_path: Path) -> None:
    """What is left between the bridge and TensorFlow 1.15 are kernels: both agree with their own plain session."""

    def compared(of: Any, by_hand: Any) -> list[bool]:
        names = ("w", "b", "w/Adam", "w/Adam_1")
        return [of[name] == by_hand[name] for name in names]

    by_hand = strategies_program.as_json(strategies_program.by_hand(str(tmp_path)))
    for count, strategy in (("1", tf.distribute.OneDeviceStrategy("/cpu:0")), ("2", two())):
        job = strategies_program.made_with(
            strategy, str(tmp_path / count), params={"optimizer": strategies_program.adam}
        )
        job.train(strategies_program.data, max_steps=8)
        assert all(compared(strategies_program.variables(job.latest_checkpoint()), by_hand[count]))
    then = golden("strategies")
    for count, name in (("1", "one device"), ("2", "mirrored over two")):
        assert all(compared(then["each"][name]["job"]["variables"], then["by_hand"][count]))


WITH_THE_SAME_KERNELS = """
import json, sys
from tests.bridge.estimator.programs import strategies
print(json.dumps(strategies.main(sys.argv[1])))
"""


@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.multiprocess
@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="golden values are of an x86 computer"
)
def test_with_the_kernels_of_tensorflow_1_15_replicas_compute_its_numbers_to_the_last_bit(
    tmp_path: Path,
) -> None:
    """By default today's TensorFlow multiplies matrices by oneDNN, which sums in another order."""
    done = subprocess.run(
        [sys.executable, "-c", WITH_THE_SAME_KERNELS, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == golden("strategies")


def test_layers_of_keras_are_one_variable_for_all_replicas(tmp_path: Path) -> None:
    def with_layer(features: Any, labels: Any, mode: str) -> Any:
        y = keras.layers.Dense(1, kernel_initializer="ones")(features["x"])
        loss = tf.reduce_mean(tf.square(y - labels))
        optimizer = tf1.train.GradientDescentOptimizer(0.1)
        return est.EstimatorSpec(mode, None, loss, optimizer.minimize(loss, tf1.train.get_global_step()))

    for folder, config, batch in (("two", both(two()), 1), ("one", {}, 2)):
        made = est.Estimator(with_layer, tmp_path / folder, est.RunConfig(**config))
        made.train(lambda batch=batch: dataset(batch), steps=5)
        assert made.get_variable_names() == ["dense/bias", "dense/kernel", "global_step"]
    kernels = [saved(tmp_path / folder, "dense/kernel") for folder in ("two", "one")]
    np.testing.assert_allclose(*kernels, rtol=1e-6)
    assert not np.array_equal(kernels[0], [[1], [1]])


def test_hooks_of_a_spec_are_those_of_the_first_replica(tmp_path: Path) -> None:
    made: list[Any] = []

    class Count(tf1.train.SessionRunHook):  # type: ignore[misc]
        def __init__(self) -> None:
            self.runs = 0
            made.append(self)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.runs += 1

    def hooked(features: Any, labels: Any, mode: str, params: Any) -> Any:
        return model_fn(
            features, labels, mode, params, {"training_hooks": [Count()], "evaluation_hooks": [Count()]}
        )

    estimator = est.Estimator(hooked, tmp_path, est.RunConfig(**both(two())), params={})
    estimator.train(dataset, steps=3)
    assert [hook.runs for hook in made] == [3, 0, 0, 0]
    made.clear()
    estimator.evaluate(dataset, steps=2)
    assert [hook.runs for hook in made] == [0, 2, 0, 0]


def test_weights_are_evaluated_in_memory_while_replicas_train(tmp_path: Path) -> None:
    made = linear(tmp_path, config={**both(two()), "save_checkpoints_steps": 2})
    (tmp_path / "eval").mkdir()
    made.train(dataset, hooks=[est.experimental.InMemoryEvaluatorHook(made, once, every_n_iter=2)], steps=2)
    in_memory = [
        value.simple_value
        for path in sorted((tmp_path / "eval").glob("events*"))
        for event in tf1.train.summary_iterator(str(path))
        for value in event.summary.value
        if value.tag == "loss" and event.step == 2
    ]
    alone = linear(tmp_path)
    np.testing.assert_allclose(in_memory[-1], alone.evaluate(once)["loss"], rtol=1e-6)


def test_keras_callbacks_see_the_joined_loss(tmp_path: Path) -> None:
    seen: list[float] = []
    callback = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: seen.append(logs["loss"])
    )
    linear(tmp_path / "two", config=both(two())).train(lambda: dataset(1), steps=3, callbacks=[callback])
    expected: list[float] = []
    callback = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: expected.append(logs["loss"])
    )
    linear(tmp_path / "one").train(lambda: dataset(2), steps=3, callbacks=[callback])
    np.testing.assert_allclose(seen, expected, rtol=1e-6)


def test_canned_classifiers_are_evaluated_in_replicas(tmp_path: Path) -> None:
    """TensorFlow 1.15 could not."""
    head = est.heads.binary_classification_head(thresholds=[0.25])
    column = tf.feature_column.numeric_column("x", [2])
    results = []
    for folder, config, batch in (("two", both(two()), 1), ("one", {}, 2)):
        made = est.LinearEstimator(head, [column], tmp_path / folder, "SGD", est.RunConfig(**config))

        def input_fn(batch: int = batch) -> Any:
            return dataset(batch, repeat=False).map(lambda features, labels: (features, labels > 0))

        made.train(input_fn)
        results.append(made.evaluate(input_fn))
    assert {"accuracy_baseline", "precision/positive_threshold_0.25"} < set(results[0])
    assert results[0] == pytest.approx(results[1], rel=1e-5)


def test_the_default_strategy_is_one_replica(tmp_path: Path) -> None:
    made = linear(tmp_path / "default", config=both(tf.distribute.get_strategy())).train(dataset, steps=3)
    linear(tmp_path / "none").train(dataset, steps=3)
    np.testing.assert_array_equal(saved(tmp_path / "default", "w"), saved(tmp_path / "none", "w"))
    assert made.evaluate(once)["global_step"] == 3


def test_a_summary_op_of_each_replica_is_written(tmp_path: Path) -> None:
    def summed(features: Any, labels: Any, mode: str, params: Any) -> Any:
        tag = f"largest_{len(tf1.get_collection('made'))}"
        tf1.add_to_collection("made", tag)
        summary = tf1.summary.scalar(tag, tf.reduce_max(features["x"]), collections=[])
        scaffold = tf1.train.Scaffold(summary_op=summary if summary is not None else None)
        return model_fn(features, labels, mode, params, {"scaffold": scaffold})

    config = {**both(two()), "save_summary_steps": 1}
    est.Estimator(summed, tmp_path, est.RunConfig(**config), params={}).train(lambda: dataset(1), steps=1)
    tags = {
        value.tag
        for path in tmp_path.glob("events*")
        for event in tf1.train.summary_iterator(str(path))
        for value in event.summary.value
    }
    assert "largest_0" in tags


def test_a_config_and_its_copies_have_the_same_strategy(tmp_path: Path) -> None:
    strategy = two()
    config = est.RunConfig(experimental_distribute=strategies.DistributeConfig(strategy, strategy))
    made = linear(tmp_path, config={"train_distribute": strategy})
    assert config.replace(save_summary_steps=3).train_distribute is strategy
    assert made.config.train_distribute is strategy
    assert made.config.eval_distribute is None
    assert config.eval_distribute is strategy


def test_an_evaluator_of_a_cluster_may_evaluate_in_replicas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linear(tmp_path).train(dataset, steps=3)
    expected = linear(tmp_path).evaluate(once)
    in_cluster(monkeypatch, CLUSTER, "evaluator")
    made = linear(tmp_path, config={"eval_distribute": two(), "session_config": TWO})
    np.testing.assert_allclose(
        made.evaluate(lambda: dataset(1, repeat=False))["mae"], expected["mae"], rtol=1e-6
    )


def test_a_keras_model_has_its_own_strategy(tmp_path: Path) -> None:
    def keras_input() -> Any:
        return once().map(lambda features, labels: (features["x"], labels))

    def behind(strategy: Any, folder: str) -> Any:
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        config = est.RunConfig(train_distribute=strategy, eval_distribute=strategy)
        return est.model_to_estimator(model, model_dir=str(tmp_path / folder), config=config)

    one = behind(tf.distribute.OneDeviceStrategy("/cpu:0"), "one").train(keras_input)
    assert one.evaluate(keras_input)["global_step"] == 3
    several = behind(two(), "two")
    with pytest.raises(UnsupportedEstimatorError, match=r"compile it in strategy.scope\(\).*all 2 replicas"):
        several.train(keras_input)
    with pytest.raises(UnsupportedEstimatorError, match="eval_distribute"):
        several.evaluate(keras_input)


# ---- The strategies of tf.contrib.distribute. ----


def test_contribs_strategies_have_the_devices_that_they_had() -> None:
    def devices(strategy: Any) -> list[str]:
        return [device.rpartition("device:")[2] for device in strategy.extended.worker_devices]

    assert devices(strategies.MirroredStrategy(num_gpus=2)) == ["GPU:0", "GPU:1"]
    assert devices(strategies.MirroredStrategy(num_gpus_per_worker=0)) == ["CPU:0"]
    assert devices(strategies.MirroredStrategy(["/cpu:1"])) == ["CPU:1"]
    assert devices(strategies.MirroredStrategy()) == devices(tf.distribute.MirroredStrategy())
    assert devices(strategies.CollectiveAllReduceStrategy(2)) == ["GPU:0", "GPU:1"]
    assert devices(strategies.ParameterServerStrategy()) == ["CPU:0"]
    assert devices(strategies.ParameterServerStrategy(num_gpus_per_worker=2)) == ["GPU:0", "GPU:1"]
    for one, device in ((0, "CPU:0"), (1, "GPU:0"), (2, "CPU:0")):
        assert strategies.ParameterServerStrategy(one).extended.parameter_devices[0].upper().endswith(device)
    with pytest.raises(EstimatorError, match="num_gpus and num_gpus_per_worker"):
        strategies.MirroredStrategy(num_gpus=1, num_gpus_per_worker=1)
    with pytest.raises(EstimatorError, match="devices and num_gpus"):
        strategies.MirroredStrategy(["/cpu:0"], num_gpus=1)


@pytest.mark.skipif(bool(tf.config.list_physical_devices("GPU")), reason="for computers without GPUs")
def test_replicas_for_gpus_run_on_a_computer_without_them(tmp_path: Path) -> None:
    config = {"train_distribute": strategies.MirroredStrategy(num_gpus=2)}
    linear(tmp_path, config=config).train(lambda: dataset(batch=1), steps=3)
    np.testing.assert_allclose(saved(tmp_path, "w"), trained(3), rtol=1e-5)


def test_contribs_reductions_are_those_of_today() -> None:
    assert isinstance(strategies.all_reduce(), tf.distribute.NcclAllReduce)
    assert isinstance(strategies.all_reduce("hierarchical_copy", 2), tf.distribute.HierarchicalCopyAllReduce)
    with pytest.raises(EstimatorError, match="nccl, hierarchical_copy"):
        strategies.all_reduce("ring")
    with pytest.raises(EstimatorError, match="cross_device_ops and cross_tower_ops"):
        strategies.MirroredStrategy(
            num_gpus=0, cross_device_ops=strategies.all_reduce(), cross_tower_ops=strategies.all_reduce()
        )


# ---- What is refused. ----


def test_replicas_need_a_dataset(tmp_path: Path) -> None:
    made = linear(tmp_path, config=both(two()))
    with pytest.raises(EstimatorError, match=r"Under MirroredStrategy.*must return a tf.data.Dataset"):
        made.train(lambda: ({"x": tf.ones([2, 2])}, tf.ones([2, 1])), steps=1)


def test_replicas_need_a_dataset_of_their_graph(tmp_path: Path) -> None:
    before = once()
    with pytest.raises(EstimatorError, match="inside of input_fn"):
        linear(tmp_path, config=both(two())).train(lambda: before)


def test_a_metric_needs_one_value_for_all_replicas(tmp_path: Path) -> None:
    def by_hand(features: Any, labels: Any, mode: str, params: Any) -> Any:
        spec = model_fn(features, labels, mode, params)
        return spec._replace(eval_metric_ops={"largest": (tf.reduce_max(features["x"]), tf.no_op())})

    made = est.Estimator(by_hand, tmp_path, est.RunConfig(**both(two())), params={}).train(dataset, steps=1)
    with pytest.raises(
        EstimatorError, match=r"'largest' has a value of its own in each replica.*compat.v1.metrics"
    ):
        made.evaluate(once)


@pytest.mark.parametrize(
    ("kind", "way_out"),
    [
        (tf.distribute.TPUStrategy, r"strategy.scope\(\) and call fit"),
        (tf1.distribute.experimental.TPUStrategy, r"strategy.scope\(\) and call fit"),
        (tf.distribute.ParameterServerStrategy, "train_and_evaluate trains with the chief, workers"),
    ],
)
def test_strategies_of_other_computers_say_the_way_out(kind: Any, way_out: str) -> None:
    with pytest.raises(UnsupportedEstimatorError, match=f"train_distribute is a .*{way_out}"):
        est.RunConfig(train_distribute=unmade(kind))
    with pytest.raises(UnsupportedEstimatorError, match=f"eval_distribute is a .*{way_out}"):
        est.RunConfig().replace(eval_distribute=unmade(kind))


def test_what_is_no_strategy_is_a_type_error() -> None:
    with pytest.raises(EstimatorTypeError, match=r"train_distribute must be a tf.distribute.Strategy"):
        est.RunConfig(train_distribute="mirrored")


def test_a_strategy_does_not_span_the_processes_of_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    strategy = two()
    workers = unmade(tf1.distribute.experimental.MultiWorkerMirroredStrategy)
    for cluster in (CLUSTER, {"worker": ["a:1", "b:1"]}):
        in_cluster(monkeypatch, cluster, "worker")
        with pytest.raises(
            UnsupportedEstimatorError, match=r"train_distribute is a MirroredStrategy.*bridge.multi_worker"
        ):
            est.RunConfig(train_distribute=strategy)
    in_cluster(monkeypatch, CLUSTER)
    with pytest.raises(UnsupportedEstimatorError, match="eval_distribute is a CollectiveAllReduce"):
        est.RunConfig(eval_distribute=workers)
    in_cluster(monkeypatch, {"chief": ["a:1"]})
    assert est.RunConfig(train_distribute=strategy).is_chief
    monkeypatch.delenv("TF_CONFIG")
    remote = strategies.DistributeConfig(strategy, remote_cluster={"worker": ["a:1", "b:1"]})
    with pytest.raises(UnsupportedEstimatorError, match="several processes"):
        est.RunConfig(experimental_distribute=remote)
    assert est.RunConfig(train_distribute=workers).train_distribute is workers


EAGER = """
import sys, tempfile
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from tests.bridge.estimator.programs import strategies as strategies_program
from tests.bridge.estimator.support import dataset, linear
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
before = strategy.extended._cross_device_ops
made = linear(tempfile.mkdtemp(), config={"train_distribute": strategy})
made.train(lambda: dataset(batch=1), steps=5)
assert strategy.extended._cross_device_ops is before
print(made.get_variable_value("w").ravel().tolist())
"""


@pytest.mark.slow
@pytest.mark.multiprocess
def test_replicas_of_an_eager_program_do_not_wait_for_each_other_for_ever() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EAGER],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    np.testing.assert_allclose(json.loads(done.stdout.splitlines()[-1]), trained(5).ravel(), rtol=1e-5)
