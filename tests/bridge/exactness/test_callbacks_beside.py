"""Other Keras callbacks do the same beside a HookCallback as without one, whether they stand before it or after it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing import event_accumulator

from tests.bridge.exactness import cases, data, models
from tests.bridge.exactness.cases import BOTH, KERAS, Case, mse
from tests.bridge.exactness.running import EPOCHS, Hooks, assert_same, outcome, seed, train

tf1 = tf.compat.v1

BASE = Case("base", models.undropped, data.validated, mse("Adam"))

Maker = Callable[[Any, Path], Any]


@dataclasses.dataclass(frozen=True)
class Beside:
    """A callback that stands beside HookCallback.

    Attributes:
      name: The test's id.
      make: Makes the callback, given the Keras package and a directory.
      products: Reads back what it left in that directory, or in itself.
      case: What is trained.
      epochs: How long, at most.
      stops: Whether it ends the training early.
      flavours: The Keras packages that have it.
    """

    name: str
    make: Maker
    products: Callable[[Any, Path], Any] = lambda callback, directory: None
    case: Case = BASE
    epochs: int = EPOCHS
    stops: bool = False
    flavours: tuple[str, ...] = BOTH

    def __str__(self) -> str:
        return self.name


def _early_stopping(k: Any, directory: Path) -> Any:
    return k.callbacks.EarlyStopping(monitor="loss", min_delta=0.9, patience=1, restore_best_weights=True)


def _early_stopping_state(callback: Any, directory: Path) -> Any:
    return callback.stopped_epoch, callback.best_epoch, float(callback.best)


def _checkpoint(k: Any, directory: Path) -> Any:
    return k.callbacks.ModelCheckpoint(
        str(directory / "at-{epoch:02d}-{loss:.6f}.weights.h5"), save_weights_only=True
    )


def _checkpoint_in_epoch(k: Any, directory: Path) -> Any:
    return k.callbacks.ModelCheckpoint(str(directory / "at-{epoch:02d}-{batch:02d}.keras"), save_freq=3)


def _best_checkpoint(k: Any, directory: Path) -> Any:
    return k.callbacks.ModelCheckpoint(str(directory / "best.keras"), save_best_only=True, monitor="val_mae")


def _files(callback: Any, directory: Path) -> Any:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def _saved_models(callback: Any, directory: Path) -> Any:
    """The weights in each file, optimizer state included."""
    load = type(callback.model).load_weights
    found = {}
    for path in sorted(directory.glob("*")):
        load(callback.model, str(path))
        found[path.name] = [np.array(w) for w in callback.model.get_weights()]
    return found


def _tensorboard(k: Any, directory: Path) -> Any:
    return k.callbacks.TensorBoard(str(directory), histogram_freq=1, update_freq=2)


def _tensorboard_at_batches(k: Any, directory: Path) -> Any:
    """At its first batch it writes the graph of the step, if it is told of batches; in tf_keras mostly it is not."""

    class AtBatches(k.callbacks.TensorBoard):  # type: ignore[misc, name-defined]
        def _implements_train_batch_hooks(self) -> bool:
            return True

    return AtBatches(str(directory))


def _graphs(callback: Any, directory: Path) -> Any:
    """Tells for each event file whether it has a graph."""
    paths = sorted(directory.rglob("events.out.tfevents.*"))
    return [any(event.graph_def for event in tf1.train.summary_iterator(str(path))) for path in paths]


def _events(callback: Any, directory: Path) -> Any:
    """Tags, steps and values of all events; those of Keras's own speed measurement have another value each time."""
    found: dict[str, Any] = {}
    for run in sorted({path.parent for path in directory.rglob("events.out.tfevents.*")}):
        events = event_accumulator.EventAccumulator(str(run), size_guidance={"tensors": 0}).Reload()
        for tag in events.Tags()["tensors"]:
            values = [(e.step, e.tensor_proto.SerializeToString()) for e in events.Tensors(tag)]
            timed = "per_second" in tag
            # Keras 3 numbers layers over the whole process, and so the tags of their histograms.
            found[f"{run.name}/{re.sub(r'_[0-9]+/', '/', tag)}"] = [s for s, _ in values] if timed else values
    return found


def _halving(k: Any, directory: Path) -> Any:
    return k.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2 if epoch else rate)


def _plateau(k: Any, directory: Path) -> Any:
    return k.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.1, patience=1, min_delta=5.0)


def _terminate(k: Any, directory: Path) -> Any:
    return k.callbacks.TerminateOnNaN()


def _csv(k: Any, directory: Path) -> Any:
    return k.callbacks.CSVLogger(str(directory / "log.csv"))


def _text(callback: Any, directory: Path) -> Any:
    return {path.name: path.read_text() for path in directory.glob("*")}


def _swap_ema(k: Any, directory: Path) -> Any:
    return k.callbacks.SwapEMAWeights(swap_on_epoch=True)


