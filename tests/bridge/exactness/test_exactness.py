"""Weights, optimizer state, metrics and history under HookCallback are bit for bit those of a plain `fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge.errors import StepGraphWarning
from tests.bridge.exactness import cases, data, models
from tests.bridge.exactness.cases import BOTH, KERAS, TF_KERAS, Case, and_, mse
from tests.bridge.exactness.running import FullRecorder, Hooks, assert_close, assert_same, differences, train


@pytest.mark.parametrize(
    ("flavour", "case"), [pytest.param(f, c, id=f"{c}-{f}") for f, c in cases.by_flavour()]
)
def test_fit_with_hooks_equals_plain_fit(flavour: str, case: Case, tmp_path: Path) -> None:
    k = cases.package(flavour)
    _, plain = train(k, case.plain())
    hooks = Hooks(tmp_path, case.asks)
    _, hooked = train(k, case, [hooks.callback()])
    hooks.check_ran()
    if differences(plain, hooked):
        # Says whether the comparison means anything here, before it says what differs.
        _, again = train(k, case.plain())
        assert not differences(plain, again), "plain fit is not reproducible"
    assert_same(plain, hooked)


@pytest.mark.parametrize(
    ("flavour", "case"),
    [pytest.param(f, c, id=f"{c}-{f}") for f, c in cases.by_flavour(cases.EVERY_INNER_TENSOR)],
)
def test_fetching_every_inner_tensor_changes_no_bit(flavour: str, case: Case) -> None:
    k = cases.package(flavour)
    _, plain = train(k, case)
    recorder = FullRecorder()
    _, hooked = train(k, case, [bridge.HookCallback(recorder)])
    assert len(recorder.records[0]) > 8
    assert_same(plain, hooked)


@pytest.mark.parametrize(
    ("flavour", "make_data", "batches"),
    [
        pytest.param(KERAS, data.unknown_length, 12, id="unknown-length-keras"),
        pytest.param(TF_KERAS, data.unknown_length, 12, id="unknown-length-tf_keras"),
        pytest.param(TF_KERAS, data.too_short, 5, id="too-short-tf_keras"),
    ],
)
def test_only_steps_that_had_data_are_counted(
    flavour: str, make_data: Any, batches: int, tmp_path: Path
) -> None:
    k = cases.package(flavour)
    case = Case("counted", models.mlp, make_data, mse("Adam"))
    hooks = Hooks(tmp_path, case.asks)
    model, _ = train(k, case, [hooks.callback()])
    assert int(model.optimizer.iterations) == batches
    assert hooks.recorder.steps == list(range(0, batches, 2))


@pytest.mark.parametrize("flavour", BOTH)
def test_an_inner_tensor_under_xla_warns_and_differs_only_by_rounding(flavour: str, tmp_path: Path) -> None:
    k = cases.package(flavour)
    case = Case("jit-true-inner", models.undropped, data.arrays, and_(mse("Adam"), jit_compile=True))
    _, plain = train(k, case.plain())
    hooks = Hooks(tmp_path, case.asks)
    with pytest.warns(StepGraphWarning, match="without XLA"):
        _, hooked = train(k, case, [hooks.callback()])
    hooks.check_ran()
    assert_close(plain, hooked)
