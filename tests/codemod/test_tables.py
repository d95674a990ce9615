"""The tables know what exists, without TensorFlow being imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codemod import tables
from codemod.release import Tables

ROOT = Path(__file__).parents[2]
INSTALLED = tables.load()
BUILTIN = tables.load_builtin()

EXISTING = [
    "tf.train.Saver",
    "tf.train.Saver.save",
    "tf.placeholder",
    "tf.flags.FLAGS.rate",
    "tf.app.flags",
    "tf.losses.softmax_cross_entropy",
    "tf.keras.layers.Dense",
    "tf.__version__",
    "tf.compat.v2.summary.create_file_writer",
    "tensorflow.python.client.timeline",
    "tensorflow.core.framework.summary_pb2.Summary",
    "keras.layers.Dense",
    "some_package.anything",
]
GONE = [
    "tf.layers",
    "tf.layers.dense",
    "tf.nn.rnn_cell.LSTMCell",
    "tf.contrib.layers.conv2d",
    "tf.estimator.Estimator",
    "tf.keras.backend.set_session",
    "tf.python.ops",
    "tf.train.NoSuchThing",
    "tf.compat.v2.placeholder",
    "tensorflow.python.estimator.run_config",
    "tensorflow_estimator.python.estimator",
]


@pytest.mark.parametrize("known", [INSTALLED, BUILTIN], ids=["installed", "built in"])
@pytest.mark.parametrize("name", EXISTING)
def test_what_exists_is_known_to_exist(known: tables.Tables, name: str) -> None:
    assert known.exists(name)


@pytest.mark.parametrize("known", [INSTALLED, BUILTIN], ids=["installed", "built in"])
@pytest.mark.parametrize("name", GONE)
def test_what_is_gone_is_known_to_be_gone(known: tables.Tables, name: str) -> None:
    assert not known.exists(name)


def test_tensorflow_agrees_about_every_name() -> None:
    """Every v1 name of the tables is looked up in the real package, in a process of its own."""
    names = [name for name in INSTALLED.v1 if not name.startswith(("keras", "compat"))]
    program = (
        "import sys, json, functools, tensorflow.compat.v1 as tf\n"
        "names = json.load(sys.stdin)\n"
        "def there(name):\n"
        "    try: functools.reduce(getattr, name.split('.'), tf); return True\n"
        "    except (AttributeError, ImportError): return False\n"
        "print(json.dumps([n for n in names if not there(n)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(names), capture_output=True, text=True, check=True
    )
    assert len(names) > 3000
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_a_private_name_has_the_public_name_of_the_very_thing() -> None:
    assert INSTALLED.canonical("tensorflow.python.training.saver.Saver") == "tf.train.Saver"
    assert INSTALLED.canonical("tensorflow.python.platform.gfile.GFile") == "tf.gfile.GFile"
    # The private reduce_sum is another function than the public one.
    assert (
        INSTALLED.canonical("tensorflow.python.ops.math_ops.reduce_sum")
        == "tensorflow.python.ops.math_ops.reduce_sum"
    )


def test_each_namespace_holds_both() -> None:
    assert INSTALLED.canonical("tensorflow.compat.v1.compat.v1.train.Saver") == "tf.train.Saver"
    assert INSTALLED.canonical("tensorflow.compat.v2.compat.v1.train.Saver") == "tf.train.Saver"
    assert INSTALLED.canonical("tensorflow.compat.v1.compat.v2.io") == "tf.compat.v2.io"
    assert INSTALLED.canonical("tensorflow.compat.v2.compat.v2.io") == "tf.compat.v2.io"
    assert INSTALLED.canonical("tensorflow.compat.v2.compat") == "tf.compat"


def test_tensorflow_agrees_about_what_its_private_modules_hold() -> None:
    modules = [
        "ops.array_ops",
        "ops.control_flow_ops",
        "ops.nn",
        "ops.math_ops",
        "framework.ops",
        "training.saver",
    ]
    program = (
        "import sys, json, importlib\n"
        "names = json.load(sys.stdin)\n"
        "held = {n: dir(importlib.import_module('tensorflow.python.' + n)) for n in names}\n"
        "print(json.dumps(held))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(modules), capture_output=True, text=True, check=True
    )
    held = json.loads(done.stdout.splitlines()[-1])
    everything = {name for names in held.values() for name in names if not name.startswith("_")}
    for module, names in held.items():
        known = {n for n in everything if INSTALLED.exists(f"tensorflow.python.{module}.{n}")}
        assert not {n for n in names if not n.startswith("_")} - known
        assert not (known - set(names)) & {
            "stack",
            "while_loop",
            "cond",
            "case",
            "Assert",
            "Saver",
            "Graph",
            "relu",
        }


def test_a_private_package_holds_its_modules_and_no_others() -> None:
    assert INSTALLED.exists("tensorflow.python.training.saver")
    assert not INSTALLED.exists("tensorflow.python.training.training_ops")
    assert not INSTALLED.exists("tensorflow.python.training.tracking.graph_view")
    assert not INSTALLED.exists(INSTALLED.canonical("tensorflow.python.keras.layers.LSTMCell"))
    assert INSTALLED.exists("tensorflow.python.keras.layers.LSTMCellV1")
    assert not INSTALLED.exists("tensorflow.core.kernels.boosted_trees.boosted_trees_pb2")


@pytest.mark.parametrize(
    ("private", "public"),
    [
        ("convolutional.Convolution2D", "Conv2D"),
        ("convolutional.SeparableConvolution2D", "SeparableConv2D"),
        ("convolutional.Deconvolution2D", "Conv2DTranspose"),
        ("convolutional.Convolution3DTranspose", "Conv3DTranspose"),
        ("convolutional.deconv2d", "conv2d_transpose"),
        ("convolutional.convolution1d", "conv1d"),
        ("core.FullyConnected", "Dense"),
        ("core.dense", "dense"),
        ("normalization.BatchNorm", "BatchNormalization"),
    ],
)
def test_a_private_layer_has_its_public_name(private: str, public: str) -> None:
    assert INSTALLED.canonical(f"tensorflow.python.layers.{private}") == f"tf.layers.{public}"


def test_what_a_private_module_has_lost_is_the_public_name() -> None:
    assert not INSTALLED.exists("tensorflow.python.ops.control_flow_ops.cond")
    assert INSTALLED.canonical("tensorflow.python.ops.control_flow_ops.cond") == "tf.cond"
    assert INSTALLED.canonical("tensorflow.python.ops.array_ops.stack") == "tf.stack"
    assert INSTALLED.canonical("tensorflow.python.framework.ops.IndexedSlices") == "tf.IndexedSlices"
    assert (
        INSTALLED.canonical("tensorflow.python.training.checkpoint_management.latest_checkpoint")
        == "tf.train.latest_checkpoint"
    )
    assert INSTALLED.canonical("tensorflow.python.ops.variables.VariableV1") == "tf.Variable"
    assert (
        INSTALLED.canonical("tensorflow.python.ops.variable_scope.enable_resource_variables")
        == "tf.enable_resource_variables"
    )
    # Brought by `import *`, and the very thing.
    assert INSTALLED.canonical("tensorflow.python.ops.math_ops.tanh") == "tf.tanh"


def test_renames_have_no_target_that_is_gone() -> None:
    assert INSTALLED.renames["tf.contrib.data.Counter"] == "tf.data.experimental.Counter"
    assert len(INSTALLED.renames) > 500
    assert not [new for new in INSTALLED.renames.values() if new.startswith("tf.compat.v1.estimator")]


def test_v1_and_v2_are_told_apart() -> None:
    assert INSTALLED.same_in_both("nn.relu")
    assert not INSTALLED.same_in_both("Variable")
    assert not INSTALLED.same_in_both("data.Dataset")


KERAS = {
    "keras.losses.MSE": "keras.losses.mean_squared_error",
    "tf.keras.losses.mean_squared_error": "tf.keras.losses.mse",
    "tf.keras.metrics.kl_divergence": "tf.keras.metrics.kld",
    "keras.losses.Reduction.NONE": "tf.keras.losses.Reduction.NONE",
    "keras.backend.sum": "tf.keras.backend.sum",
    "keras.preprocessing.image.ImageDataGenerator": "tf.keras.preprocessing.image.ImageDataGenerator",
    "keras.layers.Dense": None,
    "tf.keras.backend.set_session": None,
}


@pytest.mark.parametrize(("name", "other"), KERAS.items())
@pytest.mark.parametrize("loaded", [INSTALLED, BUILTIN], ids=["installed", "built in"])
def test_what_one_face_of_keras_lacks_the_other_has(loaded: Tables, name: str, other: str | None) -> None:
    assert loaded.other_keras(name) == other
    if other is not None:
        assert not loaded.exists(name)
        assert loaded.exists(other)


def test_keras_s_faces_have_what_the_tables_say() -> None:
    import keras
    import tensorflow as tf

    for face, names in (("keras", INSTALLED.keras), ("tf.keras", INSTALLED.tf_keras)):
        for name in ("losses.MSE", "losses.mean_squared_error", "backend.sum", "backend.clear_session"):
            there: Any = keras if face == "keras" else tf.keras
            for part in name.split("."):
                there = getattr(there, part, None)
            assert (there is not None) == (name in names), (face, name)


def test_built_in_tables_are_those_of_a_release(tmp_path: Path) -> None:
    tables.write_builtin(INSTALLED, tmp_path / "tables.json")
    data = json.loads((tmp_path / "tables.json").read_text())
    assert data["version"] == INSTALLED.version
    assert BUILTIN.label.endswith("(built in)")
    assert len(BUILTIN.v1) > 3000


def test_without_an_installed_tensorflow_the_built_in_tables_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "find_tensorflow", lambda: None)
    assert tables.load.__wrapped__(None).installed is False


def test_a_folder_that_is_no_tensorflow_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="_api"):
        tables.load.__wrapped__(str(tmp_path))


def test_nothing_of_the_codemod_imports_tensorflow() -> None:
    program = (
        "import sys, codemod.cli, codemod.migrate, codemod.rewrite_tree, codemod.run, codemod.discover\n"
        "from codemod import rules, tables; rules.all_rules(); tables.load()\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('tensorflow', 'keras', 'bridge', 'numpy')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
