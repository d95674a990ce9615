"""`model_to_estimator`: a Keras model behind an Estimator's methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from bridge import estimator as est
from bridge.estimator.errors import EstimatorError, EstimatorTypeError, UnsupportedEstimatorError
from tests.bridge.estimator.support import X, Y, loss_of, trained
from tests.bridge.support import TraceHook, phases, saved_steps, scalars

tf1 = tf.compat.v1


def build() -> keras.Model:
    """The same linear regression as that of the model_fn."""
    model = keras.Sequential(
        [
            keras.Input((2,), name="x"),
            keras.layers.Dense(1, use_bias=False, name="w", kernel_initializer="zeros"),
        ]
    )
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"], jit_compile=False)
    return model


def data(*, repeat: bool = True) -> tf.data.Dataset:
    made = tf.data.Dataset.from_tensor_slices((X, Y))
    return (made.repeat() if repeat else made).batch(2)


def once() -> tf.data.Dataset:
    return data(repeat=False)


def behind(path: Path, **config: Any) -> Any:
    return est.model_to_estimator(build(), model_dir=path, config=est.RunConfig(**config))


def test_it_trains_as_the_model_fn_does_and_goes_on(tmp_path: Path) -> None:
    estimator = behind(tmp_path, save_checkpoints_steps=2)
    estimator.train(data, steps=3).train(data, max_steps=6)
    np.testing.assert_allclose(estimator.keras_model.get_weights()[0], trained(6), rtol=1e-5)
    np.testing.assert_allclose(estimator.get_variable_value("w/kernel"), trained(6), rtol=1e-5)
    assert saved_steps(tmp_path) == [0, 2, 3, 5, 6]


def test_each_call_reads_its_input_to_the_end(tmp_path: Path) -> None:
    estimator = behind(tmp_path)
    estimator.train(once).train(once)
    assert int(estimator.get_variable_value("global_step")) == 6


def test_a_fresh_model_takes_the_folder_over(tmp_path: Path) -> None:
    behind(tmp_path).train(data, steps=3)
    estimator = behind(tmp_path).train(data, max_steps=6)
    np.testing.assert_allclose(estimator.keras_model.get_weights()[0], trained(6), rtol=1e-5)


def test_hooks_listeners_and_summaries_are_there(tmp_path: Path) -> None:
    calls: list[tuple[str, ...]] = []
    saves: list[int] = []

    class Listener(tf1.train.CheckpointSaverListener):
        def after_save(self, session: Any, global_step_value: int) -> None:
            saves.append(int(global_step_value))

    estimator = behind(tmp_path, save_checkpoints_steps=2, save_summary_steps=1)
    estimator.train(data, hooks=[TraceHook(calls)], steps=3, saving_listeners=[Listener()])
    assert phases(calls) == ["begin", "after_create_session", *["before_run", "after_run"] * 3, "end"]
    assert saves == [0, 2, 3]
    assert [step for step, _ in scalars(tmp_path, "loss")] == [1, 2, 3]


def test_callbacks_see_epochs(tmp_path: Path) -> None:
    epochs: list[int] = []
    look = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: epochs.append(epoch))
    behind(tmp_path).train(data, max_steps=4, callbacks=[look], steps_per_epoch=2)
    assert epochs == [0, 1]


def test_a_loss_that_is_nan_raises(tmp_path: Path) -> None:
    with pytest.raises(est.NanLossDuringTrainingError):
        behind(tmp_path).train(lambda: data().map(lambda x, y: (x, y * np.nan)), steps=3)


def test_an_evaluation_is_of_the_checkpoint_and_leaves_the_model_as_it_is(tmp_path: Path) -> None:
    estimator = behind(tmp_path, save_checkpoints_steps=3, keep_checkpoint_max=None).train(data, steps=6)
    calls: list[tuple[str, ...]] = []
    now = estimator.evaluate(once, hooks=[TraceHook(calls)])
    old = estimator.evaluate(once, checkpoint_path=str(tmp_path / "model.ckpt-3"), name="old", steps=3)
    assert now["loss"] == pytest.approx(loss_of(trained(6)), rel=1e-4)
    assert old["loss"] == pytest.approx(loss_of(trained(3)), rel=1e-4)
    assert (int(now["global_step"]), int(old["global_step"])) == (6, 3)
    assert sorted(now) == ["global_step", "loss", "mae"]
    assert phases(calls).count("after_run") == 3
    assert scalars(tmp_path / "eval_old", "loss") == [(3, pytest.approx(old["loss"]))]
    np.testing.assert_allclose(estimator.keras_model.get_weights()[0], trained(6), rtol=1e-5)


def test_predictions_have_the_name_of_the_last_layer(tmp_path: Path) -> None:
    estimator = behind(tmp_path).train(data, steps=3)
    name = "w"  # The last layer's, as in TF1.
    expected = X @ trained(3)
    for options in ({}, {"hooks": [TraceHook([])]}):
        made = list(estimator.predict(once, **options))
        np.testing.assert_allclose([prediction[name] for prediction in made], expected, rtol=1e-5)
    assert len(next(estimator.predict(once, yield_single_examples=False))[name]) == 2
    with pytest.raises(EstimatorError, match="Expected to run at least one output"):
        next(estimator.predict(once, predict_keys=["nothing"]))


def test_train_and_evaluate_with_an_exporter(tmp_path: Path) -> None:
    estimator = behind(tmp_path, save_checkpoints_steps=2)
    spec = {"x": tf.io.FixedLenFeature([2], tf.float32)}

    def receiver_fn() -> Any:
        examples = tf1.placeholder(tf.string, [None])
        parsed = tf.io.parse_example(examples, spec)
        return est.export.TensorServingInputReceiver(parsed["x"], {"examples": examples})

    evaluation = est.EvalSpec(once, throttle_secs=0, exporters=est.FinalExporter("final", receiver_fn))
    metrics, exports = est.train_and_evaluate(estimator, est.TrainSpec(data, max_steps=4), evaluation) or (
        {},
        [],
    )
    assert metrics["loss"] == pytest.approx(loss_of(trained(4)), rel=1e-4)
    assert [step for step, _ in scalars(tmp_path / "eval", "loss")] == [2, 4]
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()
    served = tf.saved_model.load(exports[0].decode()).signatures["serving_default"](tf.constant([example]))
    (value,) = served.values()
    np.testing.assert_allclose(value, [[1.0, 2.0]] @ trained(4), rtol=1e-5)


@pytest.mark.parametrize("of", ["keras", "tf_keras"])
def test_a_model_with_a_vocabulary_is_served_by_loaders_without_and_with_objects(
    tmp_path: Path, of: str
) -> None:
    library = pytest.importorskip(of)
    inputs = library.Input((), dtype="string", name="word")
    ids = library.layers.StringLookup(vocabulary=["a", "b"])(inputs)
    layer = library.layers.Embedding(3, 1, embeddings_initializer="ones", name="y")
    model = library.Model(inputs, layer(ids))
    model.compile(library.optimizers.SGD(0.5), "mse")
    estimator = est.model_to_estimator(model, model_dir=tmp_path)
    words = tf.data.Dataset.from_tensor_slices((["a", "b", "a", "c"], [[0.0], [4.0], [0.0], [2.0]])).batch(2)
    estimator.train(lambda: words)
    expected = layer.get_weights()[0][[1, 2, 0]]
    assert len(set(expected.ravel())) == 3

    def receiver_fn() -> Any:
        words = tf1.placeholder(tf.string, [None], name="word")
        return est.export.TensorServingInputReceiver(words, {"word": words})

    path = estimator.export_saved_model(tmp_path / "export", receiver_fn).decode()
    served = tf.saved_model.load(path).signatures["serving_default"](tf.constant(["a", "b", "?"]))
    np.testing.assert_allclose(served["y"], expected)
    predict = est.predictor.from_saved_model(path)
    np.testing.assert_allclose(predict({"word": ["a", "b", "?"]})["y"], expected)


@keras.saving.register_keras_serializable("bridge_tests")
class Looks(keras.layers.Layer):  # type: ignore[misc]
    """A layer with a table in a list."""

    def __init__(self) -> None:
        super().__init__()
        initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0])
        self.found_in = [tf.lookup.StaticHashTable(initializer, 0.0)]

    def call(self, words: Any) -> Any:
        return tf.expand_dims(self.found_in[0].lookup(words), -1)


def test_a_table_that_a_layer_holds_in_a_list_is_exported(tmp_path: Path) -> None:
    inputs = keras.Input((), dtype="string", name="word")
    last = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones", name="y")
    model = keras.Model(inputs, last(Looks()(inputs)))
    model.compile(keras.optimizers.SGD(0.0), "mse", jit_compile=False)
    estimator = est.model_to_estimator(model, model_dir=tmp_path)
    words = tf.data.Dataset.from_tensor_slices((["a", "b"], [[1.0], [2.0]])).batch(2)
    estimator.train(lambda: words)

    def receiver_fn() -> Any:
        words = tf1.placeholder(tf.string, [None], name="word")
        return est.export.TensorServingInputReceiver(words, {"word": words})

    predict = est.predictor.from_estimator(estimator, receiver_fn)
    np.testing.assert_array_equal(predict({"word": ["b", "a", "?"]})["y"], [[2.0], [1.0], [0.0]])


def test_weights_of_examples_are_taken_out_of_the_features(tmp_path: Path) -> None:
    def weighted() -> tf.data.Dataset:
        return data().map(lambda x, y: ({"features": x, "sample_weights": tf.zeros([2])}, y))

    estimator = behind(tmp_path).train(weighted, steps=2)
    np.testing.assert_array_equal(estimator.keras_model.get_weights()[0], np.zeros((2, 1)))


def test_a_saved_model_can_be_given_by_its_path(tmp_path: Path) -> None:
    build().save(tmp_path / "model.keras")
    estimator = est.model_to_estimator(keras_model_path=tmp_path / "model.keras", model_dir=tmp_path / "job")
    assert int(estimator.train(data, steps=2).get_variable_value("global_step")) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs to be provided"),
        ({"keras_model": "model", "keras_model_path": "there"}, "not both"),
        ({"keras_model": keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])}, "model.compile"),
    ],
)
def test_models_that_cannot_be_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(EstimatorError, match=message):
        est.model_to_estimator(**arguments)


def test_object_based_checkpoints_are_refused() -> None:
    with pytest.raises(UnsupportedEstimatorError, match="name-based"):
        est.model_to_estimator(build(), checkpoint_format="checkpoint")


def test_a_graph_as_the_default_one_is_refused() -> None:
    model = build()
    with tf.Graph().as_default(), pytest.raises(UnsupportedEstimatorError, match="runs eagerly"):
        est.model_to_estimator(model)


def test_inputs_that_are_no_dataset_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EstimatorTypeError, match=r"must return a tf\.data\.Dataset"):
        behind(tmp_path).train(lambda: (X, Y), steps=1)


def test_it_has_no_model_fn(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedEstimatorError, match="no model_fn"):
        behind(tmp_path).model_fn(X, None, est.ModeKeys.TRAIN, None)
