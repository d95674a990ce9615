"""The configs of `TPUEstimator`, for programs that run it without a TPU."""

from __future__ import annotations

import copy
import math
import re
from typing import Any, NamedTuple

from bridge.estimator.errors import EstimatorError, UnsupportedEstimatorError
from bridge.estimator.run_config import RunConfig as _RunConfig
from bridge.estimator.run_config import TaskType

_SECONDS = {"s": 1, "m": 60, "h": 3600}


class InputPipelineConfig:
    """How a TPU's input was fed (`tf.estimator.tpu.InputPipelineConfig`); without one it has no effect."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class _TPUFields(NamedTuple):
    iterations_per_loop: int | str
    num_shards: int | None
    num_cores_per_replica: int | None
    per_host_input_for_training: Any
    tpu_job_name: str | None
    initial_infeed_sleep_secs: int | None
    input_partition_dims: Any
    eval_training_input_configuration: int
    experimental_host_call_every_n_steps: int


class TPUConfig(_TPUFields):
    """The TPU's own settings (`tf.estimator.tpu.TPUConfig`). Without a TPU only `iterations_per_loop` matters."""

    __slots__ = ()

    def __new__(
        cls,
        iterations_per_loop: int | str = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: Any = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:
        """Takes the settings.

        Args:
          iterations_per_loop: Steps, or a time such as "30s", between two looks of the host; here, together with
            `log_step_count_steps`, how often the speed is logged.
          num_shards: Has no effect.
          num_cores_per_replica: Has no effect.
          per_host_input_for_training: Has no effect.
          tpu_job_name: Has no effect.
          initial_infeed_sleep_secs: Has no effect.
          input_partition_dims: Has no effect.
          eval_training_input_configuration: Has no effect.
          experimental_host_call_every_n_steps: Has no effect.

        Raises:
          EstimatorError: (a ValueError) `iterations_per_loop` cannot be.
        """
        _loop(iterations_per_loop)
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name,
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )

    def log_every(self, steps: int | None) -> dict[str, Any] | None:
        """Returns how often the speed is logged, as arguments of a StepCounterHook; None for never.

        Args:
          steps: `log_step_count_steps` of the run config.
        """
        count, unit = _loop(self.iterations_per_loop)
        if unit:
            return {"every_n_steps": None, "every_n_secs": count * _SECONDS[unit]}
        return None if steps is None else {"every_n_steps": math.ceil(steps / count), "every_n_secs": None}


def _loop(iterations: int | str) -> tuple[int, str]:
    """Returns a number and its unit: empty for steps."""
    found = re.fullmatch(r"([1-9]\d*)([smh]?)", str(iterations))
    if found is None:
        raise EstimatorError(
            f"iterations_per_loop must be a positive number of steps, or a time such as '30s', but it is {iterations!r}."
        )
    return int(found[1]), found[2]


class RunConfig(_RunConfig):
    """A `bridge.estimator.RunConfig` with a `TPUConfig` (`tf.estimator.tpu.RunConfig`)."""

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ) -> None:
        """Takes the fields.

        Args:
          tpu_config: The TPU's settings.
          evaluation_master: The master of evaluations; None for `master`.
          master: The master of training sessions.
          cluster: None: a resolver of TPUs cannot be used.
          **kwargs: The fields of `bridge.estimator.RunConfig`.

        Raises:
          UnsupportedEstimatorError: a cluster of TPUs is given.
          EstimatorError: (a ValueError) a field cannot be.
        """
        if cluster is not None:
            raise UnsupportedEstimatorError(
                f"RunConfig(cluster={cluster!r}) asks for TPUs, on which a v1 graph cannot run any more. Give cluster=None and "
                "use_tpu=False, or train a Keras model in tf.distribute.TPUStrategy's scope with fit."
            )
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        if master is not None:
            self._master = master
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master and self.task_type != TaskType.EVALUATOR:
            self._evaluation_master = self._master

    @property
    def tpu_config(self) -> TPUConfig:
        """The TPU's settings."""
        return self._tpu_config

    @property
    def cluster(self) -> None:
        """No cluster of TPUs."""
        return None

    def replace(self, **fields: Any) -> RunConfig:
        """Returns a copy with other fields; `tpu_config` is one of them."""
        made = copy.deepcopy(self)
        made._tpu_config = fields.pop("tpu_config", self._tpu_config)
        made._set(**fields)
        return made
