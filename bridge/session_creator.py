"""Opens a live session as `ChiefSessionCreator` opens a v1 one: scaffold, initialisation, readiness."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Protocol

import tensorflow as tf

from bridge import tf_internals
from bridge.live_session import BatchSource, LiveSession
from bridge.step_graph import StepGraph

tf1 = tf.compat.v1
_SessionCreator: Any = tf1.train.SessionCreator

# What `Scaffold.finalize` fills in where nothing was given: operations of one graph. A scaffold that serves another fit
# must lose them again, and it has no public way to.
_PIECES = ("_init_op", "_ready_op", "_ready_for_local_init_op", "_local_init_op", "_summary_op", "_saver")
_given_pieces: weakref.WeakKeyDictionary[Any, frozenset[str]] = weakref.WeakKeyDictionary()


class Restore(Protocol):
    """Restores a session from a checkpoint."""

    def prepare(self, hook_variables: list[Any]) -> None:
        """Adds the operations that it needs to the default graph, before that is finalised."""

    def restore(self, session: LiveSession, step_graph: StepGraph, scaffold: Any, *, again: bool) -> bool:
        """Restores all variables.

        Args:
          session: A new session.
          step_graph: Its graph.
          scaffold: The finalised `tf.compat.v1.train.Scaffold`.
          again: Whether an earlier session of the same job was lost.

        Returns:
          Whether there was a checkpoint.
        """


class LiveSessionCreator(_SessionCreator):
    """Stands for `tf.compat.v1.train.ChiefSessionCreator` over a Keras step.

    The model's own variables have their values already; initialisers of v1 leave them alone. What hooks create is
    initialised here. The scaffold's `init_op` and `init_fn` run only for a model that was not trained before.
    """

    def __init__(
        self,
        make_session: Callable[[], LiveSession],
        step_graph: StepGraph,
        scaffold: Any = None,
        restore: Restore | None = None,
        batch: BatchSource | None = None,
    ) -> None:
        """Prepares to open sessions on the step's graph, which must be the default one.

        Args:
          make_session: Opens a session.
          step_graph: The graph.
          scaffold: A `tf.compat.v1.train.Scaffold`, or None for the default one.
          restore: Restores each new session from a checkpoint; None stands for no checkpoints.
          batch: The sessions' batch; its step runs again if a checkpoint took the model back behind it.
        """
        self._restore = restore
        self._batch = batch
        self._is_first = True
        self._make_session = make_session
        self._step_graph = step_graph
        self._scaffold = scaffold
        self._init_others: Any = None

    def create_session(self) -> LiveSession:
        """Opens a session.

        Returns:
          The session, everything in it initialised.

        Raises:
          RuntimeError: if the scaffold's initialisation leaves variables uninitialised.
        """
        if self._init_others is None:
            self._prepare()
        scaffold = self._scaffold
        scaffold.finalize()
        session = self._make_session()
        session.run(self._init_others)
        again, self._is_first = not self._is_first, False
        restored = self._restore is not None and self._restore.restore(
            session, self._step_graph, scaffold, again=again
        )
        if restored and again and self._batch is not None:
            self._batch.results = None
        if not restored and self._step() == 0:
            if scaffold.init_op is not None:
                session.run(scaffold.init_op, feed_dict=scaffold.init_feed_dict)
            if scaffold.init_fn:
                scaffold.init_fn(session)
        missing = self._missing(session, scaffold.ready_for_local_init_op)
        if scaffold.local_init_op is not None and not missing:
            session.run(scaffold.local_init_op, feed_dict=getattr(scaffold, "local_init_feed_dict", None))
        missing = missing or self._missing(session, scaffold.ready_op)
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready: {', '.join(missing)} not initialized. "
                "Initialise them in the scaffold's init_op, init_fn or local_init_op."
            )
        return session

    def _prepare(self) -> None:
        """Adds the operations that initialise what hooks made, and spares the checks where they made nothing."""
        keys = tf1.GraphKeys
        variables = [*tf1.global_variables(), *tf1.local_variables()]
        others = [v for v in tf1.global_variables() if not self._step_graph.is_live(v)]
        self._init_others = tf1.variables_initializer(others, name="init_of_hooks")
        if self._restore is not None:
            self._restore.prepare(others)
        if self._scaffold is None:
            self._scaffold = tf1.train.Scaffold()
        extra = [keys.READY_OP, keys.READY_FOR_LOCAL_INIT_OP, keys.RESOURCES, keys.LOCAL_RESOURCES]
        if all(map(self._step_graph.is_live, variables)) and not any(map(tf1.get_collection, extra)):
            ready = tf.constant([], tf.string, name="ready")
            # The scaffold looks for its pieces there, and shares them so.
            for key in (keys.READY_OP, keys.READY_FOR_LOCAL_INIT_OP):
                tf1.add_to_collection(key, ready)

    def _step(self) -> int:
        with tf_internals.eager_mode():
            return int(tf_internals.replicas(self._step_graph.step_variable)[0].numpy())

    @staticmethod
    def _missing(session: LiveSession, ready_op: Any) -> list[str]:
        """Returns the names that a ready operation reports."""
        if ready_op is None:
            return []
        names = tf.get_static_value(ready_op)
        names = session.run(ready_op) if names is None else names
        return [name.decode() if isinstance(name, bytes) else str(name) for name in names]


def renew(scaffold: Any) -> None:
    """Takes from a scaffold what an earlier fit filled in, so that it can serve another graph.

    Args:
      scaffold: A `tf.compat.v1.train.Scaffold`. Pieces that its maker gave are kept.
    """
    given = _given(scaffold)
    for piece in _PIECES:
        if piece not in given:
            setattr(scaffold, piece, None)


def has_own_saver(scaffold: Any) -> bool:
    """Tells whether the maker of a scaffold gave it a saver.

    Args:
      scaffold: A `tf.compat.v1.train.Scaffold` that is new, or was given to `renew`.
    """
    return "_saver" in _given(scaffold)


def _given(scaffold: Any) -> frozenset[str]:
    pieces = frozenset(piece for piece in _PIECES if getattr(scaffold, piece, None) is not None)
    return _given_pieces.setdefault(scaffold, pieces)
