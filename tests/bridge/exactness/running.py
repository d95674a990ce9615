"""Trains a case with and without hooks, and compares everything that a `fit` leaves behind, bit for bit."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import bridge

tf1 = tf.compat.v1

Keras = Any  # The module `keras` or `tf_keras`.

SEED = 11
EPOCHS = 3


class Recorder(tf1.train.SessionRunHook):
    """Fetches tensors by name on every second step, as a LoggingTensorHook does, and keeps them."""

    def __init__(self, names: Sequence[str], every: int = 2) -> None:
        self._names = names
        self._every = every
        self._runs = 0
        self.records: list[dict[str, Any]] = []

    def begin(self) -> None:
        graph = tf1.get_default_graph()
        self._runs = 0
        self._tensors = {name: graph.get_tensor_by_name(f"{name}:0") for name in self._names}
        self._tensors["global_step"] = tf1.train.get_or_create_global_step()

    def before_run(self, run_context: Any) -> Any:
        due = self._runs % self._every == 0
        self._runs += 1
        return tf1.train.SessionRunArgs(self._tensors) if due else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results is not None:
            self.records.append(run_values.results)

    @property
    def steps(self) -> list[int]:
        return [int(record["global_step"]) for record in self.records]


class FullRecorder(Recorder):
    """Fetches every layer's output and every gradient, on every second step."""

    def __init__(self) -> None:
        super().__init__(())

    def begin(self) -> None:
        operations = tf1.get_default_graph().get_operations()
        inner = [o.name for o in operations if o.type == "Identity" and not o.name.startswith("step/")]
        self._names = [name for name in inner if "/output" in name or name.startswith("gradients/")]
        super().begin()


def summary_saver(directory: str, asks: Sequence[str]) -> Any:
    """Makes a SummarySaverHook that needs the graph: to be called inside it."""
    graph = tf1.get_default_graph()
    tf1.summary.scalar("step_loss", graph.get_tensor_by_name(f"{asks[0]}:0"))
    tf1.summary.histogram("inner", graph.get_tensor_by_name(f"{asks[1]}:0"))
    return tf1.train.SummarySaverHook(save_steps=2, output_dir=directory, summary_op=tf1.summary.merge_all())


class Hooks:
    """A demanding set of hooks, which fetch inner tensors by name on some of the steps and write files.

    Args:
      directory: Where checkpoints and events go.
      asks: Names of tensors in the step's graph: first a loss, which becomes a scalar summary, then one that becomes
        a histogram, then any others.
    """

    def __init__(self, directory: Path, asks: Sequence[str]) -> None:
        self.directory = directory
        self.recorder = Recorder(asks)
        where = str(directory)
        self.all: list[Any] = [
            self.recorder,
            tf1.train.StepCounterHook(every_n_steps=3, output_dir=where),
            tf1.train.CheckpointSaverHook(where, save_steps=4),
            lambda: summary_saver(where, asks),
        ]

    def callback(self) -> bridge.HookCallback:
        return bridge.HookCallback(self.all)

    def check_ran(self) -> None:
        """Asserts that the hooks did what they are for; else equal weights would prove nothing."""
        steps = self.recorder.steps
        assert len(steps) >= 3, "the recording hook saw fewer than three steps"
        # A step that a loss scale skipped, or that only accumulated gradients, does not count.
        assert all(0 <= later - step <= 2 for step, later in itertools.pairwise(steps)), steps
        self.check_files()

    def check_files(self) -> None:
        """Asserts that there are a checkpoint and events."""
        assert tf.train.latest_checkpoint(str(self.directory)) is not None
        assert list(self.directory.glob("events.out.tfevents.*"))


@dataclasses.dataclass
class Outcome:
    """What a `fit` leaves behind.

    Attributes:
      state: Every variable of the model, its metrics and its optimizers, by a readable name.
      metrics: The metrics' results.
      history: `History.history`.
      epochs: `History.epoch`.
      stopped: The model's `stop_training`.
    """

    state: dict[str, np.ndarray]
    metrics: dict[str, Any]
    history: dict[str, list[Any]]
    epochs: list[int]
    stopped: bool


def seed(k: Keras) -> None:
    """Makes everything that is built and trained from here on reproducible."""
    k.backend.clear_session()
    k.utils.set_random_seed(SEED)


def train(k: Keras, case: Any, callbacks: Sequence[Any] = (), **fit: Any) -> tuple[Any, Outcome]:
    """Builds, compiles and trains a case from its seed.

    Args:
      k: The Keras package.
      case: A `cases.Case`.
      callbacks: For `fit`.
      **fit: Arguments of `fit` that take the place of the case's.

    Returns:
      The model and what the training left behind.
    """
    seed(k)
    model = case.compiled(k)
    arguments = {"epochs": EPOCHS, "verbose": 0, **case.data(k), **case.fit, **fit}
    history = model.fit(**arguments, callbacks=list(callbacks))
    return model, outcome(model, history)


