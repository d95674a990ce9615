"""`model_to_estimator`: a compiled Keras model behind an Estimator's methods; its training is a real Keras fit."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from bridge import tf_internals
from bridge.checkpoint import load_v1
from bridge.errors import CheckpointMismatchError, ResumeWarning
from bridge.estimator import evaluation
from bridge.estimator.errors import EstimatorError, EstimatorTypeError, UnsupportedEstimatorError
from bridge.estimator.estimator import Estimator, global_step_of
from bridge.estimator.export.saved_model import publish, timestamped_now
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.model_fn import checked_hooks
from bridge.estimator.run_config import RunConfig
from bridge.hook_callback import HookCallback
from bridge.monitored import MonitoredTrainingSession

tf1 = tf.compat.v1
_NanTensorHook: Any = tf1.train.NanTensorHook


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: str | os.PathLike[str] | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: str | os.PathLike[str] | None = None,
    config: RunConfig | None = None,
    checkpoint_format: str | None = None,
    use_v2_estimator: bool = False,
) -> Estimator:
    """Returns an Estimator over a compiled Keras model (`tf.keras.estimator.model_to_estimator`).

    Training is a fit of the model itself, in a `bridge.MonitoredTrainingSession`; v1 trained a copy. The program must
    run eagerly, and input functions must return datasets.

    Args:
      keras_model: A compiled Keras 3 or tf_keras model.
      keras_model_path: A saved Keras 3 model, in place of `keras_model`.
      custom_objects: For loading it.
      model_dir: As for `Estimator`.
      config: As for `Estimator`.
      checkpoint_format: "saver" or None: checkpoints are name-based.
      use_v2_estimator: Has no effect.

    Returns:
      The Estimator.

    Raises:
      EstimatorError: (a ValueError) there is no compiled model, or both model and path.
      UnsupportedEstimatorError: object-based checkpoints are asked for, or the program does not run eagerly.
    """
    del use_v2_estimator
    if keras_model is None and not keras_model_path:
        raise EstimatorError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model is not None and keras_model_path:
        raise EstimatorError("Give either `keras_model` or `keras_model_path`, but not both.")
    if checkpoint_format not in (None, "saver"):
        raise UnsupportedEstimatorError(
            f"checkpoint_format={checkpoint_format!r} is not supported: checkpoints are name-based, as hooks and "
            "bridge.checkpoint.load_v1 need them. Leave it out, or use model.save."
        )
    if keras_model is None:
        keras_model = keras.models.load_model(keras_model_path, custom_objects=custom_objects)
    if getattr(keras_model, "optimizer", None) is None:
        raise EstimatorError(
            "The given keras model has not been compiled yet. Call model.compile() before model_to_estimator()."
        )
    return KerasEstimator(keras_model, model_dir, config)


def _check_one_replica(name: str, strategy: Any) -> None:
    """Checks that a strategy changes nothing for a Keras model, which has the one of its own `compile`."""
    if strategy is not None and strategy.num_replicas_in_sync > 1:
        raise UnsupportedEstimatorError(
            f"A Keras model is distributed by itself, not by RunConfig({name}=...). Make and compile it in strategy.scope(), leave the "
            f"strategy out of RunConfig, and let input_fn give batches for all {strategy.num_replicas_in_sync} replicas together."
        )


def _no_model_fn(features: Any, mode: str) -> Any:
    raise UnsupportedEstimatorError(
        f"A Keras model behind an Estimator has no model_fn (for mode {mode!r}). Use its methods, or the model itself."
    )


class KerasEstimator(Estimator):
    """An Estimator whose model is a Keras model.

    Attributes:
      keras_model: The model.
    """

    def __init__(
        self, keras_model: Any, model_dir: str | os.PathLike[str] | None, config: RunConfig | None
    ) -> None:
        """Takes the model; arguments as for `model_to_estimator`."""
        if not tf.executing_eagerly():
            raise UnsupportedEstimatorError(
                "model_to_estimator needs a program that runs eagerly: Keras 3 has no v1 graphs. Take out disable_v2_behavior() and "
                "disable_eager_execution(), and call it outside of tf.Graph().as_default(); or write the model_fn with tf.compat.v1 "
                "operations."
            )
        super().__init__(_no_model_fn, model_dir, config)
        self.keras_model = keras_model

    # ---- Training. ----

    def _train(self, input_fn: Callable[..., Any], **how: Any) -> Any:
        config, model = self._config, self.keras_model
        if config.num_ps_replicas:
            raise UnsupportedEstimatorError(
                "A Keras model does not train with parameter servers. Compile it in the scope of its tf.distribute strategy, and leave "
                "them out."
            )
        _check_one_replica("train_distribute", config.train_distribute)
        listeners, hooks = how["saving_listeners"], how["hooks"]
        if listeners and not (config.save_checkpoints_secs or config.save_checkpoints_steps):
            raise EstimatorError(
                "There should be a CheckpointSaverHook to use saving_listeners. Set one of RunConfig.save_checkpoints_steps and "
                "RunConfig.save_checkpoints_secs."
            )
        graph = _StepHooks(config, listeners)
        per_epoch, last_step = how["steps_per_epoch"], how["last_step"]
        epochs = 1 if per_epoch is None else -(-last_step // per_epoch) if last_step else 2**31 - 1
        with _eager(), warnings.catch_warnings():
            # The data of each call begin anew, as an Estimator's do.
            warnings.simplefilter("ignore", ResumeWarning)
            data = self._dataset(input_fn, ModeKeys.TRAIN)
            with MonitoredTrainingSession(
                checkpoint_dir=config.model_dir,
                scaffold=graph.scaffold,
                hooks=[*hooks, graph.loss_hook, *graph.logging_hooks()],
                chief_only_hooks=graph.savers(),
                save_checkpoint_secs=0,
                save_summaries_steps=config.save_summary_steps,
                config=None,
                log_step_count_steps=config.log_step_count_steps,
            ) as session:
                session.fit(
                    model,
                    _without_length(data),
                    epochs=epochs,
                    steps_per_epoch=per_epoch,
                    callbacks=how["callbacks"],
                    verbose=0,
                )
        return graph.last_loss

    # ---- Evaluation and prediction. ----

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates a checkpoint by `keras.Model.evaluate`, and writes events. Arguments as for `Estimator.evaluate`."""
        if steps is not None and steps <= 0:
            raise EstimatorError(f"Must specify steps > 0, given: {steps}. None is for the whole input.")
        _check_one_replica("eval_distribute", self._config.eval_distribute)
        callbacks = [HookCallback(eval_hooks=made)] if (made := checked_hooks(hooks)) else []
        path = checkpoint_path or self._latest_or_warn("evaluate")
        with _eager(), self._weights_of(path):
            data = self._dataset(input_fn, ModeKeys.EVAL)
            values = self.keras_model.evaluate(
                data, steps=steps, callbacks=callbacks, verbose=0, return_dict=True
            )
        results: dict[str, Any] = {key: np.float32(value) for key, value in sorted(values.items())}
        results["global_step"] = np.int64(global_step_of(path))
        with tf.Graph().as_default():
            evaluation.write(results, path, self.eval_dir(name))
        return results

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Iterable[str] | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields the model's outputs by name. Arguments as for `Estimator.predict`.

        With hooks the whole input is predicted before the first value is yielded.
        """
        own_hooks = checked_hooks(hooks)
        path = checkpoint_path or self._latest_or_warn("predict")
        with _eager():
            features = self._dataset(input_fn, ModeKeys.PREDICT).map(_features_only)
        for batch in self._batches(features, path, own_hooks):
            named = self._named(batch)
            if predict_keys is not None:
                named = {key: value for key, value in named.items() if key in list(predict_keys)}
                if not named:
                    raise EstimatorError(
                        f"Expected to run at least one output from {list(self._named(batch))}, provided {predict_keys}."
                    )
            if not yield_single_examples:
                yield named
                continue
            for index in range(len(next(iter(named.values())))):
                yield {key: value[index] for key, value in named.items()}

    def _batches(self, features: Any, path: str | None, hooks: tuple[Any, ...]) -> Iterator[Any]:
        if hooks:
            with _eager(), self._weights_of(path):
                everything = self.keras_model.predict(
                    features, callbacks=[HookCallback(predict_hooks=hooks)], verbose=0
                )
            yield everything
            return
        for batch in features:
            with _eager(), self._weights_of(path):
                made = self.keras_model.predict_on_batch(batch)
            yield made

    def _named(self, outputs: Any) -> dict[str, Any]:
        if isinstance(outputs, dict):
            return outputs
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        names = getattr(self.keras_model, "output_names", None)
        if not names and len(outputs) == 1 and isinstance(self.keras_model, keras.Sequential):
            names = [self.keras_model.layers[-1].name]
        if not names or len(names) != len(outputs):
            names = [f"output_{index + 1}" for index in range(len(outputs))]
        return dict(zip(names, outputs, strict=True))

    # ---- Export. ----

    def experimental_export_all_saved_models(
        self,
        export_dir_base: str | os.PathLike[str],
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Writes a SavedModel of the model behind its receiver. Arguments as for `Estimator`; only for prediction."""
        if set(input_receiver_fn_map) != {ModeKeys.PREDICT} or as_text:
            raise UnsupportedEstimatorError(
                "A Keras model is exported for prediction only, and not as text. Use model.export or model.save for more."
            )
        path = checkpoint_path or self.latest_checkpoint()
        if path is None:
            raise EstimatorError(f"Couldn't find trained model at {self.model_dir}. Train it first.")
        target = timestamped_now(os.fspath(export_dir_base))
        with _eager(), self._weights_of(path):
            serve = _served(self.keras_model, input_receiver_fn_map[ModeKeys.PREDICT], self._named)
            module = tf.Module()
            # Not the model: of a variable of Keras 3 that an object holds, SavedModels get a copy, and what reads them without
            # the objects, such as TensorFlow Serving, restores the copy alone.
            module.captured = list(serve.get_concrete_function().variables)
            module.tables, module.serve = _tables(self.keras_model), serve
            publish(
                lambda folder: tf.saved_model.save(module, folder, signatures={"serving_default": serve}),
                target,
                assets_extra,
            )
        return target.encode()

    # ---- What these have in common. ----

    def _dataset(self, input_fn: Callable[..., Any], mode: str) -> tf.data.Dataset:
        data = self._call_input_fn(input_fn, mode)
        if not isinstance(data, tf.data.Dataset):
            raise EstimatorTypeError(
                f"input_fn must return a tf.data.Dataset for a Keras model, but it returned {data!r}. Return the dataset itself, without "
                "an iterator; arrays become one by tf.data.Dataset.from_tensor_slices((x, y)).batch(size)."
            )
        return data.map(_with_weights)

    @contextlib.contextmanager
    def _weights_of(self, path: str | None) -> Iterator[None]:
        """Gives the model a checkpoint's weights for a while; a training that is running goes on with its own."""
        model = self.keras_model
        metrics = [variable for metric in model.metrics for variable in metric.variables]
        kept = [
            (variable, variable.numpy())
            for variable in (*model.variables, *_optimizer_variables(model), *metrics)
        ]
        if path is not None:
            # Not strict: hooks may have saved variables of their own, such as those of early stopping.
            report = load_v1(model, path, strict=False)
            if report.missing or report.shape_mismatches:
                raise CheckpointMismatchError(
                    f"The checkpoint does not fit the Keras model. Give another model_dir or checkpoint_path.\n{report}",
                    report,
                )
        try:
            yield
        finally:
            for variable, value in kept:
                variable.assign(value)


