"""A v1 graph's variables as a model's weights: read, set, saved and loaded through a session.

Nothing is added to the graph, which is final while a session runs, and in which one operation more would change the
seeds of all random operations after it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from bridge import tf_internals
from bridge.errors import GraphModelError, nearest_names

tf1 = tf.compat.v1

Run = Callable[..., Any]  # run(fetches, feed_dict=None), without hooks.


class NamedArray(np.ndarray):
    """A variable's value with the variable's name, in the form in which callbacks look at a layer's weights.

    Attributes:
      name: The variable's name in the graph.
      path: The same; newer versions of Keras ask for it.
    """

    name: str
    path: str

    @classmethod
    def of(cls, value: Any, name: str) -> NamedArray:
        """Gives a value a name."""
        array = np.asarray(value).view(cls)
        array.name = array.path = name
        return array

    def numpy(self) -> np.ndarray:
        """Returns the plain array."""
        return np.asarray(self)


def step_variable(graph: tf.Graph) -> Any | None:
    """Returns the graph's global step as something that a session can fetch, or None if it has none.

    `get_global_step` finds a step that is in no collection by its name, as a tensor; that of a resource variable is a
    handle, not the value.
    """
    step = tf1.train.get_global_step(graph)
    if step is None:
        return None
    return next((v for v in _global_variables(graph) if v.op.name == step.op.name), step)


def _global_variables(graph: tf.Graph) -> list[Any]:
    return graph.get_collection(tf1.GraphKeys.GLOBAL_VARIABLES)


class GraphVariables:
    """The variables of a graph that count as a model's weights."""

    def __init__(
        self, graph: tf.Graph, variables: Iterable[Any] | None = None, *, rate: Any | None = None
    ) -> None:
        """Chooses variables.

        Args:
          graph: The v1 graph.
          variables: The variables; None for all global variables but the global step and `rate`, looked up when they
            are needed.
          rate: The variable that holds the learning rate. Like the global step, it is saved but never set back.
        """
        self._graph = graph
        self._given = None if variables is None else list(variables)
        self._rate = rate

    @property
    def all(self) -> list[Any]:
        """The variables, in the order in which the graph made them."""
        if self._given is not None:
            return list(self._given)
        apart = {v.op.name for v in self._apart()}
        return [v for v in _global_variables(self._graph) if v.op.name not in apart]

    def _apart(self) -> list[Any]:
        """Returns what says how far and how fast the training is; setting it back would undo what others did."""
        return [v for v in (step_variable(self._graph), self._rate) if v is not None]

    @property
    def trainable(self) -> list[Any]:
        """Those of them that the graph trains."""
        names = {v.op.name for v in self._graph.get_collection(tf1.GraphKeys.TRAINABLE_VARIABLES)}
        return [v for v in self.all if v.op.name in names]

    def read(self, run: Run, variables: Sequence[Any] | None = None) -> list[NamedArray]:
        """Reads values in one run.

        Args:
          run: Runs something in the session, without hooks.
          variables: Which; None for all.

        Returns:
          The values, in the same order.
        """
        wanted = self.all if variables is None else list(variables)
        values = run(wanted) if wanted else []
        return [NamedArray.of(value, v.op.name) for v, value in zip(wanted, values, strict=True)]

    def write(self, run: Run, values: Sequence[Any]) -> None:
        """Sets all values.

        Args:
          run: Runs something in the session, without hooks.
          values: One for each variable, in the order of `read`.

        Raises:
          GraphModelError: if number or shapes do not fit; then nothing was set.
        """
        variables = self.all
        if len(values) != len(variables):
            raise GraphModelError(
                f"{len(values)} weights were given for {len(variables)} variables. "
                f"In the order of get_weights() they are: {', '.join(v.op.name for v in variables)}."
            )
        pairs = [(v, _fitting(v, value)) for v, value in zip(variables, values, strict=True)]
        while pairs:
            pairs = _assign(run, pairs)

    def save(self, run: Run, path: str | os.PathLike[str]) -> None:
        """Writes the variables, the global step and the learning rate's variable, under their names.

        Args:
          run: Runs something in the session, without hooks.
          path: An HDF5 file, if it ends in `.h5`; otherwise the prefix of a v1 checkpoint.

        Raises:
          GraphModelError: if HDF5 has no place for a variable's type.
        """
        variables = self.all
        known = {v.op.name for v in variables}
        variables += [v for v in self._apart() if v.op.name not in known]
        values = run(variables)
        Path(os.fspath(path)).parent.mkdir(parents=True, exist_ok=True)
        if str(path).endswith(".h5"):
            _write_hdf5(
                os.fspath(path), {v.op.name: value for v, value in zip(variables, values, strict=True)}
            )
        else:
            _write_checkpoint(os.fspath(path), variables, values)

    def load(self, run: Run, path: str | os.PathLike[str]) -> None:
        """Sets the variables, but not the global step or the learning rate, to what a file holds under their names.

        Args:
          run: Runs something in the session, without hooks.
          path: What `save` wrote, or any v1 checkpoint (its prefix, or the directory for the newest one).

        Raises:
          GraphModelError: if a variable is not in there, or its shape is another one; then nothing was set.
        """
        name = os.fspath(path)
        variables = self.all
        source: Mapping[str, Any]
        if name.endswith(".h5"):
            source, wanted = _read_hdf5(name), [v.op.name for v in variables]
        else:
            source, wanted = _Checkpoint(name), [_saved_name(v) for v in variables]
        missing = [name for name in wanted if name not in source]
        if missing:
            raise GraphModelError(
                f"{name} does not hold {len(missing)} of the graph's {len(variables)} variables, such as {missing[0]!r}. "
                f"{nearest_names(missing[0], source)} Give GraphModel(variables=[...]) those that it holds."
            )
        self.write(run, [_cut(v, source[name]) for v, name in zip(variables, wanted, strict=True)])


