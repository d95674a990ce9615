"""Hooks of this project."""
from tensorflow.python.training import session_run_hook


class Progress(session_run_hook.SessionRunHook):
    """Prints the loss every now and then."""

    def __init__(self, loss, every):
        self._loss = loss
        self._every = every
        self._count = 0

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        self._count += 1
        if self._count % self._every == 0:
            print("after %d steps: loss %.4f" % (self._count, run_values.results))
