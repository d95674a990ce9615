"""What Estimators had and `bridge.estimator` has not is listed, with the way to go on.

## What it does
Reports the canned estimators, heads and helpers of `tf.estimator`, `tf.contrib.estimator` and `tf.contrib.tpu` that have no
equal in `bridge.estimator`; the estimators, experiments and readers of `tf.contrib.learn`; and `tf.contrib.timeseries`,
`factorization` and the trees. The place gets a TODO comment.

## Why
They were removed with TensorFlow 2 and 2.16. What they did is done otherwise today.

## Before
```python
import tensorflow as tf


def run(columns, make_experiment):
    trees = tf.estimator.BoostedTreesClassifier(columns, n_batches_per_layer=1)
    tf.contrib.learn.learn_runner.run(make_experiment, "output")
    return trees
```

## After
```python
import tensorflow.compat.v1 as tf


def run(columns, make_experiment):
    # TODO(codemod TFB604): bridge.estimator has no BoostedTreesClassifier. Train gradient-boosted trees with tensorflow_decision_forests, XGBoost or LightGBM
    trees = tf.estimator.BoostedTreesClassifier(columns, n_batches_per_layer=1)
    # TODO(codemod TFB604): tf.contrib.learn.learn_runner does not exist any more. Call bridge.estimator.train_and_evaluate(estimator, TrainSpec(...), EvalSpec(...)) instead
    tf.contrib.learn.learn_runner.run(make_experiment, "output")
    return trees
```

## Is it safe?
Only a comment is written.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import replace

from codemod.facts import FileFacts
from codemod.names import Import
from codemod.proposals import Proposal
from codemod.reached import is_awaited
from codemod.rules import imports
from codemod.rules._estimator_names import before, is_estimators, learn_name, place

CODE = "TFB604"
TRIGGER = r"estimator|contrib"

_TREES = "Train gradient-boosted trees with tensorflow_decision_forests, XGBoost or LightGBM."
_CANNED = "Write a model_fn for bridge.estimator.Estimator, or a Keras model with the same loss."
_HEAD = "Compute loss, metrics and predictions in the model_fn and return an EstimatorSpec; in Keras give them to compile."
_RECURRENT = "Write a model_fn, or a Keras model with keras.layers.LSTM or GRU."
_TOWERS = "Train a Keras model in the scope of tf.distribute.MirroredStrategy."
_EXPORT = "Export for prediction with Estimator.export_saved_model, or save a Keras model with model.export."
_TPU = "On TPUs train a Keras model in tf.distribute.TPUStrategy's scope with fit."
_TRAIN = "Call bridge.estimator.train_and_evaluate(estimator, TrainSpec(...), EvalSpec(...)) instead."
_CLUSTER = (
    "Use bridge.estimator.RunConfig: the cluster comes from TF_CONFIG, and what was said of devices and memory from "
    "session_config."
)
_LOOP = "Run the steps in bridge.MonitoredTrainingSession."
_READER = "Read with tf.data: TFRecordDataset, parse_example_dataset, shuffle, batch."
_DATA = "Give the values themselves: frame.values, or numpy.asarray."
_COLUMNS = "List tf.feature_column.numeric_column(name, shape) for the inputs."
_FITTED = (
    "Use bridge.estimator.{} with columns of tf.feature_column: fit(x, y) is train(input_fn), and predict returns "
    "dictionaries."
)
_KEYS = "Write the key itself, such as 'loss', 'average_loss', 'accuracy', 'probabilities' or 'class_ids'."
_PRIVATE = "The class of bridge.estimator is written anew: override or call its public methods, or hooks."
_KMEANS = "Use scikit-learn's MiniBatchKMeans, whose partial_fit takes batches."


# What to do instead, by the first class or function of a path.
_REMEDIES: dict[str, str] = {
    **dict.fromkeys(("BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor"), _TREES),
    **dict.fromkeys(
        ("boosted_trees_classifier_train_in_memory", "boosted_trees_regressor_train_in_memory"), _TREES
    ),
    **dict.fromkeys(("SVM", "GMM", "WALSMatrixFactorization"), _CANNED),
    **dict.fromkeys(("DNNClassifierWithLayerAnnotations", "DNNRegressorWithLayerAnnotations"), _CANNED),
    "binary_svm_head": _HEAD,
    **dict.fromkeys(("RNNClassifier", "RNNEstimator", "DynamicRnnEstimator"), _RECURRENT),
    **dict.fromkeys(("TowerOptimizer", "replicate_model_fn", "GatheredOptimizer"), _TOWERS),
    **dict.fromkeys(
        (
            "export_all_saved_models",
            "export_saved_model_for_mode",
            "build_supervised_input_receiver_fn_from_input_fn",
        ),
        _EXPORT,
    ),
    **dict.fromkeys(("KMeans", "KMeansClustering"), _KMEANS),
    "LinearSDCA": "Use bridge.estimator.LinearClassifier or LinearRegressor with tf.train.FtrlOptimizer.",
    "SavedModelEstimator": "Load the model with tf.saved_model.load and call its signatures.",
    "EmbeddingConfigSpec": _TPU,
    "CrossShardOptimizer": "Without TPUs leave it out; tf.tpu.CrossShardOptimizer is still there.",
    "_load_global_step_from_checkpoint_dir": (
        'Read it by tf.train.load_variable(model_dir, "global_step"); it is 0 where tf.train.latest_checkpoint(model_dir) is None.'
    ),
    "MetricKeys": _KEYS,
    "PredictionKeys": _KEYS,
    "from_contrib_estimator": "Make the Estimator a bridge.estimator.Estimator, and call predictor.from_estimator.",
    "fn_args": "Use inspect.signature.",
    "AsyncCheckpointSaverHook": "Use tf.train.CheckpointSaverHook, which writes the same files.",
}
_LEARN: dict[str, str] = {
    **dict.fromkeys(("Experiment", "learn_runner"), _TRAIN),
    **{name: _FITTED.format(name) for name in ("DNNClassifier", "DNNRegressor")},
    **{name: _FITTED.format(name) for name in ("LinearClassifier", "LinearRegressor")},
    **{
        f"DNNLinearCombined{kind}": _FITTED.format(f"DNNLinearCombined{kind}")
        for kind in ("Classifier", "Regressor")
    },
    **dict.fromkeys(
        ("Estimator", "BaseEstimator"),
        "Use bridge.estimator.Estimator: the model_fn returns an EstimatorSpec.",
    ),
    **dict.fromkeys(("Evaluable", "Trainable", "SKCompat"), _FITTED.format("Estimator")),
    **dict.fromkeys(("RunConfig", "ClusterConfig", "TaskType", "Environment"), _CLUSTER),
    **dict.fromkeys(("run_n", "run_feeds", "evaluate", "train", "infer", "graph_actions"), _LOOP),
    **dict.fromkeys(
        ("infer_real_valued_columns_from_input", "infer_real_valued_columns_from_input_fn"), _COLUMNS
    ),
    **dict.fromkeys(("LogisticRegressor",), _FITTED.format("LinearClassifier")),
    **dict.fromkeys(
        (
            "build_parsing_serving_input_fn",
            "InputFnOps",
            "input_fn_utils",
            "build_default_serving_input_fn",
        ),
        "Use bridge.estimator.export.build_parsing_serving_input_receiver_fn or ServingInputReceiver.",
    ),
    **dict.fromkeys(
        ("ExportStrategy", "make_export_strategy", "saved_model_export_utils"),
        "Give exporters to the EvalSpec: bridge.estimator.FinalExporter, LatestExporter, BestExporter.",
    ),
    **dict.fromkeys(
        ("MetricSpec", "metric_spec"),
        "Return eval_metric_ops in the EstimatorSpec, or use bridge.estimator.add_metrics.",
    ),
    **dict.fromkeys(("numpy_input_fn", "pandas_input_fn"), "Use those of bridge.estimator.inputs."),
    **dict.fromkeys(
        (
            "read_batch_examples",
            "read_batch_features",
            "read_batch_record_features",
            "read_keyed_batch_examples",
            "read_keyed_batch_examples_shared_queue",
            "read_keyed_batch_features",
            "read_keyed_batch_features_shared_queue",
        ),
        _READER,
    ),
    **dict.fromkeys(
        (
            "extract_dask_data",
            "extract_dask_labels",
            "extract_pandas_data",
            "extract_pandas_labels",
            "extract_pandas_matrix",
        ),
        _DATA,
    ),
    "ModelFnOps": "Return a bridge.estimator.EstimatorSpec.",
    "monitors": "Use the session hooks of tf.train; Keras's fit takes them in bridge.HookCallback.",
    "NanLossDuringTrainingError": "Catch tf.train.NanLossDuringTrainingError.",
    "PredictionKey": _KEYS,
    "NotFittedError": "Ask Estimator.latest_checkpoint() whether there is a checkpoint.",
    "no_op_train_fn": "Leave it out: Estimators take train_op=tf.no_op().",
}

# Whole packages beside Estimators.
_PACKAGES: dict[str, str] = {
    "tf.contrib.timeseries": "Use the package tensorflow-probability: tfp.sts.",
    "tf.contrib.factorization": _KMEANS,
    "tf.contrib.tensor_forest": _TREES,
    "tf.contrib.boosted_trees": _TREES,
    "tf.contrib.linear_optimizer": "Use tf.train.FtrlOptimizer.",
}

# What has rules of its own.
_OTHERS = ("datasets", "preprocessing")


def check(file: FileFacts) -> Iterator[Proposal]:
    """Proposes a finding for each use, and each import of one name, that has no place in `bridge.estimator`."""
    for use in file.names.chains:
        if use.root not in file.taken and (found := _missing(use.name)) is not None:
            if not is_awaited(file, use.node):
                yield _finding(file, use.node, *found)
        elif (member := _private_member(use.name)) is not None:
            yield replace(_finding(file, use.node, f"{member} is private", _PRIVATE), takes=())
    for imported in file.names.imports:
        found = _missing(file.tables.canonical(imported.raw))
        if found is not None and found[1] and not _is_settled(file, imported):
            yield _finding(file, imported.alias, *found)


def _private_member(name: str) -> str | None:
    """The private attribute of a class that a name means."""
    found = place(before(name))
    if found is None or not found.rest.startswith("._") or found.rest.startswith(".__"):
        return None
    return found.symbol.rpartition(".")[2] + found.rest


def _is_settled(file: FileFacts, imported: Import) -> bool:
    """Whether an import is of a whole module, is rewritten, or goes because all of its uses are."""
    if isinstance(imported.statement, ast.Import) or imports.is_moved(file, imported):
        return True
    uses = [use for use in file.names.chains if use.binding is imported.binding]
    return bool(uses) and all(use.root in file.replaced for use in uses)


def _finding(file: FileFacts, node: ast.AST, what: str, remedy: str) -> Proposal:
    return file.finding(
        node,
        what,
        why="Estimators, and all of tf.contrib, were removed from TensorFlow.",
        remedy=remedy or "Write what it did into the model_fn or input_fn, or copy it from TensorFlow 1.15.",
    )


@functools.lru_cache(4096)
def _missing(name: str) -> tuple[str, str] | None:
    """What to say of a canonical name, and where to go ("" if nobody knows); None if it is none of ours, or is there."""
    for package, remedy in _PACKAGES.items():
        if name == package or name.startswith(f"{package}."):
            return f"{'.'.join(name.split('.')[:4])} does not exist any more", remedy
    learn = learn_name(name)
    if learn is not None:
        leaf = _known(learn, _LEARN) or _known(learn, _REMEDIES)
        if leaf is None or learn.startswith(_OTHERS) or place(name) is not None:
            return None
        return f"tf.contrib.learn.{leaf} does not exist any more", _LEARN.get(leaf) or _REMEDIES[leaf]
    name = before(name)
    if not is_estimators(name) or place(name) is not None:
        return None
    parts = name.split(".")
    leaf = _known(name, _REMEDIES) or next((part for part in parts if part[0].isupper()), parts[-1])
    if "tpu" in parts:
        return f"tf.contrib.tpu.{leaf} does not exist any more", _REMEDIES.get(leaf) or _TPU
    return f"bridge.estimator has no {leaf}", _REMEDIES.get(leaf, "")


def _known(path: str, table: dict[str, str]) -> str | None:
    return next((part for part in path.split(".") if part in table), None)
