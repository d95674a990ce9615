"""Writing a SavedModel: graphs, signatures, variables, into a folder named by the time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import tensorflow as tf

from bridge.estimator.errors import EstimatorError
from bridge.estimator.export.outputs import ExportOutput, SupervisedOutput, serving_outputs
from bridge.estimator.mode_keys import ModeKeys

tf1 = tf.compat.v1

_TAGS = {
    ModeKeys.PREDICT: tf1.saved_model.tag_constants.SERVING,
    ModeKeys.TRAIN: tf1.saved_model.tag_constants.TRAINING,
    ModeKeys.EVAL: "eval",
}
_ATTEMPTS = 10


class Export:
    """A SavedModel that is being written: it is there as a whole when the `with` block ends well.

    Attributes:
      path: The folder of the SavedModel.
    """

    def __init__(
        self,
        base: str,
        as_text: bool,
        assets_extra: Mapping[str, str] | None,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Chooses the folder.

        Args:
          base: The folder in which it is made.
          as_text: Whether the graph is written as text.
          assets_extra: From paths inside of `assets.extra` to files.
          clock: Returns the time in seconds.
          sleep: Waits for a number of seconds.
        """
        self.path = timestamped(base, clock, sleep)
        self._temporary = _temporary(self.path)
        self._as_text, self._assets_extra = as_text, dict(assets_extra or {})
        self._builder = tf1.saved_model.Builder(self._temporary)
        self._has_variables = False

    def __enter__(self) -> Export:
        return self

    def add_graph(self, mode: str, receiver: Any, spec: Any, checkpoint_path: str, config: Any) -> None:
        """Adds the default graph; the first one brings the variables.

        Args:
          mode: The graph's mode.
          receiver: What the receiver function returned.
          spec: What the `model_fn` returned.
          checkpoint_path: The checkpoint.
          config: The session's ConfigProto.

        Raises:
          EstimatorError: (a ValueError) the checkpoint lacks variables of the graph.
        """
        signatures = signature_defs(receiver, _outputs(mode, spec), is_served=mode == ModeKeys.PREDICT)
        local_init_op = spec.scaffold.local_init_op
        if local_init_op is None:
            local_init_op = tf1.train.Scaffold.default_local_init_op()
        saver = spec.scaffold.saver or tf1.train.Saver(sharded=True)
        if spec.train_op is not None:
            # Loaders find it there; the builder's own argument for it is private.
            tf1.add_to_collection("saved_model_train_op", spec.train_op)
        arguments: dict[str, Any] = {
            "tags": [_TAGS[mode]],
            "signature_def_map": signatures,
            "assets_list": tf1.get_collection(tf1.GraphKeys.ASSET_FILEPATHS),
            "main_op": local_init_op,
            "saver": saver,
            "strip_default_attrs": True,
        }
        with tf1.Session(config=config) as session:
            try:
                saver.restore(session, checkpoint_path)
            except tf.errors.NotFoundError as error:
                raise EstimatorError(
                    "Could not load all requested variables from checkpoint. Please make sure your model_fn does not expect variables "
                    f"that were not saved in the checkpoint. Mode {mode!r}, checkpoint {checkpoint_path}: {error.message}"
                ) from error
            if self._has_variables:
                self._builder.add_meta_graph(**_without_private(arguments))
            else:
                self._builder.add_meta_graph_and_variables(session, **_without_private(arguments))
                self._has_variables = True

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            if tf.io.gfile.exists(self._temporary):
                tf.io.gfile.rmtree(self._temporary)
            return
        self._builder.save(self._as_text)
        _add_assets(self._temporary, self._assets_extra)
        tf.io.gfile.rename(self._temporary, self.path)


def _add_assets(folder: str, assets_extra: Mapping[str, str]) -> None:
    for destination, source in assets_extra.items():
        target = os.path.join(folder, "assets.extra", destination)  # noqa: PTH118 - it may be gs://
        tf.io.gfile.makedirs(os.path.dirname(target))  # noqa: PTH120
        tf.io.gfile.copy(source, target)


def publish(write: Callable[[str], object], path: str, assets_extra: Mapping[str, str] | None) -> None:
    """Lets a function write a SavedModel, which is there as a whole or not at all.

    Args:
      write: Writes to the folder that it gets.
      path: The folder of the SavedModel.
      assets_extra: From paths inside of `assets.extra` to files.
    """
    temporary = _temporary(path)
    try:
        write(temporary)
        _add_assets(temporary, assets_extra or {})
    except BaseException:
        if tf.io.gfile.exists(temporary):
            tf.io.gfile.rmtree(temporary)
        raise
    tf.io.gfile.rename(temporary, path)


def _temporary(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f"temp-{name}")  # noqa: PTH118 - it may be gs://


def _without_private(arguments: dict[str, Any]) -> dict[str, Any]:
    """Renames `assets_list` as v1's builder calls it."""
    assets = arguments.pop("assets_list")
    return {**arguments, "assets_collection": assets}


def _outputs(mode: str, spec: Any) -> dict[str, ExportOutput]:
    if mode == ModeKeys.PREDICT:
        return serving_outputs(spec.export_outputs, spec.predictions)
    is_train = mode == ModeKeys.TRAIN
    output = SupervisedOutput(is_train, spec.loss, spec.predictions, spec.eval_metric_ops)
    return {"train" if is_train else "eval": output}


def signature_defs(receiver: Any, outputs: Mapping[str, ExportOutput], *, is_served: bool) -> dict[str, Any]:
    """Returns the signatures of a graph.

    Args:
      receiver: Has `receiver_tensors`, and perhaps `receiver_tensors_alternatives`.
      outputs: From names to outputs.
      is_served: Whether only signatures that can be served are kept.

    Returns:
      From names to signatures; those of alternative inputs are called `alternative:name`.
    """
    inputs = {
        "": receiver.receiver_tensors,
        **(getattr(receiver, "receiver_tensors_alternatives", None) or {}),
    }
    made: dict[str, Any] = {}
    for alternative, tensors in inputs.items():
        for name, output in outputs.items():
            key = f"{alternative}:{name}" if alternative else name
            try:
                signature = output.as_signature_def(tensors)
            except ValueError as error:
                # As in v1: one input may fit one output and not another.
                tf1.logging.info("Signature %s is left out of the export: %s", key, error)
                continue
            if not is_served or tf1.saved_model.is_valid_signature(signature):
                made[key] = signature
    tf1.logging.info("Signatures of the export: %s", ", ".join(made) or "none")
    return made


def timestamped(base: str, clock: Callable[[], float], sleep: Callable[[float], None]) -> str:
    """Returns a folder named by the time, which is not there yet.

    Args:
      base: The folder in which it will be.
      clock: Returns the time in seconds.
      sleep: Waits for a number of seconds.

    Raises:
      EstimatorError: (a ValueError) all names of several seconds are taken.
    """
    for _ in range(_ATTEMPTS):
        path = os.path.join(base, str(int(clock())))  # noqa: PTH118 - it may be gs://
        if not tf.io.gfile.exists(path):
            return path
        sleep(1)
    raise EstimatorError(
        f"Failed to obtain a unique export directory name in {base} after {_ATTEMPTS} attempts. Give another export_dir_base."
    )


def timestamped_now(base: str) -> str:
    """Returns `timestamped` by the system's clock."""
    return timestamped(base, time.time, time.sleep)
