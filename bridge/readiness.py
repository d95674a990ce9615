"""What a worker of a legacy graph still misses, once it has waited for its chief in vain."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

tf1 = tf.compat.v1

# The master may have gone; to ask it must not hang. In milliseconds.
_TIMEOUT = 10_000


def missing_variables(graph: tf.Graph, scaffold: Any, master: str, config: Any) -> list[str]:
    """Asks the ready operations of a scaffold, as `tf.compat.v1.train.SessionManager` does.

    Args:
      graph: The graph.
      scaffold: Its finalized `tf.compat.v1.train.Scaffold`.
      master: The master on which the variables live.
      config: The `ConfigProto` of the sessions there, or None.

    Returns:
      The names of the variables that are not initialised; none if the master does not answer.
    """
    asking = tf1.ConfigProto()
    if config is not None:
        asking.CopyFrom(config)
    asking.operation_timeout_in_ms = _TIMEOUT
    names: list[str] = []
    try:
        with tf1.Session(master, graph=graph, config=asking) as session:
            for ready_op in (scaffold.ready_for_local_init_op, scaffold.ready_op):
                if ready_op is not None:
                    found = session.run(ready_op)
                    names += [name.decode() for name in found.flatten() if isinstance(name, bytes)]
    except tf.errors.OpError as error:
        tf1.logging.info("The master %r does not say what is missing: %s", master, error)
    return list(dict.fromkeys(names))


def explain(error: tf.errors.DeadlineExceededError, scaffold: Any, master: str, config: Any) -> None:
    """Raises the error of a worker that has waited for too long, with what was missing.

    Args:
      error: What TensorFlow raised.
      scaffold: The session's scaffold, in whose graph the worker was to train.
      master: The session's master.
      config: The session's config.

    Raises:
      tf.errors.DeadlineExceededError: with the variables' names, if the master tells any.
    """
    names = missing_variables(tf1.get_default_graph(), scaffold, master, config)
    if names:
        raise tf.errors.DeadlineExceededError(
            error.node_def,
            error.op,
            f"{error.message} Variables not initialized: {', '.join(names)}. Start the chief (is_chief=True) on the same "
            "cluster, or give a longer max_wait_secs.",
        ) from error
