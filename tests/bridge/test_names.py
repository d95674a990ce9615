"""Names of variables and layers: the same in every process, whatever it built before, and as the user gave them."""

from __future__ import annotations

import functools
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import bridge
from bridge.step_graph import GraphName
from bridge.tf_internals import eager_mode
from tests.bridge.exactness import models
from tests.bridge.support import FunctionHook

tf1 = tf.compat.v1

ROOT = Path(__file__).parents[2]

Keras = Any  # The module `keras` or `tf_keras`.
both = pytest.mark.parametrize("k", [keras, tf_keras], ids=["keras", "tf_keras"])

X, Y = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3), np.ones((4, 1), "float32")
ROW = tf.TensorSpec([None, models.FEATURES])
SEQUENCE = tf.TensorSpec([None, models.STEPS, models.STEP_FEATURES])
WORDS = tf.TensorSpec([None, models.STEPS], tf.int32)
TARGET, CLASS = tf.TensorSpec([None, 1]), tf.TensorSpec([None, models.CLASSES])


def describe(model: Any, data: Any = (X, Y)) -> list[GraphName]:
    return bridge.describe(model, data, file=io.StringIO())


def named(model: Any, *kinds: str, data: Any = (X, Y)) -> list[str]:
    """The documented names of these kinds, in order."""
    return [entry.name for entry in describe(model, data) if entry.kind in kinds]


def compiled(model: Any, **options: Any) -> Any:
    model.compile(**{"optimizer": "sgd", "loss": "mse", **options})
    return model


def two_layers(k: Keras, **options: Any) -> Any:
    layers = [k.Input((3,)), k.layers.Dense(2), k.layers.Dense(1, name="head")]
    return compiled(k.Sequential(layers), **options)


def build_others(k: Keras) -> None:
    """Uses up Keras's and TensorFlow's numbers for layers, optimizers, metrics and variables."""
    for build in (models.normed, models.lstm, models.gru, models.attention, models.separable):
        build(k)
    for _ in range(2):
        two_layers(k, optimizer="adam", metrics=["mae"])