@contextlib.contextmanager
def _eager() -> Iterator[None]:
    """Enters eager mode; also from a hook or listener, whose graph's collections would go into what is traced."""
    with tf.Graph().as_default(), tf_internals.eager_mode():
        yield


def _optimizer_variables(model: Any) -> list[Any]:
    variables = model.optimizer.variables
    return list(variables() if callable(variables) else variables)


def _tables(model: Any) -> list[Any]:
    """Returns the lookup tables of a model's layers, and of the layers that these hold."""
    found: list[Any] = []
    parts, seen = [model], {id(model)}
    for part in parts:  # Grows on the way.
        held = [*getattr(part, "layers", ())]
        for value in vars(part).values():
            held += value if isinstance(value, (list, tuple)) else [value]
        for value in held:
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, tf.saved_model.experimental.TrackableResource):
                found.append(value)
            elif isinstance(value, (keras.layers.Layer, tf.Module)):
                parts.append(value)
    return found


def _without_length(data: tf.data.Dataset) -> tf.data.Dataset:
    """Returns the dataset without a known length: the data of each call are one epoch, whatever came before."""
    return data.filter(lambda *unused: True)


def _with_weights(*batch: Any) -> Any:
    """Takes the weights out of features of the form `{"features": …, "sample_weights": …}`, as v1 did."""
    if isinstance(batch[0], dict) and set(batch[0]) == {"features", "sample_weights"}:
        return (batch[0]["features"], batch[1], batch[0]["sample_weights"])
    return batch if len(batch) > 1 else batch[0]


