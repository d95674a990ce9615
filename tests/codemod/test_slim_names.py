"""What the rule about slim says of the package tf_slim, against the package."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from codemod.rules import _slim_names

if importlib.util.find_spec("tf_slim") is None:
    pytest.skip("tf_slim is not installed", allow_module_level=True)


def _modules() -> Iterator[ModuleType]:
    package = importlib.import_module("tf_slim")
    for found in pkgutil.walk_packages(package.__path__, "tf_slim."):
        if not found.name.endswith("_test"):
            yield importlib.import_module(found.name)


def _chain(node: ast.expr) -> list[str]:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return [node.id, *parts] if isinstance(node, ast.Name) else []


def _is_missing(module: ModuleType, chain: list[str]) -> bool:
    """Whether a dotted name in a module of tf_slim's leads through modules of TensorFlow to nothing."""
    found = vars(module).get(chain[0]) if chain else None
    for name in chain[1:]:
        if not isinstance(found, ModuleType):
            return False
        held = getattr(found, "_module", found)  # Behind what bridge.legacy_slim has put there.
        try:
            found = getattr(held, name)
        except (AttributeError, ModuleNotFoundError):
            return True
    return False


def test_every_function_that_looks_for_a_name_that_has_moved_is_known() -> None:
    refers: dict[str, set[str]] = {}
    lost: set[str] = set()
    for module in _modules():
        source = ast.parse(Path(module.__file__ or "").read_text("utf-8"))
        for node in source.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                chains = [_chain(n) for n in ast.walk(node) if isinstance(n, ast.Attribute)]
                names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                refers.setdefault(node.name, set()).update(names, (c[-1] for c in chains if c))
                if any(_is_missing(module, chain) for chain in chains):
                    lost.add(node.name)
    assert {"batch_norm", "smart_cond", "clip_gradient_norms"} <= lost
    while more := {name for name, used in refers.items() if name not in lost and used & lost}:
        lost |= more
    public = _slim_names.SLIM | _slim_names.METRICS | _slim_names.METRIC_LEARNING | _slim_names.TRAINING
    public |= _slim_names.UTILS | _slim_names.LOSSES | _slim_names.EVALUATION
    assert sorted(public & lost - _slim_names.NEED_LEGACY_SLIM) == []


def test_networks_that_normalise_their_batches_are_known() -> None:
    assert {"resnet_v1", "resnet_v2", "inception", "inception_v1"} <= _slim_names.NEED_LEGACY_SLIM
    assert not {"vgg", "alexnet", "overfeat"} & _slim_names.NEED_LEGACY_SLIM
