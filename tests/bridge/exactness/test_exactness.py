"""Weights, optimizer state, metrics and history under HookCallback are bit for bit those of a plain `fit`."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.errors import StepGraphWarning
from tests.bridge.exactness import cases, data, models
from tests.bridge.exactness.cases import BOTH, Case, and_, mse
from tests.bridge.exactness.running import Hooks, assert_close, assert_same, differences, train


@pytest.mark.parametrize(("flavour", "case"), [pytest.param(f, c, id=f"{c}-{f}") for f, c in cases.by_flavour()])
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
