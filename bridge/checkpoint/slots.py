"""Which state of a Keras optimizer means the same as which slot of a TF1 optimizer, and under which names TF1 saved it.

TF1's `AdamOptimizer` calls the slots of `dense/kernel` `dense/kernel/Adam` and `dense/kernel/Adam_1`, in the order in
which it makes them; a variable scope around `minimize` goes before. The optimizers of tf.keras in TensorFlow 1.15 say
`training/Adam/dense/kernel/m`, and the bridge `adam/dense/kernel/momentum`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from bridge import keras_internals
from bridge.names import NamedVariable

LAST = -1


@dataclasses.dataclass(frozen=True)
class Family:
    """Optimizers of both worlds that keep the same state.

    Attributes:
      v1_names: The names that TF1 gave the optimizer, and so its slots.
      slots: From the name of a slot in any Keras to its position among TF1's slots.
      keras_names: Names of the optimizer in Keras, in lower case, without underscores.
    """

    v1_names: tuple[str, ...]
    slots: Mapping[str, int]
    keras_names: tuple[str, ...]


_MOMENTS = {"momentum": 0, "m": 0, "velocity": 1, "v": 1}
ADAM = Family(("Adam", "AdamW"), _MOMENTS, ("adam", "adamw"))
ADAMAX = Family(("AdaMax",), {"momentum": 0, "m": 0, "norm": 1, "u": 1, "v": 1}, ("adamax",))
RMSPROP = Family(
    ("RMSProp",),
    {"velocity": 0, "rms": 0, "average_gradient": 1, "mg": 1, "momentum": LAST},
    ("rmsprop",),
)
ADAGRAD = Family(("Adagrad",), {"accumulator": 0}, ("adagrad",))
ADADELTA = Family(
    ("Adadelta",),
    {"accumulated_grad": 0, "accum_grad": 0, "accumulated_delta_var": 1, "accum_var": 1},
    ("adadelta",),
)
FTRL = Family(("Ftrl",), {"accumulator": 0, "linear": 1}, ("ftrl",))
MOMENTUM = Family(("Momentum",), {"momentum": 0, "m": 0}, ("sgd",))

# By the optimizer's class, or the first of its base classes that is here.
_FAMILIES = {
    "Adam": ADAM,
    "AdamW": ADAM,
    "Adamax": ADAMAX,
    "RMSprop": RMSPROP,
    "Adagrad": ADAGRAD,
    "Adadelta": ADADELTA,
    "Ftrl": FTRL,
    "SGD": MOMENTUM,
}
_OTHERS = frozenset({"Nadam", "Lion", "Lamb", "Adafactor", "Muon"})

_SHADOW = "ExponentialMovingAverage"
AVERAGE = "average"  # Keras's slot under `use_ema=True`.

# Single values that TF1's optimizers keep, and that follow from the step and the Keras optimizer's arguments.
_POWERS = re.compile(r"(.*/)?beta[12]_power(_\d+)?")
_HYPER = re.compile(
    r"(.*/)?(Adam|AdamW|Adamax|RMSprop|Adagrad|Adadelta|Ftrl|SGD|Nadam)(_\d+)?"
    r"/(iter|beta_1|beta_2|decay|learning_rate|rho|momentum)"
)

# Values of Keras's own that TF1 has no counterpart for: they keep what the Keras program gave them.
_OWN = re.compile(
    r"[^/]+/(learning_rate(_\d+)?|step_counter|dynamic_scale|current_loss_scale|good_steps)"
    r"|loss_scale_optimizer(_\d+)?/iteration"  # Stays 0: the optimizer inside counts.
    r"|.*/gradient_accumulator"
)


@dataclasses.dataclass(frozen=True)
class Slot:
    """A variable of an optimizer that belongs to one weight.

    Attributes:
      weight: The weight's name.
      slot: The slot's name in its Keras.
      family: What TF1 has alike, or None.
      optimizer: The Keras optimizer, without a loss-scaling one around it.
    """

    weight: str
    slot: str
    family: Family | None
    optimizer: Any

    @property
    def position(self) -> int | None:
        """The slot's place among TF1's, or None if TF1 has nothing alike."""
        return self.family.slots.get(self.slot) if self.family else None

    @property
    def is_accumulated_gradient(self) -> bool:
        """Whether TF1 keeps the sum of gradients where Keras keeps the step that follows from it."""
        return self.family is MOMENTUM and self.position is not None

    @property
    def is_idle(self) -> bool:
        """Whether it is a momentum that the optimizer does not use."""
        return (
            self.family in (MOMENTUM, RMSPROP)
            and self.slot in ("momentum", "m")
            and not momentum_of(self.optimizer)
        )


def momentum_of(optimizer: Any) -> float:
    """Returns an optimizer's momentum as a number."""
    value = getattr(optimizer, "momentum", 0.0)
    return float(value.numpy() if hasattr(value, "numpy") else value)


