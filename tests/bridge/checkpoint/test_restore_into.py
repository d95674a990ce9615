"""`restore_into`: variables that are live, without a model or a session around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from bridge.checkpoint import model_state, restore_into
from bridge.errors import CheckpointMismatchError
from bridge.names import NamedVariable
from tests.bridge.checkpoint import worlds
from tests.bridge.checkpoint.support import (
    Keras,
    adam,
    assert_weights,
    both,
    dense_model,
    entries_of,
    golden,
    names,
    sources,
    step_of,
    train,
    write,
)


def parts_of(model: Any) -> tuple[list[NamedVariable], list[Any]]:
    return model_state.state_of(model), model_state.optimizers_of(model)


@pytest.mark.oracle
@both
def test_a_job_of_tf1_is_taken_over_at_its_step(k: Keras) -> None:
    model = dense_model(k, adam(k))
    variables, optimizers = parts_of(model)
    report = restore_into(variables, golden("optimizer_adam"), optimizers=optimizers)
    assert not report.problems
    assert step_of(model) == worlds.STEPS_BEFORE
    train(model)
    assert_weights(model, "optimizer_adam", "after")


@pytest.mark.oracle
@both
def test_variables_may_be_restored_in_stages(k: Keras) -> None:
    """Weights first, and slots when they exist, whose names in the checkpoint follow from those of the weights."""
    model = dense_model(k, adam(k))
    variables, optimizers = parts_of(model)
    weights = {variable.name for variable in variables if variable.kind == "model"}
    rest = {variable.name for variable in variables} - weights
    first = restore_into(
        variables, golden("optimizer_adam"), optimizers=optimizers, only=weights, accept_unexpected=True
    )
    assert sorted(names(first.matched)) == ["dense/bias", "dense/kernel"]
    assert step_of(model) == 0
    for variable in variables:
        if variable.kind == "model":
            variable.variable.assign(tf.zeros_like(variable.variable))
    second = restore_into(variables, golden("optimizer_adam"), optimizers=optimizers, only=rest)
    assert "dense/kernel/Adam" in sources(second.matched)
    assert step_of(model) == worlds.STEPS_BEFORE
    assert not np.any(model.get_weights()[0])


def test_entries_of_others_are_accepted_if_asked(tmp_path: Path) -> None:
    """A hook's variable, as for `Saver.restore`."""
    model = dense_model(keras, adam(keras))
    variables, optimizers = parts_of(model)
    entries = {**entries_of(golden("optimizer_adam")), "hook/count": np.float32(1)}
    path = write(tmp_path / "model.ckpt", entries)
    with pytest.raises(CheckpointMismatchError):
        restore_into(variables, path, optimizers=optimizers)
    report = restore_into(variables, path, optimizers=optimizers, accept_unexpected=True)
    assert "hook/count" in sources(report.not_needed)


def test_missing_variables_are_a_mismatch_all_the_same(tmp_path: Path) -> None:
    variables, optimizers = parts_of(dense_model(keras, adam(keras)))
    entries = {n: v for n, v in entries_of(golden("optimizer_adam")).items() if n != "dense/bias"}
    with pytest.raises(CheckpointMismatchError) as error:
        restore_into(
            variables,
            write(tmp_path / "model.ckpt", entries),
            optimizers=optimizers,
            accept_unexpected=True,
        )
    assert names(error.value.report.missing) == ["dense/bias"]


def test_it_works_inside_a_graph() -> None:
    """As hooks' code may call it, with the step's graph as the default one."""
    model = dense_model(keras, adam(keras))
    variables, optimizers = parts_of(model)
    with tf.Graph().as_default():
        restore_into(variables, golden("optimizer_adam"), optimizers=optimizers)
    assert_weights(model, "optimizer_adam")


def test_metrics_are_passed_over() -> None:
    model = dense_model(keras, adam(keras), metrics=["mae"])
    variables, optimizers = parts_of(model)
    assert any(variable.kind == "metric" for variable in variables)
    report = restore_into(variables, golden("optimizer_adam"), optimizers=optimizers)
    assert not [entry for entry in report.entries if entry.name.startswith("metrics/")]
