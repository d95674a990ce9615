"""One worker of a job that trains one small model again and again, each time in another way. Prints a line of JSON.

    python fits_program.py keras|tf_keras exact|stops|faults|PART,PART…

The parts run in the same order in all workers; each returns what the tests look at.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import bridge
from bridge import multi_worker

tf1 = tf.compat.v1
k: Any = importlib.import_module(sys.argv[1])
TASK = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
strategy = tf.distribute.MultiWorkerMirroredStrategy()
x = np.random.default_rng(0).normal(size=(30, 3)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(
    8
)  # 4 steps, the last one smaller
agreements = 0
_gather = multi_worker.Workers.gather


def counted(self: Any, values: Any) -> Any:
    global agreements
    agreements += 1
    return _gather(self, values)


multi_worker.Workers.gather = counted  # type: ignore[method-assign]


class Steps(tf1.train.SessionRunHook):
    """Keeps the global steps that it saw; may stop, or raise in `before_run`, at one of them."""

    def __init__(self, *asks: str, stop: int | None = None, end: int | None = None) -> None:
        self.seen: list[int] = []
        self.values: list[Any] = []
        self._asks = asks
        self._stop = stop
        self._end = end

    def before_run(self, run_context: tf1.train.SessionRunContext) -> tf1.train.SessionRunArgs:
        if self._end is not None and len(self.seen) == self._end:
            raise StopIteration
        return tf1.train.SessionRunArgs(["global_step:0", *self._asks])

    def after_run(
        self, run_context: tf1.train.SessionRunContext, run_values: tf1.train.SessionRunValues
    ) -> None:
        self.seen.append(int(run_values.results[0]))
        self.values.append([np.asarray(value).tolist() for value in run_values.results[1:]])
        if self.seen[-1] == self._stop:
            run_context.request_stop()


class Logs(keras.callbacks.Callback):
    """Keeps the logs of each batch; may stop after one, or raise."""

    _supports_tf_logs = True

    def __init__(self, stop: int | None = None, fail: int | None = None) -> None:
        super().__init__()
        self.kept: list[dict[str, float]] = []
        self._stop = stop
        self._fail = fail

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.kept.append({key: float(value) for key, value in (logs or {}).items()})
        if batch == self._fail:
            raise ValueError(f"no more than {batch}")
        if batch == self._stop:
            self.model.stop_training = True

    def _implements_train_batch_hooks(self) -> bool:
        return True

    def _implements_test_batch_hooks(self) -> bool:
        return False

    _implements_predict_batch_hooks = _implements_test_batch_hooks


def make_model(**compile_arguments: Any) -> Any:
    k.utils.set_random_seed(1)
    with strategy.scope():
        layers = [
            k.layers.Dense(4, "relu"),
            k.layers.BatchNormalization(),
            k.layers.Dropout(0.2),
            k.layers.Dense(1),
        ]
        model = k.Sequential([k.Input((3,)), *layers])
        model.compile("adam", "mse", metrics=["mae"], jit_compile=False, **compile_arguments)
    return model


def fit(callbacks: Any = (), model: Any = None, **arguments: Any) -> dict[str, Any]:
    model = model or make_model()
    before = agreements
    with multi_worker.prepared(model):
        history = model.fit(data, epochs=2, verbose=0, callbacks=list(callbacks), **arguments)
    return {
        "history": {key: [float(value) for value in values] for key, values in history.history.items()},
        "weights": [weight.tolist() for weight in model.get_weights()],
        "step": int(model.optimizer.iterations.numpy()),
        "agreements": agreements - before,
        "own_fit": "fit" not in vars(model) and "evaluate" not in vars(model),
    }


def hooked(everywhere: Any = (), on_chief: Any = (), **arguments: Any) -> dict[str, Any]:
    return fit([bridge.HookCallback(everywhere, chief_only_hooks=on_chief)], **arguments)


def failing(call: Callable[[], Any]) -> dict[str, Any]:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - the tests look at it
        return {"error": type(error).__name__, "says": str(error)}


def plain() -> dict[str, Any]:
    logs = Logs()
    return {**fit([logs], validation_data=data), "logs": logs.kept}


def with_hooks() -> dict[str, Any]:
    logs, everywhere = Logs(), Steps("learning_rate:0")
    on_chief = Steps("loss:0", "dense/output:0", "gradients/dense/kernel:0")
    with tempfile.TemporaryDirectory() as directory:
        saver = tf1.train.CheckpointSaverHook(directory, save_steps=3)
        hooks = bridge.HookCallback(everywhere, chief_only_hooks=[on_chief, saver], eval_hooks=Steps())
        result = fit([hooks, logs], validation_data=data)
        saved = tf.train.latest_checkpoint(directory)
    return {
        **result,
        "logs": logs.kept,
        "everywhere": everywhere.seen,
        "on_chief": on_chief.seen,
        "saved": saved and Path(saved).name,
    }


def evaluated() -> dict[str, Any]:
    model = make_model()
    with multi_worker.prepared(model):
        return {
            "evaluated": [float(value) for value in model.evaluate(data, verbose=0)],
            "expected": float(np.mean((np.asarray(model(x)) - x.sum(1, keepdims=True)) ** 2)),
            "predicted": bool(np.allclose(model.predict(x, verbose=0), np.asarray(model(x)), atol=1e-6)),
        }


def stop_at_step() -> dict[str, Any]:
    return hooked(tf1.train.StopAtStepHook(last_step=6))


def chief_stops() -> dict[str, Any]:
    return hooked(on_chief=Steps(stop=2))


def chief_stops_at_step() -> dict[str, Any]:
    return hooked(on_chief=tf1.train.StopAtStepHook(last_step=3))


def chief_stops_inside_an_execution() -> dict[str, Any]:
    return hooked(on_chief=Steps(stop=2), model=make_model(steps_per_execution=4))


def chief_ends_before_a_step() -> dict[str, Any]:
    return hooked(on_chief=Steps(end=2))


def worker_1_stops() -> dict[str, Any]:
    return fit([Logs(stop=1 if TASK == 1 else None)])


def worker_1_stops_an_epoch() -> dict[str, Any]:
    stop = k.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: TASK == 1 and setattr(model, "stop_training", True)
    )
    model = make_model()
    return fit([stop], model=model)


def last_step_is_reached() -> dict[str, Any]:
    model = make_model()
    model.optimizer.iterations.assign(4)
    return hooked(lambda: tf1.train.StopAtStepHook(last_step=4), model=model)


def last_step_is_reached_on_the_chief() -> dict[str, Any]:
    model = make_model()
    model.optimizer.iterations.assign(4)
    return hooked(on_chief=tf1.train.StopAtStepHook(last_step=4), model=model)


def hooks_on_one_worker() -> dict[str, Any]:
    return failing(lambda: fit([bridge.HookCallback(Steps())] if TASK == 0 else []))


def different_steps() -> dict[str, Any]:
    model = make_model()
    if TASK == 1:
        model.optimizer.iterations.assign(7)
    return failing(lambda: fit(model=model))


def all_fail() -> dict[str, Any]:
    return failing(lambda: fit([Logs(fail=1)]))


def after_all_failed() -> dict[str, Any]:
    return fit()


def one_fails() -> dict[str, Any]:
    """Comes last: no step can run any more."""
    hooks = bridge.HookCallback(Raises() if TASK == 1 else Steps())
    model = make_model()
    endless = data.repeat()  # So that the other worker waits inside of its step, not for data.

    def train() -> dict[str, Any]:
        with multi_worker.prepared(model, agree_each_step=False):
            model.fit(endless, steps_per_epoch=8, verbose=0, callbacks=[hooks])
        return {}

    return failing(train)


class Raises(Steps):
    """Fails in its third step."""

    def after_run(
        self, run_context: tf1.train.SessionRunContext, run_values: tf1.train.SessionRunValues
    ) -> None:
        super().after_run(run_context, run_values)
        if len(self.seen) == 3:
            raise ValueError("the hook of worker 1 fails")


PARTS = {
    "exact": [plain, with_hooks, evaluated, stop_at_step],
    "stops": [
        chief_stops,
        chief_stops_at_step,
        chief_stops_inside_an_execution,
        chief_ends_before_a_step,
        worker_1_stops,
        worker_1_stops_an_epoch,
        last_step_is_reached,
        last_step_is_reached_on_the_chief,
    ],
    "faults": [hooks_on_one_worker, different_steps, all_fail, after_all_failed, one_fails],
}

found = {}
for part in PARTS.get(sys.argv[2]) or [globals()[name] for name in sys.argv[2].split(",")]:
    faulthandler.dump_traceback_later(200, exit=True)  # Tells where a worker waits for another one.
    found[part.__name__] = part()
print(json.dumps(found), flush=True)
with contextlib.suppress(BrokenPipeError):
    sys.stderr.flush()
os._exit(0)  # After the last part, leaving would wait for the other workers to leave, too.