# --- what the process built before ---------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("build", "data"),
    [
        (models.deferred, (ROW, TARGET)),
        (models.nested, (ROW, TARGET)),
        (models.subclassed, (ROW, TARGET)),
        (models.gru, (SEQUENCE, TARGET)),
        (models.attention, (WORDS, CLASS)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_names_do_not_depend_on_what_the_process_built_before(
    k: Keras, build: Callable[[Keras], Any], data: Any
) -> None:
    k.backend.clear_session()
    kinds = ("variable", "random", "optimizer", "metric", "step", "layer", "gradient")
    first = named(compiled(build(k), optimizer="adam", metrics=["mae"]), *kinds, data=data)
    build_others(k)
    second = named(compiled(build(k), optimizer="adam", metrics=["mae"]), *kinds, data=data)
    assert second == first
    assert len(set(first)) == len(first)


@both
def test_keras_own_numbers_are_told_after_its_counters_were_reset(k: Keras) -> None:
    build_others(k)
    model = two_layers(k)
    k.backend.clear_session()
    assert named(model, "variable")[0] == "dense/kernel"


@both
def test_a_name_like_keras_own_is_the_same_whatever_the_process_built_before(k: Keras) -> None:
    def names() -> list[str]:
        layers = [k.layers.Dense(2, name="dense_7"), k.layers.Dense(1, name="head")]
        return named(compiled(k.Sequential([k.Input((3,)), *layers])), "variable")

    k.backend.clear_session()
    first = names()
    for _ in range(10):
        k.layers.Dense(1)
    assert names() == first


def small_conv(k: Keras) -> Any:
    """Two convolutions, a normalisation and two dense layers, none of them named."""
    layers = [
        k.Input((6, 6, 1)),
        k.layers.Conv2D(2, 3),
        k.layers.BatchNormalization(),
        k.layers.Conv2D(2, 3),
        k.layers.Flatten(),
        k.layers.Dense(3),
        k.layers.Dense(1),
    ]
    return compiled(k.Sequential(layers), optimizer="adam")


IMAGES = np.linspace(-1, 1, 4 * 36, dtype="float32").reshape(4, 6, 6, 1)


def write_checkpoints(directory: str) -> None:
    """What the other process does: trains, and leaves checkpoints and the state itself."""
    for k in (keras, tf_keras):
        model = small_conv(k)
        where = Path(directory) / k.__name__
        hook = tf1.train.CheckpointSaverHook(str(where), save_steps=100)
        model.fit(IMAGES, Y, batch_size=2, epochs=2, verbose=0, callbacks=[bridge.HookCallback(hook)])
        np.savez(where / "weights.npz", *model.get_weights())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("written")
    program = f"from tests.bridge import test_names; test_names.write_checkpoints({str(directory)!r})"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return directory


def restore_by_scaffold(path: str) -> dict[str, Any]:
    scaffold = lambda: tf1.train.Scaffold(init_fn=lambda s, session: s.saver.restore(session, path))  # noqa: E731
    return {"hooks": [], "scaffold": scaffold}


def restore_by_hook(path: str) -> dict[str, Any]:
    return {
        "hooks": FunctionHook(
            tf1.train.Saver,
            after_create_session=lambda session, saver: saver.restore(session, path),
        )
    }


@pytest.mark.multiprocess
@pytest.mark.parametrize("restore", [restore_by_scaffold, restore_by_hook])
@both
def test_a_checkpoint_of_another_process_fits_whatever_this_one_built_before(
    k: Keras, restore: Callable[[str], dict[str, Any]], written: Path
) -> None:
    build_others(k)
    model = small_conv(k)
    path = tf.train.latest_checkpoint(str(written / k.__name__))
    options = restore(path)
    restored: list[np.ndarray] = []

    def look(session: Any, built: Any) -> None:
        with eager_mode():
            restored.extend(model.get_weights())

    hooks = options.pop("hooks")
    callback = bridge.HookCallback(
        [*(hooks if isinstance(hooks, list) else [hooks]), FunctionHook(after_create_session=look)], **options
    )
    model.fit(IMAGES, Y, batch_size=4, verbose=0, callbacks=[callback])
    with np.load(written / k.__name__ / "weights.npz") as expected:
        assert len(expected.files) == len(restored) > 8
        for name, found in zip(expected.files, restored, strict=True):
            np.testing.assert_array_equal(found, expected[name])
    assert int(model.optimizer.iterations.numpy()) == 5  # Four of the other process, one of this one.


# --- layers --------------------------------------------------------------------------------------------------


@both
def test_names_that_the_user_gave_stay(k: Keras) -> None:
    build_others(k)
    layers = [k.layers.Dense(2, name="dense_7"), k.layers.Dense(1, name="My.last-layer")]
    model = compiled(k.Sequential([k.Input((3,)), *layers], name="my_model"))
    # Keras 3 does not tell a name of its own form from its own.
    own_form = "dense" if k is keras else "dense_7"
    assert named(model, "variable") == [
        f"{own_form}/kernel",
        f"{own_form}/bias",
        "My.last-layer/kernel",
        "My.last-layer/bias",
    ]


@both
def test_layers_of_one_class_are_numbered_from_the_models_first(k: Keras) -> None:
    build_others(k)
    layers = [k.layers.Dense(2, use_bias=False) for _ in range(3)]
    model = compiled(k.Sequential([k.Input((3,)), *layers]))
    assert named(model, "variable") == ["dense/kernel", "dense_1/kernel", "dense_2/kernel"]
    assert named(model, "layer")[:3] == ["dense/output", "dense_1/output", "dense_2/output"]


@both
def test_a_number_does_not_take_a_name_that_the_user_gave(k: Keras) -> None:
    k.backend.clear_session()
    for _ in range(3):
        k.layers.Dense(1)  # So that Keras's own numbers do not clash with the given names.
    layers = [
        k.layers.Dense(4, use_bias=False),
        k.layers.Dense(3, use_bias=False, name="dense"),
        k.layers.Dense(2, use_bias=False, name="dense_2"),
        k.layers.Dense(1, use_bias=False),
    ]
    model = compiled(k.Sequential([k.Input((3,)), *layers]))
    shapes = {entry.name: entry.shape.as_list() for entry in describe(model) if entry.kind == "variable"}
    if k is not keras:  # Keras 3 does not tell these names from its own.
        assert shapes["dense/kernel"] == [4, 3]
        assert shapes["dense_2/kernel"] == [3, 2]
    assert len(shapes) == 4
    assert all(re.fullmatch(r"dense(_\d)?/kernel", name) for name in shapes)


@both
def test_layers_of_a_model_in_the_model_are_named_below_it(k: Keras) -> None:
    build_others(k)
    inner = k.Sequential([k.Input((3,)), k.layers.Dense(3), k.layers.BatchNormalization()], name="encoder")
    inputs = k.Input((3,))
    model = compiled(k.Model(inputs, k.layers.Dense(1)(inner(inputs))))
    assert named(model, "variable") == [
        "encoder/dense/kernel",
        "encoder/dense/bias",
        "encoder/batch_normalization/gamma",
        "encoder/batch_normalization/beta",
        "encoder/batch_normalization/moving_mean",
        "encoder/batch_normalization/moving_variance",
        "dense/kernel",
        "dense/bias",
    ]
    assert {"encoder/dense/output", "encoder/output", "dense/output"} <= set(named(model, "layer"))


@both
def test_a_shared_layer_has_one_name(k: Keras) -> None:
    left, right = k.Input((3,), name="left"), k.Input((3,), name="right")
    shared = k.layers.Dense(2)
    joined = k.layers.Concatenate()([shared(left), shared(right)])
    model = compiled(k.Model([left, right], k.layers.Dense(1, name="head")(joined)))
    found = named(model, "variable", "gradient", data=((X, X), Y))
    assert sorted(found) == sorted(
        f"{scope}{name}"
        for scope in ("", "gradients/")
        for name in ("dense/kernel", "dense/bias", "head/kernel", "head/bias")
    )


@both
def test_a_layer_in_two_models_is_named_below_the_first(k: Keras) -> None:
    shared = k.layers.Dense(3)
    inner = k.Sequential([k.Input((3,)), shared], name="encoder")
    inputs = k.Input((3,))
    model = compiled(k.Model(inputs, k.layers.Dense(1, name="head")(shared(inner(inputs)))))
    assert len(named(model, "variable")) == 4
    assert [name for name in named(model, "variable") if "kernel" in name] in (
        ["encoder/dense/kernel", "head/kernel"],
        ["dense/kernel", "head/kernel"],
    )


@both
def test_both_directions_of_a_recurrent_layer_are_told_apart(k: Keras) -> None:
    build_others(k)
    layers = [k.layers.Bidirectional(k.layers.LSTM(2)), k.layers.RNN(k.layers.SimpleRNNCell(2, name="cell"))]
    inputs = k.Input((4, 3))
    model = compiled(k.Model(inputs, [layer(inputs) for layer in layers], name="recurrent"))
    found = named(
        model,
        "variable",
        data=(tf.TensorSpec([None, 4, 3]), (tf.TensorSpec([None, 4]), tf.TensorSpec([None, 2]))),
    )
    parts = ("kernel", "recurrent_kernel", "bias")
    ways = ("forward", "backward")
    assert found == [
        *(f"bidirectional/{way}_lstm/lstm_cell/{part}" for way in ways for part in parts),
        *(f"rnn/cell/{part}" for part in parts),
    ]


# --- clashes and odd characters --------------------------------------------------------------------------------

RESERVED = (
    *(
        "batch",
        "gradients",
        "learning_rate",
        "logs",
        "loss",
        "train_op",
        "global_step",
        "metrics",
        "model",
        "sgd",
    ),
    *("init_of_hooks", "ready", "save", "hooks", "step"),
)


def reading(names: dict[str, str], found: list[Any]) -> FunctionHook:
    """A hook that fetches these names in each step."""
    return FunctionHook(
        before_run=lambda run_context, built: tf1.train.SessionRunArgs(names),
        after_run=lambda run_context, run_values, built: found.append(run_values.results),
    )


@both
def test_layers_may_have_the_names_of_the_graphs_own_operations(k: Keras, tmp_path: Path) -> None:
    layers = [k.layers.Dense(3, use_bias=False, name=name) for name in RESERVED]
    model = compiled(k.Sequential([k.Input((3,)), *layers, k.layers.Dense(1)]), jit_compile=False)
    asked = {f"own {name}": f"{name}:0" for name in ("loss", "global_step", "learning_rate", "batch/x")}
    for name in RESERVED:
        asked[name] = f"{name}/kernel:0"
        asked[f"{name} output"] = f"{name}/output:0"
        asked[f"{name} gradient"] = f"gradients/{name}/kernel:0"
    before = {layer.name: layer.get_weights()[0] for layer in layers}
    found: list[Any] = []
    saver = tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=100)
    model.fit(X, Y, shuffle=False, verbose=0, callbacks=[bridge.HookCallback([reading(asked, found), saver])])
    (results,) = found
    assert (results["own global_step"], results["own loss"].shape) == (0, ())
    assert float(results["own learning_rate"]) == pytest.approx(0.01)
    np.testing.assert_array_equal(results["own batch/x"], X)
    for name, kernel in before.items():
        np.testing.assert_array_equal(results[name], kernel)
        assert results[f"{name} output"].shape == (4, 3)
        assert results[f"{name} gradient"].shape == (3, 3)
    saved = tf.train.load_checkpoint(str(tmp_path)).get_variable_to_shape_map()
    assert {f"{layer.name}/kernel" for layer in layers} <= set(saved)


@both
@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}, {"jit_compile": True}], ids=str)
@pytest.mark.parametrize("scope", ["keras_step", "captured", "next_batch"])
def test_a_layer_of_the_name_of_a_scope_of_the_step_gets_a_number(
    k: Keras, scope: str, options: dict[str, Any]
) -> None:
    layers = [k.layers.Dense(3, name=scope), k.layers.Dense(1)]
    model = compiled(k.Sequential([k.Input((3,)), *layers]), **{"jit_compile": False, **options})
    kernel = model.get_weights()[0]
    found: list[Any] = []
    name = named(model, "variable")[0]
    hook = reading({"kernel": f"{name}:0"}, found)
    model.fit(X, Y, shuffle=False, verbose=0, callbacks=[bridge.HookCallback(hook)])
    np.testing.assert_array_equal(found[0]["kernel"], kernel)
    assert name == f"{scope}_1/kernel"


