"""Trains a case without a stop, and in several sessions of which each goes on where the one before stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import bridge
from tests.bridge.exactness import running
from tests.bridge.exactness.cases import Case
from tests.bridge.exactness.running import EPOCHS, Outcome, seed, train

tf1 = tf.compat.v1

Session = bridge.MonitoredTrainingSession


def begin(k: Any, case: Case) -> Any:
    """Builds and compiles a case's model as a new process does: from its seed."""
    seed(k)
    return case.compiled(k)


def session(
    k: Any,
    case: Case,
    directory: Path | str | None,
    *,
    stop_at: int | None = None,
    hooks: Sequence[Any] = (),
    model: Any = None,
    **fit: Any,
) -> tuple[Any, Any]:
    """One session of a job.

    Args:
      k: The Keras package.
      case: The model, its data, and how it is compiled.
      directory: The job's folder of checkpoints.
      stop_at: The step after which a hook requests the stop.
      hooks: More hooks.
      model: The model; None builds it.
      **fit: Arguments of `fit` that take the place of the case's.

    Returns:
      The model and the History.
    """
    model = begin(k, case) if model is None else model
    all_hooks = [*hooks, *([] if stop_at is None else [tf1.train.StopAtStepHook(last_step=stop_at)])]
    where = None if directory is None else str(directory)
    with Session(checkpoint_dir=where, hooks=all_hooks, save_graph_def=False) as opened:
        arguments = {"epochs": EPOCHS, "verbose": 0, "resume_data": True, **case.data(k), **case.fit, **fit}
        history = opened.fit(model, **arguments)
    return model, history


def in_pieces(k: Any, case: Case, directory: Path, stops: Sequence[int], **fit: Any) -> Outcome:
    """Trains a case in sessions that stop at these steps, and in a last one that ends it."""
    for stop in stops:
        session(k, case, directory, stop_at=stop, **fit)
    return left_by(*session(k, case, directory, **fit))


def left_by(model: Any, history: Any) -> Outcome:
    """What a fit leaves behind, without metrics, which a fit that trains nothing does not build."""
    state = {name: running._array(value) for name, value in running._state(model)}
    return Outcome(state, {}, history.history, history.epoch, bool(model.stop_training))


def never_stopped(k: Any, case: Case, **fit: Any) -> Outcome:
    """Trains a case by plain `fit`."""
    return train(k, case.plain(), **fit)[1]


def trained_state(found: Outcome) -> dict[str, np.ndarray]:
    """Everything that training changed, but for metrics, which count from where an epoch went on.

    Nor does it hold tf_keras's own counter of batches in one fit, which stays 0 where there were none.
    """
    return {
        name: value
        for name, value in found.state.items()
        if not name.startswith("metrics/") and "_train_counter" not in name
    }


def assert_same_state(expected: Outcome, found: Outcome) -> None:
    """Asserts that two trainings ended with the same weights, optimizer, random state and step, bit for bit.

    tf_keras names an optimizer's variables by where it was when it made them, so that only their last parts agree.
    """
    one, other = trained_state(expected), trained_state(found)
    assert [_parts(name) for name in one] == [_parts(name) for name in other]
    pairs = zip(one.items(), other.values(), strict=True)
    wrong = [name for (name, value), found_value in pairs if value.tobytes() != found_value.tobytes()]
    assert not wrong, f"{len(wrong)} of {len(one)} differ, such as {wrong[:4]}"


def _parts(name: str) -> tuple[str, str, str]:
    owner, number, *path = name.split("/")
    return owner, number, path[-1] if path else ""
