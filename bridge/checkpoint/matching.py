"""Decides which entry of a checkpoint goes into which variable of a model, before any value is read.

`Matcher` goes through the model's variables: weights first, then the step and the optimizers' state, whose names in
the checkpoint follow from those of their weights. What then is left over in the checkpoint gets a reason or is
unexpected.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import tensorflow as tf

from bridge import tf_internals
from bridge.checkpoint import report as lines
from bridge.checkpoint import slots as v1_slots
from bridge.checkpoint.converters import Converted
from bridge.checkpoint.name_map import Renaming
from bridge.checkpoint.reader import V1Checkpoint
from bridge.checkpoint.report import CheckpointEntry
from bridge.errors import nearest_names
from bridge.names import GLOBAL_STEP, NamedVariable

Tensors = Sequence[tf.Tensor]
Shape = tuple[int | None, ...]
Conversion = Callable[[Shape, Tensors], tf.Tensor]

_MAX_HINTS = 20  # Looking for similar names takes time, and nobody reads more.
_CELL = re.compile(r"(.*(lstm_cell|lstm_fused_cell)|.*gru_cell)/((gates|candidate)/)?(kernel|bias)")


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a variable's value is in the checkpoint.

    Attributes:
      sources: Entries.
      convert: How the value is made of them, or None for a single entry as it is.
      convert_slots: The same for the optimizer's slots of the variable; None if they cannot be converted.
      note: For the report.
    """

    sources: tuple[str, ...]
    convert: Conversion | None = None
    convert_slots: Conversion | None = None
    note: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether a slot of the variable needs no conversion either."""
        return self.convert is None


@dataclasses.dataclass(frozen=True)
class Assignment:
    """A variable, and what it will be assigned.

    Attributes:
      variable: The variable.
      place: Where its value is.
      shape: Its shape.
      dtype: Its element type.
    """

    variable: NamedVariable
    place: Place
    shape: Shape
    dtype: tf.DType

    def value(self, read: dict[str, tf.Tensor]) -> tf.Tensor:
        """Makes the value, in the checkpoint's element type, from the entries that were read."""
        tensors = [read[name] for name in self.place.sources]
        return self.place.convert(self.shape, tensors) if self.place.convert else tensors[0]


