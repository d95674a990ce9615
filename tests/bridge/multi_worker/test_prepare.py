"""What preparing a model for several processes changes, seen from one process."""

from __future__ import annotations

import sys
import types
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from bridge import keras_replicas, multi_worker
from bridge.errors import UnsupportedModelError


def make_model() -> Any:
    model = keras.Sequential([keras.Input((2,)), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    return model


def reduction() -> Any:
    return sys.modules[keras.Model.make_predict_function.__module__].reduce_per_replica  # type: ignore[attr-defined]


@pytest.mark.parametrize("strategy", [None, "mirrored"])
def test_a_model_of_one_process_is_left_as_it_is(strategy: str | None) -> None:
    scope = tf.distribute.MirroredStrategy(["cpu:0"]) if strategy else tf.distribute.get_strategy()
    with scope.scope():
        model = make_model()
    own = reduction()
    with multi_worker.prepared(model) as same:
        assert same is model
        assert not {"fit", "evaluate", "_maybe_symbolic_build"} & vars(model).keys()
        assert reduction() is own


def test_a_keras_that_does_not_sum_gradients_is_refused() -> None:
    model = types.SimpleNamespace(optimizer=object(), _maybe_symbolic_build=None)
    with pytest.raises(
        UnsupportedModelError, match=r"different weights. Use Keras 3.12 or newer, or tf_keras"
    ):
        keras_replicas.correct_multi_worker_fit(model)


@pytest.mark.skipif(
    not hasattr(keras.Model, "_maybe_symbolic_build"), reason="Keras 3 too old for several workers"
)
def test_kerass_own_reduction_is_back_when_the_last_model_is_done() -> None:
    own = reduction()
    first = keras_replicas.correct_multi_worker_fit(make_model())
    second = keras_replicas.correct_multi_worker_fit(make_model())
    assert reduction() is not own
    first()
    assert reduction() is not own
    second()
    assert reduction() is own


@pytest.mark.skipif(
    not hasattr(keras.Model, "_maybe_symbolic_build"), reason="Keras 3 too old for several workers"
)
def test_models_of_one_process_train_as_ever_while_another_model_is_prepared() -> None:
    def train() -> list[Any]:
        keras.utils.set_random_seed(3)
        with tf.distribute.MirroredStrategy(["cpu:0"]).scope():
            model = make_model()
        x = np.ones((8, 2), "float32")
        history = model.fit(x, x[:, :1], batch_size=4, epochs=2, verbose=0)
        return [history.history["loss"], *(weight.tolist() for weight in model.get_weights())]

    before = train()
    undo = keras_replicas.correct_multi_worker_fit(make_model())
    try:
        assert train() == before
    finally:
        undo()
