"""What hooks and sessions make is gone when the fit is over: variables, tables, threads, files, models."""

from __future__ import annotations

import gc
import itertools
import threading
import weakref
from pathlib import Path
from typing import Any

import keras
import pytest
import tensorflow as tf
import tf_keras

import bridge
from bridge.live_session import LiveSession
from tests.bridge.support import FunctionHook, batches, small_model, train

tf1 = tf.compat.v1

MEGABYTES = 8
OPEN_FILES = Path("/proc/self/fd")
STATUS = Path("/proc/self/status")
needs_proc = pytest.mark.skipif(not OPEN_FILES.exists(), reason="the system has no /proc")


class SessionKeeper(tf1.train.SessionRunHook):
    """Keeps the session, and makes variables, a table, a queue and an accumulator in `begin`."""

    def begin(self) -> None:
        self.big = tf1.get_variable(
            "big", [MEGABYTES << 18], tf.float32, tf1.zeros_initializer(), trainable=False
        )
        self.local = tf1.get_variable(
            "local", [3], collections=[tf1.GraphKeys.LOCAL_VARIABLES], initializer=tf1.ones_initializer()
        )
        keys, values = tf.constant(["a", "b"]), tf.constant([1, 2])
        initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
        self.table = tf.lookup.StaticHashTable(initializer, 0)
        self.first = self.big[0]
        self.found = self.table.lookup(tf.constant(["b"]))
        self.queue = tf1.FIFOQueue(3, [tf.int32], shapes=[[]])
        self.put = self.queue.enqueue(1)

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.session = session

    def before_run(self, run_context: Any) -> Any:
        return tf1.train.SessionRunArgs([self.first, self.local, self.found])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        assert run_values.results[2][0] == 2


def live_handles(hook: SessionKeeper) -> dict[str, tf.Tensor]:
    """Handles to what the hook made, as eager tensors, while the session is open."""
    handles: dict[str, tf.Tensor] = {}
    container = hook.session._container
    dtypes = {hook.big.op.name: (tf.float32, hook.big.shape), hook.local.op.name: (tf.float32, [3])}
    for name, (dtype, shape) in dtypes.items():
        handles[name] = tf.raw_ops.VarHandleOp(
            dtype=dtype, shape=shape, shared_name=name, container=container
        )
    return handles


def test_variables_of_hooks_live_as_long_as_the_session() -> None:
    hook = SessionKeeper()
    alive: list[bool] = []

    class Watch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            alive.extend(
                bool(tf.raw_ops.VarIsInitializedOp(resource=handle)) for handle in live_handles(hook).values()
            )

    train(hook, steps=2, callbacks=[Watch()])
    assert alive == [True] * 4
    for name, handle in live_handles(hook).items():
        assert not bool(tf.raw_ops.VarIsInitializedOp(resource=handle)), f"{name} is still there"


def test_variables_of_hooks_are_freed_after_an_error_too() -> None:
    hook = SessionKeeper()

    def fail(*unused: Any) -> None:
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        train([hook, FunctionHook(after_run=fail)], steps=2)
    for name, handle in live_handles(hook).items():
        assert not bool(tf.raw_ops.VarIsInitializedOp(resource=handle)), f"{name} is still there"


def test_a_second_fit_starts_with_new_variables_of_hooks() -> None:
    seen: list[int] = []

    def build() -> Any:
        count = tf1.get_variable("count", [], tf.int32, tf1.zeros_initializer(), trainable=False)
        return tf1.assign_add(count, 1)

    hook = FunctionHook(
        build,
        before_run=lambda run_context, add: tf1.train.SessionRunArgs(add),
        after_run=lambda run_context, run_values, add: seen.append(int(run_values.results)),
    )
    model = train(hook, steps=2)
    train(hook, steps=2, model=model)
    assert seen == [1, 2, 1, 2]


def resident_megabytes() -> float:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


