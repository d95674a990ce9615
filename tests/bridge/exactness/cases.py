"""The table of the exactness tests: combinations of model, optimizer, precision, data form and compile option."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tests.bridge.exactness import data, models
from tests.bridge.exactness.models import with_policy

Keras = Any  # The module `keras` or `tf_keras`.

KERAS, TF_KERAS = "keras", "tf_keras"
BOTH = (KERAS, TF_KERAS)

DENSE = ("loss", "dense/output", "gradients/dense/kernel", "learning_rate")
UNIT = ("loss", "logs/loss")  # What hooks may ask for while XLA compiles the step as a whole.

CompileArguments = dict[str, Any]


def package(flavour: str) -> Keras:
    """Imports `keras` or `tf_keras`."""
    return importlib.import_module(flavour)


@dataclasses.dataclass(frozen=True)
class Case:
    """One combination.

    Attributes:
      name: The test's id.
      model: Builds the model, given the Keras package.
      data: Makes the arguments of `fit` that are data.
      compile: Makes the arguments of `compile`; `jit_compile` is False if it does not say.
      fit: More arguments of `fit`.
      asks: Names of inner tensors that the hooks fetch.
      flavours: The Keras packages that it is for.
      plain_data: The data of the plain `fit`, where it cannot be the same. With data of unknown length, Keras starts
        one step more at the end of an epoch; it fails for want of data, but what it did by then stays done: the
        optimizer has counted a step, and Dropout has drawn. The bridge starts no such step, so that `global_step` is
        the number of steps that took place. The plain `fit` is told the length instead.
    """

    name: str
    model: Callable[[Keras], Any]
    data: Callable[[Keras], dict[str, Any]]
    compile: Callable[[Keras], CompileArguments]
    fit: dict[str, Any] = dataclasses.field(default_factory=dict)
    asks: tuple[str, ...] = DENSE
    flavours: tuple[str, ...] = BOTH
    plain_data: Callable[[Keras], dict[str, Any]] | None = None

    def plain(self) -> Case:
        """The case as a `fit` without hooks runs it."""
        return dataclasses.replace(self, data=self.plain_data or self.data)

    def compiled(self, k: Keras) -> Any:
        model = self.model(k)
        model.compile(**{"jit_compile": False, **self.compile(k)})
        return model

    def __str__(self) -> str:
        return self.name


def mse(
    optimizer: str = "Adam", /, *, metrics: Any = ("mae",), **options: Any
) -> Callable[[Keras], CompileArguments]:
    """Compile arguments for a regression; the optimizer is made with `learning_rate=0.01` and the options."""
    return lambda k: {"optimizer": _optimizer(k, optimizer, options), "loss": "mse", "metrics": list(metrics)}


def logits(optimizer: str = "Adam", /, **options: Any) -> Callable[[Keras], CompileArguments]:
    """Compile arguments for a classification from logits."""
    return lambda k: {
        "optimizer": _optimizer(k, optimizer, options),
        "loss": k.losses.SparseCategoricalCrossentropy(from_logits=True),
        "metrics": ["accuracy"],
    }


def _optimizer(k: Keras, name: str, options: dict[str, Any]) -> Any:
    made = {key: value(k) if callable(value) else value for key, value in options.items()}
    return getattr(k.optimizers, name)(**{"learning_rate": 0.01, **made})


def and_(
    arguments: Callable[[Keras], CompileArguments], **options: Any
) -> Callable[[Keras], CompileArguments]:
    """Adds arguments of `compile`."""
    return lambda k: {**arguments(k), **options}


def _loss_scaled(k: Keras) -> CompileArguments:
    scaled = k.mixed_precision.LossScaleOptimizer(k.optimizers.SGD(0.01, momentum=0.9))
    return {"optimizer": scaled, "loss": "mse"}


def _legacy(name: str, **options: Any) -> Callable[[Keras], CompileArguments]:
    return lambda k: {
        "optimizer": getattr(k.optimizers.legacy, name)(**options),
        "loss": "mse",
        "metrics": ["mae"],
    }


def exponential(k: Keras) -> Any:
    return k.optimizers.schedules.ExponentialDecay(0.05, 3, 0.7, staircase=True)


def _cosine(k: Keras) -> Any:
    return k.optimizers.schedules.CosineDecay(0.0, 12, warmup_target=0.05, warmup_steps=4)


def _piecewise(k: Keras) -> Any:
    return k.optimizers.schedules.PiecewiseConstantDecay([4, 9], [0.1, 0.05, 0.01])


def _two_heads(k: Keras) -> CompileArguments:
    return {
        "optimizer": k.optimizers.RMSprop(0.01),
        "loss": {"total": "mse", "label": "sparse_categorical_crossentropy"},
        "loss_weights": {"total": 0.3, "label": 1.0},
        "metrics": {"total": ["mae"], "label": ["accuracy"]},
    }


def _rich_metrics(k: Keras) -> CompileArguments:
    metrics = [
        k.metrics.AUC(num_thresholds=20, from_logits=True),
        k.metrics.BinaryAccuracy(threshold=0.0),
        "mae",
    ]
    loss = k.losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.1)
    return {
        "optimizer": k.optimizers.Adam(0.01),
        "loss": loss,
        "metrics": metrics,
        "weighted_metrics": ["mse"],
    }


def _own_loss(k: Keras) -> CompileArguments:
    def pinball(y_true: Any, y_pred: Any) -> Any:
        error = tf.cast(y_true, y_pred.dtype) - y_pred
        return tf.reduce_mean(tf.maximum(0.3 * error, -0.7 * error), -1)

    return {"optimizer": k.optimizers.SGD(0.05, nesterov=True, momentum=0.9), "loss": pinball}


def _two_optimizers(k: Keras) -> CompileArguments:
    return {"critic_optimizer": k.optimizers.Adam(0.01), "generator_optimizer": k.optimizers.RMSprop(0.02)}


# A table, one combination a line.
# fmt: off
OPTIMIZERS = [
    Case("sgd", models.mlp, data.arrays, mse("SGD")),
    Case("sgd-momentum-clipnorm", models.normed, data.arrays, mse("SGD", momentum=0.9, clipnorm=0.5)),
    Case("sgd-nesterov-schedule", models.normed, data.arrays, mse("SGD", momentum=0.9, nesterov=True, learning_rate=exponential)),
    Case("sgd-weight-decay-clipvalue", models.normed, data.dataset, mse("SGD", weight_decay=0.01, clipvalue=0.2)),
    Case("adam", models.normed, data.arrays, mse("Adam")),
    Case("adam-amsgrad-global-clipnorm", models.normed, data.arrays, mse("Adam", amsgrad=True, global_clipnorm=0.5)),
    Case("adam-ema", models.normed, data.arrays, mse("Adam", use_ema=True, ema_momentum=0.8)),
    Case("adam-ema-overwrites", models.normed, data.arrays, mse("Adam", use_ema=True, ema_overwrite_frequency=4)),
    Case("adam-gradient-accumulation", models.normed, data.arrays, mse("Adam", gradient_accumulation_steps=3), flavours=(KERAS,)),
    Case("adam-own-accumulation", models.accumulating_step, data.arrays, lambda k: {"optimizer": k.optimizers.Adam(0.05)}, asks=("loss", "dense/output")),
    Case("adamw-cosine-warmup", models.normed, data.arrays, mse("AdamW", weight_decay=0.004, learning_rate=_cosine)),
    Case("nadam", models.normed, data.arrays, mse("Nadam")),
    Case("adamax", models.normed, data.arrays, mse("Adamax")),
    Case("rmsprop-centered-momentum", models.normed, data.arrays, mse("RMSprop", centered=True, momentum=0.5)),
    Case("adagrad", models.normed, data.arrays, mse("Adagrad")),
    Case("adadelta", models.normed, data.arrays, mse("Adadelta", learning_rate=1.0)),
    Case("ftrl", models.mlp, data.arrays, mse("Ftrl", l1_regularization_strength=0.01)),
    Case("lion-piecewise", models.normed, data.arrays, mse("Lion", learning_rate=_piecewise)),
    Case("adafactor", models.normed, data.arrays, mse("Adafactor")),
    Case("lamb", models.normed, data.arrays, mse("Lamb"), flavours=(KERAS,)),
    Case("loss-scale-optimizer", models.normed, data.arrays, _loss_scaled),
    Case("legacy-adam", models.normed, data.arrays, _legacy("Adam", learning_rate=0.01, clipnorm=1.0), flavours=(TF_KERAS,)),
    Case("legacy-sgd-decay", models.normed, data.dataset, _legacy("SGD", learning_rate=0.05, momentum=0.9, decay=0.1), flavours=(TF_KERAS,)),
]

MODELS = [
    Case("deferred-build", models.deferred, data.dataset, mse("Adam"), asks=("loss", "dense/output", "dropout/output", "gradients/dense_1/kernel")),
    Case("dicts-in-and-out", models.dicts, data.dicts, _two_heads, asks=("loss", "dense/output", "label/output", "gradients/total/kernel")),
    Case("dict-dataset", models.dicts, data.dict_dataset, _two_heads, asks=("loss", "dense/output", "label/output", "gradients/total/kernel")),
    Case("lists-in-and-out", models.lists, data.lists, lambda k: {"optimizer": "adam", "loss": ["mse", "mae"]}),
    Case("nested-model-used-twice", models.nested, data.arrays, mse("Adam"), asks=("loss", "encoder/dense/output", "gradients/encoder/dense/kernel")),
    Case("subclassed-add-loss", models.subclassed, data.arrays, mse("Adam"), asks=("loss", "dense/output", "gradients/dense/kernel", "dropout/output")),
    Case("own-train-step", models.own_step, data.arrays, lambda k: {"optimizer": k.optimizers.Adam(0.01)}),
    Case("gan-two-optimizers", models.gan, data.dataset, _two_optimizers, asks=("logs/critic_loss", "generator/dense/output", "gradients/generator/dense/kernel")),
    Case("conv2d-batchnorm", models.conv, data.images, logits("Adam"), asks=("loss", "conv2d/output", "gradients/conv2d/kernel")),
    Case("separable-depthwise-transpose", models.separable, data.images, logits("SGD"), asks=("loss", "separable_conv2d/output", "gradients/conv2d_transpose/kernel")),
    Case("random-augmentation", models.augmented, data.images, logits("Adam"), asks=("loss", "random_flip/output", "gaussian_noise/output", "gradients/conv2d/kernel")),
    Case("conv1d-causal", models.conv1d, data.sequences, mse("Adam"), asks=("loss", "conv1d/output", "gradients/conv1d/kernel")),
    Case("lstm-dropout", models.lstm, data.sequences, mse("Adam"), asks=("loss", "lstm/output", "gradients/dense/kernel")),
    Case("lstm-stateful", models.stateful_lstm, data.full_sequences, mse("RMSprop"), asks=("loss", "lstm/output", "gradients/dense/kernel")),
    Case("gru-bidirectional", models.gru, data.sequences, mse("Adam"), asks=("loss", "bidirectional/output", "gradients/dense/kernel")),
    Case("embedding-mask-sparse-gradients", models.embedding, data.tokens, logits("Adam"), asks=("loss", "embedding/output", "gradients/embedding/embeddings/values")),
    Case("embedding-adagrad", models.embedding, data.tokens, logits("Adagrad"), asks=("loss", "embedding/output", "gradients/embedding/embeddings/indices")),
    Case("attention", models.attention, data.tokens, logits("Adam"), asks=("loss", "multi_head_attention/output", "gradients/dense/kernel")),
    Case("string-lookup-normalization", models.words, data.words, mse("Adam"), asks=("loss", "normalization/output", "embedding/output", "gradients/dense/kernel")),
    Case("frozen-layers", models.frozen, data.arrays, mse("Adam"), asks=("loss", "dense/output", "gradients/dense_1/kernel")),
    Case("constraints-activity-regularizer", models.constrained, data.arrays, mse("SGD")),
    Case("layer-that-counts", models.counting, data.arrays, mse("Adam")),
    Case("tensorflow-random-operations", models.noisy, data.arrays, mse("Adam")),
    Case("rich-metrics", models.mlp, data.one_class, _rich_metrics),
    Case("own-loss", models.mlp, data.arrays, _own_loss),
]

PRECISIONS = [
    Case("mixed-float16-mlp", with_policy(models.normed, "mixed_float16"), data.arrays, mse("Adam")),
    Case("mixed-float16-conv", with_policy(models.conv, "mixed_float16"), data.images, logits("SGD", momentum=0.9), asks=("loss", "conv2d/output", "gradients/conv2d/kernel")),
    Case("mixed-float16-gru", with_policy(models.gru, "mixed_float16"), data.sequences, mse("Adam"), asks=("loss", "bidirectional/output", "gradients/dense/kernel")),
    Case("mixed-bfloat16-mlp", with_policy(models.normed, "mixed_bfloat16"), data.arrays, mse("Adam")),
    Case("float64-mlp", with_policy(models.normed, "float64"), data.arrays, mse("Adam"), flavours=(TF_KERAS,)),
]

DATA_FORMS = [
    Case("sample-weight", models.normed, data.weighted, mse("Adam")),
    Case("class-weight", models.classifier, data.class_weighted, lambda k: {"optimizer": "adam", "loss": "sparse_categorical_crossentropy", "weighted_metrics": ["accuracy"]}),
    Case("validation-data", models.normed, data.validated, mse("Adam")),
    Case("validation-split", models.normed, data.split, mse("Adam")),
    Case("dataset-shuffled-ragged-last-batch", models.normed, data.dataset, mse("Adam")),
    Case("dataset-full-batches", models.normed, data.full_batches, mse("Adam")),
    Case("dataset-infinite", models.normed, data.infinite, mse("Adam")),
    Case("dataset-goes-on-over-epochs", models.normed, data.long_finite, mse("Adam")),
    Case("dataset-too-short", models.normed, data.too_short, mse("Adam"), flavours=(KERAS,)),
    Case("dataset-unknown-length", models.normed, data.unknown_length, mse("Adam"), plain_data=data.with_length(data.unknown_length)),
    Case("dataset-from-generator", models.normed, data.from_generator, mse("Adam"), plain_data=data.with_length(data.from_generator)),
    Case("dataset-with-weights", models.normed, data.weighted_dataset, mse("Adam")),
    Case("dataset-changing-lengths", models.gru, data.changing_lengths, mse("Adam"), asks=("loss", "bidirectional/output", "gradients/dense/kernel"), plain_data=data.with_length(data.changing_lengths)),
    Case("py-dataset", models.normed, data.py_dataset, mse("Adam")),
    Case("python-generator", models.normed, data.generator, mse("Adam")),
    Case("ragged-tensor-inputs", models.ragged, data.ragged_rows, mse("Adam"), asks=("loss", "embedding/output", "gradients/dense/kernel")),
    Case("sparse-tensor-inputs", models.sparse, data.sparse_rows, mse("Adam"), asks=("loss", "dense/output", "gradients/dense/kernel/values")),
]

COMPILE_OPTIONS = [
    Case("steps-per-execution-divides", models.normed, data.infinite, and_(mse("Adam"), steps_per_execution=3), fit={"steps_per_epoch": 6}),
    Case("steps-per-execution-does-not-divide", models.normed, data.dataset, and_(mse("Adam"), steps_per_execution=3)),
    Case("steps-per-execution-arrays-validation", models.normed, data.validated, and_(mse("Adam"), steps_per_execution=2)),
    Case("steps-per-execution-lstm", models.lstm, data.sequences, and_(mse("Adam"), steps_per_execution=5), asks=("loss", "lstm/output", "gradients/dense/kernel")),
    Case("steps-per-execution-longer-than-epoch", models.normed, data.arrays, and_(mse("SGD"), steps_per_execution=9)),
    Case("steps-per-execution-unknown-length", models.normed, data.unknown_length, and_(mse("Adam"), steps_per_execution=3), flavours=(KERAS,), plain_data=data.with_length(data.unknown_length)),
    Case("run-eagerly", models.normed, data.arrays, and_(mse("Adam"), run_eagerly=True)),
    Case("run-eagerly-subclassed", models.subclassed, data.dataset, and_(mse("SGD", momentum=0.9), run_eagerly=True), asks=("loss", "dense/output", "gradients/dense/kernel", "dropout/output")),
    Case("jit-true", models.undropped, data.arrays, and_(mse("Adam"), jit_compile=True), asks=UNIT),
    # tf_keras's Dropout ignores its seed under XLA, so that not even a plain `fit` can be repeated.
    Case("jit-true-dropout", models.normed, data.arrays, and_(mse("Adam"), jit_compile=True), asks=UNIT, flavours=(KERAS,)),
    Case("jit-auto", models.normed, data.dataset, and_(mse("SGD", momentum=0.9), jit_compile="auto"), asks=UNIT, flavours=(KERAS,)),
    Case("jit-true-conv", models.conv, data.images, and_(logits("Adam"), jit_compile=True), asks=UNIT),
    Case("jit-true-steps-per-execution", models.undropped, data.infinite, and_(mse("Adam"), jit_compile=True, steps_per_execution=2), asks=UNIT),
    Case("jit-true-mixed-bfloat16", with_policy(models.mlp, "mixed_bfloat16"), data.full_batches, and_(mse("Adam"), jit_compile=True), asks=UNIT),
]

# What hooks fetch must not change how TensorFlow's graph optimizer joins and reorders operations.
EVERY_INNER_TENSOR = [
    Case("activations", models.activations, data.arrays, mse("Adam")),
    Case("arithmetic", models.arithmetic, data.arrays, mse("Adam")),
    Case("residual-convolutions", models.residual, data.images, logits("Adam")),
    Case("transformer", models.transformer, data.tokens, logits("Adam")),
    Case("lstm", models.lstm, data.sequences, mse("Adam")),
    Case("residual-convolutions-mixed-float16", with_policy(models.residual, "mixed_float16"), data.images, logits("Adam")),
]
# fmt: on

CASES = [*OPTIMIZERS, *MODELS, *PRECISIONS, *DATA_FORMS, *COMPILE_OPTIONS]


def by_flavour(cases: Sequence[Case] = CASES) -> list[tuple[str, Case]]:
    """All pairs of Keras package and case."""
    return [(flavour, case) for case in cases for flavour in case.flavours]