def _fitting(variable: Any, value: Any) -> Any:
    array = np.asarray(value, variable.dtype.base_dtype.as_numpy_dtype)
    if not variable.shape.is_compatible_with(array.shape):
        raise GraphModelError(
            f"A value of shape {array.shape} was given for {variable.op.name}, whose shape is {variable.shape}. "
            "Give values in the order and the shapes of get_weights()."
        )
    return array


def _assign(run: Run, pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Sets what can be set in one run, and returns the rest.

    A variable's initialiser, with the initial value fed, is the one assignment that every v1 variable has; it is how
    `Variable.load` does it. Two variables may share one initial value, which can be fed one value at a time.
    """
    feeds: dict[str, Any] = {}
    operations, rest = [], []
    for variable, value in pairs:
        operation = variable.initializer
        if operation is None or len(operation.inputs) != 2:
            raise GraphModelError(
                f"{variable.op.name} has no initialiser that takes a value, so that it cannot be set. "
                "Leave it out: GraphModel(variables=[...])."
            )
        name = operation.inputs[1].name
        if name in feeds:
            rest.append((variable, value))
        else:
            feeds[name] = value
            operations.append(operation)
    run(operations, feeds)
    return rest


def _slice_of(variable: Any) -> Any | None:
    """Returns which part of a partitioned variable this is; `Saver` reads the same private attribute."""
    return getattr(variable, "_save_slice_info", None)


def _saved_name(variable: Any) -> str:
    part = _slice_of(variable)
    return str(variable.op.name if part is None else part.full_name)


def _cut(variable: Any, value: Any) -> Any:
    """Returns a variable's part of what was saved as a whole."""
    part = _slice_of(variable)
    if part is None or tuple(np.shape(value)) == tuple(variable.shape):
        return value
    return value[
        tuple(slice(at, at + size) for at, size in zip(part.var_offset, part.var_shape, strict=True))
    ]


def _write_checkpoint(path: str, variables: Sequence[Any], values: Sequence[Any]) -> None:
    """Writes a checkpoint as `Saver` does, which could not: it needs operations in the graph."""
    parts = [_slice_of(variable) for variable in variables]
    with tf_internals.eager_mode(), tf.device("cpu"):
        tf.raw_ops.SaveV2(
            prefix=path,
            tensor_names=[_saved_name(variable) for variable in variables],
            shape_and_slices=["" if part is None else part.spec for part in parts],
            tensors=[tf.constant(value) for value in values],
        )


class _Checkpoint(Mapping[str, Any]):
    """A v1 checkpoint's values by name."""

    def __init__(self, path: str) -> None:
        self._reader = tf.train.load_checkpoint(path)
        self._names = self._reader.get_variable_to_shape_map()

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Any:
        return self._reader.get_tensor(name)

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _write_hdf5(path: str, values: Mapping[str, Any]) -> None:
    """Writes each value as a dataset `<name>:0`; a plain `w` would be in the way of the slot `w/Adam`."""
    import h5py  # type: ignore[import-untyped]  # Keras needs it anyway, but loads it late, too.

    unfinished = f"{path}.unfinished"
    with h5py.File(unfinished, "w") as file:
        for name, value in values.items():
            file[f"{name}:0"] = _for_hdf5(name, np.asarray(value))
    Path(unfinished).replace(path)


def _for_hdf5(name: str, value: np.ndarray) -> np.ndarray:
    if value.dtype == object:
        raise GraphModelError(
            f"{name} holds strings, which a .h5 file has no place for. Save a v1 checkpoint: a path without .h5."
        )
    if (
        value.dtype.isbuiltin != 1
    ):  # bfloat16 and the like: HDF5 does not know them, and float32 holds them exactly.
        return value.astype(np.float32)
    return value


def _read_hdf5(path: str) -> dict[str, Any]:
    import h5py

    found: dict[str, Any] = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name.removesuffix(":0")] = item[()]

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found
