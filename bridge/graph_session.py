"""A monitored session over a legacy v1 graph: TensorFlow's own, opened at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from bridge import readiness
from bridge.checkpoint_directory import ChiefLock, checkpoints_in
from bridge.default_hooks import Saving
from bridge.errors import UnreadableCheckpointError, UnsupportedSessionError
from bridge.graph_variables import step_variable
from bridge.hooked_step import last_step_reached, resolve_hooks
from bridge.preemption import Preemption, StopWhenPreempted
from bridge.writers import flush_writers

tf1 = tf.compat.v1


class GraphSession:
    """What `bridge.MonitoredTrainingSession` is for a legacy graph."""

    def __init__(
        self,
        saving: Saving,
        *,
        master: str,
        is_chief: bool,
        scaffold: Any,
        hooks: Sequence[Any],
        chief_only_hooks: Sequence[Any],
        config: Any,
        stop_grace_period_secs: float,
        max_wait_secs: float,
        preemption: Preemption,
    ) -> None:
        """Opens the v1 session. Arguments as for the public class."""
        made, chief_only = resolve_hooks(hooks), resolve_hooks(chief_only_hooks)
        self._hooks = [*chief_only, *made] if is_chief else made
        self._lock = ChiefLock(saving.checkpoint_dir) if is_chief and saving.checkpoint_dir else None
        self._first_step = 0
        self._is_over = False
        scaffold = scaffold or tf1.train.Scaffold()
        try:
            self.v1_session = tf1.train.MonitoredTrainingSession(
                master=master,
                is_chief=is_chief,
                checkpoint_dir=saving.checkpoint_dir,
                scaffold=scaffold,
                hooks=[*made, StopWhenPreempted(preemption)],
                chief_only_hooks=chief_only,
                save_checkpoint_secs=saving.save_checkpoint_secs,
                save_summaries_steps=saving.save_summaries_steps,
                save_summaries_secs=saving.save_summaries_secs,
                config=config,
                stop_grace_period_secs=stop_grace_period_secs,
                log_step_count_steps=saving.log_step_count_steps,
                max_wait_secs=max_wait_secs,
                save_checkpoint_steps=saving.save_checkpoint_steps,
                summary_dir=saving.summary_dir,
                save_graph_def=saving.save_graph_def,
            )
        except BaseException as error:
            self._unlock()
            if isinstance(error, (tf.errors.DataLossError, tf.errors.OutOfRangeError)):
                self._explain_unreadable(saving.checkpoint_dir, error)
            if isinstance(error, tf.errors.DeadlineExceededError) and not is_chief:
                readiness.explain(error, scaffold, master, config)
            if isinstance(error, RuntimeError) and str(error).startswith("Global step should be created"):
                raise RuntimeError(
                    f"{error} Make it in the session's graph, before the session: tf.compat.v1.train.get_or_create_global_step(), and "
                    "give it to minimize. If the program trains a Keras model, open the session outside of "
                    "tf.Graph().as_default(), and take out disable_v2_behavior() and disable_eager_execution()."
                ) from error
            raise

    @staticmethod
    def _explain_unreadable(directory: str | None, error: tf.errors.OpError) -> None:
        found = checkpoints_in(directory)
        if not found:
            return
        newest, *older = found
        remedy = (
            f"name {older[0]} in the file 'checkpoint'"
            if older
            else "give another checkpoint_dir to start anew"
        )
        raise UnreadableCheckpointError(
            f"The checkpoint {newest} cannot be read: {str(error).splitlines()[0]} Nothing was changed or deleted: {remedy}."
        ) from error

    @property
    def graph(self) -> tf.Graph:
        """The graph."""
        return self.v1_session.graph

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Runs fetches with the hooks."""
        return self._in_graph_mode(self.v1_session.run, *args, **kwargs)

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Runs a step function."""
        return self._in_graph_mode(self.v1_session.run_step_fn, step_fn)

    def _in_graph_mode(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a method of the session, also from a Keras callback: hooks such as the saver's need the graph's mode."""
        if tf.executing_eagerly() and self.graph is not None:
            with self.graph.as_default():
                return method(*args, **kwargs)
        return method(*args, **kwargs)

    def should_stop(self) -> bool:
        """Tells whether a stop was requested."""
        return self._is_over or self.v1_session.should_stop()

    def close(self) -> None:
        """Ends the hooks and closes the session."""
        try:
            self.v1_session.close()
        finally:
            self._unlock()
            flush_writers(self._hooks)

    def abort(self, error: BaseException) -> None:
        """Closes the session after an error, without the hooks' `end`."""
        try:
            self.v1_session.__exit__(type(error), error, error.__traceback__)
        finally:
            self._unlock()
            flush_writers(self._hooks)

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def fit(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        """Runs a `GraphModel`'s fit in this session. Arguments as for the public class."""
        self._check(model, "fit")
        before = self._global_step()
        given = inspect.signature(model.fit_in).bind(self.v1_session, *args, **kwargs).arguments
        epochs, steps = given.get("epochs", 1), given.get("steps_per_epoch")
        # TF1's own hook would notice after one step too many.
        self._is_over |= last_step_reached(lambda: before, self._hooks)
        session = _Stopped(self.v1_session) if self._is_over else self.v1_session
        kwargs.setdefault("initial_step", max(0, before - self._first_step))
        history = model.fit_in(session, *args, **kwargs)
        now = self._global_step()
        planned = (epochs - given.get("initial_epoch", 0)) * steps if steps else 0
        self._first_step = min(now, self._first_step + planned) if now == before else now
        return history

    def evaluate(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        """Evaluates a `GraphModel` in this session."""
        self._check(model, "evaluate")
        return model.evaluate_in(self.v1_session, *args, **kwargs)

    @staticmethod
    def _check(model: Any, method: str) -> None:
        if not hasattr(model, f"{method}_in"):
            raise UnsupportedSessionError(
                f"This session was opened in a v1 graph, but {type(model).__name__} is no bridge.GraphModel. For a Keras model, open "
                "the session outside of tf.Graph().as_default(), in a program without disable_v2_behavior(); for this graph, "
                f"sess.{method}(bridge.GraphModel(train_op, ...))."
            )

    def _global_step(self) -> int:
        """Reads the global step past the hooks; 0 for a graph or a session without one."""
        tensor = step_variable(self.graph) if self.graph is not None else None
        if tensor is None:
            return 0

        def read(step_context: Any) -> Any:
            return step_context.session.run(tensor)

        return int(self.v1_session.run_step_fn(read))


class _Stopped:
    """Stands for a session that has nothing left to train."""

    def __init__(self, session: Any) -> None:
        self.graph = session.graph
        self.run = session.run
        self.run_step_fn = session.run_step_fn

    def should_stop(self) -> bool:
        return True
