"""Train with Keras and keep the TF1 session hooks: the public names."""

from bridge import errors
from bridge._version import __version__
from bridge.describe import describe
from bridge.hook_callback import HookCallback

__all__ = ["HookCallback", "__version__", "describe", "errors"]
