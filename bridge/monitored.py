"""`MonitoredTrainingSession`: v1's, for legacy graphs as it was, and for Keras models around their `fit`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any

import tensorflow as tf

from bridge.config import apply_session_config
from bridge.default_hooks import USE_DEFAULT, Saving, secs_or_steps
from bridge.errors import SessionClosedError, UnsupportedSessionError
from bridge.graph_session import GraphSession
from bridge.hook_callback import hook_list
from bridge.keras_session import KerasSession
from bridge.preemption import Preemption

tf1 = tf.compat.v1

_QUIET = (tf.errors.OutOfRangeError, StopIteration)


_MonitoredSession: Any = tf1.train.MonitoredSession


class MonitoredTrainingSession(_MonitoredSession):
    """Stands for `tf.compat.v1.train.MonitoredTrainingSession`, for Keras models and for legacy graphs.

    Inside a v1 graph it is v1's own session from the start. Otherwise it is a session for a Keras model, which is made
    at the first step of `fit`: with v1's savers, hooks, chief and workers around Keras's loop. To be used in a `with`
    block; leaving it ends the hooks, saves the last step, and closes.

    SIGTERM ends the run in order: the step is finished, the model saved, hooks end, and the process leaves with status
    143 (or the program's own handler is called).
    """

    def __init__(
        self,
        master: str = "",
        is_chief: bool = True,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        scaffold: Any = None,
        hooks: Iterable[Any] | None = None,
        chief_only_hooks: Iterable[Any] | None = None,
        save_checkpoint_secs: float | None = USE_DEFAULT,
        save_summaries_steps: int | None = USE_DEFAULT,
        save_summaries_secs: float | None = USE_DEFAULT,
        config: Any = None,
        stop_grace_period_secs: float = 120,
        log_step_count_steps: int | None = 100,
        max_wait_secs: float = 7200,
        save_checkpoint_steps: int | None = USE_DEFAULT,
        summary_dir: str | os.PathLike[str] | None = None,
        save_graph_def: bool = True,
    ) -> None:
        """Opens the session, or prepares one for a Keras model.

        Args:
          master: The TensorFlow master, for legacy graphs. A Keras model runs in its own process: only ''.
          is_chief: Whether this process initialises, restores and writes. Others wait for the chief. Under a strategy of
            several workers the strategy tells the chief, so that True is right for all of them.
          checkpoint_dir: Folder of the checkpoints: the newest is restored at the start, and new ones are saved there.
          scaffold: A `tf.compat.v1.train.Scaffold`; for a Keras model also a callable without arguments that makes one
            inside the step's graph.
          hooks: `SessionRunHook`s; for a Keras model also callables that make one inside the step's graph.
          chief_only_hooks: Hooks for the chief alone, before all others.
          save_checkpoint_secs: Seconds between checkpoints; default 600 if `save_checkpoint_steps` is not given. None and
            0 are off.
          save_summaries_steps: Steps between summaries; default 100 if `save_summaries_secs` is not given.
          save_summaries_secs: Seconds between summaries; not used by default.
          config: A `tf.compat.v1.ConfigProto`. For a Keras model its fields become `tf.config` calls
            (`bridge.apply_session_config`).
          stop_grace_period_secs: Seconds that threads have to stop after the session closes.
          log_step_count_steps: Steps between two measurements of global_step/sec. None and 0 are off.
          max_wait_secs: Seconds that a process which is not the chief waits for it.
          save_checkpoint_steps: Steps between checkpoints; not used by default.
          summary_dir: Folder of the summaries; default is `checkpoint_dir`.
          save_graph_def: Whether graph.pbtxt and a .meta file for each checkpoint are written.

        Raises:
          ValueError: seconds and steps are given for the same saver.
          InvalidHookError: something given as a hook is none.
          UnsupportedSessionError: `master` names a server, but there is no v1 graph.
          tf.errors.DeadlineExceededError: the chief did not initialise within `max_wait_secs`.
        """
        checkpoint_every = secs_or_steps(
            save_checkpoint_secs, save_checkpoint_steps, default_secs=600, default_steps=None
        )
        summaries_every = secs_or_steps(
            save_summaries_secs, save_summaries_steps, default_secs=None, default_steps=100
        )
        saving = Saving(
            checkpoint_dir=os.fspath(checkpoint_dir) if checkpoint_dir else None,
            summary_dir=os.fspath(summary_dir or checkpoint_dir or "") or None,
            save_checkpoint_secs=checkpoint_every[0],
            save_checkpoint_steps=checkpoint_every[1],
            save_summaries_secs=summaries_every[0],
            save_summaries_steps=summaries_every[1],
            log_step_count_steps=log_step_count_steps,
            save_graph_def=save_graph_def,
        )
        self._is_open = True
        self._preemption = Preemption(self._preempt)
        every_process = hook_list(hooks, "hooks")
        chief_only = hook_list(chief_only_hooks, "chief_only_hooks")
        self._keras: KerasSession | None = None
        self._graph: GraphSession | None = None
        if tf.executing_eagerly():
            if master:
                raise UnsupportedSessionError(
                    f"master={master!r} names a server for legacy graphs, but no v1 graph is the default one. A Keras model runs in "
                    "its own process: leave master out, and compile the model under a tf.distribute strategy "
                    "(MultiWorkerMirroredStrategy with TF_CONFIG) to train on several. For a legacy graph, open the session inside "
                    "of `with tf.Graph().as_default()`."
                )
            apply_session_config(config)
            self._keras = KerasSession(
                saving,
                is_chief=is_chief,
                scaffold=scaffold,
                hooks=every_process,
                chief_only_hooks=chief_only,
                stop_grace_period_secs=stop_grace_period_secs,
                max_wait_secs=max_wait_secs,
                preemption=self._preemption,
            )
        else:
            self._graph = GraphSession(
                saving,
                master=master,
                is_chief=is_chief,
                scaffold=scaffold,
                hooks=every_process,
                chief_only_hooks=chief_only,
                config=config,
                stop_grace_period_secs=stop_grace_period_secs,
                max_wait_secs=max_wait_secs,
                preemption=self._preemption,
            )
        self._preemption.install()

    # ---- Keras's loop in the session. ----

    def fit(
        self,
        model: Any,
        *args: Any,
        resume_data: bool = False,
        name_map: Mapping[str, str] | Any = None,
        **kwargs: Any,
    ) -> Any:
        """Runs `model.fit` in this session.

        After a restore it goes on at the epoch and step at which the earlier run stopped: `epochs` counts from the
        beginning of the job. A fit whose epochs, or whose last step, are reached already trains nothing. Several fits in
        one session follow each other, with the hooks alive from the first to the end of the `with` block.

        Args:
          model: A compiled Keras 3 or tf_keras model; in a legacy graph a `bridge.GraphModel`.
          *args: As for `keras.Model.fit`.
          resume_data: Whether the batches that the earlier run trained on are read from the data and passed over, so that
            a run that was stopped ends as one that was not. Without it, data begins anew.
          name_map: From this model's variable names to those of a TF1 job's checkpoint, as for
            `bridge.checkpoint.load_v1`.
          **kwargs: As for `keras.Model.fit`: x, y, epochs, callbacks, validation_data, …

        Returns:
          Keras's `History`.

        Raises:
          UnsupportedSessionError: the model does not fit the session.
          CheckpointMismatchError: `checkpoint_dir` holds another model's checkpoint.
          UnreadableCheckpointError: none of its checkpoints can be read.
        """
        if self._preemption.requested:
            self.close()  # Leaves the process.
        self._check_open()
        if self._graph is not None:
            return self._graph.fit(model, *args, **kwargs)
        assert self._keras is not None
        return self._keras.fit(model, *args, resume_data=resume_data, name_map=name_map, **kwargs)

    def evaluate(self, model: Any, *args: Any, name_map: Any = None, **kwargs: Any) -> Any:
        """Runs `model.evaluate` with the weights of the newest checkpoint, or those that this session trained.

        Args:
          model: As for `fit`.
          *args: As for `keras.Model.evaluate`.
          name_map: As for `fit`.
          **kwargs: As for `keras.Model.evaluate`.

        Returns:
          What `model.evaluate` returns.
        """
        self._check_open()
        if self._graph is not None:
            return self._graph.evaluate(model, *args, **kwargs)
        assert self._keras is not None
        return self._keras.evaluate(model, *args, name_map=name_map, **kwargs)

    # ---- The v1 session. ----

    @property
    def graph(self) -> tf.Graph | None:
        """The graph that is run (`tf.compat.v1.train.MonitoredSession.graph`); None where there is none (yet)."""
        return self._inner.graph if self._is_open else None

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs fetches together with the hooks (`tf.compat.v1.train.MonitoredSession.run`).

        Args:
          fetches: As for `tf.compat.v1.Session.run`.
          feed_dict: As for `tf.compat.v1.Session.run`.
          options: As for `tf.compat.v1.Session.run`.
          run_metadata: As for `tf.compat.v1.Session.run`.

        Returns:
          Numpy values in the structure of `fetches`.

        Raises:
          RuntimeError: the session is closed, or a stop was requested before.
        """
        self._check_open()
        return self._inner.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Runs a function of a step (`tf.compat.v1.train.MonitoredSession.run_step_fn`).

        Args:
          step_fn: A function of one argument, `step_context`, with `session`, `run_with_hooks` and `request_stop`.

        Returns:
          What `step_fn` returns.
        """
        self._check_open()
        return self._inner.run_step_fn(step_fn)

    def should_stop(self) -> bool:
        """Tells whether a stop was requested or the session is closed (`MonitoredSession.should_stop`)."""
        return not self._is_open or self._preemption.requested or self._inner.should_stop()

    def close(self) -> None:
        """Ends the hooks, saves the last step and closes (`MonitoredSession.close`). Twice is fine."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            self._inner.close()
        finally:
            self._preemption.release()
        self._preemption.leave()

    def __enter__(self) -> MonitoredTrainingSession:
        self._check_open()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if error is None or (isinstance(error, _QUIET) and "File too large" not in str(error)):
            self.close()
            return True
        if self._is_open:
            self._is_open = False
            try:
                self._inner.abort(error)
            finally:
                self._preemption.release()
        return False

    @property
    def _inner(self) -> KerasSession | GraphSession:
        inner = self._keras if self._keras is not None else self._graph
        assert inner is not None
        return inner

    def __getattr__(self, name: str) -> Any:
        # Scripts reach for the parts of v1's session by their private names.
        if name.startswith("__") or name in ("_keras", "_graph", "_is_open"):
            raise AttributeError(name)
        return getattr(self._inner.v1_session, name)

    def _preempt(self) -> None:
        if self._keras is not None:
            self._keras.preempt()

    def _check_open(self) -> None:
        if not self._is_open:
            raise SessionClosedError("The session is already closed. Open another MonitoredTrainingSession.")


# `inspect.signature` of the base class would show its own arguments.
_PARAMETERS = tuple(inspect.signature(MonitoredTrainingSession).parameters)


def monitored_fit(model: Any, *args: Any, **kwargs: Any) -> Any:
    """Runs one `fit` in a `MonitoredTrainingSession` of its own.

    Args:
      model: As for `MonitoredTrainingSession.fit`.
      *args: As for `keras.Model.fit`.
      **kwargs: Both the session's parameters and those of its `fit`, by name.

    Returns:
      Keras's `History`.
    """
    session = {name: kwargs.pop(name) for name in _PARAMETERS if name in kwargs}
    with MonitoredTrainingSession(**session) as monitored:
        return monitored.fit(model, *args, **kwargs)
    return None  # The session has swallowed an end of the input, as v1's does.
