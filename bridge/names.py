"""Names of a model's layers and variables that do not depend on what the process built before.

Keras numbers unnamed layers over the whole process (`dense_3`, `adam_1`), so that the same program writes other
checkpoint names when it builds another model first. Here, names that the user gave stay, and Keras's own numbers
start again at the model.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from bridge import keras_internals, tf_internals

GLOBAL_STEP = "global_step"

# How many batches a job has trained on, in checkpoints of a monitored session. The optimizer's own step may move by more
# or less than one in a batch.
POSITION = "batches_trained"

# Operations that every step graph owns; a variable of the same name gets a number.
RESERVED = frozenset(
    {"batch", POSITION, "captured", "gradients", "keras_step", "learning_rate", "logs", "loss", "train_op"}
)

# Scopes in which the bridge's own operations stand; a layer of such a name gets a number.
_RESERVED_SCOPES = frozenset({"captured", "hooks_first", "keras_step", "next_batch", "step_unit"})


@dataclasses.dataclass(frozen=True)
class NamedVariable:
    """One variable of a model or its optimizers.

    Attributes:
      name: The stable v1 name, such as `dense/kernel`.
      kind: "model", "random", "optimizer", "metric", "step", "position" or "other".
      variable: The live `tf.Variable` (a distributed one under a strategy).
      trainable: Whether the model trains it.
    """

    name: str
    kind: str
    variable: tf.Variable
    trainable: bool


class _Unique:
    """Hands out each name once, adding TensorFlow's `_1`, `_2`."""

    def __init__(self, taken: frozenset[str]) -> None:
        self._taken = {name.lower() for name in taken}

    def __call__(self, name: str) -> str:
        name = re.sub(r"[^A-Za-z0-9_.\-/]", "_", name).lstrip("_/-") or "unnamed"
        candidate, number = name, 0
        while candidate.lower() in self._taken:
            number += 1
            candidate = f"{name}_{number}"
        self._taken.add(candidate.lower())
        return candidate


def layer_names(model: Any) -> dict[int, str]:
    """Names every layer below `model` by its path from the model.

    Args:
      model: A Keras 3 or tf_keras model. Its own name is left out of the paths.

    Returns:
      From `id(layer)` to a path such as `encoder/dense_1`. A layer that is used in two places has its first path.
    """
    names: dict[int, str] = {id(model): ""}
    _name_children(model, "", names)
    return names


def _name_children(parent: Any, scope: str, names: dict[int, str]) -> None:
    package = keras_internals.package_of_layer(parent)
    in_model = isinstance(parent, package.Model)
    children = [c for c in keras_internals.sublayers(parent) if id(c) not in names]
    numbered: list[tuple[str, int, int, Any]] = []
    local: dict[int, str] = {}
    for position, child in enumerate(children):
        stem = keras_internals.snake_case(type(child).__name__)
        match = re.fullmatch(rf"((?:\w+_)?{re.escape(stem)})(?:_(\d+))?", child.name)
        given = in_model and keras_internals.has_given_name(child)
        if match and not given:
            numbered.append((match[1], int(match[2] or 0), position, child))
        else:
            taken = not scope and child.name.lower() in _RESERVED_SCOPES
            local[id(child)] = f"{child.name}_1" if taken else child.name
    unique = _Unique(frozenset(local.values()))
    for stem, _, _, child in sorted(numbered, key=lambda entry: entry[:3]):
        local[id(child)] = unique(stem)
    for child in children:
        names[id(child)] = f"{scope}{local[id(child)]}"
    for child in children:
        _name_children(child, f"{scope}{local[id(child)]}/", names)