def outcome(model: Any, history: Any) -> Outcome:
    state = {name: _array(value) for name, value in _state(model)}
    metrics = {name: _array(value) for name, value in model.get_metrics_result().items()}
    return Outcome(state, metrics, history.history, history.epoch, bool(model.stop_training))


def optimizers_of(model: Any) -> list[Any]:
    """Every optimizer that the model holds, and those inside loss-scaling ones."""
    found = {id(value): value for value in vars(model).values() if hasattr(value, "apply_gradients")}
    found.setdefault(id(model.optimizer), model.optimizer)
    inner = [o.inner_optimizer for o in found.values() if hasattr(o, "inner_optimizer")]
    return [o for o in [*found.values(), *inner] if o is not None]


def _state(model: Any) -> Iterator[tuple[str, Any]]:
    """Yields everything that training changes. Names are numbered: Keras's own differ from model to model."""
    for number, variable in enumerate(model.variables):
        yield f"model/{number}/{variable.name}", variable
    for number, optimizer in enumerate(optimizers_of(model)):
        variables = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
        for place, variable in enumerate(variables):
            yield f"optimizer_{number}/{place}/{variable.name}", variable
        yield f"optimizer_{number}/iterations", optimizer.iterations
    for metric in model.metrics:
        for place, variable in enumerate(metric.variables):
            yield f"metrics/{metric.name}/{place}/{variable.name}", variable
    for number, layer in enumerate(model._flatten_layers()):
        for name, value in list(vars(layer).items()):
            for place, variable in enumerate(_loose(value)):
                yield f"loose/{number}/{name}/{place}", variable


def _array(value: Any) -> np.ndarray:
    """Returns a value as an array; under a strategy, the values of all replicas."""
    variable = getattr(value, "_value", value)
    replicas = getattr(variable, "values", None)
    if isinstance(replicas, (list, tuple)):
        return np.stack([replica.numpy() for replica in replicas])
    return np.array(value.numpy() if hasattr(value, "numpy") else value)


def _loose(value: Any) -> Iterable[Any]:
    """Variables that a layer or model holds in an attribute, known to Keras or not."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return [v for v in values if isinstance(v, tf.Variable)]


def differences(expected: Outcome, found: Outcome) -> list[str]:
    """Compares without any tolerance; NaNs equal each other.

    Args:
      expected: From the plain `fit`.
      found: From the one with hooks.

    Returns:
      A readable line for each difference.
    """
    lines = list(_array_differences("state", expected.state, found.state))
    lines += _array_differences("metrics", expected.metrics, found.metrics)
    if list(expected.history) != list(found.history):
        lines.append(f"history has the keys {list(found.history)}, not {list(expected.history)}")
    for key, values in expected.history.items():
        others = found.history.get(key, values)
        if [type(v) for v in values] != [type(v) for v in others]:
            lines.append(f"history[{key!r}] holds {type(others[0]).__name__}, not {type(values[0]).__name__}")
        if not _equal(np.array(values), np.array(others)):
            lines.append(f"history[{key!r}] is {others}, not {values}")
    if expected.epochs != found.epochs:
        lines.append(f"the epochs are {found.epochs}, not {expected.epochs}")
    if expected.stopped != found.stopped:
        lines.append(f"stop_training is {found.stopped}, not {expected.stopped}")
    return lines


def _equal(expected: np.ndarray, found: np.ndarray) -> bool:
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return False
    if expected.dtype.kind in "biuSUO":
        return bool(np.array_equal(expected, found))
    wide = expected.astype("float64"), found.astype("float64")
    return bool(np.array_equal(*wide, equal_nan=True) and np.array_equal(*map(np.signbit, wide)))


def _array_differences(title: str, expected: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    if list(expected) != list(found):
        missing = [name for name in expected if name not in found]
        yield f"{title}: names differ: missing {missing}, added {[name for name in found if name not in expected]}"
    for name, value in expected.items():
        other = found.get(name, value)
        if not _equal(value, other):
            gap = ""
            if value.shape == other.shape and value.dtype.kind not in "SUO":
                gap = f", largest difference {np.max(np.abs(value.astype('float64') - other.astype('float64'))):.3g}"
            yield f"{title}: {name} ({value.dtype}{list(value.shape)}) differs from {other.dtype}{list(other.shape)}{gap}"


def assert_same(expected: Outcome, found: Outcome) -> None:
    """Asserts that two trainings are equal bit for bit."""
    lines = differences(expected, found)
    assert not lines, f"{len(lines)} differences:\n" + "\n".join(lines[:12])


def assert_close(expected: Outcome, found: Outcome, tolerance: float = 1e-4) -> None:
    """Asserts that two trainings agree but for rounding."""
    assert list(expected.state) == list(found.state)
    for name, value in expected.state.items():
        np.testing.assert_allclose(found.state[name], value, rtol=tolerance, atol=tolerance, err_msg=name)
    assert list(expected.history) == list(found.history)
    for key, values in expected.history.items():
        np.testing.assert_allclose(found.history[key], values, rtol=tolerance, atol=tolerance, err_msg=key)