def slots_of(variables: Iterable[NamedVariable], optimizers: Iterable[Any]) -> dict[str, Slot]:
    """Finds which of a model's variables are slots, and of what.

    Args:
      variables: The model's variables by their v1 names.
      optimizers: The model's optimizers.

    Returns:
      From a variable's name to its slot.
    """
    variables = list(variables)
    weights = {variable.name for variable in variables if variable.kind == "model"}
    owners = {}
    for optimizer in optimizers:
        for variable in keras_internals.optimizer_variables(optimizer):
            inner = getattr(optimizer, "inner_optimizer", optimizer)
            owners[id(keras_internals.tf_variable(variable))] = inner
    found: dict[str, Slot] = {}
    for variable in variables:
        path = variable.name.split("/", 1)[-1].rsplit("/", 1)
        if variable.kind == "optimizer" and len(path) == 2 and path[0] in weights:
            owner = owners.get(id(variable.variable))
            found[variable.name] = Slot(path[0], path[1], family_of(owner), owner)
    return found


def family_of(optimizer: Any) -> Family | None:
    """Returns what TF1 has like this Keras optimizer, or None."""
    for kind in type(optimizer).__mro__:
        if kind.__name__ in _OTHERS:
            return None
        if kind.__name__ in _FAMILIES:
            return _FAMILIES[kind.__name__]
    return None


def constant_rate(optimizer: Any) -> Any | None:
    """Returns the variable (or number) of the learning rate, or None where a schedule gives it or it is zero."""
    if keras_internals.schedule_of(optimizer) is not None:
        return None
    rate = keras_internals.rate_variable(optimizer)
    rate = getattr(optimizer, "learning_rate", None) if rate is None else keras_internals.tf_variable(rate)
    return None if rate is None or callable(rate) or not float(rate) else rate


def is_own(name: str) -> bool:
    """Tells whether TF1 has no counterpart for an optimizer's variable, and need not."""
    return _OWN.fullmatch(name) is not None


def reason_not_needed(name: str) -> str:
    """Says why an entry of a checkpoint need not be read, or returns an empty string."""
    if _POWERS.fullmatch(name):
        return "follows from the step"
    if _HYPER.fullmatch(name):
        return "is an argument of the Keras optimizer"
    return ""


