"""`Estimator`: a model given by its `model_fn`, trained, evaluated, asked and exported, each in a graph of its own."""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from bridge.estimator import evaluation, training
from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.export import saved_model
from bridge.estimator.functions import argument_names, call_by_name
from bridge.estimator.input_pipeline import ends
from bridge.estimator.keras_names import counted_by_graph
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.model_fn import EstimatorSpec, checked_hooks, verify_model_fn
from bridge.estimator.replicas import Alone, replicas_of
from bridge.estimator.run_config import RunConfig, TaskType, default_session_config
from bridge.estimator.warm_start import warm_start_settings

tf1 = tf.compat.v1


class Estimator:
    """Trains, evaluates, asks and exports the model that a `model_fn` builds (`tf.estimator.Estimator`).

    Every call builds a fresh v1 graph, whether the program runs eagerly or after `disable_v2_behavior()`. Training is a
    Keras fit of that graph (`bridge.GraphModel`) in a `bridge.MonitoredTrainingSession`.
    """

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        model_dir: str | os.PathLike[str] | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        """Takes the model's function.

        Args:
          model_fn: Builds the model: a function of `features` and, if it has such arguments, `labels`, `mode`, `params`
            and `config`, that returns an `EstimatorSpec`.
          model_dir: Folder of checkpoints and summaries; None for the config's, or a temporary one.
          config: A `RunConfig`.
          params: What `model_fn` and `input_fn` get as `params`.
          warm_start_from: A checkpoint, a folder of checkpoints, a SavedModel or `WarmStartSettings`, from which variables
            get their first values.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        self._config = _completed(config, model_dir)
        tf1.logging.info("Using config: %s", vars(self._config))
        if model_fn is None:
            raise EstimatorError("model_fn must be provided to Estimator.")
        verify_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = warm_start_settings(warm_start_from)

    # ---- What it is made of. ----

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints and summaries."""
        return self._config.model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the config."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the params."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The `model_fn`, bound to the params: a function of features, labels, mode and config."""

        def bound(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            return self._call_model_fn(features, labels, mode, config)

        return bound

    def eval_dir(self, name: str | None = None) -> str:
        """Returns the folder of an evaluation's events.

        Args:
          name: The evaluation's name.
        """
        return os.path.join(self.model_dir, f"eval_{name}" if name else "eval")  # noqa: PTH118 - it may be gs://

    def latest_checkpoint(self) -> str | None:
        """Returns the prefix of the newest checkpoint, or None."""
        return tf.train.latest_checkpoint(self.model_dir)

    def get_variable_names(self) -> list[str]:
        """Returns the names of all variables in the newest checkpoint.

        Raises:
          EstimatorError: (a ValueError) there is none yet.
        """
        return [name for name, _ in tf.train.list_variables(self._checkpoint())]

    def get_variable_value(self, name: str) -> Any:
        """Returns a variable's value in the newest checkpoint, as an array.

        Args:
          name: The variable's name.

        Raises:
          EstimatorError: (a ValueError) there is no checkpoint yet.
        """
        return tf.train.load_variable(self._checkpoint(), name)

    def _checkpoint(self) -> str:
        path = self.latest_checkpoint()
        if path is None:
            raise EstimatorError(f"Couldn't find trained model at {self.model_dir}. Train it first.")
        return path

    # ---- What it does. ----

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Iterable[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Iterable[Any] | None = None,
        *,
        callbacks: Any = None,
        steps_per_epoch: int | None = None,
    ) -> Estimator:
        """Trains the model, from the newest checkpoint on.

        Args:
          input_fn: Returns the input: a dataset, a pair of features and labels, or features alone. It gets those of
            `mode`, `params` and `config` that it has as arguments.
          hooks: `SessionRunHook`s.
          steps: How many steps to train, beside those of earlier calls.
          max_steps: The step at which to stop, those of earlier calls counted. If it is reached, nothing is trained.
          saving_listeners: `CheckpointSaverListener`s.
          callbacks: Keras callbacks; their model is a `bridge.GraphModel`, and their log is `loss`.
          steps_per_epoch: How many steps are an epoch for them; None for one epoch that lasts for the whole call.

        Returns:
          This Estimator.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
          tf.compat.v1.train.NanLossDuringTrainingError: the loss is NaN.
        """
        if self._config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise EstimatorError(
                f"Train has been called in a process whose task is {self._config.task_type}. Use train_and_evaluate, which does what "
                "TF_CONFIG says."
            )
        if steps is not None and max_steps is not None:
            raise EstimatorError("Can not provide both steps and max_steps. Give one of them.")
        for name, count in (("steps", steps), ("max_steps", max_steps)):
            if count is not None and count <= 0:
                raise EstimatorError(f"Must specify {name} > 0, given: {count}.")
        first_step = global_step_of(self.latest_checkpoint())
        if max_steps is not None and max_steps <= first_step:
            tf1.logging.info("Skipping training since max_steps has already saved.")
            return self
        user_hooks = [*checked_hooks(hooks)]
        if steps is not None or max_steps is not None:
            user_hooks.append(tf1.train.StopAtStepHook(steps, max_steps))
        loss = self._train(
            input_fn,
            hooks=user_hooks,
            saving_listeners=_checked_listeners(saving_listeners),
            callbacks=callbacks,
            steps_per_epoch=steps_per_epoch,
            last_step=max_steps if steps is None else first_step + steps,
        )
        tf1.logging.info("Loss for final step: %s.", loss)
        return self

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates a checkpoint, and writes the result as events to `eval_dir(name)`.

        Args:
          input_fn: As for `train`.
          steps: How many batches; None for the whole input.
          hooks: `SessionRunHook`s.
          checkpoint_path: The checkpoint; None for the newest. Without any, the initial model is evaluated.
          name: The evaluation's name, which its folder bears.

        Returns:
          The metrics, `loss`, and `global_step`, by name.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be.
        """
        own_hooks = self._evaluation_hooks(hooks, steps)
        checkpoint_path = checkpoint_path or self._latest_or_warn("evaluate")
        replicas = replicas_of(self._config.eval_distribute)
        with self._graph(replicas):
            prepared = self._prepare_evaluation(replicas, input_fn, own_hooks, checkpoint_path)
            return self._run_evaluation(prepared, checkpoint_path, self.eval_dir(name))

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Iterable[str] | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields the predictions for the input, as they are asked for.

        Args:
          input_fn: As for `train`; labels are left out.
          predict_keys: The predictions to return, by name; None for all.
          hooks: `SessionRunHook`s.
          checkpoint_path: The checkpoint; None for the newest.
          yield_single_examples: Whether batches are taken apart.

        Yields:
          A dict of arrays for each example, or for each batch; arrays if predictions are a single tensor.

        Raises:
          EstimatorError: (a ValueError) an argument cannot be, or predictions have different lengths.
        """
        own_hooks = checked_hooks(hooks)
        checkpoint_path = checkpoint_path or self._latest_or_warn("predict")
        alone = replicas_of(None)  # Strategies are for training and evaluation.
        with self._graph(alone) as graph:
            features, _, input_hooks = alone.read(self._input_fn(input_fn, ModeKeys.PREDICT))
            if not ends(features):
                tf1.logging.warning(
                    "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields forever. This is "
                    "probably a mistake."
                )
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._warm_start(checkpoint_path)
            predictions = _chosen(spec.predictions, predict_keys)
            session = tf1.train.MonitoredSession(
                tf1.train.ChiefSessionCreator(
                    scaffold=spec.scaffold,
                    checkpoint_filename_with_path=checkpoint_path,
                    master=self._config.master,
                    config=self._config.session_config,
                ),
                hooks=[*input_hooks, *own_hooks, *spec.prediction_hooks],
            )
        with session:
            while not session.should_stop():
                with graph.as_default():  # Not around the `yield`: the caller's code is outside of the graph.
                    batch = session.run(predictions)
                yield from _examples(batch) if yield_single_examples else [batch]

    def export_saved_model(
        self,
        export_dir_base: str | os.PathLike[str],
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes a SavedModel, which `tf.saved_model.load` and v1's loader read.

        Args:
          export_dir_base: The folder in which a folder named by the time is made.
          serving_input_receiver_fn: Returns a `ServingInputReceiver`.
          assets_extra: From paths inside of `assets.extra` to files.
          as_text: Whether the graph is written as text.
          checkpoint_path: The checkpoint; None for the newest.
          experimental_mode: The mode of the exported graph.

        Returns:
          The path of the SavedModel, as bytes.

        Raises:
          EstimatorError: (a ValueError) there is no checkpoint, or it does not fit.
        """
        if serving_input_receiver_fn is None:
            raise EstimatorError("An input_receiver_fn must be defined: serving_input_receiver_fn is None.")
        return self.experimental_export_all_saved_models(
            export_dir_base,
            {experimental_mode: serving_input_receiver_fn},
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )

    def export_savedmodel(
        self,
        export_dir_base: str | os.PathLike[str],
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Is the old name of `export_saved_model`.

        Args:
          export_dir_base: As there.
          serving_input_receiver_fn: As there.
          assets_extra: As there.
          as_text: As there.
          checkpoint_path: As there.
          strip_default_attrs: Has no effect: attributes with their default values are always left out.

        Returns:
          As there.
        """
        del strip_default_attrs
        return self.export_saved_model(
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: str | os.PathLike[str],
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Writes a SavedModel with a graph for each of several modes.

        Args:
          export_dir_base: As for `export_saved_model`.
          input_receiver_fn_map: From modes to functions that return a `ServingInputReceiver`, or for TRAIN and EVAL a
            receiver with labels.
          assets_extra: As for `export_saved_model`.
          as_text: As for `export_saved_model`.
          checkpoint_path: As for `export_saved_model`.

        Returns:
          The path of the SavedModel, as bytes.

        Raises:
          EstimatorError: (a ValueError) there is no checkpoint, no mode, or they do not fit.
        """
        checkpoint_path = checkpoint_path or self.latest_checkpoint() or self._warm_checkpoint()
        if checkpoint_path is None:
            raise EstimatorError(f"Couldn't find trained model at {self.model_dir}. Train it first.")
        graphs = [
            (mode, input_receiver_fn_map[mode])
            for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)
            if input_receiver_fn_map.get(mode)
        ]
        if not graphs:
            raise EstimatorError(
                f"No valid modes for exporting found. Got {list(input_receiver_fn_map)}; there are train, eval and infer."
            )
        with saved_model.Export(os.fspath(export_dir_base), as_text, assets_extra) as export:
            for mode, receiver_fn in graphs:
                with self._graph(replicas_of(None)):
                    receiver = receiver_fn()
                    labels = getattr(receiver, "labels", None)
                    spec = self._call_model_fn(receiver.features, labels, mode, self.config, is_export=True)
                    export.add_graph(mode, receiver, spec, checkpoint_path, self._config.session_config)
        return export.path.encode()

    # ---- How it does it. ----

    def _train(self, input_fn: Callable[..., Any], **how: Any) -> Any:
        """Builds the graph of a training and trains it; returns the last loss."""
        config = self._config
        replicas = replicas_of(config.train_distribute)
        with self._graph(replicas, self._device_fn()):
            data = replicas.read(self._input_fn(input_fn, ModeKeys.TRAIN))
            spec = replicas.build(self._model(ModeKeys.TRAIN), data)
            if self._warm_start_settings is not None:
                self._warm_start_settings.apply()
            return training.train(spec, config, input_hooks=data.hooks, **how)

    def _evaluation_hooks(self, hooks: Iterable[Any] | None, steps: int | None) -> list[Any]:
        """Returns the user's hooks, and what stops after the steps."""
        return [*checked_hooks(hooks), *([] if steps is None else [evaluation.StopAfterRuns(steps)])]

    def _prepare_evaluation(
        self,
        replicas: Alone,
        input_fn: Callable[..., Any],
        hooks: Iterable[Any],
        checkpoint_path: str | None,
    ) -> evaluation.Evaluation:
        """Builds an evaluation into the default graph, which has a global step."""
        model = self._model(ModeKeys.EVAL)
        data = replicas.read(self._input_fn(input_fn, ModeKeys.EVAL))
        spec = replicas.build(lambda features, labels: evaluation.with_loss(model(features, labels)), data)
        prepared = evaluation.prepare(spec, [*data.hooks, *hooks])
        self._warm_start(checkpoint_path)
        return prepared

    def _run_evaluation(
        self, prepared: evaluation.Evaluation, checkpoint_path: str | None, output_dir: str
    ) -> dict[str, Any]:
        return evaluation.run(
            prepared,
            checkpoint_path=checkpoint_path,
            master=self._config.evaluation_master,
            config=self._config.session_config,
            output_dir=output_dir,
        )

    @contextlib.contextmanager
    def _graph(self, replicas: Alone, device: Any = None) -> Iterator[tf.Graph]:
        """Makes a graph with seed and global step, which `device` places too, and has it as the default one."""
        graph = tf.Graph()
        with graph.as_default(), graph.device(device), replicas.scope():
            tf1.set_random_seed(self._config.tf_random_seed)
            tf1.train.create_global_step(graph)
            yield graph

    def _device_fn(self) -> Any:
        config = self._config
        if config.train_distribute is not None:  # It places the operations itself.
            return None
        if config.device_fn is not None:
            return config.device_fn
        if config.num_ps_replicas == 0:
            return None
        return tf1.train.replica_device_setter(
            ps_tasks=config.num_ps_replicas,
            worker_device=f"/job:{config.task_type}/task:{config.task_id}",
            merge_devices=True,
            cluster=config.cluster_spec,
        )

    def _input_fn(self, input_fn: Callable[..., Any], mode: str) -> Callable[..., Any]:
        """Returns a function that calls an `input_fn`, with the context of a strategy or without."""
        return functools.partial(self._call_input_fn, input_fn, mode)

    def _call_input_fn(
        self, input_fn: Callable[..., Any], mode: str, input_context: tf.distribute.InputContext | None = None
    ) -> Any:
        return call_by_name(
            input_fn,
            **self._offered(mode),
            **({} if input_context is None else {"input_context": input_context}),
        )

    def _offered(self, mode: str) -> dict[str, Any]:
        """Returns what an `input_fn` may ask for."""
        return {"mode": mode, "params": self.params, "config": self.config}

    def _model(self, mode: str) -> Callable[[Any, Any], EstimatorSpec]:
        """Returns a function that calls the `model_fn` with features and labels."""
        return lambda features, labels: self._call_model_fn(features, labels, mode, self.config)

    def _call_model_fn(
        self, features: Any, labels: Any, mode: str, config: RunConfig, *, is_export: bool = False
    ) -> EstimatorSpec:
        if labels is not None and "labels" not in argument_names(self._model_fn):
            raise EstimatorError("model_fn does not take labels, but input_fn returns labels.")
        tf1.logging.info("Calling model_fn.")
        params = self._params_of_model(mode, is_export)
        with counted_by_graph():
            returned = call_by_name(
                self._model_fn, features=features, labels=labels, mode=mode, params=params, config=config
            )
        tf1.logging.info("Done calling model_fn.")
        return self._spec(returned, mode, config)

    def _params_of_model(self, mode: str, is_export: bool) -> Any:
        """Returns what the `model_fn` gets as params."""
        del mode, is_export
        return self.params

    def _spec(self, returned: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        """Returns what the `model_fn` returned, checked."""
        del mode, config
        if not isinstance(returned, EstimatorSpec):
            raise EstimatorError(f"model_fn should return an EstimatorSpec, but it returned {returned!r}.")
        return returned

    def _warm_start(self, checkpoint_path: str | None) -> None:
        """Starts warm where nothing is restored."""
        if checkpoint_path is None and self._warm_start_settings is not None:
            self._warm_start_settings.apply()

    def _warm_checkpoint(self) -> str | None:
        if self._warm_start_settings is None:
            return None
        path = self._warm_start_settings.ckpt_to_initialize_from
        return tf.train.latest_checkpoint(path) if tf.io.gfile.isdir(path) else path

    def _latest_or_warn(self, what: str) -> str | None:
        path = self.latest_checkpoint()
        if path is None:
            tf1.logging.info(
                "Could not find trained model in model_dir: %s, running initialization to %s.",
                self.model_dir,
                what,
            )
        return path


def _completed(config: RunConfig | None, model_dir: str | os.PathLike[str] | None) -> RunConfig:
    """Returns the config with a `model_dir` and a `session_config`."""
    if config is None:
        config = RunConfig()
        tf1.logging.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise EstimatorError(f"config must be an instance of `RunConfig`, but it is {config!r}.")
    if config.session_config is None:
        config = config.replace(session_config=default_session_config())
    if model_dir is not None:
        model_dir = os.fspath(model_dir)
        if config.model_dir is not None and config.model_dir != model_dir:
            raise EstimatorError(
                "`model_dir` are set both in constructor and `RunConfig`, but with different values: "
                f"{model_dir!r} and {config.model_dir!r}. Set it in one place."
            )
    if model_dir:
        return config.replace(model_dir=model_dir)
    if config.model_dir is None:
        config = config.replace(model_dir=tempfile.mkdtemp())
        tf1.logging.warning("Using temporary folder as model directory: %s", config.model_dir)
    return config


def _checked_listeners(listeners: Iterable[Any] | None) -> list[Any]:
    made = list(listeners or [])
    for listener in made:
        if not isinstance(listener, tf1.train.CheckpointSaverListener):
            raise EstimatorTypeError(
                f"saving_listeners must be a list of CheckpointSaverListener, but there is {listener!r}."
            )
    return made


def global_step_of(checkpoint_path: str | None) -> int:
    """Returns the global step in a checkpoint; 0 where there is none."""
    if checkpoint_path is None:
        return 0
    reader = tf.train.load_checkpoint(checkpoint_path)
    name = tf1.GraphKeys.GLOBAL_STEP
    return int(reader.get_tensor(name)) if reader.has_tensor(name) else 0


def _chosen(predictions: Any, keys: Iterable[str] | None) -> Any:
    keys = [keys] if isinstance(keys, str) else list(keys or [])
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise EstimatorError("predict_keys argument is not valid in case of non-dict predictions.")
    chosen = {name: value for name, value in predictions.items() if name in keys}
    if not chosen:
        raise EstimatorError(
            f"Expected to run at least one output from {list(predictions)}, provided {keys}."
        )
    return chosen


def _examples(batch: Any) -> Iterator[Any]:
    """Takes a batch of predictions apart."""
    if not isinstance(batch, dict):
        yield from batch
        return
    lengths = {name: value.shape[0] for name, value in batch.items()}
    if len(set(lengths.values())) > 1:
        raise EstimatorError(
            f"Batch length of predictions should be same, but they are {lengths}. Use yield_single_examples=False."
        )
    for index in range(next(iter(lengths.values()), 0)):
        yield {name: value[index] for name, value in batch.items()}
