"""What `bridge.estimator` has, and the places where TensorFlow 1 kept the same things.

`bridge` imports TensorFlow and the codemod does not, so the names stand here once more; a test compares them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

# Every name below `bridge.estimator` that stands for a thing of TensorFlow's, by the part of the package that holds it.
_BELOW = {
    "": """
        BaselineClassifier BaselineEstimator BaselineRegressor BestExporter BinaryClassHead CheckpointSaverHook
        CheckpointSaverListener DNNClassifier DNNEstimator DNNLinearCombinedClassifier DNNLinearCombinedEstimator
        DNNLinearCombinedRegressor DNNRegressor Estimator EstimatorSpec EvalSpec Exporter FeedFnHook FinalExporter
        FinalOpsHook GlobalStepWaiterHook Head LatestExporter LinearClassifier LinearEstimator LinearRegressor
        LoggingTensorHook LogisticRegressionHead ModeKeys MultiClassHead MultiHead MultiLabelHead
        NanLossDuringTrainingError NanTensorHook PoissonRegressionHead ProfilerHook RegressionHead RunConfig
        SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook SessionRunValues StepCounterHook
        StopAtStepHook SummarySaverHook TrainSpec VocabInfo WarmStartSettings add_metrics
        classifier_parse_example_spec clip_gradients_by_norm forward_features model_to_estimator
        regressor_parse_example_spec train_and_evaluate
    """,
    "experimental": """
        InMemoryEvaluatorHook build_raw_supervised_input_receiver_fn call_logit_fn dnn_logit_fn_builder
        linear_logit_fn_builder make_early_stopping_hook make_stop_at_checkpoint_step_hook stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook
        stop_if_no_increase_hook
    """,
    "export": """
        ClassificationOutput ExportOutput PredictOutput RegressionOutput ServingInputReceiver TensorServingInputReceiver
        build_parsing_serving_input_receiver_fn build_raw_serving_input_receiver_fn
    """,
    "heads": """
        binary_classification_head canned_binary_head canned_classification_head canned_multi_class_head canned_optimizer
        canned_regression_head logistic_regression_head multi_class_head multi_head multi_label_head
        poisson_regression_head regression_head
    """,
    "inputs": "numpy_input_fn pandas_input_fn",
    "predictor": "Predictor from_estimator from_saved_model",
    "strategies": """
        CollectiveAllReduceStrategy DistributeConfig MirroredStrategy OneDeviceStrategy ParameterServerStrategy all_reduce
    """,
    "tpu": "InputPipelineConfig RunConfig TPUConfig TPUEstimator TPUEstimatorSpec",
}

PARTS: frozenset[str] = frozenset(_BELOW)
NAMES: frozenset[str] = frozenset(
    f"{part}.{leaf}".lstrip(".") for part, text in _BELOW.items() for leaf in text.split()
)

# Where a leaf is, for paths whose modules were arranged in another way. The TPU's RunConfig has its own modules.
_HOMES: dict[str, str] = {
    name.rpartition(".")[2]: name
    for name in sorted(NAMES, key=lambda name: not name.startswith("tpu."))
    if name != "tpu.RunConfig"
} | {
    "EstimatorV2": "Estimator",
    # Private ones that programs call.
    "_binary_logistic_head_with_sigmoid_cross_entropy_loss": "heads.canned_binary_head",
    "_binary_logistic_or_multi_class_head": "heads.canned_classification_head",
    "_multi_class_head_with_softmax_cross_entropy_loss": "heads.canned_multi_class_head",
    "_regression_head": "heads.canned_regression_head",
    "_regression_head_with_mean_squared_error_loss": "heads.canned_regression_head",
    "get_optimizer_instance": "heads.canned_optimizer",
}

# Packages that were arranged as `bridge.estimator` is, and the part of it that each was.
_PUBLIC: dict[str, str] = {
    "tf.estimator": "",
    "tf.compat.v2.estimator": "",
    "tf._api.v1.estimator": "",
    "tf._api.v2.estimator": "",
    "tensorflow_estimator.estimator": "",
    "tensorflow_estimator._api.v1.estimator": "",
    "tensorflow_estimator.python.estimator.api._v1.estimator": "",
    "tensorflow_estimator.python.estimator.api._v2.estimator": "",
    "tf.contrib.predictor": "predictor",
    "tf.contrib.tpu": "tpu",
}

# Packages that put names elsewhere: a name of theirs is looked up by its leaf.
_BY_LEAF = (
    "tf.contrib.estimator",
    "tf.contrib.keras.estimator",
    "tf.contrib.tpu.python.tpu",
    "tf.keras.estimator",
    "tf.python.estimator",
    "tensorflow.python.estimator",
    "tensorflow.python.keras.estimator",
    "tensorflow.python.tpu.tpu_config",
    "tensorflow.python.tpu.tpu_estimator",
    "tensorflow_estimator.contrib.estimator",
    "tensorflow_estimator.python.estimator",
)

_LEARN = "tf.contrib.learn"
_LEARN_MODULES = frozenset({"python", "learn", "estimators", "utils", "learn_io", "monitors", "trainable"})


@dataclass(frozen=True, slots=True)
class Place:
    """What a name of TensorFlow's is in `bridge.estimator`.

    Attributes:
      symbol: The name below `bridge.estimator`; empty for the package itself.
      rest: What is looked up on it, such as `.TRAIN`.
    """

    symbol: str
    rest: str = ""

    @property
    def name(self) -> str:
        """Its canonical name."""
        return f"bridge.estimator.{self.symbol}".rstrip(".")

    @property
    def part(self) -> str:
        """The part of the package that holds it."""
        return self.symbol.rpartition(".")[0]

    @property
    def is_module(self) -> bool:
        """Whether it is the package or a part of it."""
        return self.symbol in PARTS


@functools.lru_cache(4096)
def place(name: str) -> Place | None:
    """Finds a canonical name in `bridge.estimator`.

    Args:
      name: As `Tables.canonical` gives it.

    Returns:
      Where it is; None if it is nothing that `bridge.estimator` has.
    """
    below = learn_name(name)
    if below is not None:
        leaf, _, rest = below.partition(".")
        return Place("ModeKeys", f".{rest}" if rest else "") if leaf == "ModeKeys" else None
    for package, part in _PUBLIC.items():
        if name == package:
            return Place(part)
        if name.startswith(f"{package}."):
            found = _split(f"{part}.{name[len(package) + 1 :]}".lstrip("."))
            if found is not None:
                return found
    if is_estimators(name):
        return _by_leaf(name)
    return None


def _split(below: str) -> Place | None:
    parts = below.split(".")
    for length in range(len(parts), 0, -1):
        symbol = ".".join(parts[:length])
        if symbol in NAMES or (symbol in PARTS and length == len(parts)):
            return Place(symbol, "".join(f".{part}" for part in parts[length:]))
    return None


def _by_leaf(name: str) -> Place | None:
    parts = name.split(".")
    of_tpus = any(part in ("tpu_config", "tpu_estimator") for part in parts)
    for index, part in enumerate(parts):
        symbol = "tpu.RunConfig" if of_tpus and part == "RunConfig" else _HOMES.get(part)
        if symbol is not None and not (symbol == f"heads.{part}" and _is_head_module(parts, index)):
            return Place(symbol, "".join(f".{rest}" for rest in parts[index + 1 :]))
    return None


def _is_head_module(parts: list[str], index: int) -> bool:
    """Whether a part that is called as a function for heads is a module: `head.regression_head.RegressionHead`."""
    is_function = "contrib" in parts and (
        parts[index - 1] in ("head", "multi_head") or parts[:index] == ["tf", "contrib", "estimator"]
    )
    return not is_function or index + 1 < len(parts)


def before(name: str) -> str:
    """The name that a thing of `bridge.estimator` had in TensorFlow; any other name as it is."""
    return (
        name.replace("bridge.estimator", "tf.estimator", 1) if name.startswith("bridge.estimator") else name
    )


@functools.lru_cache(4096)
def is_estimators(name: str) -> bool:
    """Whether a canonical name is, or is below, a module that held Estimators."""
    return any(name == package or name.startswith(f"{package}.") for package in (*_PUBLIC, *_BY_LEAF))


def learn_name(name: str) -> str | None:
    """A name of `tf.contrib.learn` without the modules in which it was defined; None if it is not below it."""
    if not name.startswith(f"{_LEARN}."):
        return None
    parts = name.split(".")[3:]
    if parts[0] == "python":
        while len(parts) > 1 and (parts[0] in _LEARN_MODULES or parts[0] in ("model_fn", "run_config")):
            parts = parts[1:]
    return ".".join(parts)
