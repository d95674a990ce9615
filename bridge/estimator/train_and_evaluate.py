"""`train_and_evaluate`: in one process, or as one of the processes of a cluster."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.estimator import Estimator
from bridge.estimator.run_config import RunConfig, TaskType
from bridge.estimator.specs import EvalSpec, TrainSpec

tf1 = tf.compat.v1
_CheckpointSaverListener: Any = tf1.train.CheckpointSaverListener

# v1 lets workers start one after the other, so that the chief is there first.
_SECONDS_PER_WORKER, _MOST_SECONDS = 5, 60
_SECONDS_BETWEEN_LOOKS = 1.0
# How often an evaluator may say that it has nothing to do.
_SECONDS_BETWEEN_WARNINGS = 600

Clock = Callable[[], float]
Sleep = Callable[[float], None]


def train_and_evaluate(
    estimator: Estimator,
    train_spec: TrainSpec,
    eval_spec: EvalSpec,
    *,
    callbacks: Any = None,
    steps_per_epoch: int | None = None,
) -> tuple[Any, Any] | None:
    """Trains, and evaluates every checkpoint (`tf.estimator.train_and_evaluate`).

    Without a cluster in TF_CONFIG one process does both in turns. In a cluster the process does what its task is: the
    chief, the master and workers train, a parameter server serves (and does not return), an evaluator evaluates until
    `max_steps`, and a master evaluates beside.

    Args:
      estimator: The Estimator.
      train_spec: The training.
      eval_spec: The evaluations.
      callbacks: As for `Estimator.train`.
      steps_per_epoch: As for `Estimator.train`.

    Returns:
      Without a cluster: the last evaluation's result, and what the exporters returned for it. Otherwise None.

    Raises:
      EstimatorTypeError: (a TypeError) an argument is of a wrong type.
      EstimatorError: (a ValueError) TF_CONFIG asks for something that cannot be.
    """
    options = {"callbacks": callbacks, "steps_per_epoch": steps_per_epoch}
    return Executor(estimator, train_spec, eval_spec, train_options=options).run()


class Executor:
    """Does what this process's task is."""

    def __init__(
        self,
        estimator: Estimator,
        train_spec: TrainSpec,
        eval_spec: EvalSpec,
        *,
        train_options: dict[str, Any] | None = None,
        clock: Clock = time.time,
        sleep: Sleep = time.sleep,
    ) -> None:
        """Checks the arguments, which are those of `train_and_evaluate`.

        Args:
          estimator: As there.
          train_spec: As there.
          eval_spec: As there.
          train_options: More arguments of `Estimator.train`.
          clock: Returns the time in seconds.
          sleep: Waits for a number of seconds.
        """
        for name, value, wanted in (
            ("estimator", estimator, Estimator),
            ("train_spec", train_spec, TrainSpec),
            ("eval_spec", eval_spec, EvalSpec),
        ):
            if not isinstance(value, wanted):
                raise EstimatorTypeError(
                    f"`{name}` must have type `bridge.estimator.{wanted.__name__}`, but it is {value!r}."
                )
        self._estimator, self._train_spec, self._eval_spec = estimator, train_spec, eval_spec
        self._train_options = train_options or {}
        self._clock, self._sleep = clock, sleep

    def run(self) -> tuple[Any, Any] | None:
        """Does the task; returns what `train_and_evaluate` returns."""
        config = self._estimator.config
        if config.task_type == TaskType.EVALUATOR:
            if config.task_id > 0:
                raise EstimatorError(
                    f"For distributed training, there can only be one `evaluator` task (with task id 0), but this one is {config.task_id}."
                )
            self._evaluate_for_ever()
            return None
        if not config.cluster_spec:
            tf1.logging.info("Running training and evaluation locally (non-distributed).")
            return self._run_local()
        tasks: dict[str, Callable[[RunConfig], None]] = {
            TaskType.CHIEF: self._train_in_cluster,
            TaskType.WORKER: self._train_in_cluster,
            TaskType.MASTER: self._run_master,
            TaskType.PS: self._run_ps,
        }
        if config.task_type not in tasks:
            raise EstimatorError(
                f"Task type {config.task_type} is not supported. Supported task types are {', '.join(tasks)}, evaluator."
            )
        tasks[config.task_type](config)
        return None

    # ---- One process. ----

    def _run_local(self) -> tuple[Any, Any]:
        config = self._estimator.config
        tf1.logging.info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint: save_checkpoints_steps %s, "
            "save_checkpoints_secs %s.",
            config.save_checkpoints_steps,
            config.save_checkpoints_secs,
        )
        listener = self._listener()
        self._train([listener])
        return listener.metrics, listener.exports

    def _listener(self) -> _EvaluateNewCheckpoint:
        evaluator = self._evaluator()
        return _EvaluateNewCheckpoint(evaluator, self._eval_spec.throttle_secs, self._clock)

    def _evaluator(self) -> Evaluator:
        return Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps, self._clock)

    def _train(self, saving_listeners: Sequence[Any]) -> None:
        self._estimator.train(
            self._train_spec.input_fn,
            hooks=self._train_spec.hooks,
            max_steps=self._train_spec.max_steps,
            saving_listeners=saving_listeners,
            **self._train_options,
        )

    # ---- Processes of a cluster. ----

    def _train_in_cluster(self, config: RunConfig, saving_listeners: Sequence[Any] = ()) -> None:
        if json.loads(os.environ.get("TF_CONFIG") or "{}").get("environment") != "google":
            # Held by TensorFlow itself for as long as the process lives.
            self._start_server(config)
        if config.task_type == TaskType.WORKER:
            longest = config.experimental_max_worker_delay_secs
            delay = min(
                _MOST_SECONDS if longest is None else longest, (config.task_id + 1) * _SECONDS_PER_WORKER
            )
            if delay > 0:
                tf1.logging.info("Waiting %d secs before starting training.", delay)
                self._sleep(delay)
        self._train(saving_listeners)

    def _run_master(self, config: RunConfig) -> None:
        self._train_in_cluster(config, [self._listener()])

    def _run_ps(self, config: RunConfig) -> None:
        server = self._start_server(config)
        if server is None:
            raise EstimatorError(
                "A parameter server needs a cluster with other tasks. Correct the cluster in TF_CONFIG."
            )
        server.join()

    def _start_server(self, config: RunConfig) -> Any:
        if not config.master:
            tf1.logging.info("Skip starting Tensorflow server as there is only one node in the cluster.")
            return None
        server_config = tf1.ConfigProto(gpu_options=config.session_config.gpu_options)
        tf1.logging.info("Start Tensorflow server.")
        return tf1.train.Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=server_config,
            protocol=config.protocol,
        )

    # ---- The evaluator. ----

    def _evaluate_for_ever(self) -> None:
        """Evaluates new checkpoints until one has reached `max_steps`."""
        spec = self._eval_spec
        if spec.start_delay_secs:
            tf1.logging.info("Waiting %f secs before starting eval.", spec.start_delay_secs)
            self._sleep(spec.start_delay_secs)
        evaluator, max_steps = self._evaluator(), self._train_spec.max_steps
        while True:
            start = self._clock()
            metrics, _ = evaluator.evaluate()
            if metrics is not None and max_steps and metrics["global_step"] >= max_steps:
                tf1.logging.info("Exiting evaluation, since max_steps=%s is reached.", max_steps)
                return
            left = spec.throttle_secs - (self._clock() - start)
            if metrics is None:  # Even without throttling, a folder is not looked at all the time.
                left = max(left, _SECONDS_BETWEEN_LOOKS)
            if left > 0:
                tf1.logging.info("Waiting %f secs before starting next eval run.", left)
                self._sleep(left)