@both
def test_names_that_differ_by_case_alone_get_a_number_and_stay_apart(k: Keras) -> None:
    layers = [k.layers.Dense(3, name="Unit", use_bias=False), k.layers.Dense(1, name="unit", use_bias=False)]
    model = compiled(k.Sequential([k.Input((3,)), *layers]))
    listed = {
        entry.name: entry.shape.as_list() for entry in describe(model) if entry.kind in ("variable", "layer")
    }
    assert listed["Unit/kernel"] == [3, 3]
    assert listed["unit/kernel_1"] == [3, 1]
    assert listed["Unit/output"] == [None, 3]
    assert listed["unit/output_1"] == [None, 1]


class OddNames(keras.layers.Layer):
    """Has weights that TensorFlow could not call by the names that they have."""

    def build(self, shape: Any) -> None:
        for name in ("a b", "a_b", "größe", "_hidden"):
            self.add_weight(name=name, shape=(1,))

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        return inputs * sum(tf.convert_to_tensor(weight) for weight in self.weights)


def test_characters_that_v1_names_cannot_have_become_underscores() -> None:
    model = compiled(keras.Sequential([keras.Input((3,)), OddNames(name="odd"), keras.layers.Dense(1)]))
    assert named(model, "variable")[:4] == ["odd/a_b", "odd/a_b_1", "odd/gr__e", "odd/_hidden"]


