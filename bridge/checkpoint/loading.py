"""`load_v1`, and the restoring below it that takes variables instead of a model."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any

import tensorflow as tf

from bridge import tf_internals
from bridge.checkpoint import report as lines
from bridge.checkpoint import slots as v1_slots
from bridge.checkpoint.matching import Assignment, Matcher
from bridge.checkpoint.model_state import optimizers_of, state_of
from bridge.checkpoint.name_map import NameMap, Renaming
from bridge.checkpoint.reader import V1Checkpoint
from bridge.checkpoint.report import CheckpointEntry, CheckpointReport, ordered
from bridge.errors import CheckpointMismatchError
from bridge.names import NamedVariable

_REMEDY = "Say in name_map which names belong together (None leaves a variable out), or give strict=False to assign what fits."


def load_v1(
    model: Any, path: str | os.PathLike[str], name_map: NameMap = None, strict: bool = True
) -> CheckpointReport:
    """Puts the values of a TF1 checkpoint into a Keras model.

    Stands for `tf.compat.v1.train.Saver(var_list).restore(session, path)`. The variables are found by their v1 names
    (`dense/kernel`, `batch_normalization/moving_mean`; `bridge.describe` lists them). If the model is compiled, its
    optimizer gets the slots that TF1's optimizer saved (`dense/kernel/Adam`), and `optimizer.iterations` the
    `global_step`. Nothing is assigned unless everything can be.

    Args:
      model: A Keras 3 or tf_keras model that is built. Its optimizer is built if it is not.
      path: The checkpoint's prefix (`…/model.ckpt-100`), or its directory for the latest one. Ref, resource and
        partitioned variables, sharded checkpoints and those of the format before V2 are read alike.
      name_map: How the checkpoint's names differ from the model's. A dict from the model's names to the checkpoint's;
        a list of (regex, replacement) pairs that are applied one after the other to the model's names; or a function
        from a model's name to the checkpoint's. None in place of a name leaves the variable out;
        `bridge.checkpoint.Converted` in place of a name changes the layout. A dict and pairs may also go from the
        checkpoint's names to the model's, if nothing in the model's direction fits. Optimizer slots follow their
        weights.
      strict: Whether every variable must have an entry, and every entry a variable. Otherwise what fits is assigned.

    Returns:
      The report. `print(report)` shows a table.

    Raises:
      CheckpointMismatchError: if strict, and something does not fit; it has the report. Nothing was assigned.
      CheckpointNotFoundError: if there is no checkpoint.
      UnreadableCheckpointError: if it is damaged, or not name-based.
      NameMapError: if `name_map` cannot be understood.
      UnsupportedModelError: if the model is not built, or not of Keras on TensorFlow.
    """
    variables = state_of(model)
    return restore_into(variables, path, name_map, strict, optimizers=optimizers_of(model))


def restore_into(
    variables: Sequence[NamedVariable],
    path: str | os.PathLike[str],
    name_map: NameMap = None,
    strict: bool = True,
    *,
    optimizers: Sequence[Any] = (),
    only: Collection[str] | None = None,
    accept_unexpected: bool = False,
    remedy: str = _REMEDY,
) -> CheckpointReport:
    """Assigns live variables from a checkpoint, without a session.

    Args:
      variables: The variables and their v1 names; metrics among them are passed over, as TF1 did not save them.
      path: See `load_v1`.
      name_map: See `load_v1`.
      strict: See `load_v1`.
      optimizers: The optimizers whose slots are among the variables.
      only: Names of the variables to assign and to report on; None stands for all. The others tell the names of
        their slots.
      accept_unexpected: Whether entries without a variable are no problem, as they are none for `Saver.restore`.
      remedy: What the error says at its end.

    Returns:
      The report.

    Raises:
      CheckpointMismatchError: see `load_v1`, also for the other errors.
    """
    checkpoint = V1Checkpoint(path)
    variables = [variable for variable in variables if variable.kind != "metric"]
    loose = [variable.name for variable in variables if variable.kind != "model"]
    renaming = Renaming(name_map, [v.name for v in variables], checkpoint.shapes, loose)
    # Assigning to a variable of a strategy enters its scope, which a finalised default graph refuses.
    with tf.Graph().as_default(), tf_internals.eager_mode():
        matcher = Matcher(variables, checkpoint, renaming, optimizers)
        matcher.restrict(only, accept_unexpected=accept_unexpected)
        if strict:
            _check(_report(checkpoint, matcher), remedy)
        powers = _power_names(checkpoint, optimizers)
        read = checkpoint.read([n for a in matcher.assignments for n in a.place.sources] + powers)
        values = _values(matcher, read)
        _compare_powers(matcher, optimizers, {name: read[name] for name in powers}, values)
        report = _report(checkpoint, matcher)
        if strict:
            _check(report, remedy)
        for assignment, value in values:
            _assign(assignment.variable.variable, value)
    return report


def _assign(variable: tf.Variable, value: tf.Tensor) -> None:
    if hasattr(variable, "distribute_strategy"):
        variable.assign(value, read_value=False)
    else:
        # A tenth of what the method costs, which looks once more at shape and type, and that for each of a thousand.
        tf.raw_ops.AssignVariableOp(resource=variable.handle, value=value)


def _report(checkpoint: V1Checkpoint, matcher: Matcher) -> CheckpointReport:
    return CheckpointReport(checkpoint.prefix, ordered(matcher.entries), tuple(matcher.notes))


def _check(report: CheckpointReport, remedy: str) -> None:
    if report.problems:
        raise CheckpointMismatchError(
            f"The checkpoint does not fit the model; nothing was assigned.\n{report}\n{remedy}", report
        )


def _values(matcher: Matcher, read: dict[str, tf.Tensor]) -> list[tuple[Assignment, tf.Tensor]]:
    """Converts and casts; what turns out not to fit becomes a line of the report instead."""
    found = []
    for assignment in matcher.assignments:
        value = assignment.value(read)
        problem = _problem(assignment, value)
        if problem is None:
            is_same = value.dtype == assignment.dtype
            found.append((assignment, value if is_same else tf.cast(value, assignment.dtype)))
        else:
            _replace(matcher.entries, assignment.variable.name, problem)
    return found


def _problem(assignment: Assignment, value: tf.Tensor) -> tuple[str, str] | None:
    if assignment.place.convert and not value.shape.is_compatible_with(assignment.shape):
        return lines.SHAPE, f"the conversion returns {tuple(value.shape)}"
    if value.dtype.is_integer and value.dtype != assignment.dtype:
        back = tf.cast(tf.cast(value, assignment.dtype), value.dtype)
        if bool(tf.reduce_any(back != value)):
            return lines.DTYPE, "the value does not fit into the variable's type"
    return None


def _replace(entries: list[CheckpointEntry], name: str, problem: tuple[str, str]) -> None:
    status, note = problem
    for position, entry in enumerate(entries):
        if entry.name == name:
            fields = {**vars(entry), "status": status, "note": f"{entry.note}; {note}".strip("; ")}
            entries[position] = CheckpointEntry(**fields)


def _power_names(checkpoint: V1Checkpoint, optimizers: Sequence[Any]) -> list[str]:
    """Returns the one entry that tells how many steps Adam made, if the model has one Adam."""
    names = [name for name in checkpoint.shapes if name.rsplit("/", 1)[-1] == "beta2_power"]
    adams = [o for o in optimizers if v1_slots.family_of(_inner(o)) is v1_slots.ADAM]
    return names if len(names) == len(adams) == 1 and not checkpoint.shapes[names[0]] else []


def _compare_powers(
    matcher: Matcher,
    optimizers: Sequence[Any],
    powers: dict[str, tf.Tensor],
    values: list[tuple[Assignment, tf.Tensor]],
) -> None:
    """Notes if Adam made another number of steps than `global_step` says: Keras corrects its bias by the latter."""
    step = next((int(value) for assignment, value in values if assignment.variable.kind == "step"), None)
    if step is None:
        return
    for name, power in powers.items():
        adam = next(_inner(o) for o in optimizers if v1_slots.family_of(_inner(o)) is v1_slots.ADAM)
        expected = v1_slots.beta(adam, 2) ** (step + 1)
        # What the bias correction uses; TF1 multiplies in float32, once per step.
        if abs((1 - float(power)) / (1 - expected) - 1) > 1e-3:
            matcher.notes.append(
                f"{name} is {float(power):.6g}, but after {step} steps with beta_2={v1_slots.beta(adam, 2):g} it would be "
                f"{expected:.6g}. Adam made another number of steps there, or had another beta_2; Keras corrects the bias "
                "of its moments by optimizer.iterations."
            )


def _inner(optimizer: Any) -> Any:
    return getattr(optimizer, "inner_optimizer", optimizer)