def _features_only(*batch: Any) -> Any:
    return batch[0]


class _LossHook(_NanTensorHook):
    """Raises at a loss that is NaN, keeps the last one, and adds its summary."""

    def __init__(self, owner: _StepHooks) -> None:
        super().__init__(tf1.get_default_graph().get_tensor_by_name("loss:0"))
        self._owner = owner

    def begin(self) -> None:
        super().begin()
        # `summary.scalar` would make the tag unique: in this graph something else is called `loss`.
        summary = tf.raw_ops.ScalarSummary(tags="loss", values=self._loss_tensor)
        tf1.add_to_collection(tf1.GraphKeys.SUMMARIES, summary)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        super().after_run(run_context, run_values)
        self._owner.last_loss = run_values.results


class _StepHooks:
    """Estimator's own hooks, which are made inside of the step's graph.

    Attributes:
      last_loss: The last step's loss.
    """

    def __init__(self, config: RunConfig, listeners: list[Any]) -> None:
        self._config, self._listeners = config, listeners
        self._scaffold: Any = None
        self.last_loss: Any = None

    def scaffold(self) -> Any:
        self._scaffold = tf1.train.Scaffold(
            saver=tf1.train.Saver(
                sharded=True,
                max_to_keep=self._config.keep_checkpoint_max,
                keep_checkpoint_every_n_hours=self._config.keep_checkpoint_every_n_hours,
                defer_build=True,
                save_relative_paths=True,
            )
        )
        return self._scaffold

    def savers(self) -> list[Callable[[], Any]]:
        config = self._config
        if not (config.save_checkpoints_secs or config.save_checkpoints_steps):
            return []
        return [
            lambda: tf1.train.CheckpointSaverHook(
                config.model_dir,
                save_secs=config.save_checkpoints_secs,
                save_steps=config.save_checkpoints_steps,
                scaffold=self._scaffold,
                listeners=self._listeners,
                save_graph_def=config.checkpoint_save_graph_def,
            )
        ]

    def loss_hook(self) -> Any:
        return _LossHook(self)

    def logging_hooks(self) -> list[Callable[[], Any]]:
        steps = self._config.log_step_count_steps
        if steps is None:
            return []
        return [
            lambda: tf1.train.LoggingTensorHook(
                {"loss": "loss:0", "step": tf1.train.get_global_step()}, every_n_iter=steps
            )
        ]


def _served(model: Any, receiver_fn: Callable[[], Any], named: Callable[[Any], dict[str, Any]]) -> Any:
    """Returns the function of a served model: the receiver's graph, then the model."""
    receivers: list[Any] = []
    wrapped = tf1.wrap_function(lambda: receivers.append(receiver_fn()), [])
    (receiver,) = receivers
    inputs = dict(receiver.receiver_tensors)
    features = receiver.features
    if isinstance(features, dict) and set(features) == {"feature"}:
        features = features["feature"]
    parse = wrapped.prune(list(inputs.values()), tf.nest.flatten(features, expand_composites=True))
    signature = [tf.TensorSpec(tensor.shape, tensor.dtype, name) for name, tensor in inputs.items()]

    def serve(*tensors: Any) -> dict[str, Any]:
        flat = parse(*tensors)
        return named(model(tf.nest.pack_sequence_as(features, flat, expand_composites=True), training=False))

    return tf.function(serve, input_signature=signature)