def variables_of(model: Any, step: tf.Variable, captured: Iterable[tf.Variable] = ()) -> list[NamedVariable]:
    """Names all state that one training step of `model` may read or write.

    Args:
      model: A built and compiled Keras 3 or tf_keras model.
      step: The variable that counts the steps; it is named `global_step`.
      captured: All variables that the step uses. Those that belong to neither layer, optimizer nor metric (a loss
        scale, a variable of the user's own) keep their own names.

    Returns:
      The model's variables first, then random state, optimizers' variables, and metrics' variables. Each variable
      appears once.
    """
    unique = _Unique(RESERVED | {GLOBAL_STEP})
    found: list[NamedVariable] = []
    trained = {id(keras_internals.tf_variable(v)) for v in model.trainable_variables}
    seen: set[int] = set()
    metrics = {id(keras_internals.tf_variable(v)) for m in model.metrics for v in m.variables}

    def add(variable: Any, name: str, kind: str) -> None:
        inner = keras_internals.tf_variable(variable)
        if id(inner) in seen or not hasattr(inner, "assign"):
            return
        seen.update(id(v) for v in (inner, *tf_internals.replicas(inner)))
        trainable = kind == "model" and id(inner) in trained
        found.append(NamedVariable(name if name == GLOBAL_STEP else unique(name), kind, inner, trainable))

    stable: list[tuple[str, str]] = []  # Keras's path with underscores, our name
    for layer, scope in _layers_with_scopes(model):
        for variable in _own_variables(layer):
            if id(keras_internals.tf_variable(variable)) in metrics:
                continue
            kind = "random" if "seed_generator" in keras_internals.full_name(variable) else "model"
            before = len(found)
            add(variable, f"{scope}{keras_internals.short_name(variable)}", kind)
            if len(found) > before:
                stable.append((keras_internals.full_name(variable).replace("/", "_"), found[-1].name))
    stable.sort(key=lambda pair: -len(pair[0]))

    add(step, GLOBAL_STEP, "step")
    optimizer_name = _Unique(frozenset())
    for optimizer in keras_internals.optimizers_of(model):
        root = optimizer_name(keras_internals.snake_case(type(optimizer).__name__))
        for variable in keras_internals.optimizer_variables(optimizer):
            add(variable, f"{root}/{_slot_name(variable, stable)}", "optimizer")

    for metric in model.metrics:
        for variable in metric.variables:
            add(variable, f"metrics/{metric.name}/{keras_internals.short_name(variable)}", "metric")
    for kind, counter in keras_internals.step_counters(model).items():
        add(counter, f"metrics/{kind}_counter", "metric")
    for variable in captured:
        add(variable, keras_internals.full_name(variable), "other")
    return found


def _layers_with_scopes(model: Any) -> list[tuple[Any, str]]:
    names = layer_names(model)
    ordered: list[tuple[Any, str]] = []
    seen: set[int] = set()

    def visit(layer: Any) -> None:
        if id(layer) in seen:
            return
        seen.add(id(layer))
        path = names[id(layer)]
        ordered.append((layer, f"{path}/" if path else ""))
        for child in keras_internals.sublayers(layer):
            visit(child)

    visit(model)
    return ordered


def _own_variables(layer: Any) -> list[Any]:
    """Returns a layer's variables without those of its sublayers, children's first found excluded."""
    below = {id(v) for child in keras_internals.sublayers(layer) for v in child.variables}
    return [v for v in layer.variables if id(v) not in below]


def _slot_name(variable: Any, stable: list[tuple[str, str]]) -> str:
    """Turns `sequential_dense_3_kernel_momentum` into `dense/kernel/momentum`."""
    full = keras_internals.full_name(variable)
    parts = full.split("/")
    best, slot = "", ""
    # Before the variable's path stand the names of the optimizer and of those around it: the longest path is right.
    for start in range(len(parts)):
        rest = "_".join(parts[start:])
        for path, name in stable:
            if rest.startswith(path + "_") and len(path) >= len(best):
                best, slot = path, f"{name}/{rest[len(path) + 1 :]}"
            elif rest.endswith("_" + path) and len(path) >= len(best):
                best, slot = path, f"{name}/{rest[: -len(path) - 1]}"
    if slot:
        return slot
    return keras_internals.short_name(variable)
