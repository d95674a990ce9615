"""`save_v1`: writes a Keras model as the checkpoint of a TF1 program."""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf

from bridge import tf_internals
from bridge.checkpoint import slots as slot_names
from bridge.checkpoint.model_state import optimizers_of, state_of
from bridge.checkpoint.name_map import NameMap, renamed
from bridge.errors import NameMapError
from bridge.names import GLOBAL_STEP

STATE_FILE = "checkpoint"


def save_v1(
    model: Any,
    path: str | os.PathLike[str],
    *,
    global_step: int | None = None,
    name_map: NameMap = None,
    v1_slots: bool = False,
) -> str:
    """Writes a Keras model as a v1 name-based checkpoint.

    Stands for `tf.compat.v1.train.Saver().save(session, path, global_step)`. The checkpoint holds the model's weights,
    random state, the optimizer's state if the model is compiled, and `global_step` (int64, as in TF1). The `checkpoint`
    file of the directory names it as the latest.

    Args:
      model: A Keras 3 or tf_keras model that is built. Its optimizer is built if it is not.
      path: The prefix to write, such as `…/model.ckpt`. The directory is made if it does not exist.
      global_step: Is appended to the prefix (`model.ckpt-100`), as `Saver.save` does; None appends nothing. If the
        model is not compiled, it is also the value of `global_step`.
      name_map: From the model's names to other ones to write: a dict, regex pairs or a function, as in `load_v1`.
        None in place of a name leaves the variable out.
      v1_slots: Whether optimizer state is written as TF1's optimizers have it, so that a TF1 program with the
        same optimizer goes on from it: `dense/kernel/Adam` instead of `adam/dense/kernel/momentum`, with
        `beta1_power`, and the momentum as a sum of gradients.

    Returns:
      The prefix that was written.

    Raises:
      NameMapError: if `name_map` cannot be understood, or gives two variables one name.
      UnsupportedModelError: if the model is not built, or not of Keras on TensorFlow.
    """
    with tf_internals.eager_mode():
        values, suffix = _values(model, global_step, name_map, v1_slots)
        prefix = os.fspath(path) + suffix
        folder = os.path.dirname(prefix)
        tf.io.gfile.makedirs(folder or ".")
        names = sorted(values)
        with tf.device("CPU:0"):
            tf.raw_ops.SaveV2(
                prefix=prefix,
                tensor_names=names,
                shape_and_slices=[""] * len(names),
                tensors=[values[name] for name in names],
            )
    _write_state(folder or ".", os.path.basename(prefix))
    return prefix


def _values(
    model: Any, global_step: int | None, name_map: NameMap, v1_slots: bool
) -> tuple[dict[str, tf.Tensor], str]:
    """Returns what to write, by name, and the prefix's suffix."""
    variables = [variable for variable in state_of(model) if variable.kind != "metric"]
    # Reading shares the variable's buffer: weights are copied once, into the file.
    values = {variable.name: tf.convert_to_tensor(variable.variable) for variable in variables}
    steps = [variable.name for variable in variables if variable.kind == "step"]
    if not steps and global_step is not None:
        values[GLOBAL_STEP] = tf.constant(global_step, tf.int64)
    elif steps:
        values[GLOBAL_STEP] = tf.cast(values[GLOBAL_STEP], tf.int64)
    targets = renamed(name_map, list(values))
    slots = slot_names.slots_of(variables, optimizers_of(model)) if v1_slots else {}
    found, more = slot_names.v1_state(slots, values, int(values.get(GLOBAL_STEP, 0)))
    written: dict[str, tf.Tensor] = {}
    for name, value in values.items():
        target = targets[name]
        if name in found and target == name:
            in_v1, weight = found[name], targets[slots[name].weight]
            if in_v1 is None or weight is None:
                continue
            target, value = f"{weight}/{in_v1[0]}", in_v1[1]
        if target is not None:
            _add(written, target, value)
    for name, value in more.items():
        weight, _, leaf = name.rpartition("/")
        target = targets.get(weight, "") if weight else name
        if target is not None:
            _add(written, f"{target}/{leaf}" if weight else name, value)
    return written, "" if global_step is None else f"-{int(global_step)}"


def _add(written: dict[str, tf.Tensor], name: str, value: tf.Tensor) -> None:
    if name in written:
        raise NameMapError(
            f"Two variables would be written as {name!r}. Give one of them another name in name_map."
        )
    written[name] = value


def _write_state(folder: str, basename: str) -> None:
    """Names the checkpoint as the latest, after those that were there; relative, so that the directory can move."""
    before = tf.train.get_checkpoint_state(folder)
    kept = list(before.all_model_checkpoint_paths) if before is not None else []
    same = {basename, os.path.join(folder, basename)}
    state = tf.compat.v1.train.generate_checkpoint_state_proto(folder, basename)
    del state.all_model_checkpoint_paths[:]
    state.all_model_checkpoint_paths.extend(
        [*(_relative(p, folder) for p in kept if p not in same), basename]
    )
    state.model_checkpoint_path = basename
    temporary = os.path.join(folder, f"{STATE_FILE}.tmp-{os.getpid()}")
    with tf.io.gfile.GFile(temporary, "w") as file:
        file.write(str(state))
    tf.io.gfile.rename(temporary, os.path.join(folder, STATE_FILE), overwrite=True)


def _relative(path: str, folder: str) -> str:
    return os.path.basename(path) if os.path.dirname(path) == folder else path