@both
def test_metrics_and_inputs_of_odd_names_can_be_fetched(k: Keras) -> None:
    keys = ["first column (%)", "größe"]
    inputs = {key: k.Input((1,), name=f"input_{number}") for number, key in enumerate(keys)}
    joined = k.layers.Concatenate()(list(inputs.values()))
    metric = k.metrics.MeanAbsoluteError(name="error in %")
    model = compiled(k.Model(inputs, k.layers.Dense(1)(joined)), metrics=[metric], jit_compile=False)
    data = {keys[0]: X[:, :1], keys[1]: X[:, 1:2]}
    asked = {"input": "batch/x/first_column____:0", "other": "batch/x/gr__e:0", "metric": "logs/error_in__:0"}
    found: list[Any] = []
    history = model.fit(
        data, Y, shuffle=False, verbose=0, callbacks=[bridge.HookCallback(reading(asked, found))]
    )
    np.testing.assert_array_equal(found[0]["input"], X[:, :1])
    np.testing.assert_array_equal(found[0]["other"], X[:, 1:2])
    assert found[0]["metric"] == pytest.approx(history.history["error in %"][0])


# --- optimizers ------------------------------------------------------------------------------------------------

ADAM_SLOTS = {keras: ("momentum", "velocity"), tf_keras: ("m", "v")}


