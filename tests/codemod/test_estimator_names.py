"""The codemod's names of `bridge.estimator` are the package's own, read from its source without importing it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from codemod.migrate import migrate_text
from codemod.rules import _estimator_names
from codemod.rules._estimator_names import Place, place
from codemod.settings import Settings

PACKAGE = Path(__file__).parents[2] / "bridge" / "estimator"


def constant(path: Path, name: str) -> Any:
    """The value that a file gives to a name at its top level; of a dict only the keys."""
    for statement in ast.parse(path.read_text("utf-8")).body:
        targets = (
            statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        )
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            value = statement.value
            return (
                [ast.literal_eval(k) for k in value.keys]
                if isinstance(value, ast.Dict)
                else ast.literal_eval(value)
            )
    raise LookupError(f"{path} has no {name}")


def public_names(folder: Path = PACKAGE, prefix: str = "") -> set[str]:
    names: set[str] = set()
    for name in constant(folder / "__init__.py" if folder.is_dir() else folder, "__all__"):
        inner, module = folder / name, folder / f"{name}.py"
        # A function may be called as the module that it is defined in; that has no __all__.
        is_module = inner.is_dir() or (module.exists() and "\n__all__" in module.read_text("utf-8"))
        found = (
            public_names(inner if inner.is_dir() else module, f"{prefix}{name}.")
            if is_module
            else {prefix + name}
        )
        names |= found
    return names


MISSING = constant(PACKAGE / "symbols.py", "MISSING")


def test_every_public_name_of_the_package_is_known() -> None:
    assert public_names() == _estimator_names.NAMES


@pytest.mark.parametrize("name", MISSING)
def test_what_the_package_lacks_gets_a_finding_with_a_way_out(name: str) -> None:
    text = f"import tensorflow as tf\n\nprint(tf.estimator.{name})\n"
    (finding,) = [f for f in migrate_text("a.py", text, Settings()).findings if f.code == "TFB604"]
    assert name.rpartition(".")[2] in finding.message
    assert finding.remedy
    assert not finding.remedy.startswith(
        "Write what it did"
    )  # That is what is said of names that nobody knows.


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("tf.estimator.ModeKeys.TRAIN", Place("ModeKeys", ".TRAIN")),
        ("tf.estimator", Place("")),
        ("tf.estimator.tpu.RunConfig", Place("tpu.RunConfig")),
        ("tf.contrib.tpu.RunConfig", Place("tpu.RunConfig")),
        ("tf.contrib.tpu.python.tpu.tpu_config.RunConfig", Place("tpu.RunConfig")),
        ("tensorflow.python.tpu.tpu_estimator.TPUEstimator", Place("tpu.TPUEstimator")),
        ("tensorflow.python.estimator.run_config.RunConfig", Place("RunConfig")),
        ("tensorflow_estimator.estimator.export.PredictOutput", Place("export.PredictOutput")),
        (
            "tensorflow_estimator.python.estimator.export.export_output.PredictOutput",
            Place("export.PredictOutput"),
        ),
        ("tensorflow_estimator.python.estimator.keras.model_to_estimator", Place("model_to_estimator")),
        ("tf.contrib.estimator.make_early_stopping_hook", Place("experimental.make_early_stopping_hook")),
        ("tf.contrib.estimator.multi_head", Place("heads.multi_head")),
        ("tf.contrib.estimator.python.estimator.multi_head.multi_head", Place("heads.multi_head")),
        ("tf.contrib.estimator.python.estimator.multi_head", None),
        (
            "tf.contrib.estimator.python.estimator.head.regression_head",
            Place("heads.regression_head"),
        ),
        ("tensorflow_estimator.python.estimator.head.regression_head", None),
        (
            "tensorflow_estimator.python.estimator.head.regression_head.RegressionHead",
            Place("RegressionHead"),
        ),
        (
            "tensorflow.python.estimator.canned.head._binary_logistic_or_multi_class_head",
            Place("heads.canned_classification_head"),
        ),
        (
            "tensorflow_estimator.python.estimator.canned.optimizers.get_optimizer_instance",
            Place("heads.canned_optimizer"),
        ),
        ("tf.contrib.predictor.predictor_factories.from_estimator", Place("predictor.from_estimator")),
        ("tf.contrib.predictor.from_contrib_estimator", None),
        ("tf.contrib.learn.ModeKeys", Place("ModeKeys")),
        ("tf.contrib.learn.python.learn.estimators.model_fn.ModeKeys", Place("ModeKeys")),
        ("tf.contrib.learn.Estimator", None),
        ("tf.contrib.learn.RunConfig", None),
        ("tf.contrib.tpu.CrossShardOptimizer", None),
        ("tf.estimator.BoostedTreesClassifier", None),
        ("tf.train.Estimator", None),
        ("tf.estimators.Estimator", None),
        ("sklearn.estimator.Estimator", None),
    ],
)
def test_a_name_has_its_place(name: str, found: Place | None) -> None:
    assert place(name) == found
