"""Every public symbol of TensorFlow 1.15's `tf.estimator` works, or says the way out."""

from __future__ import annotations

import functools
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import bridge
from bridge import estimator as est
from bridge.estimator.errors import UnsupportedEstimatorError
from bridge.estimator.symbols import MISSING
from tests.bridge.estimator.symbols_page import PAGE, WORKS, with_table

# What `dir` of TensorFlow 1.15.5's tf.estimator gave, with its modules; `make_golden.py` writes it.
GOLDEN = json.loads((Path(__file__).parent / "golden" / "symbols.json").read_text())["result"]


def get(symbol: str) -> Any:
    return functools.reduce(getattr, symbol.split("."), est)


def test_the_table_has_every_symbol_of_tensorflow_1_15_and_no_other() -> None:
    assert sorted([*WORKS, *MISSING]) == GOLDEN


@pytest.mark.parametrize("symbol", WORKS)
def test_what_works_is_there_with_a_docstring(symbol: str) -> None:
    assert not isinstance(get(symbol), type(est.BoostedTreesClassifier))
    assert get(symbol).__doc__ or symbol == "NanLossDuringTrainingError"  # TensorFlow gives that one none.


@pytest.mark.parametrize("symbol", MISSING)
def test_what_is_missing_can_be_named_and_says_the_way_out_when_it_is_used(symbol: str) -> None:
    missing = get(symbol)
    with pytest.raises(UnsupportedEstimatorError) as called:
        missing(feature_columns=[])
    assert MISSING[symbol] in str(called.value)
    assert symbol in str(called.value)
    with pytest.raises(UnsupportedEstimatorError):
        type("Derived", (missing,), {})
    with pytest.raises(UnsupportedEstimatorError):
        missing.anything  # noqa: B018


def test_what_is_missing_can_be_imported() -> None:
    from bridge.estimator import BoostedTreesClassifier
    from bridge.estimator.experimental import KMeans

    assert BoostedTreesClassifier is est.BoostedTreesClassifier
    assert KMeans is est.experimental.KMeans


def test_what_never_was_there_is_an_attribute_error_with_the_nearest_names() -> None:
    with pytest.raises(AttributeError, match="EstimatorSpec"):
        est.EstimatorSpecs  # noqa: B018
    assert not hasattr(est.inputs, "nothing")


def test_hooks_are_tensorflows_own() -> None:
    train = tf.compat.v1.train
    for name in WORKS:
        if hasattr(train, name) and name != "VocabInfo":
            assert get(name) is getattr(train, name)


def test_the_package_is_a_public_name_of_the_bridge() -> None:
    assert bridge.estimator is est
    assert "estimator" in bridge.__all__


def test_the_guide_has_the_table_as_it_is() -> None:
    """If it fails: python -m tests.bridge.estimator.symbols_page."""
    text = PAGE.read_text(encoding="utf-8")
    assert with_table(text) == text
    assert "| `BoostedTreesClassifier` |" in text


def test_the_api_page_has_every_name_that_is_not_tensorflows_own() -> None:
    page = PAGE.with_name("api.md").read_text(encoding="utf-8")
    packages = {
        "": est,
        **{f"{name}.": getattr(est, name) for name in est.__all__ if inspect.ismodule(getattr(est, name))},
    }
    names = [
        prefix + name
        for prefix, package in packages.items()
        for name in package.__all__
        if not inspect.ismodule(getattr(package, name))
    ]
    own = [name for name in names if get(name).__module__.startswith("bridge.")]
    assert len(own) > 70
    assert [name for name in own if f"::: bridge.estimator.{name}\n" not in page] == []
