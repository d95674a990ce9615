"""`TPUEstimator` on a computer without TPUs, as most public programs run it: `use_tpu=False`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError, UnsupportedEstimatorError
from bridge.estimator.estimator import Estimator
from bridge.estimator.functions import argument_names
from bridge.estimator.mode_keys import ModeKeys
from bridge.estimator.model_fn import EstimatorSpec
from bridge.estimator.run_config import RunConfig as _RunConfig
from bridge.estimator.tpu.config import RunConfig
from bridge.estimator.tpu.spec import TPUEstimatorSpec

tf1 = tf.compat.v1
_StepCounterHook: Any = tf1.train.StepCounterHook

_RESERVED = ("batch_size", "context")


class TPUEstimator(Estimator):
    """An Estimator whose functions get `params["batch_size"]` (`tf.estimator.tpu.TPUEstimator`, `use_tpu=False`)."""

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: str | os.PathLike[str] | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = None,
    ) -> None:
        """Takes the model's function.

        Args:
          model_fn: As for `Estimator`; it may return a `TPUEstimatorSpec`, and must have an argument `params`.
          model_dir: As for `Estimator`.
          config: A `bridge.estimator.tpu.RunConfig`.
          params: As for `Estimator`; without `batch_size` and `context`, which are reserved.
          use_tpu: False.
          train_batch_size: `params["batch_size"]` in training.
          eval_batch_size: `params["batch_size"]` in evaluations.
          predict_batch_size: `params["batch_size"]` in predictions.
          batch_axis: Has no effect.
          eval_on_tpu: Has no effect.
          export_to_tpu: Has no effect: exports are for CPU and GPU.
          export_to_cpu: Has no effect.
          warm_start_from: As for `Estimator`.
          embedding_config_spec: None: embeddings of TPUs cannot be used.
          export_saved_model_api_version: Has no effect.

        Raises:
          UnsupportedEstimatorError: a TPU is asked for.
          EstimatorError: (a ValueError) an argument cannot be.
        """
        del batch_axis, eval_on_tpu, export_to_tpu, export_to_cpu, export_saved_model_api_version
        if use_tpu:
            raise UnsupportedEstimatorError(
                "TPUEstimator(use_tpu=True) asks for TPUs, on which a v1 graph cannot run any more. Give use_tpu=False, or train a "
                "Keras model in tf.distribute.TPUStrategy's scope with fit."
            )
        if embedding_config_spec is not None:
            raise UnsupportedEstimatorError(
                "embedding_config_spec asks for a TPU's embeddings. Make the embedding in the model_fn (tf.compat.v1.get_variable and "
                "tf.nn.embedding_lookup), or use a Keras model with keras.layers.Embedding."
            )
        if not isinstance(config, RunConfig):
            raise EstimatorError(
                f"`config` must be provided with type `bridge.estimator.tpu.RunConfig`, but it is {config!r}."
            )
        reserved = [name for name in _RESERVED if params is not None and name in params]
        if reserved:
            raise EstimatorError(f"{reserved} are reserved keys but existed in params {params}. Rename them.")
        if model_fn is None:
            raise EstimatorError("model_fn must be provided to TPUEstimator.")
        _need_params(model_fn, "model_fn")
        # The speed is logged by a hook of its own.
        self._log_every = config.tpu_config.log_every(config.log_step_count_steps)
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        super().__init__(
            model_fn,
            model_dir=model_dir,
            config=config.replace(log_step_count_steps=None),
            params=params or {},
            warm_start_from=warm_start_from,
        )

    def _call_input_fn(self, input_fn: Callable[..., Any], mode: str, input_context: Any = None) -> Any:
        _need_params(input_fn, "input_fn")
        return super()._call_input_fn(input_fn, mode, input_context)

    def _offered(self, mode: str) -> dict[str, Any]:
        params = _with(self.params, batch_size=self._batch_sizes[mode])
        return {**super()._offered(mode), "params": params}

    def _params_of_model(self, mode: str, is_export: bool) -> Any:
        batch_size = None if is_export else self._batch_sizes[mode]
        return _with(self.params, batch_size=batch_size, use_tpu=False)

    def _spec(self, returned: Any, mode: str, config: _RunConfig) -> EstimatorSpec:
        if isinstance(returned, TPUEstimatorSpec):
            returned = returned.as_estimator_spec()
        spec = super()._spec(returned, mode, config)
        if self._log_every is None:
            return spec
        directory = self.model_dir if config.save_summary_steps else None
        counter = ExamplesPerSecondHook(self._batch_sizes[mode], output_dir=directory, **self._log_every)
        return spec._replace(training_hooks=(*spec.training_hooks, counter))


def _need_params(function: Callable[..., Any], what: str) -> None:
    if "params" not in argument_names(function):
        raise EstimatorError(
            f"{what} ({function}) does not include params argument, required by TPUEstimator to pass batch size as "
            'params["batch_size"].'
        )


def _with(params: Any, **added: Any) -> Any:
    """Adds items to params, which may be a dict or an object such as HParams."""
    for name, value in added.items():
        if value is None:
            continue
        if hasattr(params, "set_hparam") and name in params:
            params.set_hparam(name, value)
        elif hasattr(params, "add_hparam"):
            params.add_hparam(name, value)
        else:
            params[name] = value
    return params


class ExamplesPerSecondHook(_StepCounterHook):
    """Logs and writes steps and examples per second."""

    def __init__(self, batch_size: int | None, **options: Any) -> None:
        """Prepares.

        Args:
          batch_size: Examples in a step; None if nobody knows.
          **options: As for `tf.compat.v1.train.StepCounterHook`.
        """
        super().__init__(**options)
        self._batch_size = batch_size

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        rates = {"global_step/sec": elapsed_steps / elapsed_time}
        if self._batch_size is not None:
            rates["examples/sec"] = self._batch_size * rates["global_step/sec"]
        for tag, rate in rates.items():
            tf1.logging.info("%s: %g", tag, rate)
            if self._summary_writer is not None:
                summary = tf1.Summary(value=[tf1.Summary.Value(tag=tag, simple_value=rate)])
                self._summary_writer.add_summary(summary, global_step)