def slots_of(model: Any) -> list[str]:
    """Names of the optimizer's variables that belong to a weight."""
    return [entry.name for entry in describe(model) if entry.kind == "optimizer" and entry.shape.rank]


@both
def test_slots_are_named_after_their_variables(k: Keras) -> None:
    build_others(k)
    model = two_layers(k, optimizer=k.optimizers.Adam())
    weights = ("dense/kernel", "dense/bias", "head/kernel", "head/bias")
    assert slots_of(model) == [f"adam/{weight}/{slot}" for weight in weights for slot in ADAM_SLOTS[k]]
    assert "adam/learning_rate" in named(model, "optimizer")
    assert named(model, "step") == ["global_step"]


LEGACY = tf_keras.optimizers.legacy

OPTIMIZERS: dict[str, tuple[Keras, Callable[[], Any]]] = {
    "keras-sgd": (keras, lambda: keras.optimizers.SGD(momentum=0.9)),
    "keras-rmsprop": (keras, lambda: keras.optimizers.RMSprop(momentum=0.9, centered=True)),
    "keras-amsgrad-ema": (keras, lambda: keras.optimizers.Adam(amsgrad=True, use_ema=True)),
    "keras-ftrl": (keras, keras.optimizers.Ftrl),
    "keras-nadam": (keras, keras.optimizers.Nadam),
    "keras-accumulating": (keras, lambda: keras.optimizers.Adam(gradient_accumulation_steps=2)),
    "keras-loss-scale": (keras, lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam())),
    "tf_keras-sgd": (tf_keras, lambda: tf_keras.optimizers.SGD(momentum=0.9)),
    "tf_keras-rmsprop": (tf_keras, lambda: tf_keras.optimizers.RMSprop(momentum=0.9, centered=True)),
    "tf_keras-amsgrad-ema": (tf_keras, lambda: tf_keras.optimizers.Adam(amsgrad=True, use_ema=True)),
    "tf_keras-adafactor": (tf_keras, tf_keras.optimizers.Adafactor),
    "tf_keras-loss-scale": (
        tf_keras,
        lambda: tf_keras.mixed_precision.LossScaleOptimizer(tf_keras.optimizers.Adam()),
    ),
    "legacy-adam": (tf_keras, LEGACY.Adam),
    "legacy-sgd": (tf_keras, lambda: LEGACY.SGD(momentum=0.9)),
    "legacy-rmsprop": (tf_keras, lambda: LEGACY.RMSprop(momentum=0.9, centered=True)),
    "legacy-adagrad": (tf_keras, LEGACY.Adagrad),
    "legacy-loss-scale": (tf_keras, lambda: tf_keras.mixed_precision.LossScaleOptimizer(LEGACY.Adam())),
}


@pytest.mark.parametrize("case", OPTIMIZERS)
def test_slots_of_every_optimizer_are_named_after_their_variables_in_any_process(case: str) -> None:
    k, make = OPTIMIZERS[case]
    k.backend.clear_session()
    model = two_layers(k, optimizer=make())
    first = slots_of(model)
    assert first
    assert not [name for name in first if not re.fullmatch(r"\w+/(dense|head)/(kernel|bias)/[a-z_]+", name)]
    build_others(k)
    assert slots_of(two_layers(k, optimizer=make())) == first


