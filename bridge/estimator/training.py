"""One training of a graph: the hooks in Estimator's order, in a `bridge.MonitoredTrainingSession` under Keras's loop."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError
from bridge.estimator.model_fn import EstimatorSpec
from bridge.estimator.run_config import RunConfig, TaskType
from bridge.graph_model import GraphModel
from bridge.monitored import MonitoredTrainingSession

tf1 = tf.compat.v1
_NanTensorHook: Any = tf1.train.NanTensorHook


class _LossHook(_NanTensorHook):
    """Raises at a loss that is NaN, as v1's hook does, and keeps the last one for the log."""

    loss: Any = None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        super().after_run(run_context, run_values)
        self.loss = run_values.results


def train(
    spec: EstimatorSpec,
    config: RunConfig,
    *,
    input_hooks: Sequence[Any],
    hooks: Sequence[Any],
    saving_listeners: Sequence[Any],
    callbacks: Any,
    steps_per_epoch: int | None,
    last_step: int | None,
) -> Any:
    """Trains the default graph until a hook stops it, or the input ends.

    Args:
      spec: What the `model_fn` returned in this graph.
      config: The Estimator's config, with its `model_dir` and `session_config`.
      input_hooks: Hooks that the input needs.
      hooks: The user's hooks.
      saving_listeners: Listeners of the first saver.
      callbacks: Keras callbacks.
      steps_per_epoch: What is an epoch for them; None for one epoch that lasts for the whole training.
      last_step: The step at which the hooks will stop, where it is known.

    Returns:
      The loss of the last step, or None if there was none.
    """
    if not any(summary.op.name == "loss" for summary in tf1.get_collection(tf1.GraphKeys.SUMMARIES)):
        tf1.summary.scalar("loss", spec.loss)
    tf1.add_to_collection(tf1.GraphKeys.LOSSES, spec.loss)
    _add_saver(spec, config)
    loss_hook = _LossHook(spec.loss)
    worker_hooks = [*input_hooks, *hooks, loss_hook]
    if config.log_step_count_steps is not None:
        shown = {"loss": spec.loss, "step": tf1.train.get_global_step()}
        worker_hooks.append(tf1.train.LoggingTensorHook(shown, every_n_iter=config.log_step_count_steps))
    worker_hooks.extend(spec.training_hooks)
    savers = _savers(spec, config, worker_hooks, saving_listeners)
    summary_steps, count_steps = config.save_summary_steps, config.log_step_count_steps
    if {TaskType.WORKER, TaskType.MASTER} <= set(config.cluster_spec.jobs):
        # The master's evaluations take long: the first worker writes the summaries instead.
        worker_hooks.extend(_first_worker_hooks(spec, config))
        summary_steps, count_steps = 0, None
    with MonitoredTrainingSession(
        master=config.master,
        is_chief=config.is_chief,
        checkpoint_dir=config.model_dir,
        scaffold=spec.scaffold,
        hooks=worker_hooks,
        chief_only_hooks=[*savers, *spec.training_chief_hooks],
        save_checkpoint_secs=0,  # The saver is one of the hooks.
        save_summaries_steps=summary_steps,
        config=config.session_config,
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=count_steps,
    ) as session:
        model = GraphModel(spec.train_op, {"loss": spec.loss})
        session.fit(
            model,
            callbacks=callbacks,
            verbose=0,
            steps_per_epoch=steps_per_epoch,
            epochs=_epochs(steps_per_epoch, last_step),
        )
    if loss_hook.loss is None:
        tf1.logging.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
    return loss_hook.loss


def _epochs(steps_per_epoch: int | None, last_step: int | None) -> int:
    """Returns at which epoch training is over; hooks, or the input's end, stop it where that is not known."""
    if steps_per_epoch is None:
        return 1
    return sys.maxsize if last_step is None else -(-last_step // steps_per_epoch)


def _add_saver(spec: EstimatorSpec, config: RunConfig) -> None:
    if spec.scaffold.saver is not None or tf1.get_collection(tf1.GraphKeys.SAVERS):
        return
    saver = tf1.train.Saver(
        sharded=True,
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        defer_build=True,
        save_relative_paths=True,
    )
    tf1.add_to_collection(tf1.GraphKeys.SAVERS, saver)


def _savers(
    spec: EstimatorSpec, config: RunConfig, worker_hooks: Sequence[Any], listeners: Sequence[Any]
) -> list[Any]:
    """Returns the saver that the config asks for, if no hook saves, and gives the listeners to the first saver."""
    own: list[Any] = []
    there = [
        hook
        for hook in (*worker_hooks, *spec.training_chief_hooks)
        if isinstance(hook, tf1.train.CheckpointSaverHook)
    ]
    if not there and (config.save_checkpoints_secs or config.save_checkpoints_steps):
        own.append(
            tf1.train.CheckpointSaverHook(
                config.model_dir,
                save_secs=config.save_checkpoints_secs,
                save_steps=config.save_checkpoints_steps,
                scaffold=spec.scaffold,
                save_graph_def=config.checkpoint_save_graph_def,
            )
        )
        there = own
    if listeners and not there:
        raise EstimatorError(
            "There should be a CheckpointSaverHook to use saving_listeners. Set one of RunConfig.save_checkpoints_steps and "
            "RunConfig.save_checkpoints_secs."
        )
    for listener in listeners:
        # The list has no public name, and the hook may be the user's, so that it cannot be made anew.
        if listener not in there[0]._listeners:
            there[0]._listeners.append(listener)
    return own


def _first_worker_hooks(spec: EstimatorSpec, config: RunConfig) -> list[Any]:
    made: list[Any] = []
    if config.task_type == TaskType.WORKER and config.task_id == 0:
        if config.save_summary_steps:
            made.append(
                tf1.train.SummarySaverHook(
                    save_steps=config.save_summary_steps,
                    output_dir=config.model_dir,
                    scaffold=spec.scaffold,
                )
            )
        if config.log_step_count_steps:
            made.append(
                tf1.train.StepCounterHook(
                    every_n_steps=config.log_step_count_steps, output_dir=config.model_dir
                )
            )
    return made
