"""What the golden programs cannot show: the eager program around an Estimator, today's SavedModels, the bridge's own errors."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from bridge import estimator as est
from bridge.estimator.errors import EstimatorError, EstimatorTypeError, UnsupportedEstimatorError
from bridge.estimator.functions import argument_names
from tests.bridge.estimator.support import X, Y, dataset, linear, loss_of, model_fn, once, trained
from tests.bridge.support import FunctionHook, scalars

tf1 = tf.compat.v1


# ---- Evaluation. ----


def test_an_evaluation_returns_numpy_numbers_and_writes_its_events(tmp_path: Path) -> None:
    estimator = linear(tmp_path).train(dataset, steps=5)
    result = estimator.evaluate(once, name="held_out")
    assert sorted(result) == ["global_step", "loss", "mae"]
    assert isinstance(result["loss"], np.float32)
    assert result["loss"] == pytest.approx(loss_of(trained(5)), rel=1e-5)
    assert scalars(tmp_path / "eval_held_out", "loss") == [(5, pytest.approx(result["loss"]))]


def test_a_dataset_made_before_in_eager_mode_is_refused(tmp_path: Path) -> None:
    before = once()
    with pytest.raises(EstimatorError, match="inside of input_fn"):
        linear(tmp_path).train(lambda: before)


def test_metrics_of_keras_3_are_refused(tmp_path: Path) -> None:
    more = {"eval_metric_ops": {"a": keras.metrics.Mean()}}

    def with_keras(features: Any, labels: Any, mode: str) -> Any:
        spec = model_fn(features, labels, mode, {})
        return est.EstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op, **more)

    with pytest.raises(EstimatorTypeError, match="metrics of Keras 3"):
        est.Estimator(with_keras, tmp_path).evaluate(once)


# ---- Prediction. ----


def test_the_program_is_eager_between_two_predictions(tmp_path: Path) -> None:
    estimator = linear(tmp_path).train(dataset, steps=1)
    for number, prediction in enumerate(estimator.predict(once)):
        assert tf.executing_eagerly()
        assert float(tf.constant(prediction["y"][0])) == pytest.approx(
            float(X[number] @ trained(1)[:, 0]), rel=1e-5
        )
    assert number == len(X) - 1


def test_two_predictions_can_be_interleaved(tmp_path: Path) -> None:
    estimator = linear(tmp_path).train(dataset, steps=1)
    pairs = list(zip(estimator.predict(once), estimator.predict(once), strict=True))
    assert all(np.array_equal(a["y"], b["y"]) for a, b in pairs)


def test_hooks_of_a_prediction_find_the_graph_as_the_default_one(tmp_path: Path) -> None:
    found: list[Any] = []
    hook = FunctionHook(
        before_run=lambda run_context, built: found.append(tf1.get_default_graph().get_tensor_by_name("y:0"))
    )
    list(linear(tmp_path).train(dataset, steps=1).predict(once, hooks=[hook]))
    assert len(found) == 4  # Three batches, and the end of the input.


def test_predictions_of_different_lengths_are_refused_unless_they_come_in_batches(tmp_path: Path) -> None:
    def uneven(features: Any, labels: Any, mode: str) -> Any:
        tf1.get_variable("w", [])
        return est.EstimatorSpec(mode, predictions={"a": features["x"], "b": tf.zeros([5])})

    estimator = est.Estimator(uneven, tmp_path)
    with pytest.raises(EstimatorError, match="yield_single_examples=False"):
        next(estimator.predict(once))
    assert len(next(estimator.predict(once, yield_single_examples=False))["b"]) == 5


def test_a_prediction_without_an_end_is_warned_of(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    predictions = linear(tmp_path).predict(lambda: {"x": tf.constant(X)})
    assert len([next(predictions) for _ in range(10)]) == 10
    assert "predict yields forever" in log.text


# ---- Export. ----


def raw_receiver() -> Any:
    x = tf1.placeholder(tf.float32, [None, 2], name="x")
    return est.export.ServingInputReceiver({"x": x}, {"x": x})


@pytest.mark.parametrize("name", ["export_saved_model", "export_savedmodel"])
def test_an_export_loads_in_tensorflow_2(name: str, tmp_path: Path) -> None:
    estimator = linear(tmp_path / "job").train(dataset, steps=3)
    path = getattr(estimator, name)(str(tmp_path / "export"), raw_receiver)
    served = tf.saved_model.load(path.decode()).signatures["serving_default"](tf.constant(X))
    np.testing.assert_allclose(served["y"], X @ trained(3), rtol=1e-5)
    np.testing.assert_allclose(served["twice"], 2 * X @ trained(3), rtol=1e-5)


def test_receivers_can_be_built_of_eager_tensors(tmp_path: Path) -> None:
    estimator = linear(tmp_path / "job").train(dataset, steps=3)
    receiver_fn = est.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1, 2])})
    path = estimator.export_saved_model(tmp_path / "export", receiver_fn)
    assert tf.saved_model.load(path.decode()).signatures["serving_default"].structured_input_signature[1][
        "x"
    ].shape == (None, 2)


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    estimator = linear(tmp_path / "job").train(dataset, steps=1)

    def broken() -> Any:
        raise KeyError("receiver")

    with pytest.raises(KeyError, match="receiver"):
        estimator.export_saved_model(tmp_path / "export", broken)
    assert not list((tmp_path / "export").glob("*"))


def test_a_checkpoint_without_the_models_variables_is_refused(tmp_path: Path) -> None:
    linear(tmp_path / "job").train(dataset, steps=1)

    def other(features: Any, labels: Any, mode: str) -> Any:
        return est.EstimatorSpec(mode, predictions=features["x"] * tf1.get_variable("other", []))

    with pytest.raises(EstimatorError, match="other"):
        est.Estimator(other, tmp_path / "job").export_saved_model(tmp_path / "export", raw_receiver)


# ---- Hooks of other processes. ----


def worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> est.Estimator:
    cluster = {"chief": ["localhost:1"], "worker": ["localhost:2"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 0}}))
    estimator = linear(tmp_path)
    monkeypatch.delenv("TF_CONFIG")
    return estimator


def test_a_worker_stops_when_the_chief_has_said_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hook = est.experimental.make_early_stopping_hook(worker(monkeypatch, tmp_path), lambda: 1 / 0)

    def stop(run_context: Any, built: Any) -> None:
        if int(run_context.session.run(tf1.train.get_global_step())) == 3:
            (variable,) = [v for v in tf1.global_variables() if v.op.name == "signal_early_stopping/STOP"]
            variable.load(True, run_context.session)

    alone = linear(tmp_path).train(dataset, hooks=[hook, FunctionHook(before_run=stop)], steps=50)
    assert int(alone.get_variable_value("global_step")) == 4


def test_a_worker_goes_on_until_the_last_step_is_saved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    remote = worker(monkeypatch, tmp_path / "remote")
    hook = est.experimental.make_stop_at_checkpoint_step_hook(
        remote, last_step=3, wait_after_file_check_secs=9
    )
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            linear(tmp_path / "remote").train(dataset, steps=3)

    hook._sleep = sleep
    alone = linear(tmp_path / "own").train(dataset, hooks=[hook], steps=50)
    assert waits == [9, 9]
    assert int(alone.get_variable_value("global_step")) < 50


def test_an_evaluation_without_the_metric_of_early_stopping_is_an_error(tmp_path: Path) -> None:
    estimator = linear(tmp_path)
    estimator.evaluate(once)
    hook = est.experimental.stop_if_lower_hook(estimator, "mea", 0.1, run_every_secs=None, run_every_steps=1)
    with pytest.raises(EstimatorError, match=r"has no metric 'mea'\. It has loss, mae"):
        estimator.train(dataset, hooks=[hook], steps=2)


# ---- How functions are called. ----


def test_names_of_arguments_leave_out_what_is_bound() -> None:
    def function(a: int, b: int, *more: int, c: int = 0, **others: int) -> None: ...

    class Callable:
        def __call__(self, a: int) -> None: ...

        def method(self, b: int) -> None: ...

    assert argument_names(function) == ("a", "b", "c")
    assert argument_names(functools.partial(function, 1, c=2)) == ("b",)
    assert argument_names(functools.partial(functools.partial(function, b=1), c=2)) == ("a",)
    assert argument_names(Callable()) == ("a",)
    assert argument_names(Callable().method) == ("b",)


# ---- Inputs. ----


def test_a_data_frame_is_an_input(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.arange(5.0), "s": list("vwxyz")}, index=[3, 1, 4, 5, 9])
    target = pandas.Series(np.arange(5) * 2, index=frame.index)
    input_fn = est.inputs.pandas_input_fn(frame, target, batch_size=3, shuffle=False)
    made = []
    with tf.Graph().as_default():
        batch = input_fn()
        with tf1.train.MonitoredSession() as session:
            while not session.should_stop():
                made.append(session.run(batch))
    assert [list(features["a"]) for features, _ in made] == [[0, 1, 2], [3, 4]]
    assert [list(features["s"]) for features, _ in made] == [[b"v", b"w", b"x"], [b"y", b"z"]]
    assert [list(labels) for _, labels in made] == [[0, 2, 4], [6, 8]]
    with pytest.raises(EstimatorError, match="reindex"):
        est.inputs.pandas_input_fn(frame, target.reset_index(drop=True), shuffle=False)
    with pytest.raises(EstimatorError, match="target_column"):
        est.inputs.pandas_input_fn(frame, target, shuffle=False, target_column="a")


@pytest.mark.parametrize(
    ("dtype", "values", "tensor"),
    [
        ("object", ["a", "b"], [b"a", b"b"]),
        ("str", ["a", "b"], [b"a", b"b"]),
        ("string", ["a", "b"], [b"a", b"b"]),
        ("category", ["a", "b"], [b"a", b"b"]),
        ("category", [7, 8], [7, 8]),
        ("bool", [True, False], [True, False]),
        ("boolean", [True, False], [True, False]),
        ("Int32", [7, 8], [7, 8]),
        ("Float64", [0.5, 1.5], [0.5, 1.5]),
        ("float32", [0.5, 1.5], [0.5, 1.5]),
    ],
)
def test_a_column_may_be_of_any_type_of_pandas(dtype: str, values: list[Any], tensor: list[Any]) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.Series(values, dtype=dtype)})
    with tf.Graph().as_default():
        batch = est.inputs.pandas_input_fn(frame, shuffle=False)()
        with tf1.Session() as session:
            read = session.run(batch)["a"]
    assert list(read) == tensor
    if dtype[0] != "c" and isinstance(values[0], int | float):
        assert read.dtype == {"boolean": "bool"}.get(dtype, dtype.lower())


def test_missing_values_are_refused_unless_they_are_floats() -> None:
    pandas = pytest.importorskip("pandas")

    def first(values: list[Any], dtype: str) -> Any:
        frame = pandas.DataFrame({"age": pandas.Series(values, dtype=dtype)})
        with tf.Graph().as_default():
            batch = est.inputs.pandas_input_fn(frame, shuffle=False)()
            with tf1.Session() as session:
                return session.run(batch)["age"][0]

    for values, dtype in [([None, 1], "Int64"), ([None, "a"], "string"), ([None, "a"], "object")]:
        with pytest.raises(EstimatorError, match=r"'age' has missing values.*fillna"):
            first(values, dtype)
    assert np.isnan(first([None, 1.0], "float64"))
    assert np.isnan(first([None, 1.0], "Float64"))
    with pytest.raises(EstimatorTypeError, match=r"'age' is of datetime64.*astype"):
        first(["2020-01-01"], "datetime64[ns]")


def test_something_that_is_no_data_frame_is_refused() -> None:
    with pytest.raises(EstimatorTypeError, match="DataFrame"):
        est.inputs.pandas_input_fn({"a": X}, shuffle=False)


def test_shuffling_takes_each_example_once_an_epoch_by_the_graphs_seed() -> None:
    def rows(seed: int) -> list[int]:
        with tf.Graph().as_default():
            tf1.set_random_seed(seed)
            batch = est.inputs.numpy_input_fn(np.arange(8), batch_size=8, num_epochs=2, shuffle=True)()
            with tf1.train.MonitoredSession() as session:
                return [*session.run(batch), *session.run(batch)]

    first, again, other = rows(1), rows(1), rows(2)
    assert sorted(first[:8]) == sorted(first[8:]) == list(range(8))
    assert first[:8] != first[8:]
    assert first == again != other


def test_arrays_are_not_written_into_the_graph(tmp_path: Path) -> None:
    big = np.random.default_rng(0).normal(size=(50000, 2)).astype(np.float32)
    labels = big.sum(axis=1, keepdims=True)
    linear(tmp_path).train(est.inputs.numpy_input_fn({"x": big}, labels, shuffle=False), steps=1)
    assert (tmp_path / "graph.pbtxt").stat().st_size < 400_000


# ---- TPUs. ----


def tpu_model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    spec = model_fn(features, labels, mode, {})
    return est.tpu.TPUEstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op)


@pytest.mark.parametrize("options", [{"use_tpu": True}, {"use_tpu": False, "embedding_config_spec": 1}])
def test_a_tpu_is_refused_with_the_way_to_keras(options: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedEstimatorError, match="Keras model"):
        est.tpu.TPUEstimator(tpu_model_fn, config=est.tpu.RunConfig(), **options)


def test_a_cluster_of_tpus_is_refused() -> None:
    with pytest.raises(UnsupportedEstimatorError, match="cluster=None"):
        est.tpu.RunConfig(cluster=object())


def test_functions_of_a_tpu_estimator_need_params(tmp_path: Path) -> None:
    config = est.tpu.RunConfig(model_dir=str(tmp_path))
    with pytest.raises(EstimatorError, match="does not include params"):
        est.tpu.TPUEstimator(lambda features, mode: None, config=config, use_tpu=False)
    estimator = est.tpu.TPUEstimator(tpu_model_fn, config=config, use_tpu=False, train_batch_size=2)
    with pytest.raises(EstimatorError, match=r"input_fn .* does not include params"):
        estimator.train(dataset, steps=1)


def test_a_host_call_writes_its_summaries(tmp_path: Path) -> None:
    def with_host_call(features: Any, labels: Any, mode: str, params: Any) -> Any:
        spec = tpu_model_fn(features, labels, mode, params)

        def host_call(loss: Any) -> Any:
            with tf.summary.create_file_writer(str(tmp_path / "host")).as_default():
                tf.summary.scalar("on_host", loss, step=tf1.train.get_global_step())
            return tf1.summary.all_v2_summary_ops()

        return spec._replace(host_call=(host_call, [spec.loss]))

    config = est.tpu.RunConfig(model_dir=str(tmp_path / "job"))
    estimator = est.tpu.TPUEstimator(with_host_call, config=config, use_tpu=False, train_batch_size=2)
    estimator.train(lambda params: dataset(params["batch_size"]), steps=3)
    events = [
        value.tag
        for path in (tmp_path / "host").glob("*")
        for event in tf1.train.summary_iterator(str(path))
        for value in event.summary.value
    ]
    assert events == ["on_host"] * 3


@pytest.mark.parametrize("loop", [0, -1, "x", "10d"])
def test_loops_that_cannot_be_are_refused(loop: Any) -> None:
    with pytest.raises(EstimatorError, match="iterations_per_loop"):
        est.tpu.TPUConfig(iterations_per_loop=loop)


def test_the_speed_may_be_logged_by_time() -> None:
    assert est.tpu.TPUConfig("2m").log_every(100) == {"every_n_steps": None, "every_n_secs": 120}
    assert est.tpu.TPUConfig(8).log_every(100) == {"every_n_steps": 13, "every_n_secs": None}
    assert est.tpu.TPUConfig(8).log_every(None) is None


def test_y_is_the_sum_that_the_tests_reckon_with() -> None:
    np.testing.assert_allclose(Y[0], [5.0])
