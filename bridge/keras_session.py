"""A monitored session over Keras models: one v1 session that lives through every `fit` of a `with` block."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from bridge import cluster, keras_internals, keras_replicas, multi_worker, names, tf_internals
from bridge.checkpoint_directory import ChiefLock
from bridge.default_hooks import Saving
from bridge.errors import ResumeWarning, SessionClosedError, UnsupportedSessionError
from bridge.hook_callback import HookCallback
from bridge.hooked_step import HookedStep, last_step_reached, step_of
from bridge.preemption import Preemption
from bridge.restore import CheckpointRestore
from bridge.resume import Position, Replay, position
from bridge.trained_state import TrainedState

tf1 = tf.compat.v1


class KerasSession:
    """What `bridge.MonitoredTrainingSession` is for a Keras model."""

    def __init__(
        self,
        saving: Saving,
        *,
        is_chief: bool,
        scaffold: Any,
        hooks: Sequence[Any],
        chief_only_hooks: Sequence[Any],
        stop_grace_period_secs: float,
        max_wait_secs: float,
        preemption: Preemption,
    ) -> None:
        """Prepares; the session is made at the first step of a `fit`. Arguments as for the public class."""
        self._saving = saving
        self._is_chief = is_chief
        self.scaffold = scaffold
        self._hooks = hooks
        self._chief_only_hooks = chief_only_hooks
        self._grace = stop_grace_period_secs
        self._max_wait = max_wait_secs
        self._preemption = preemption
        self._restore: CheckpointRestore | None = None
        self._lock: ChiefLock | None = None
        self._model: Any = None
        self._step: HookedStep | None = None
        self._callback: _SessionCallback | None = None
        self._trained = TrainedState()
        self._is_evaluating = False
        self._is_over = False
        # How many batches the job has trained on, counted from its first epoch, and where its next fit starts if none was
        # interrupted.
        self._position = tf.Variable(0, dtype=tf.int64, trainable=False, name=names.POSITION)
        self.first_batch = 0

    # ---- Keras's calls. ----

    def fit(
        self, model: Any, *args: Any, resume_data: bool = False, name_map: Any = None, **kwargs: Any
    ) -> Any:
        """Runs `model.fit` in this session. Arguments as for the public class."""
        keras_internals.check_model(model)
        arguments = inspect.signature(model.fit).bind(*args, **kwargs)
        arguments.apply_defaults()
        others = arguments.arguments["callbacks"] or []
        if not isinstance(others, (list, tuple)):
            others = [others]
        self._open(model, name_map)
        callback = _SessionCallback(self, arguments.arguments["initial_epoch"], resume_data, others)
        arguments.arguments["callbacks"] = [callback, *others]
        self._callback = callback
        # A fit after the stop trains nothing: what the one before it trained is still what is to be saved.
        is_over = self._step is not None and self.should_stop()
        watching = self._trained.watching(model, callback.reached_its_end)
        try:
            with multi_worker.prepared(model), contextlib.nullcontext() if is_over else watching:
                history = model.fit(*arguments.args, **arguments.kwargs)
                if multi_worker.on_any_worker(model, self._preemption.requested):
                    self._preemption.follow()
                return history
        finally:
            self._callback = None
            self.first_batch = callback.last_batch()

    def evaluate(self, model: Any, *args: Any, name_map: Any = None, **kwargs: Any) -> Any:
        """Runs `model.evaluate` on the restored model."""
        self._open(model, name_map)
        self.restore_model(model, None)  # Whatever saver a scaffold has, it restores in a fit's session only.
        restore = self._restore
        if restore is not None and restore.prefix and self._step is None and not restore.has_weights:
            raise UnsupportedSessionError(
                f"{model.name!r} has no variables yet, so that {restore.prefix} cannot be restored into it. Build it first: give it an "
                "Input, call it on a batch, or call model.build(input_shape)."
            )
        self._is_evaluating = True
        try:
            with multi_worker.prepared(model):
                return model.evaluate(*args, **kwargs)
        finally:
            self._is_evaluating = False

    def preempt(self) -> None:
        """Ends the running fit after its step, without a last validation. Runs in a signal handler."""
        if self._callback is not None and self._model is not None:
            self._model.stop_training = True
            if not keras_replicas.spans_processes(self._model.distribute_strategy):
                self._model.stop_evaluating = True  # Under such a strategy, the other workers would wait.
                keras_internals.suspend_validation(self._model, lambda: False)
        elif self._is_evaluating:
            self._model.stop_evaluating = True

    def _open(self, model: Any, name_map: Any) -> None:
        """Checks the model, waits for the chief, and finds what there is to restore."""
        keras_internals.check_model(model)
        if self._model is not None and model is not self._model:
            if self._saving.checkpoint_dir:
                raise UnsupportedSessionError(
                    f"This session trains {self._model.name!r}, whose checkpoints are in {self._saving.checkpoint_dir}. Open a "
                    f"MonitoredTrainingSession with a checkpoint_dir of its own for {model.name!r}."
                )
            self._end_step()
        if self._restore is None:
            directory = self._saving.checkpoint_dir
            strategy = model.distribute_strategy
            if self.is_chief_of(model) and directory and strategy.extended.should_checkpoint:
                self._lock = ChiefLock(directory)
            elif not self._is_chief and directory and not keras_replicas.is_multi_worker(strategy):
                cluster.wait_for_checkpoint(directory, self._max_wait, look_out=self._preemption.leave)
            self._restore = CheckpointRestore(directory, name_map)
        self._model = model

    def is_chief_of(self, model: Any) -> bool:
        """Tells whether this process is the chief of the job that trains `model`."""
        strategy = model.distribute_strategy
        return self._is_chief and (not keras_replicas.is_multi_worker(strategy) or cluster.is_chief(strategy))

    def restore_model(self, model: Any, scaffold: Any) -> None:
        """Restores the model before its first fit, if it is built."""
        assert self._restore is not None
        if (
            self._step is None
            and self._restore.prefix is None
            and self._restore.restore_model(model, scaffold)
        ):
            position = self._restore.position
            # A job of TF1 counted its steps only.
            self._position.assign(self._model_step() if position is None else position)

    # ---- What a session's callback asks. ----

    def hooks_of(self, model: Any, scaffold: Callable[[], Any]) -> tuple[list[Any], list[Any]]:
        """Returns the hooks that only the chief runs, and those that every process runs."""
        flags = model.distribute_strategy.extended
        saving = self._saving.hooks(
            scaffold, summaries=bool(flags.should_save_summary), checkpoints=bool(flags.should_checkpoint)
        )
        return [*self._chief_only_hooks, *saving], list(self._hooks)

    def make_scaffold(self) -> Any:
        """Returns the scaffold for a new graph, which is the default one."""
        scaffold = self.scaffold() if callable(self.scaffold) else self.scaffold
        return tf1.train.Scaffold() if scaffold is None else scaffold

    def step_for(
        self, model: Any, hooks: Sequence[Any], scaffold: Any, plain: Any, facts: dict[str, Any]
    ) -> HookedStep:
        """Returns the step with hooks for a fit: that of the fit before, or a new one for a new model."""
        step = self._step
        if step is not None and step.plain is plain and (step.is_open or step.has_stopped):
            step.start_fit(**facts)
            return step
        self._end_step()
        self._step = HookedStep(
            model,
            "train",
            hooks,
            scaffold=scaffold,
            plain=plain,
            restore=self._restore,
            position=self._position,
            stop_grace_period_secs=self._grace,
            **facts,
        )
        return self._step

    def position(self, initial_epoch: int, epochs: int, steps: int | None, *, resume_data: bool) -> Position:
        """Finds where a fit goes on, from the model's step."""
        start = self.start_of_job(initial_epoch, steps)
        if steps and initial_epoch:
            self._position.assign(max(self.batches(), start + initial_epoch * steps))
        trained = max(0, self.batches() - start)
        whole_epochs = not resume_data and keras_internals.can_start_at_epoch(self._model)
        found = position(
            trained,
            initial_epoch=initial_epoch,
            epochs=epochs,
            steps_per_epoch=steps,
            whole_epochs=whole_epochs,
        )
        if not steps and trained and not resume_data:
            warnings.warn(
                f"The model was restored at step {trained}, but how many steps an epoch has is not known, so that fit begins at "
                f"epoch {initial_epoch}. Give steps_per_epoch, or resume_data=True to pass over the batches that were trained.",
                ResumeWarning,
                stacklevel=2,
            )
            return Position(initial_epoch, 0, trained, is_done=False)
        return found

    def notice_last_step(self, hooks: Sequence[Any]) -> None:
        """Ends the session if a hook's last step lies behind the model already."""
        self._is_over |= last_step_reached(self._model_step, hooks)

    def start_of_job(self, initial_epoch: int, steps: int | None) -> int:
        """Returns the batch from which a fit counts its epochs."""
        return max(0, self.first_batch - initial_epoch * (steps or 0))

    def warn_of_missing_weights(self) -> None:
        """Warns if nothing is left to train, but the model had no variables yet to be restored."""
        restore = self._restore
        if restore is not None and restore.prefix and not restore.has_weights and self._step is None:
            warnings.warn(
                f"Nothing is left to train, and {restore.prefix} was not restored: the model has no variables before its first "
                "batch. Give it an Input, or call it on a batch, if its weights are needed.",
                ResumeWarning,
                stacklevel=2,
            )

    def batches(self) -> int:
        """Returns how many batches the job has trained on."""
        return int(self._position.numpy())

    def _model_step(self) -> int:
        counter = self._step.step_variable if self._step is not None else None
        if counter is None and self._restore is not None and self._restore.step is not None:
            return self._restore.step
        if counter is None:
            return step_of(self._model)
        with tf_internals.eager_mode():
            return int(tf_internals.replicas(counter)[0].numpy())

    def keep_trained(self, *, again: bool = False) -> None:
        """Keeps what the step has trained, before callbacks change it; `again`: in place of what was kept before."""
        if self._step is not None:
            self._trained.keep(self._step.trained_variables, again=again)

    # ---- The v1 session's own interface. ----

    @property
    def v1_session(self) -> Any:
        """TensorFlow's own session object."""
        return self._opened().monitored

    @property
    def graph(self) -> tf.Graph | None:
        """The step's v1 graph, or None before the first step."""
        return self._step.graph if self._step is not None else None

    def should_stop(self) -> bool:
        """Tells whether a hook has requested the stop."""
        if self._preemption.requested:
            return True
        return self._is_over or (self._step is not None and self._step.has_stopped)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Runs fetches with all hooks, as `MonitoredSession.run` does."""
        return self._opened().in_session(lambda session: session.run(*args, **kwargs))

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Runs a step function, as `MonitoredSession.run_step_fn` does."""
        return self._opened().in_session(lambda session: session.run_step_fn(step_fn))

    def _opened(self) -> HookedStep:
        if self._step is None or not self._step.is_open:
            raise SessionClosedError(
                "There is no session yet: for a Keras model it is made at the first step of sess.fit(model, ...). For a graph of "
                "v1 operations, open the session inside of that graph."
            )
        return self._step

    def close(self) -> None:
        """Ends the hooks, saves the last step and closes the session. Twice is fine."""
        try:
            self._end_step()
        finally:
            if self._lock is not None:
                self._lock.release()

    def abort(self, error: BaseException) -> None:
        """Closes the session after an error, without the hooks' `end`."""
        try:
            if self._step is not None:
                self._step.abort(error)
        finally:
            if self._lock is not None:
                self._lock.release()

    def _end_step(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            with self._trained.put_back():
                step.close()


class _SessionCallback(HookCallback):
    """The hooks of a monitored session in one of its fits."""

    def __init__(
        self, session: KerasSession, initial_epoch: int, resume_data: bool, others: Sequence[Any]
    ) -> None:
        self._session = session
        self._others = others
        self._initial_epoch = initial_epoch
        self._resume_data = resume_data
        self._scaffold_made: Any = None
        self._replay: Replay | None = None
        self._batches = 0
        self._before = 0
        self._end_batch: int | None = None
        self._was_interrupted = False
        super().__init__(scaffold=self._make_scaffold)

    def on_train_begin(self, logs: Any = None) -> None:
        """Restores the model, finds where it goes on, and puts the hooks around its step."""
        chief_only, hooks = self._session.hooks_of(self.model, lambda: self._scaffold_made)
        self._hooks["train"], self._chief_only_hooks = hooks, chief_only
        self._is_chief = self._session.is_chief_of(self.model)
        super().on_train_begin(logs)

    def _make_scaffold(self) -> Any:
        self._scaffold_made = self._session.make_scaffold()
        return self._scaffold_made

    def _is_over(self) -> bool:
        session = self._session
        session.restore_model(self.model, session.scaffold)
        params = self.params or {}
        steps = params.get("steps")
        self._before = session.batches()
        if steps:
            self._end_batch = session.start_of_job(self._initial_epoch, steps) + params["epochs"] * steps
        session.notice_last_step(self._hooks["train"])
        if session.should_stop():
            return True
        found = session.position(self._initial_epoch, params["epochs"], steps, resume_data=self._resume_data)
        if found.is_done:
            session.warn_of_missing_weights()
            return True
        if found.epoch > self._initial_epoch and not self._resume_data:
            self._start_at_epoch(found.epoch)
        if found.skipped and self._guard is not None:
            self._replay = Replay(found.skipped, reads_data=self._resume_data)
            self._replay.silence(self._guard.callback_list, self.model)
        self._batches = found.batches - self._initial_epoch * (steps or 0)
        return False

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Lets other callbacks count on where the earlier run stopped, once all of them have begun."""
        if self._batches and self._guard is not None:
            keras_internals.continue_counting(self._guard.callback_list, self.model, self._batches)
            self._batches = 0
        super().on_epoch_begin(epoch, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Keeps what was trained before the callbacks behind this one may change it.

        An epoch that a hook or a signal cut short goes on in the next run, so that what callbacks do after it must not be
        in the last checkpoint. After a whole epoch it must, but for averages that take turns with the weights.
        """
        del logs
        steps = (self.params or {}).get("steps")
        session = self._session
        if any(keras_internals.swaps_averages(callback) for callback in self._others):
            session.keep_trained(again=True)
        elif self._is_interrupted():
            trained = session.batches() - session.start_of_job(self._initial_epoch, steps)
            if not steps or trained < (epoch + 1) * steps:
                session.keep_trained()

    def on_train_end(self, logs: Any = None) -> None:
        """Keeps what was trained where a hook or a signal ended the fit, and gives the model its own step back."""
        if self._was_interrupted:
            self._session.keep_trained()
        super().on_train_end(logs)

    def _is_interrupted(self) -> bool:
        """Tells whether a hook or a signal has ended the fit, here or on another worker; no callback has heard of it yet."""
        spans = keras_replicas.spans_processes(self.model.distribute_strategy)
        stops = self._session.should_stop() or (spans and bool(self.model.stop_training))
        self._was_interrupted = bool(self._others) and stops
        return self._was_interrupted

    def reached_its_end(self) -> bool:
        """Tells whether the model stands where this fit ends, and not further on already."""
        return self._end_batch is None or self._session.batches() <= self._end_batch

    def last_batch(self) -> int:
        """Returns the batch at which a fit after this one starts, had none been interrupted."""
        now = self._session.batches()
        return min(now, self._end_batch) if now == self._before and self._end_batch is not None else now

    def _fit_facts(self) -> dict[str, Any]:
        return {**super()._fit_facts(), "replay": self._replay}

    def _make_step(
        self, kind: str, hooks: Sequence[Any], scaffold: Any, plain: Callable[..., Any]
    ) -> HookedStep:
        if kind != "train":
            return super()._make_step(kind, hooks, scaffold, plain)
        return self._session.step_for(self.model, hooks, scaffold, plain, self._fit_facts())

    def _end(self, step: HookedStep) -> None:
        """Leaves the session open for what follows in the `with` block."""

    def _release(self) -> None:
        if self.model is not None:
            keras_internals.restore_validation(self.model)
        if self._replay is not None:
            self._replay.release()
        super()._release()
