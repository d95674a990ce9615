"""The version of keras-hook-bridge: the build reads it here, and so does ``bridge.__version__``."""

__version__ = "0.1.0"
