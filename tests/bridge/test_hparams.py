"""`HParams` takes, parses and gives back what `tf.contrib.training.HParams` did; compared by hand with TensorFlow 1.15.5."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.errors import HParamsError
from bridge.hparams import HParams


@pytest.fixture
def hparams() -> HParams:
    return HParams(a=1, b=0.5, c="x", d=True, e=[1, 2], f=["p", "q"], n=None, g=(1.0, 2.0))


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("a=3", "a", 3),
        ("b=1", "b", 1.0),
        ("b=1e-3", "b", 0.001),
        ("c=hello world", "c", "hello world"),
        ("c=", "c", ""),
        ("c=a/b:c", "c", "a/b:c"),
        ("c=a=b", "c", "a=b"),
        ("d=false", "d", False),
        ("d=0", "d", False),
        ("d=2", "d", True),
        ("e=[3,4,5]", "e", [3, 4, 5]),
        ("e=[]", "e", []),
        ("e[1]=7", "e", [1, 7]),
        ("f=[a,b]", "f", ["a", "b"]),
        ("g=[1]", "g", [1.0]),
        ("a=1,b=2", "b", 2.0),
    ],
)
def test_a_text_overrides_values(hparams: HParams, text: str, name: str, value: Any) -> None:
    assert hparams.parse(text) is hparams
    found = getattr(hparams, name)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    ["a=3.5", "a=x", "d=yes", "e=3", "e[5]=9", "f=a", "a=1,a=2", "z=1", "a=[1,2]", "a", "c=[x]", "a[0]=1"],
)
def test_a_text_that_does_not_fit_is_an_error_and_changes_nothing(hparams: HParams, text: str) -> None:
    before = hparams.values()
    with pytest.raises(HParamsError):
        hparams.parse(text)
    assert hparams.values() == before


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(HParamsError, match=r"Unknown hyperparameter learning_rat.*learning_rate"):
        HParams(learning_rate=0.1).parse("learning_rat=3")
    with pytest.raises(AttributeError, match="learning_rate"):
        _ = HParams(learning_rate=0.1).learning_rat


@pytest.mark.parametrize(
    ("name", "value"),
    [("a", 2.0), ("a", True), ("d", 1), ("c", 5), ("e", [1.5]), ("e", 3), ("e", (1, 2)), ("a", [1])],
)
def test_a_value_of_another_type_is_an_error(hparams: HParams, name: str, value: Any) -> None:
    with pytest.raises(HParamsError):
        hparams.set_hparam(name, value)


def test_integers_fit_into_floats_and_none_takes_anything(hparams: HParams) -> None:
    hparams.override_from_dict({"b": 3, "n": 4})
    assert (hparams.b, type(hparams.b), hparams.n) == (3.0, float, 4)


def test_an_unknown_name_is_a_key_error(hparams: HParams) -> None:
    with pytest.raises(KeyError):
        hparams.set_from_map({"zz": 1})


def test_json_goes_there_and_back(hparams: HParams) -> None:
    text = hparams.to_json(sort_keys=True)
    assert json.loads(text)["g"] == [1.0, 2.0]
    assert HParams(a=0).parse_json('{"a": 5}').values() == {"a": 5}


def test_values_are_attributes(hparams: HParams) -> None:
    hparams.a = 77
    hparams.del_hparam("b")
    hparams.del_hparam("b")
    hparams.add_hparam("new", 3)
    assert hparams.values() == {
        "a": 77, "c": "x", "d": True, "e": [1, 2], "f": ["p", "q"], "n": None, "g": (1.0, 2.0), "new": 3,
    }  # fmt: skip
    assert "b" not in hparams
    assert str(HParams(a=1, b="x")) == "a=1,b=x"
    assert repr(HParams(b=1, a="x")) == "HParams([('a', 'x'), ('b', 1)])"


def test_get_checks_its_default(hparams: HParams) -> None:
    assert (hparams.get("a"), hparams.get("zz", 7), hparams.get("e", [0])) == (1, 7, [1, 2])
    for key, default in (("a", "x"), ("e", 3), ("a", [1])):
        with pytest.raises(HParamsError):
            hparams.get(key, default)


@pytest.mark.parametrize("wrong", [{"values": 3}, {"a": []}, {"parse": 1}])
def test_names_of_methods_and_empty_lists_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(HParamsError):
        HParams(**wrong)


def test_a_protocol_buffer_is_refused() -> None:
    with pytest.raises(HParamsError, match="JSON"):
        HParams(hparam_def=object())  # type: ignore[arg-type]


def test_the_model_structure_is_kept() -> None:
    hparams = HParams(model_structure="one")
    assert hparams.get_model_structure() == "one"
    hparams.set_model_structure("two")
    assert (hparams.get_model_structure(), hparams.values()) == ("two", {})