class Evaluator:
    """Evaluates each checkpoint once, and exports."""

    def __init__(
        self, estimator: Estimator, eval_spec: EvalSpec, max_steps: int | None, clock: Clock = time.time
    ) -> None:
        """Prepares.

        Args:
          estimator: The Estimator.
          eval_spec: The evaluation.
          max_steps: The step at which the training is over, if it is known.
          clock: Returns the time in seconds.
        """
        self._estimator, self._spec, self._max_steps, self._clock = estimator, eval_spec, max_steps, clock
        self._previous: str | None = None
        self._warned_at: float | None = None

    def evaluate(self) -> tuple[Any, list[Any]]:
        """Evaluates the newest checkpoint, if it is new.

        Returns:
          The result and what the exporters returned; None and nothing if there is no new checkpoint.
        """
        path = self._estimator.latest_checkpoint()
        if path is None:
            self._warn("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
            return None, []
        if path == self._previous:
            self._warn("No new checkpoint ready for evaluation. Skip the current evaluation pass.")
            return None, []
        spec = self._spec
        metrics = self._estimator.evaluate(
            spec.input_fn, steps=spec.steps, name=spec.name, checkpoint_path=path, hooks=spec.hooks
        )
        is_final = bool(self._max_steps) and metrics["global_step"] >= self._max_steps
        exports = [
            exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(self._estimator.model_dir, "export", exporter.name),  # noqa: PTH118 - gs://
                checkpoint_path=path,
                eval_result=metrics,
                is_the_final_export=is_final,
            )
            for exporter in spec.exporters
        ]
        self._warned_at, self._previous = None, path
        return metrics, exports

    def _warn(self, message: str) -> None:
        now = self._clock()
        if self._warned_at is None or now - self._warned_at > _SECONDS_BETWEEN_WARNINGS:
            tf1.logging.warning(message)
            self._warned_at = now


class _EvaluateNewCheckpoint(_CheckpointSaverListener):
    """Evaluates in the training process, after a checkpoint was saved.

    Attributes:
      metrics: The last evaluation's result.
      exports: What the exporters returned for it.
    """

    def __init__(self, evaluator: Evaluator, throttle_secs: float, clock: Clock) -> None:
        self._evaluator, self._throttle, self._clock = evaluator, throttle_secs, clock
        self.metrics: Any = None
        self.exports: Any = None

    def begin(self) -> None:
        """Starts anew."""
        self._last_time: float | None = None
        self._last_step: int | None = None
        self._is_first = True

    def after_save(self, session: Any, global_step_value: int) -> None:
        """Evaluates, unless it is the checkpoint before the first step, or too early."""
        del session
        if self._is_first:
            self._is_first = False
        elif self._last_time is None or self._clock() >= self._last_time + self._throttle:
            self._evaluate(global_step_value)
        else:
            tf1.logging.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle
            )

    def end(self, session: Any, global_step_value: int) -> None:
        """Evaluates the last checkpoint, if that was not done."""
        del session
        if global_step_value != self._last_step:
            self._evaluate(global_step_value)

    def _evaluate(self, step: int) -> None:
        self._last_time, self._last_step = self._clock(), step
        self.metrics, self.exports = self._evaluator.evaluate()
        if self.metrics is None:
            raise RuntimeError(
                "There was no new checkpoint after the training. Let RunConfig save checkpoints in model_dir."
            )
