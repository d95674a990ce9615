"""Train with Keras and keep the TF1 session hooks: the public names."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bridge import checkpoint, errors, multi_worker
from bridge._version import __version__
from bridge.callback_hook import CallbackHook
from bridge.config import apply_session_config
from bridge.describe import describe
from bridge.graph_model import GraphModel
from bridge.hook_callback import HookCallback
from bridge.monitored import MonitoredTrainingSession, monitored_fit

if TYPE_CHECKING:
    from bridge import estimator

__all__ = [
    "CallbackHook",
    "GraphModel",
    "HookCallback",
    "MonitoredTrainingSession",
    "__version__",
    "apply_session_config",
    "checkpoint",
    "describe",
    "errors",
    "estimator",
    "monitored_fit",
    "multi_worker",
]


def __getattr__(name: str) -> Any:
    """Imports `bridge.estimator` when it is first asked for: most programs have no Estimators."""
    if name == "estimator":
        return import_module("bridge.estimator")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
