"""Every error and warning that the bridge raises by itself.

Each message says what was wrong, on which object, and ends with the way out. All errors derive from
`BridgeError` and from the built-in type that TensorFlow or Keras raises in the same situation, so that
existing `except ValueError` clauses go on working.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class BridgeError(Exception):
    """Base class of all errors that the bridge raises by itself."""


class InvalidHookError(BridgeError, TypeError):
    """Something that is not a `tf.compat.v1.train.SessionRunHook` was given as a hook."""


class ForeignTensorError(BridgeError, ValueError):
    """A tensor or operation of another graph was fetched or fed."""


class UnknownNameError(BridgeError, ValueError, KeyError):
    """A name was fetched or fed that the step's graph does not contain."""

    __str__ = Exception.__str__  # KeyError would print the repr of the message.


class MissingFeedError(BridgeError, ValueError):
    """A run needs a placeholder, such as the batch, for which there is no value."""


class NotFeedableError(BridgeError, ValueError):
    """A tensor was fed that the compiled step computes in a place that no feed can reach."""


class UnsupportedModelError(BridgeError, ValueError):
    """A model, backend, strategy or compile option under which hooks cannot run."""


class UnsupportedSessionCallError(BridgeError, NotImplementedError):
    """A `tf.compat.v1.Session` method that has no meaning over a Keras step."""


class SessionClosedError(BridgeError, RuntimeError):
    """A session was used after it had been closed."""


class NotASessionConfigError(BridgeError, TypeError):
    """Something that is not a `tf.compat.v1.ConfigProto` was given as a session's config."""


class InvalidSessionConfigError(BridgeError, ValueError):
    """A `tf.compat.v1.ConfigProto` asks for something that cannot be, such as a GPU that is not there."""


class SessionConfigError(BridgeError, RuntimeError):
    """A session's config comes too late: TensorFlow's runtime has started with other options."""


class SessionConfigWarning(UserWarning):
    """Names the fields of a session's config that have no counterpart for a Keras model, each with a way out."""


class UnsupportedSessionError(BridgeError, ValueError):
    """A parameter or a use of `bridge.MonitoredTrainingSession` that has no meaning for this model."""


class UnreadableCheckpointError(BridgeError, RuntimeError):
    """A checkpoint, or each one of a folder, is damaged, incomplete, or not of the name-based kind."""


class UnreadableCheckpointWarning(UserWarning):
    """The newest checkpoint cannot be read, so that an older one was restored."""


class SecondChiefWarning(UserWarning):
    """Two processes write checkpoints to the same folder."""


class ResumeWarning(UserWarning):
    """A fit cannot go on exactly where the earlier run stopped, and why."""


class GraphModelError(BridgeError, ValueError):
    """A GraphModel or CallbackHook was made of, or called with, something that a v1 graph has no use for."""


class UnsupportedCallbackError(BridgeError, ValueError):
    """A Keras callback that cannot do its work over a v1 graph."""


class CheckpointNotFoundError(BridgeError, FileNotFoundError, ValueError):
    """There is no checkpoint at a path."""


class NameMapError(BridgeError, ValueError):
    """A `name_map` of unknown form, or one that can be understood in two ways."""


class CheckpointMismatchError(BridgeError, ValueError):
    """A checkpoint and a model do not fit, and `strict` was asked for.

    Attributes:
      report: The `bridge.checkpoint.CheckpointReport`, whose table is also the message.
    """

    def __init__(self, message: str, report: Any = None) -> None:
        super().__init__(message)
        self.report = report


class WorkerLostError(BridgeError, RuntimeError):
    """Another process of a job under MultiWorkerMirroredStrategy died or failed; all of them must start again.

    It is not a `tf.errors.UnavailableError`, which a monitored session would answer by trying again and again.
    """


class DifferentWorkersError(BridgeError, ValueError):
    """The processes of one job are about to do different things, which would make them wait for each other for ever."""


class LegacyKerasError(BridgeError, ImportError):
    """Keras 2 (tf_keras) was asked for and cannot be had: it is not installed, or Keras 3 is in use already."""


class LegacySlimError(BridgeError, ImportError):
    """The package tf_slim, or what it needs, was asked for and is not installed."""


class HParamsError(BridgeError, ValueError):
    """A hyperparameter of a name, type or text that cannot be."""


class StepGraphWarning(UserWarning):
    """The step runs in another way than the model's compile options say, and why."""


def nearest_names(name: str, known: Iterable[str], count: int = 5) -> str:
    """Formats the known names that are most like `name`, for an error message.

    Args:
      name: The name that was asked for.
      known: All the names that exist.
      count: At most this many suggestions.

    Returns:
      A sentence with the suggestions; names that contain the last part of `name` come first.
    """
    names = sorted(set(known))
    leaf = name.split(":", maxsplit=1)[0].rsplit("/", 1)[-1].lower()
    close = [n for n in names if leaf and leaf in n.lower()][:count]
    close += [n for n in difflib.get_close_matches(name, names, n=count, cutoff=0.3) if n not in close]
    if not close:
        return f"The names are: {', '.join(names[:count])} …" if names else "The graph has no names."
    return f"The nearest names are: {', '.join(close[:count])}."