class Matcher:
    """Matches one model with one checkpoint.

    Attributes:
      assignments: What is to be assigned.
      entries: The report's lines.
      notes: The report's notes.
    """

    def __init__(
        self,
        variables: Sequence[NamedVariable],
        checkpoint: V1Checkpoint,
        renaming: Renaming,
        optimizers: Sequence[Any],
    ) -> None:
        """Matches.

        Args:
          variables: The model's variables, without metrics.
          checkpoint: The checkpoint.
          renaming: The applied `name_map`.
          optimizers: The model's optimizers.
        """
        self.assignments: list[Assignment] = []
        self.entries: list[CheckpointEntry] = []
        self.notes = [f"name_map has {part!r}, which fits no name." for part in renaming.unused]
        self._checkpoint, self._renaming = checkpoint, renaming
        self._variables, self._optimizers = variables, optimizers
        self._slots = v1_slots.slots_of(variables, optimizers)
        self._finder = v1_slots.SlotFinder(checkpoint.shapes)
        self._places: dict[str, Place] = {}  # of weights
        self._taken: set[str] = set()
        self._missing: list[tuple[NamedVariable, str]] = []
        for variable in sorted(variables, key=lambda v: (v.kind != "model", v.name in self._slots)):
            self._match(variable)
        self._weights_by_source = self._owners()
        left = [name for name in sorted(checkpoint.shapes) if name not in self._taken]
        unexpected = [name for name in left if not self._excuse(name)]
        self._add_missing(unexpected)
        for name in unexpected:
            self._add_entry(lines.UNEXPECTED, name, "")

    def restrict(self, only: Collection[str] | None, *, accept_unexpected: bool) -> None:
        """Takes other variables than those named out again, and unexpected entries if they are accepted."""
        if only is not None:
            self.assignments = [a for a in self.assignments if a.variable.name in only]
            self.entries = [entry for entry in self.entries if not entry.name or entry.name in only]
        if accept_unexpected:
            self.entries = [
                dataclasses.replace(entry, status=lines.NOT_NEEDED)
                if entry.status == lines.UNEXPECTED
                else entry
                for entry in self.entries
            ]

    # --- variables ---------------------------------------------------------------------------------------------

    def _match(self, variable: NamedVariable) -> None:
        name = variable.name
        if name in self._renaming.chosen:
            self._match_chosen(variable)
        elif place := self._place(name):
            self._assign(variable, place)
        elif name in self._slots:
            self._match_slot(variable, self._slots[name])
        elif variable.kind == "step":
            self._match_step(variable)
        elif variable.kind == "random":
            self._keep(variable, "random state, which TF1 did not save")
        elif variable.kind == "optimizer" and v1_slots.is_own(name):
            self._keep(variable, "of the Keras optimizer alone")
        elif variable.kind == "optimizer" and name.endswith(("/iteration", "/iter")):
            note = f"TF1 has one step for all optimizers; name_map={{{name!r}: {GLOBAL_STEP!r}}} takes it here too"
            self._missing.append((variable, note))
        else:
            self._missing.append((variable, ""))

    def _match_chosen(self, variable: NamedVariable) -> None:
        source = self._renaming.chosen[variable.name]
        if source is None:
            self._keep(variable, "left out by name_map")
            return
        place = self._converted(source) if isinstance(source, Converted) else self._place(source)
        if place is not None:
            self._assign(variable, place)
            return
        names = source.names if isinstance(source, Converted) else (source,)
        absent = [name for name in names if name not in self._checkpoint.shapes]
        self._missing.append(
            (variable, f"name_map asks for {', '.join(absent)}, which the checkpoint does not hold")
        )

    def _place(self, name: str) -> Place | None:
        """Returns the entry of that name, or its parts, which a Saver of single variables writes."""
        shapes = self._checkpoint.shapes
        if name in shapes:
            return Place((name,))
        parts: list[str] = []
        while f"{name}/part_{len(parts)}" in shapes:
            parts.append(f"{name}/part_{len(parts)}")
        return Place(tuple(parts), _joined, _joined, f"joined from {len(parts)} parts") if parts else None

    def _converted(self, source: Converted) -> Place | None:
        if not all(name in self._checkpoint.shapes for name in source.names):
            return None
        slots = _of_arrays(source.convert_slots) if source.convert_slots else None
        return Place(source.names, _of_arrays(source.convert), slots, "converted")

    def _match_step(self, variable: NamedVariable) -> None:
        counters = [name for name in self._checkpoint.shapes if name.rsplit("/", 1)[-1] == "iter"]
        if len(counters) == 1:
            self._assign(variable, Place((counters[0],)))
        else:
            self._missing.append(
                (variable, "nothing in the checkpoint counts the steps" if not counters else "")
            )

    # --- slots -------------------------------------------------------------------------------------------------

    def _match_slot(self, variable: NamedVariable, slot: v1_slots.Slot) -> None:
        if slot.weight in self._renaming.chosen and self._renaming.chosen[slot.weight] is None:
            self._keep(variable, f"{slot.weight} is left out by name_map")
            return
        if slot.is_idle:
            self._keep(variable, "the optimizer's momentum is 0")
            return
        if v1_slots.is_own(variable.name):
            self._keep(variable, "of the Keras optimizer alone")
            return
        for place in self._places_of_weight(slot.weight):
            found = [self._finder.find(slot, source) for source in place.sources]
            doubtful = next((names for names in found if len(names) > 1), None)
            if doubtful:
                self._refuse(variable, doubtful, "more than one entry could be meant; choose in name_map")
                return
            if all(found):
                self._assign_slot(variable, slot, place, tuple(names[0] for names in found))
                return
        known = slot.position is not None or slot.slot == v1_slots.AVERAGE
        reason = "" if known else f"TF1 has no state that means the same as {slot.slot} of this optimizer"
        self._missing.append((variable, reason))

    def _places_of_weight(self, weight: str) -> list[Place]:
        """Returns under which names the slots of a weight may stand: the weight's in the checkpoint come first."""
        place = self._places.get(weight)
        if place is None:
            return [Place((weight,))]
        shadowed = tuple(self._finder.shadow_of(source) or source for source in place.sources)
        if shadowed != place.sources:  # A moving average has no slots; the variable that it follows has.
            return [dataclasses.replace(place, sources=shadowed)]
        return [place]

    def _assign_slot(
        self, variable: NamedVariable, slot: v1_slots.Slot, of_weight: Place, sources: tuple[str, ...]
    ) -> None:
        if not of_weight.is_plain and of_weight.convert_slots is None:
            self._refuse(variable, sources, "name_map has no conversion for the slots of this weight")
            return
        place = Place(sources, of_weight.convert_slots, None, of_weight.note)
        if slot.is_accumulated_gradient and not self._finder.is_in_keras_form(slot, sources[0]):
            rate = v1_slots.constant_rate(slot.optimizer)
            if rate is None:
                self._refuse(
                    variable,
                    sources,
                    "TF1 keeps the sum of gradients, Keras that of the steps, which holds the learning rates of the "
                    "past: they agree under a constant rate alone, and this one is a schedule (or zero)",
                )
                return
            place = self._stepping(place, rate)
        self._assign(variable, place)

    def _stepping(self, place: Place, rate: Any) -> Place:
        """Turns TF1's accumulator, `m * a + g`, into Keras's velocity, `m * v - rate * g`: `v = -rate * a`."""
        in_checkpoint = next((a for a in self.assignments if a.variable.variable is rate), None)
        sources = place.sources if in_checkpoint is None else (*place.sources, *in_checkpoint.place.sources)
        count = len(place.sources)

        def convert(shape: Shape, tensors: Tensors) -> tf.Tensor:
            value = place.convert(shape, tensors[:count]) if place.convert else tensors[0]
            used = tensors[count] if in_checkpoint is not None else rate
            return -tf.cast(used, value.dtype) * value

        note = "; ".join(filter(None, [place.note, "-learning_rate * accumulator"]))
        return Place(sources, convert, None, note)

    # --- lines of the report -----------------------------------------------------------------------------------

    def _assign(self, variable: NamedVariable, place: Place) -> None:
        assignment = Assignment(variable, place, *_shape_and_dtype(variable))
        self._taken.update(place.sources)
        if variable.kind == "model":
            self._places[variable.name] = place
        shape_problem = self._shape_problem(assignment)
        if shape_problem is not None:
            note = f"{place.note}; {shape_problem}".strip("; ")
            self.entries.append(self._line(lines.SHAPE, assignment, note))
            return
        dtypes = {self._checkpoint.dtypes[name] for name in place.sources}
        if not all(_can_cast(dtype, assignment.dtype) for dtype in dtypes):
            self.entries.append(self._line(lines.DTYPE, assignment, "no cast without loss of meaning"))
            return
        self.assignments.append(assignment)
        self.entries.append(self._line(lines.MATCHED, assignment, place.note))

    def _shape_problem(self, assignment: Assignment) -> str | None:
        """Says why shapes do not fit, or returns None if they do or only the conversion can tell."""
        shapes = [self._checkpoint.shapes[name] for name in assignment.place.sources]
        if assignment.place.convert is _joined:
            return None if _axis(assignment.shape, shapes) is not None else "the parts do not add up"
        if assignment.place.convert is not None:
            return None
        if _fits(assignment.shape, shapes[0]):
            return None
        return _shape_hint(assignment.variable.name, assignment.shape, assignment.place.sources[0], shapes[0])

    def _line(self, status: str, assignment: Assignment, note: str) -> CheckpointEntry:
        place, shape = assignment.place, assignment.shape
        source_shape = self._checkpoint.shapes[place.sources[0]]
        source_dtype = self._checkpoint.dtypes[place.sources[0]]
        differs = place.convert is None and not _fits(shape, source_shape)
        return CheckpointEntry(
            status,
            assignment.variable.name,
            " + ".join(place.sources),
            shape,
            assignment.dtype.name,
            source_shape if differs else None,
            source_dtype.name if source_dtype != assignment.dtype else None,
            note,
        )

    def _keep(self, variable: NamedVariable, note: str) -> None:
        self.entries.append(_line_of(lines.KEPT, variable, note=note))

    def _refuse(self, variable: NamedVariable, sources: Iterable[str], note: str) -> None:
        sources = list(sources)
        self._taken.update(sources)
        self.entries.append(_line_of(lines.NOT_CONVERTIBLE, variable, " + ".join(sources), note))

    def _add_missing(self, unexpected: list[str]) -> None:
        for number, (variable, note) in enumerate(self._missing):
            if not note and number < _MAX_HINTS and unexpected:
                note = _cell_hint(variable.name, unexpected) or nearest_names(variable.name, unexpected, 3)
            self.entries.append(_line_of(lines.MISSING, variable, note=note))

    def _add_entry(self, status: str, name: str, note: str) -> None:
        dtype, shape = self._checkpoint.dtypes[name].name, self._checkpoint.shapes[name]
        self.entries.append(CheckpointEntry(status, "", name, shape, dtype, note=note))

    # --- what is left over -------------------------------------------------------------------------------------

    def _excuse(self, name: str) -> bool:
        """Reports an entry that the model does without, if there is a good reason."""
        reason = self._reason(name)
        if reason:
            self._add_entry(lines.NOT_NEEDED, name, reason)
        return bool(reason)

    def _reason(self, name: str) -> str:
        if name in self._renaming.left_out or self._is_left_out(name):
            return "left out by name_map"
        if reason := v1_slots.reason_not_needed(name):
            return reason
        has_step = any(variable.kind == "step" for variable in self._variables)
        if name == GLOBAL_STEP and not has_step:
            return "the model is not compiled, so that nothing counts steps"
        if not self._optimizers and v1_slots.is_own(name):
            return "the model is not compiled"
        if reason := self._reason_of_average(name):
            return reason
        return self._reason_of_slot(name)

    def _is_left_out(self, name: str) -> bool:
        parts = name.split("/")
        bases = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
        chosen = self._renaming.chosen
        return any(base in chosen and chosen[base] is None for base in bases)

    def _reason_of_average(self, name: str) -> str:
        base = self._finder.shadow_of(name)
        if base is not None and base in self._taken:
            return f"a moving average of {base}; name_map can take it in the variable's place"
        if any(self._finder.shadow_of(source) == name for source in self._taken):
            return "its moving average was taken"
        return ""

    def _reason_of_slot(self, name: str) -> str:
        base, _, leaf = name.rpartition("/")
        weight = self._weight_at(base)
        if weight is None:
            return ""
        if not self._optimizers:
            return "state of an optimizer; the model is not compiled"
        if not weight.trainable:
            return f"{weight.name} is not trained here"
        families = [
            s for s in self._slots.values() if s.weight == weight.name and s.family is v1_slots.RMSPROP
        ]
        idle = families and not v1_slots.momentum_of(families[0].optimizer)
        last = "RMSProp_2" if f"{base}/RMSProp_2" in self._checkpoint.shapes else "RMSProp_1"
        return "the optimizer's momentum is 0" if idle and leaf == last else ""

    def _weight_at(self, base: str) -> NamedVariable | None:
        """Returns the weight whose slots have the path `base` in the checkpoint, an optimizer's scope included."""
        if base in self._weights_by_source:
            return self._weights_by_source[base]
        if not self._finder.has_no_owner(base):
            return None
        tails = (base[match.end() :] for match in re.finditer("/", base))
        return next(
            (self._weights_by_source[tail] for tail in tails if tail in self._weights_by_source), None
        )

    def _owners(self) -> dict[str, NamedVariable]:
        """Returns the weights by the names under which their slots stand in the checkpoint."""
        return {
            self._finder.shadow_of(source) or source: variable
            for variable in self._variables
            if variable.name in self._places
            for source in self._places[variable.name].sources
        }


