"""Finds and reads checkpoints that a `tf.compat.v1.train.Saver` wrote, in its present format and the one before."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import tensorflow as tf

from bridge import tf_internals
from bridge.errors import CheckpointNotFoundError, UnreadableCheckpointError

_Result = TypeVar("_Result")

# What `tf.train.Checkpoint` and Keras's `save_weights` write beside the values; no v1 Saver does.
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"

_FILE_OF_CHECKPOINT = re.compile(r"\.(index|meta|data-\d{5}-of-\d{5})$")
_SHARD_OF_V1 = re.compile(r"-\d{5}-of-(\d{5})$")


class V1Checkpoint:
    """A name-based checkpoint.

    Attributes:
      prefix: Its prefix, or the file's path in the format before V2.
      shapes: From each entry's name to its shape; a variable saved in slices counts as one entry.
      dtypes: From each entry's name to its element type.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Reads the list of entries, not yet their values.

        Args:
          path: A prefix such as `…/model.ckpt-100`, or a directory, which stands for its latest checkpoint.

        Raises:
          CheckpointNotFoundError: if there is none.
          UnreadableCheckpointError: if its files are damaged, or it is not name-based.
        """
        self.prefix = find_prefix(path)
        reader = self._careful(lambda: tf.train.load_checkpoint(self.prefix))
        self.shapes = {n: tuple(shape) for n, shape in reader.get_variable_to_shape_map().items()}
        self.dtypes: dict[str, tf.DType] = dict(reader.get_variable_to_dtype_map())
        if _OBJECT_GRAPH in self.shapes:
            raise UnreadableCheckpointError(
                f"{self.prefix} is an object-based checkpoint (of tf.train.Checkpoint, or of Keras's save_weights), "
                "which has no v1 names. Restore it with tf.train.Checkpoint(...).restore or model.load_weights."
            )

    def read(self, names: Iterable[str]) -> dict[str, tf.Tensor]:
        """Reads entries, all at once.

        Args:
          names: Names of entries.

        Returns:
          From each name to its value.

        Raises:
          UnreadableCheckpointError: if a file of the checkpoint is missing, cut short or damaged.
        """
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}

        def restore() -> Any:
            # One operation for all reads in the files' order; one call per tensor takes several times as long.
            with tf_internals.eager_mode(), tf.device("CPU:0"):
                return tf.raw_ops.RestoreV2(
                    prefix=self.prefix,
                    tensor_names=wanted,
                    shape_and_slices=[""] * len(wanted),
                    dtypes=[self.dtypes[name] for name in wanted],
                )

        return dict(zip(wanted, self._careful(restore), strict=True))

    def _careful(self, read: Callable[[], _Result]) -> _Result:
        try:
            return read()
        except tf.errors.OpError as error:
            reason = error.message.split("}} ", 1)[-1].removesuffix(" [Op:RestoreV2]")
            raise UnreadableCheckpointError(
                f"The checkpoint {self.prefix} cannot be read: {reason}. Its files are damaged or incomplete; copy them "
                f"anew (all of {self.prefix}.*), or give the prefix of an earlier checkpoint."
            ) from error


def find_prefix(path: str | os.PathLike[str]) -> str:
    """Turns what a user calls a checkpoint into the prefix that TensorFlow's readers take.

    Args:
      path: A prefix, or a directory with a `checkpoint` file.

    Returns:
      The prefix; for shards of the format before V2 a pattern.

    Raises:
      CheckpointNotFoundError: if there is no such checkpoint; says what there is instead.
    """
    prefix = os.fspath(path)
    found = _existing(prefix)
    if found is not None:
        return found
    if tf.io.gfile.isdir(prefix):
        return _latest(prefix)
    stem = _FILE_OF_CHECKPOINT.sub("", prefix)
    if stem != prefix and _existing(stem) is not None:
        raise CheckpointNotFoundError(f"{prefix} is one file of a checkpoint. Give its prefix: {stem!r}.")
    folder = os.path.dirname(prefix) or "."
    raise CheckpointNotFoundError(f"There is no checkpoint {prefix}. {_present(folder)}")


def _existing(prefix: str) -> str | None:
    """Returns the prefix as readers want it, or None if there are no such files."""
    if _FILE_OF_CHECKPOINT.search(prefix):
        return None
    if tf.io.gfile.exists(prefix + ".index"):
        return prefix
    if tf.io.gfile.exists(prefix) and not tf.io.gfile.isdir(prefix):
        return _SHARD_OF_V1.sub(r"-?????-of-\1", prefix)
    if "?" in prefix and tf.io.gfile.glob(prefix):
        return prefix
    shards = tf.io.gfile.glob(f"{prefix}-[0-9]*-of-[0-9]*")
    return _SHARD_OF_V1.sub(r"-?????-of-\1", shards[0]) if shards else None


def _latest(folder: str) -> str:
    """Returns the prefix that the `checkpoint` file of a directory names."""
    state = tf.train.get_checkpoint_state(folder)
    if state is None or not state.model_checkpoint_path:
        if tf.io.gfile.exists(os.path.join(folder, "saved_model.pb")):
            raise CheckpointNotFoundError(
                f"{folder} is a SavedModel. Its variables are the checkpoint "
                f"{os.path.join(folder, 'variables', 'variables')!r}."
            )
        raise CheckpointNotFoundError(
            f"{folder} has no readable 'checkpoint' file that names the latest checkpoint. {_present(folder)}"
        )
    found = _existing(state.model_checkpoint_path)
    if found is None:
        raise CheckpointNotFoundError(
            f"The file 'checkpoint' in {folder} names {state.model_checkpoint_path}, which does not exist; was the "
            f"directory moved? {_present(folder)}"
        )
    return found


def _present(folder: str) -> str:
    """Says which checkpoints a directory holds."""
    if not tf.io.gfile.isdir(folder):
        return f"The directory {folder} does not exist."
    stems = sorted(
        {name.removesuffix(".index") for name in tf.io.gfile.listdir(folder) if name.endswith(".index")}
    )
    if not stems:
        return f"The directory {folder} holds no checkpoint."
    shown = ", ".join(repr(os.path.join(folder, stem)) for stem in stems[-3:])
    return f"Give the prefix of one that is there, such as {shown}."