def _witness(k: Any, directory: Path) -> Any:
    """Writes down every call that it gets, with its logs, and the weights at some."""

    class Witness(k.callbacks.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.calls: list[Any] = []

        def _note(self, name: str, number: int | None, logs: Any) -> None:
            values = [(key, np.array(value)) for key, value in (logs or {}).items()]
            step = int(self.model.optimizer.iterations)
            self.calls.append((name, number, step, values, [np.array(w) for w in self.model.get_weights()]))

    for event in ("train", "epoch", "train_batch", "test", "test_batch"):
        for end in ("begin", "end"):
            name = f"on_{event}_{end}"
            if event in ("train", "test"):
                setattr(Witness, name, lambda self, logs=None, name=name: self._note(name, None, logs))
            else:
                setattr(
                    Witness, name, lambda self, number, logs=None, name=name: self._note(name, number, logs)
                )
    return Witness()


def _calls(callback: Any, directory: Path) -> Any:
    return callback.calls


def _stopper(k: Any, directory: Path) -> Any:
    """Stops in the middle of an epoch."""

    class Stopper(k.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if int(self.model.optimizer.iterations) == 7:
                self.model.stop_training = True

    return Stopper()


def _meddler(k: Any, directory: Path) -> Any:
    """Changes weights and the learning rate between batches, and evaluates by itself."""

    class Meddler(k.callbacks.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.results: list[Any] = []

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 2:
                self.model.set_weights([w * 0.9 for w in self.model.get_weights()])
                self.model.optimizer.learning_rate = 0.03

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            x, y = data.arrays(k)["x"], data.arrays(k)["y"]
            self.results.append(self.model.evaluate(x, y, verbose=0))
            self.results.append(self.model.predict(x[:5], verbose=0))

    return Meddler()


def _results(callback: Any, directory: Path) -> Any:
    return callback.results


WITH_EMA = Case("ema", models.undropped, data.arrays, mse("Adam", use_ema=True, ema_momentum=0.8))
WITH_NAN = Case("nan", models.mlp, data.nan_at(2), mse("SGD"))

ALL = [
    Beside("early-stopping", _early_stopping, _early_stopping_state, epochs=8, stops=True),
    Beside("model-checkpoint-weights", _checkpoint, _saved_models),
    Beside("model-checkpoint-in-epoch", _checkpoint_in_epoch, _saved_models),
    Beside("model-checkpoint-best", _best_checkpoint, _saved_models),
    Beside("tensorboard", _tensorboard, _events),
    Beside("tensorboard-at-batches", _tensorboard_at_batches, _graphs),
    Beside("learning-rate-scheduler", _halving),
    Beside("reduce-lr-on-plateau", _plateau),
    Beside("terminate-on-nan", _terminate, case=WITH_NAN, stops=True),
    Beside("csv-logger", _csv, _text),
    Beside("swap-ema-weights", _swap_ema, case=WITH_EMA, flavours=(KERAS,)),
    Beside("callback-that-sees-all-logs", _witness, _calls),
    Beside("callback-that-stops-in-an-epoch", _stopper, stops=True),
    Beside("callback-that-changes-weights", _meddler, _results),
]


def _train_beside(
    k: Any, beside: Beside, directory: Path, around: Callable[[Any], Sequence[Any]]
) -> tuple[Any, Any]:
    directory.mkdir()
    callback = beside.make(k, directory)
    _, result = train(k, beside.case, around(callback), epochs=beside.epochs)
    return result, beside.products(callback, directory)


def _around(hooks: Hooks, hooks_first: bool) -> Callable[[Any], list[Any]]:
    """Returns a function that puts a callback and a HookCallback in order."""
    return lambda callback: [hooks.callback(), callback] if hooks_first else [callback, hooks.callback()]


@pytest.mark.parametrize(
    ("flavour", "beside"), [pytest.param(f, b, id=f"{b}-{f}") for b in ALL for f in b.flavours]
)
def test_a_callback_does_the_same_before_and_after_hook_callback(
    flavour: str, beside: Beside, tmp_path: Path
) -> None:
    k = cases.package(flavour)
    asks = beside.case.asks
    plain, product = _train_beside(k, beside, tmp_path / "plain", lambda callback: [callback])
    assert plain.stopped == beside.stops
    assert (len(plain.epochs) < beside.epochs) == beside.stops
    for hooks_first in (False, True):
        hooks = Hooks(tmp_path / f"hooks_{hooks_first}", asks)
        around = _around(hooks, hooks_first)
        hooked, other = _train_beside(k, beside, tmp_path / f"hooked_{hooks_first}", around)
        assert_same(plain, hooked)
        np.testing.assert_equal(other, product)
        assert hooks.recorder.records


class _InterruptedError(Exception):
    """Stands for whatever ends a program in the middle of its training."""


def _interrupt(k: Any, step: int) -> Any:
    class Interrupt(k.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if int(self.model.optimizer.iterations) == step:
                raise _InterruptedError

    return Interrupt()


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize("save_freq", ["epoch", 3])
@pytest.mark.parametrize("hooks_first", [False, True], ids=["before", "after"])
def test_backup_and_restore_resumes_an_interrupted_fit(
    flavour: str, save_freq: str | int, hooks_first: bool, tmp_path: Path
) -> None:
    k = cases.package(flavour)

    def run(directory: Path, hooks: Hooks | None) -> tuple[Any, Any]:
        def around() -> list[Any]:
            backup = k.callbacks.BackupAndRestore(str(directory), save_freq=save_freq)
            return [backup] if hooks is None else _around(hooks, hooks_first)(backup)

        with pytest.raises(_InterruptedError):
            train(k, BASE, [*around(), _interrupt(k, 9)])
        seed(k)
        model = BASE.compiled(k)
        # A new process starts from elsewhere.
        model.set_weights([w + 1 for w in model.get_weights()])
        history = model.fit(**data.validated(k), epochs=EPOCHS, verbose=0, callbacks=around())
        return model, outcome(model, history)

    _, plain = run(tmp_path / "plain", None)
    assert len(plain.epochs) < EPOCHS, "nothing was resumed"
    hooks = Hooks(tmp_path / "hooks", BASE.asks)
    model, hooked = run(tmp_path / "hooked", hooks)
    assert_same(plain, hooked)
    # The hooks counted on from the restored step.
    assert int(model.optimizer.iterations) - hooks.recorder.steps[-1] in (1, 2)