def _line_of(status: str, variable: NamedVariable, source: str = "", note: str = "") -> CheckpointEntry:
    shape, dtype = _shape_and_dtype(variable)
    return CheckpointEntry(status, variable.name, source, shape, dtype.name, note=note)


def _shape_and_dtype(variable: NamedVariable) -> tuple[Shape, tf.DType]:
    shape = variable.variable.shape
    return tuple(shape.as_list()), tf.as_dtype(variable.variable.dtype).base_dtype


def _fits(shape: Shape, source: tuple[int, ...]) -> bool:
    return shape == source or (
        len(shape) == len(source)
        and all(size in (None, other) for size, other in zip(shape, source, strict=True))
    )


def _can_cast(source: tf.DType, target: tf.DType) -> bool:
    """Tells whether a cast keeps the meaning: between floating-point types, and between integers."""
    return source == target or (
        (source.is_floating and target.is_floating) or (source.is_integer and target.is_integer)
    )


def _axis(shape: Shape, parts: Sequence[tuple[int, ...]]) -> int | None:
    """Returns along which axis parts of these shapes make up the whole, or None."""
    for axis, size in enumerate(shape):
        rest = [part[:axis] + part[axis + 1 :] for part in parts if len(part) == len(shape)]
        fits = len(rest) == len(parts) and all(part == shape[:axis] + shape[axis + 1 :] for part in rest)
        if fits and sum(part[axis] for part in parts) == size:
            return axis
    return None