@needs_proc
def test_what_hooks_allocate_does_not_add_up_over_fits() -> None:
    model, data = small_model(), batches(1)

    def fit() -> None:
        train(SessionKeeper(), model=model, data=data)
        gc.collect()

    for _ in range(3):
        fit()
    before = resident_megabytes()
    for _ in range(8):
        fit()
    assert resident_megabytes() - before < 3 * MEGABYTES, (
        "eight fits of a hook with 8 MB left more than 24 MB"
    )


@needs_proc
def test_twenty_fits_leave_no_threads_and_no_open_files(tmp_path: Path) -> None:
    model, data = small_model(), batches(2)

    def fit(number: int) -> None:
        directory = str(tmp_path / str(number % 2))
        hooks = [
            tf1.train.StepCounterHook(every_n_steps=1, output_dir=directory),
            tf1.train.CheckpointSaverHook(directory, save_steps=100),
            SessionKeeper(),
        ]
        train(hooks, model=model, data=data)

    def count() -> tuple[int, int, int]:
        gc.collect()
        tasks = len(list(Path("/proc/self/task").iterdir()))
        return threading.active_count(), tasks, len(list(OPEN_FILES.iterdir()))

    for number in range(3):
        fit(number)
    threads, tasks, files = count()
    for number in range(20):
        fit(number)
    found = count()
    assert found[0] <= threads
    assert found[1] <= tasks + 4  # TensorFlow's own pools may still be filling.
    assert found[2] <= files + 1


@pytest.mark.parametrize("k", [keras, tf_keras], ids=["keras", "tf_keras"])
@pytest.mark.parametrize("with_hooks", [False, True], ids=["plain", "hooks"])
def test_model_callback_and_session_can_be_collected(k: Any, with_hooks: bool) -> None:
    def use() -> list[weakref.ref[Any]]:
        model = k.Sequential([k.Input((3,)), k.layers.Dense(1)])
        model.compile("adam", "mse", jit_compile=False)
        if not with_hooks:
            model.fit(batches(2), verbose=0)
            return [weakref.ref(model), weakref.ref(model.optimizer)]
        sessions: list[LiveSession] = []
        keep = FunctionHook(after_create_session=lambda session, built: sessions.append(session))
        callback = bridge.HookCallback([keep, SessionKeeper()], eval_hooks=SessionKeeper())
        model.fit(batches(2), validation_data=batches(1), verbose=0, callbacks=[callback])
        things = [model, model.optimizer, callback, keep, sessions[0], sessions[0].graph]
        return [weakref.ref(thing) for thing in things]

    references = use()
    k.backend.clear_session()
    gc.collect()
    gc.collect()
    left = [type(reference()).__name__ for reference in references if reference() is not None]
    assert left == []


def test_the_session_is_gone_before_the_model_is() -> None:
    model = small_model()
    sessions: list[weakref.ref[Any]] = []
    keep = FunctionHook(
        after_create_session=lambda session, built: sessions.extend(
            [weakref.ref(session), weakref.ref(session.graph)]
        )
    )
    train(keep, model=model)
    gc.collect()
    assert [reference() for reference in sessions] == [None, None]


def test_a_closed_session_refuses_to_run() -> None:
    kept: list[Any] = []
    train(FunctionHook(after_create_session=lambda session, built: kept.append(session)))
    with pytest.raises(bridge.errors.SessionClosedError):
        kept[0].run("global_step:0")


def test_a_step_leaves_no_python_objects_behind() -> None:
    counts: dict[int, int] = {}
    runs = itertools.count(1)

    def count(run_context: Any, run_values: Any, built: Any) -> None:
        run = next(runs)
        if run in (10, 30):
            gc.collect()
            counts[run] = len(gc.get_objects())

    hook = FunctionHook(
        before_run=lambda run_context, built: tf1.train.SessionRunArgs(["loss:0", "dense/output:0"]),
        after_run=count,
    )
    train(hook, steps=30)
    assert counts[30] - counts[10] < 20, "twenty steps left more than twenty objects"
