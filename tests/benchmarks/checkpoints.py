"""What a checkpoint of a model of 100 MB costs: restoring and saving, against `Saver` in a v1 session."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

import bridge
from tests.benchmarks.report import Samples

tf1 = tf.compat.v1

_UNITS = 2896  # Three layers of 2896 x 2896 floats are 100 MB.
_LAYERS = 3

RESTORE, SAVE = "restore, ms", "save, ms"
# Plus one, so that two ways without any copy have a ratio.
MEMORY = "memory beside the weights in a save, 1 + MB"

TARGETS = {RESTORE: {("bridge", "v1 saver"): 1.2}, SAVE: {("bridge", "v1 saver"): 1.2}}


def measure(rounds: int, progress: Callable[[str], None]) -> dict[str, Samples]:
    """Times both ways in turns.

    Args:
      rounds: How many rounds, besides a first one that is not counted.
      progress: Is told what is done just now.

    Returns:
      By measure, the samples of "bridge" and "v1 saver".
    """
    found: dict[str, Samples] = {name: {"v1 saver": [], "bridge": []} for name in (RESTORE, SAVE, MEMORY)}
    with tempfile.TemporaryDirectory() as folder:
        model = _model()
        with bridge.MonitoredTrainingSession(checkpoint_dir=folder) as session:
            session.fit(model, *_batch(), verbose=0)
        newest = tf.train.latest_checkpoint(folder)
        assert newest is not None
        with _V1(newest) as v1:
            for number in range(rounds + 1):
                progress(f"checkpoints: round {number} of {rounds}")
                for name, sample in (
                    ("v1 saver", v1.sample),
                    ("bridge", lambda: _bridge_sample(model, newest)),
                ):
                    gc.collect()
                    for key, value in zip((RESTORE, SAVE, MEMORY), sample(), strict=True):
                        if number:
                            found[key][name].append(value)
    return found


def _model() -> keras.Model:
    layers = [keras.layers.Dense(_UNITS, use_bias=False) for _ in range(_LAYERS)]
    model = keras.Sequential([keras.Input((_UNITS,)), *layers])
    model.compile(keras.optimizers.SGD(0.0), "mse", jit_compile=False)
    return model


def _batch() -> tuple[Any, Any]:
    return tf.zeros([1, _UNITS]), tf.zeros([1, _UNITS])


def _timed(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1e3


def _memory_of(work: Callable[[], Any]) -> float:
    """Returns by how many MB the process's largest resident size grows, plus one."""
    refs = Path("/proc/self/clear_refs")
    if not refs.exists():
        work()
        return float("nan")
    refs.write_text("5")  # The largest size is counted from here on.
    before = _status("VmRSS")
    work()
    return 1 + (_status("VmHWM") - before) / 1024


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    raise ValueError(field)


def _bridge_sample(model: keras.Model, prefix: str) -> tuple[float, float, float]:
    """Restores as a session does at its start, and saves as its saver does."""
    from bridge.restore import CheckpointRestore

    restore = _timed(lambda: CheckpointRestore(str(Path(prefix).parent)).restore_model(model, None))
    with tempfile.TemporaryDirectory() as folder:
        saver = _SaverHook(folder)
        model.fit(*_batch(), verbose=0, callbacks=[bridge.HookCallback(saver)])
    return restore, saver.milliseconds, saver.memory


class _SaverHook(tf1.train.SessionRunHook):
    """Saves twice: for the time, and for the memory."""

    def __init__(self, folder: str) -> None:
        self._prefix = f"{folder}/model.ckpt"
        self.milliseconds = self.memory = float("nan")

    def begin(self) -> None:
        self._saver = tf1.train.Saver(tf1.trainable_variables())

    def after_create_session(self, session: Any, coord: Any) -> None:
        save = lambda: self._saver.save(session, self._prefix, write_meta_graph=False)  # noqa: E731
        save()
        self.milliseconds = _timed(save)
        self.memory = _memory_of(save)


class _V1:
    """The same variables in a v1 session."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._graph = tf.Graph()
        with self._graph.as_default():
            reader = tf.train.load_checkpoint(prefix)
            shapes = {n: s for n, s in reader.get_variable_to_shape_map().items() if len(s) == 2}
            for name, shape in shapes.items():
                tf1.get_variable(name, shape)
            self._saver = tf1.train.Saver()
            self._session = tf1.Session()

    def __enter__(self) -> _V1:
        return self

    def __exit__(self, *error: object) -> None:
        self._session.close()

    def sample(self) -> tuple[float, float, float]:
        with self._graph.as_default(), tempfile.TemporaryDirectory() as folder:
            restore = _timed(lambda: self._saver.restore(self._session, self._prefix))
            hook = _SaverHook(folder)
            hook._saver = self._saver
            hook.after_create_session(self._session, None)
        return restore, hook.milliseconds, hook.memory