def _joined(shape: Shape, tensors: Tensors) -> tf.Tensor:
    """Puts the parts of a partitioned variable together."""
    axis = _axis(shape, [tuple(tensor.shape) for tensor in tensors])
    return tf.concat(tensors, 0 if axis is None else axis)


def _of_arrays(convert: Callable[..., Any]) -> Conversion:
    """Makes a conversion of tensors from a user's one of arrays."""
    return lambda shape, tensors: tf_internals.eager_tensor(convert(shape, *(t.numpy() for t in tensors)))


def _cell_hint(name: str, unexpected: Iterable[str]) -> str:
    """Names the conversion for a recurrent layer, if the checkpoint has a v1 cell."""
    if not re.search(r"(kernel|bias)$", name):
        return ""
    layer = name.rpartition("/")[0]
    for entry in unexpected:
        match = _CELL.fullmatch(entry)
        wanted = "gru" if match and match[1].endswith("gru_cell") else "lstm"
        if match and wanted in layer.lower():
            return f"a v1 cell has other layouts: use name_map=bridge.checkpoint.{wanted}({layer!r}, {match[1]!r})"
    return ""


def _shape_hint(name: str, shape: Shape, source: str, source_shape: tuple[int, ...]) -> str:
    if hint := _cell_hint(name, [source]):
        return hint
    if tuple(reversed(source_shape)) == shape:
        return "transposed; bridge.checkpoint.Converted in name_map can turn it"
    if None not in shape and _count(shape) == _count(source_shape):
        return "as many elements; bridge.checkpoint.Converted in name_map can reshape it"
    return "another model, or another variable: see name_map"


def _count(shape: Shape) -> int:
    count = 1
    for size in shape:
        count *= size or 0
    return count
