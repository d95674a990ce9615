"""Restores a Keras model, and what hooks keep in its graph, from a job's folder of checkpoints."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import tensorflow as tf

from bridge import keras_internals, names
from bridge.checkpoint import restore_into
from bridge.checkpoint.name_map import NameMap
from bridge.checkpoint.reader import V1Checkpoint
from bridge.checkpoint_directory import checkpoints_in
from bridge.errors import (
    CheckpointNotFoundError,
    ResumeWarning,
    UnreadableCheckpointError,
    UnreadableCheckpointWarning,
)
from bridge.live_session import LiveSession
from bridge.names import NamedVariable
from bridge.session_creator import has_own_saver
from bridge.step_graph import StepGraph

tf1 = tf.compat.v1

Result = TypeVar("Result")

# What TensorFlow raises for a checkpoint whose files are missing, cut short or damaged.
_UNREADABLE = (
    CheckpointNotFoundError,
    UnreadableCheckpointError,
    tf.errors.DataLossError,
    tf.errors.OutOfRangeError,
    tf.errors.NotFoundError,
)

_REMEDY = (
    "Say in sess.fit(..., name_map=...) which names belong together. None leaves a variable at the value that it has, so that "
    'name_map=[("^sgd/", None)] begins with a new SGD. Or give another checkpoint_dir, and take over what fits by '
    "bridge.checkpoint.load_v1(model, path, strict=False)."
)


class CheckpointRestore:
    """Restores a job's newest checkpoint into each of its sessions.

    The model's own variables are restored before Keras's callbacks see the model; what exists in the session's graph
    only, such as hooks' variables, follows when the session is made.

    Attributes:
      prefix: The checkpoint that was restored, or None.
      has_weights: Whether the model's weights were restored before its session is made.
      step: Its global step, or None if it has none of that name. Which optimizer counts it may not be known before the
        step is traced.
      position: How many batches the job had trained on, or None if another program wrote the checkpoint.
    """

    def __init__(self, directory: str | None, name_map: NameMap = None) -> None:
        """Prepares.

        Args:
          directory: The folder of checkpoints, or None.
          name_map: How the checkpoint's names differ from the model's, as for `bridge.checkpoint.load_v1`.
        """
        self._directory = directory
        self._name_map = name_map
        self._optimizers: list[Any] = []
        self._done: set[int] = set()  # ids of the live variables that have their values
        self._hook_saver: Any = None
        self._is_over = False
        self.prefix: str | None = None
        self.step: int | None = None
        self.position: int | None = None
        self.has_weights = False

    def restore_model(self, model: Any, scaffold: Any) -> bool:
        """Restores a model that is built, before its session is made.

        Args:
          model: A compiled model. If it is not built yet, its session restores it.
          scaffold: The session's, or None. One with a saver of its own restores in the session.

        Returns:
          Whether there was a checkpoint.

        Raises:
          CheckpointMismatchError: if the checkpoint belongs to another model.
          UnreadableCheckpointError: if no checkpoint can be read.
        """
        if not checkpoints_in(self._directory):
            self._is_over = True
            return False
        own_saver = callable(scaffold) or (scaffold is not None and has_own_saver(scaffold))
        self._optimizers = keras_internals.optimizers_of(model)
        variables = _step_of(model) if own_saver else _known_variables(model)

        def restore(prefix: str) -> None:
            self._assign_new(variables, prefix)
            self._read_numbers(prefix)

        self.prefix = self._newest(restore)
        self.has_weights = any(variable.kind == "model" for variable in variables)
        return True

    def prepare(self, hook_variables: list[Any]) -> None:
        """Adds what restores the variables that hooks made. See `bridge.session_creator.Restore`."""
        if hook_variables and checkpoints_in(self._directory):
            self._hook_saver = tf1.train.Saver(hook_variables, name="restore_of_hooks")

    def restore(self, session: LiveSession, step_graph: StepGraph, scaffold: Any, *, again: bool) -> bool:
        """Restores a session. See `bridge.session_creator.Restore`."""
        if self._is_over and not again:
            return self.prefix is not None
        self._is_over = True
        if not checkpoints_in(self._directory):
            return False
        if again:
            self._done.clear()
        # What the hooks, the scaffold's saver and the step's random state need is known only now.
        live = [variable for variable in step_graph.variables if variable.kind not in ("metric", "position")]

        def restore(prefix: str) -> None:
            if has_own_saver(scaffold):
                scaffold.saver.restore(session, prefix)
                return
            self._assign_new(live, prefix)
            if self._hook_saver is not None:
                self._hook_saver.restore(session, prefix)

        if again or self.prefix is None or not self.has_weights:
            self.prefix = self._newest(restore)
        else:
            restore(self.prefix)
        state = tf.train.get_checkpoint_state(self._directory)
        if scaffold.saver is not None and state is not None:
            # As in v1, what earlier processes saved is listed, and counts for `max_to_keep`.
            scaffold.saver.recover_last_checkpoints(list(state.all_model_checkpoint_paths))
        if self.step != 0 and not again:
            _warn_of_random(step_graph)
        return True

    def _assign_new(self, variables: list[NamedVariable], prefix: str) -> None:
        new = [variable for variable in variables if id(variable.variable) not in self._done]
        if new:
            restore_into(
                variables,
                prefix,
                self._name_map,
                optimizers=self._optimizers,
                only=[variable.name for variable in new],
                accept_unexpected=True,
                remedy=_REMEDY,
            )
        self._done.update(id(variable.variable) for variable in new)

    def _read_numbers(self, prefix: str) -> None:
        checkpoint = V1Checkpoint(prefix)
        known = [name for name in (names.GLOBAL_STEP, names.POSITION) if name in checkpoint.shapes]
        read = checkpoint.read(known)
        self.step, self.position = (
            int(read[name].numpy()) if name in read else None for name in (names.GLOBAL_STEP, names.POSITION)
        )

    def _newest(self, restore: Callable[[str], Result]) -> str:
        """Restores the newest checkpoint that can be read."""
        failed: list[str] = []
        for prefix in checkpoints_in(self._directory):
            try:
                restore(prefix)
            except _UNREADABLE as error:
                if "not found in checkpoint" in str(error):
                    raise  # It can be read, but belongs to another graph.
                failed.append(f"{prefix}: {str(error).splitlines()[0]}")
                continue
            if failed:
                warnings.warn(
                    f"A checkpoint cannot be read and is left alone ({'; '.join(failed)}). Restored {prefix} instead.",
                    UnreadableCheckpointWarning,
                    stacklevel=2,
                )
            tf1.logging.info("Restored %s", prefix)
            return prefix
        raise UnreadableCheckpointError(
            f"No checkpoint in {self._directory} can be read: {'; '.join(failed)}. Nothing was changed or deleted. Copy a "
            "sound checkpoint there and name it in the file 'checkpoint', or give another checkpoint_dir to start anew."
        )


def _warn_of_random(step_graph: StepGraph) -> None:
    unsaved = step_graph.trace.unsaved_random
    if unsaved:
        eager = "compile without run_eagerly=True, or " if step_graph.trace.eager else ""
        warnings.warn(
            f"The step draws random numbers whose state is in no checkpoint ({', '.join(unsaved[:3])}): from here on they are "
            f"others than in a run that was not stopped. To go on bit for bit, {eager}draw with a keras.random.SeedGenerator "
            "or with tf.random.stateless_* and the global step as seed.",
            ResumeWarning,
            stacklevel=2,
        )


def _known_variables(model: Any) -> list[NamedVariable]:
    """Names the variables that a model has, as far as tracing its step will not name them otherwise."""
    if not keras_internals.is_built(model):
        return _step_of(model)
    optimizers = keras_internals.optimizers_of(model)
    if len(optimizers) == 1 and keras_internals.build_optimizer(model):
        step = keras_internals.tf_variable(keras_internals.step_variable(optimizers[0]))
        return [variable for variable in names.variables_of(model, step) if variable.kind != "metric"]
    found = names.variables_of(model, tf.Variable(0, dtype=tf.int64))
    return [*(v for v in found if v.kind in ("model", "random")), *_step_of(model)]


def _step_of(model: Any) -> list[NamedVariable]:
    """Returns the global step alone, by which a fit finds where it goes on, if one optimizer counts it."""
    optimizers = keras_internals.optimizers_of(model)
    if len(optimizers) != 1:
        return []
    steps = [
        keras_internals.tf_variable(keras_internals.step_variable(optimizer)) for optimizer in optimizers
    ]
    return [NamedVariable(names.GLOBAL_STEP, "step", step, False) for step in steps]