class SlotFinder:
    """Finds TF1's slots among a checkpoint's entries."""

    def __init__(self, names: Iterable[str]) -> None:
        """Prepares the search.

        Args:
          names: The checkpoint's entries.
        """
        self._names = frozenset(names)
        self._by_tail: dict[str, list[str]] = {}
        for name in sorted(self._names):
            for start in (m.end() for m in re.finditer("/", name)):
                self._by_tail.setdefault(name[start:], []).append(name)

    def find(self, slot: Slot, weight: str) -> list[str]:
        """Returns the entries that may be a slot of the weight that the checkpoint calls `weight`."""
        if slot.slot == AVERAGE:
            return self._in_scope(weight, _SHADOW)
        if slot.position is None or slot.family is None:
            return []
        return self._of_v1(slot.family, slot.position, weight) or self._of_keras(slot, weight)

    def is_in_keras_form(self, slot: Slot, name: str) -> bool:
        """Tells whether an entry is of a Keras optimizer, whose momentum is Keras's."""
        return slot.family is not None and name.rsplit("/", 1)[-1] in slot.family.slots

    def has_no_owner(self, base: str) -> bool:
        """Tells whether no variable of the checkpoint is called `base`, so that what is below is someone else's."""
        return base not in self._names and f"{base}/part_0" not in self._names

    def shadow_of(self, name: str) -> str | None:
        """Returns the variable whose moving average an entry is."""
        base, _, leaf = name.rpartition("/")
        return base if leaf == _SHADOW else None

    def _of_v1(self, family: Family, position: int, weight: str) -> list[str]:
        for v1_name in family.v1_names:
            if position == LAST:
                later = self._in_scope(weight, f"{v1_name}_2")
                found = later or self._in_scope(weight, f"{v1_name}_1")
            elif family is RMSPROP and position == 1:  # Without centring, the second slot is the momentum.
                found = self._in_scope(weight, f"{v1_name}_1")
                found = found if self._in_scope(weight, f"{v1_name}_2") else []
            else:
                found = self._in_scope(weight, f"{v1_name}_{position}" if position else v1_name)
            if found:
                return found
        return []

    def _of_keras(self, slot: Slot, weight: str) -> list[str]:
        assert slot.family is not None
        found = []
        for name, position in slot.family.slots.items():
            if position != slot.position:
                continue
            for entry in self._by_tail.get(f"{weight}/{name}", []):
                scope = entry[: -len(f"/{weight}/{name}")].rsplit("/", 1)[-1]
                if re.sub(r"_\d+$", "", scope).replace("_", "").lower() in slot.family.keras_names:
                    found.append(entry)
        return found

    def _in_scope(self, weight: str, leaf: str) -> list[str]:
        """Returns `weight/leaf`, or what stands in a scope that is not another variable's."""
        name = f"{weight}/{leaf}"
        if name in self._names:
            return [name]
        return [
            entry
            for entry in self._by_tail.get(name, [])
            if self.has_no_owner(entry.removesuffix(f"/{leaf}"))
        ]


def v1_state(
    slots: Mapping[str, Slot], values: Mapping[str, Any], step: int
) -> tuple[dict[str, tuple[str, Any] | None], dict[str, Any]]:
    """Says how TF1's optimizers would hold a Keras optimizer's state.

    Args:
      slots: The model's slots by name.
      values: Their values.
      step: The number of steps that were made.

    Returns:
      From each slot to its suffix (`Adam_1`) and value in TF1, or None if TF1 does without; and TF1's single values and further slots, by
      names in which weights have their own names.
    """
    renamed: dict[str, tuple[str, Any] | None] = {}
    more: dict[str, Any] = {}
    for name, slot in slots.items():
        if slot.slot == AVERAGE:
            renamed[name] = (_SHADOW, values[name])
        if slot.family is None or slot.position is None:
            continue
        if slot.is_idle:  # tf_keras makes it in any case, TF1 does not.
            renamed[name] = None
            continue
        v1_name = "AdamW" if type(slot.optimizer).__name__ == "AdamW" else slot.family.v1_names[0]
        position = slot.position
        if slot.family is RMSPROP:
            last = 2 if slot.optimizer.centered else 1
            position = last if position == LAST else position
            if not momentum_of(slot.optimizer) and position == 0:
                # TF1 makes the slot in any case; without momentum its value is never used.
                more[f"{slot.weight}/{v1_name}_{last}"] = tf.zeros_like(values[name])
        value = values[name]
        if slot.is_accumulated_gradient:
            rate = constant_rate(slot.optimizer)
            if rate is None:
                continue
            value = -value / tf.cast(rate, value.dtype)
        renamed[name] = (f"{v1_name}_{position}" if position else v1_name, value)
        if slot.family in (ADAM, ADAMAX):
            more.update(_powers(slot.optimizer, step, slot.family is ADAM))
    return renamed, more


def _powers(optimizer: Any, step: int, both: bool) -> dict[str, Any]:
    return {
        f"beta{number}_power": tf.constant(_power(beta(optimizer, number), step + 1))
        for number in ((1, 2) if both else (1,))
    }


def _power(base: float, exponent: int) -> Any:
    """Multiplies as TF1 does, once per step in float32, so that even the last bit is TF1's."""
    count = min(exponent, 1 << 22)  # Whatever comes after that many steps, 1 minus it is 1.
    return np.multiply.accumulate(np.full(count, base, np.float32))[-1]


def beta(optimizer: Any, number: int) -> float:
    """Returns Adam's `beta_1` or `beta_2` as a number."""
    return float(getattr(optimizer, f"beta_{number}"))