@both
def test_slots_go_to_the_variable_whose_whole_name_they_carry(k: Keras) -> None:
    layers = [
        k.layers.Dense(4, name="a"),
        k.layers.Dense(3, name="a_kernel"),
        k.layers.Dense(1, name="kernel_a"),
    ]
    model = compiled(k.Sequential([k.Input((3,)), *layers]), optimizer="adam")
    shapes = {entry.name: entry.shape.as_list() for entry in describe(model) if entry.kind == "optimizer"}
    for layer in layers:
        for slot in ADAM_SLOTS[k]:
            assert shapes[f"adam/{layer.name}/kernel/{slot}"] == list(layer.kernel.shape)
            assert shapes[f"adam/{layer.name}/bias/{slot}"] == list(layer.bias.shape)


@both
def test_several_optimizers_are_told_apart_by_class_and_number(k: Keras) -> None:
    class ThreeOptimizers(k.Model):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layers_of_each = [k.layers.Dense(1, name=f"part_{number}") for number in range(3)]
            self.others = [k.optimizers.Adam(), k.optimizers.SGD(momentum=0.5)]

        def call(self, inputs: Any) -> Any:
            return sum(layer(inputs) for layer in self.layers_of_each)

        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            with tf.GradientTape(persistent=True) as tape:
                loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
            for optimizer, layer in zip((self.optimizer, *self.others), self.layers_of_each, strict=True):
                variables = layer.trainable_variables
                optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return {"loss": loss}

    model = ThreeOptimizers()
    model(X)
    compiled(model, optimizer="adam")
    first, second = ADAM_SLOTS[k]
    momentum = {keras: "momentum", tf_keras: "m"}[k]
    assert slots_of(model) == [
        *(f"adam/part_0/{weight}/{slot}" for weight in ("kernel", "bias") for slot in (first, second)),
        *(f"adam_1/part_1/{weight}/{slot}" for weight in ("kernel", "bias") for slot in (first, second)),
        *(f"sgd/part_2/{weight}/{momentum}" for weight in ("kernel", "bias")),
    ]
    assert named(model, "step") == ["global_step"]


# --- collections -----------------------------------------------------------------------------------------------


@both
def test_variables_are_in_the_collections_of_v1(k: Keras) -> None:
    frozen = k.layers.Dense(3, name="frozen", trainable=False)
    layers = [frozen, k.layers.BatchNormalization(), k.layers.Dropout(0.5), k.layers.Dense(1)]
    model = compiled(k.Sequential([k.Input((3,)), *layers]), optimizer="adam", metrics=["mae"])
    keys = tf1.GraphKeys
    collected: dict[str, set[str]] = {}

    def look() -> None:
        for key in (
            keys.GLOBAL_VARIABLES,
            keys.LOCAL_VARIABLES,
            keys.TRAINABLE_VARIABLES,
            keys.METRIC_VARIABLES,
            keys.GLOBAL_STEP,
        ):
            variables = tf1.get_collection(key)
            collected[key] = {variable.op.name for variable in variables}
            assert len(variables) == len(collected[key])
        assert tf1.train.get_global_step() is tf1.train.get_or_create_global_step()

    model.fit(X, Y, shuffle=False, verbose=0, callbacks=[bridge.HookCallback(FunctionHook(look))])
    of_kind = functools.partial(named, model)
    assert collected[keys.GLOBAL_VARIABLES] == set(of_kind("variable", "random", "optimizer", "step"))
    assert collected[keys.LOCAL_VARIABLES] == collected[keys.METRIC_VARIABLES] == set(of_kind("metric"))
    assert collected[keys.TRAINABLE_VARIABLES] == {
        "batch_normalization/gamma",
        "batch_normalization/beta",
        "dense/kernel",
        "dense/bias",
    }
    assert collected[keys.GLOBAL_STEP] == {"global_step"}
    assert "batch_normalization/moving_mean" in collected[keys.GLOBAL_VARIABLES]
    assert "metrics/loss/total" in collected[keys.LOCAL_VARIABLES]
