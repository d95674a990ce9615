"""Opens a live session as `ChiefSessionCreator` opens a v1 one: scaffold, initialisation, readiness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from bridge.live_session import LiveSession

tf1 = tf.compat.v1


class LiveSessionCreator(tf1.train.SessionCreator):
    """Stands for `tf.compat.v1.train.ChiefSessionCreator` over a Keras step.

    The model's own variables have their values already; initialisers of v1 leave them alone. What hooks create is
    initialised here. The scaffold's `init_op` and `init_fn` run only for a model that was not trained before.
    """

    def __init__(self, make_session: Callable[[], LiveSession], scaffold: Any, global_step: Any) -> None:
        """Prepares to open sessions on the default graph.

        Args:
          make_session: Opens a session on the default graph.
          scaffold: A `tf.compat.v1.train.Scaffold`, or None for the default one.
          global_step: The graph's step variable.
        """
        self._make_session = make_session
        self._scaffold = scaffold or tf1.train.Scaffold()
        self._global_step = global_step
        self._init_all: Any = None

    @property
    def scaffold(self) -> Any:
        """The scaffold that the session is opened with."""
        return self._scaffold

    def create_session(self) -> LiveSession:
        """Opens a session.

        Returns:
          The session, everything in it initialised.

        Raises:
          RuntimeError: if the scaffold's initialisation leaves variables uninitialised.
        """
        graph = tf1.get_default_graph()
        if self._init_all is None and not graph.finalized:
            self._init_all = tf1.global_variables_initializer()
        scaffold = self._scaffold
        scaffold.finalize()
        session = self._make_session()
        if self._init_all is not None:
            session.run(self._init_all)
        if int(session.run(self._global_step)) == 0:
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

    @staticmethod
    def _missing(session: LiveSession, ready_op: Any) -> list[str]:
        """Returns the names that a ready operation reports."""
        if ready_op is None:
            return []
        return [name.decode() if isinstance(name, bytes) else str(name) for name in session.run(ready_op)]
