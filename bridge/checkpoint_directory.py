"""The folder of a job's checkpoints: which one is the newest that can be read, and whether another chief writes there."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import tensorflow as tf

from bridge.errors import SecondChiefWarning

fcntl: Any
try:
    import fcntl
except ImportError:  # Not on Windows.
    fcntl = None


def checkpoints_in(directory: str | os.PathLike[str] | None) -> list[str]:
    """Lists the checkpoints that a folder's `checkpoint` file names, the newest first.

    Args:
      directory: The folder, or None.

    Returns:
      Prefixes, such as `…/model.ckpt-100`; none for a folder without the file.
    """
    state = tf.train.get_checkpoint_state(os.fspath(directory)) if directory else None
    if state is None or not state.model_checkpoint_path:
        return []
    older = [
        path for path in reversed(state.all_model_checkpoint_paths) if path != state.model_checkpoint_path
    ]
    return [state.model_checkpoint_path, *older]


class ChiefLock:
    """Notices two chiefs in one folder of checkpoints.

    A lock on the folder itself leaves no file behind, and the system takes it away with the process.
    """

    def __init__(self, directory: str) -> None:
        """Takes the lock, and makes the folder if it is not there.

        Args:
          directory: The folder. Folders of other file systems (`gs://…`) are not watched.
        """
        self._descriptor: int | None = None
        if fcntl is None or "://" in directory:
            return
        Path(directory).mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            warnings.warn(
                f"Another chief is writing checkpoints to {directory}: each will delete the other's. Give every job a "
                "checkpoint_dir of its own, and is_chief=False to all processes of a job but one.",
                SecondChiefWarning,
                stacklevel=4,
            )
            return
        except OSError:
            # A file system without locks: nothing can be told.
            os.close(descriptor)
            return
        self._descriptor = descriptor

    def release(self) -> None:
        """Gives the lock back. Twice is fine."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> ChiefLock:
        return self

    def __exit__(self, *error: Any) -> None:
        self.release()
