"""`fit` of one model by several processes, under `tf.distribute.MultiWorkerMirroredStrategy`.

`prepare` puts right what keeps Keras 3 from training there, and makes the workers act as one: they start at the same
step, they stop after the same step, whoever asked for it, and none of them waits for ever for one that failed.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from bridge import cluster, keras_internals, keras_replicas, tf_internals
from bridge.errors import DifferentWorkersError, UnsupportedModelError, WorkerLostError
from bridge.hooked_step import HookedStep

tf1 = tf.compat.v1

# How long a worker whose fit failed waits for the others to fail in the same way, before it tells them.
_SECONDS_TO_FAIL_TOGETHER = 10.0

_GATHER = "_bridge_gather"
_PREPARED = "_bridge_prepared"

_FLAGS = {"train": "stop_training", "test": "stop_evaluating"}

# Callbacks and hooks that decide by what is the same on all workers, or not at all.
_CALLBACKS_ALIKE = frozenset(
    [
        "BackupAndRestore",
        "BaseLogger",
        "CSVLogger",
        "EarlyStopping",
        "History",
        "LearningRateScheduler",
        "ModelCheckpoint",
        "ProgbarLogger",
        "ReduceLROnPlateau",
        "SwapEMAWeights",
        "TensorBoard",
        "TerminateOnNaN",
    ]
)
_HOOKS_ALIKE = (
    tf1.train.FinalOpsHook,
    tf1.train.LoggingTensorHook,
    tf1.train.ProfilerHook,
    tf1.train.StepCounterHook,
    tf1.train.SummarySaverHook,
)


def prepare(model: Any, *, agree_each_step: bool | None = None) -> Callable[[], None]:
    """Makes a model's `fit` and `evaluate` work when its replicas live in several processes.

    Every process of the job calls it for its copy of the model, which was made and compiled under a
    `MultiWorkerMirroredStrategy`. Under any other strategy, and for a model that is prepared, nothing is changed.

    - Keras 3 trains, evaluates and predicts there, which it cannot by itself; tf_keras can.
    - In Keras 3 the logs of a batch are the mean over all replicas of the job.
    - The replicas share the moving statistics of BatchNormalization, so that the chief's checkpoint holds those of all.
    - When a hook or callback of one worker stops the training, all workers stop after the same step. Where some
      worker's hook or callback could decide alone, they agree on it after each step, which costs one small all-reduce.
    - A worker whose `fit` fails tells the others, whose `fit` then raises instead of waiting for it.

    Args:
      model: A compiled model of Keras 3 or tf_keras.
      agree_each_step: Whether the workers agree after each step on whether to stop; None finds out by the callbacks
        and hooks whether that is needed. The same on all workers.

    Returns:
      A function that gives the model its own `fit` back.

    Raises:
      UnsupportedModelError: if this Keras 3 cannot train a model of several replicas.
    """
    strategy = model.distribute_strategy
    if not keras_replicas.spans_processes(strategy) or hasattr(model.fit, _PREPARED):
        return lambda: None
    is_tf_keras = keras_internals.is_tf_keras(model)
    correct = (
        keras_replicas.share_batch_statistics if is_tf_keras else keras_replicas.correct_multi_worker_fit
    )
    undo_correction = correct(model)
    workers = Workers(strategy)
    before = {name: vars(model).get(name) for name in ("fit", "evaluate")}
    for name, kind in (("fit", "train"), ("evaluate", "test")):
        object.__setattr__(model, name, _together(getattr(model, name), workers, kind, agree_each_step))

    def undo() -> None:
        for name, own in before.items():
            vars(model).pop(name, None)
            if own is not None:
                object.__setattr__(model, name, own)
        undo_correction()

    return undo


@contextlib.contextmanager
def prepared(model: Any, *, agree_each_step: bool | None = None) -> Iterator[Any]:
    """Context in which a model's `fit` and `evaluate` work when its replicas live in several processes.

    Args:
      model: As for `prepare`.
      agree_each_step: As for `prepare`.

    Yields:
      The model.

    Raises:
      UnsupportedModelError: as `prepare`.
    """
    undo = prepare(model, agree_each_step=agree_each_step)
    try:
        yield model
    finally:
        undo()


def on_any_worker(model: Any, flag: bool) -> bool:
    """Tells whether a flag is set on some worker of a model's job; all of them must ask.

    Args:
      model: A model, under any strategy or none.
      flag: What this process has to say.
    """
    strategy = model.distribute_strategy
    return Workers(strategy).any(flag) if keras_replicas.spans_processes(strategy) else flag


class Workers:
    """The processes that train one model together, as seen from one of them."""

    _failures = 0  # Counted alike in all processes.

    def __init__(self, strategy: Any) -> None:
        """Prepares.

        Args:
          strategy: A strategy that spans processes.
        """
        self._strategy = strategy
        self._gather = vars(strategy).get(_GATHER)
        if self._gather is None:
            # One function for all fits, so that it is traced once.
            self._gather = _make_gather(strategy)
            setattr(strategy, _GATHER, self._gather)

    def gather(self, values: Sequence[int]) -> list[list[int]]:
        """Returns what all workers gave: one row for each replica. All of them must call it."""
        with tf_internals.eager_mode():
            return self._gather(tf.constant(list(values), tf.int64)).numpy().tolist()

    def any(self, flag: bool) -> bool:
        """Tells whether the flag is set on some worker. All of them must call it."""
        return any(row[0] for row in self.gather([int(flag)]))

    def failed(self, error: Exception) -> None:
        """Sees to it that no worker waits for this one, whose `fit` failed.

        Where all workers fail in the same `fit`, as with wrong arguments or a loss that is not a number, they stay
        able to train together. Otherwise the others' `fit` ends in an error, too.

        Args:
          error: What was raised.
        """
        Workers._failures += 1
        try:
            tf_internals.wait_for_processes(
                f"bridge_fit_failed_{Workers._failures}", _SECONDS_TO_FAIL_TOGETHER
            )
        except tf.errors.OpError:
            task = cluster.task_name(self._strategy)
            tf_internals.tell_processes(f"{task} failed with {type(error).__name__}: {str(error)[:500]}")


def _make_gather(strategy: Any) -> Callable[[tf.Tensor], tf.Tensor]:
    """Makes the function from numbers of this worker to the table of all workers' numbers."""
    replicas = strategy.num_replicas_in_sync

    def gather(values: tf.Tensor) -> tf.Tensor:
        context = tf.distribute.get_replica_context()
        row = tf.one_hot(context.replica_id_in_sync_group, replicas, dtype=tf.int64)
        return context.all_reduce(tf.distribute.ReduceOp.SUM, row[:, tf.newaxis] * values[tf.newaxis, :])

    def gather_all(values: tf.Tensor) -> tf.Tensor:
        return strategy.experimental_local_results(strategy.run(gather, args=(values,)))[0]

    signature = [tf.TensorSpec([None], tf.int64)]
    return tf.function(gather_all, autograph=False, input_signature=signature)


class StopTogether(keras.callbacks.Callback):
    """Makes all workers stop after the same step. It is the last of the callbacks, after which Keras looks."""

    # tf_keras passes logs as they are to callbacks that say so.
    _supports_tf_logs = True

    def __init__(self, workers: Workers, callbacks: Iterable[Any], agree_each_step: bool | None) -> None:
        """Prepares for one `fit` or `evaluate`.

        Args:
          workers: All processes of the job.
          callbacks: The other callbacks.
          agree_each_step: Whether to agree after each step; None finds out whether that is needed.
        """
        super().__init__()
        self._workers = workers
        self._callbacks = list(callbacks)
        self._always = agree_each_step
        self._each_step = {"train": False, "test": False}
        self._undo_skip: Callable[[], None] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Makes sure that all workers start alike."""
        del logs
        skips = keras_internals.starts_after_last_epoch(self.model)
        step = _step_of(self.model)
        rows = self._compare("train", skips, step)
        if any(row[_SKIPS] for row in rows):
            # One worker's last step is reached already: nobody trains.
            if not skips:
                self._undo_skip = keras_internals.start_at_epoch(self.model, sys.maxsize)
            return
        if len({row[_STEP] for row in rows}) > 1:
            raise DifferentWorkersError(
                f"The workers would start at different steps: {[row[_STEP] for row in rows]}, in the order of their "
                "replicas. Let all of them restore the same checkpoint (checkpoint_dir must be a folder that all "
                "workers see), or none."
            )

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Stops if some worker stops."""
        del batch, logs
        self._agree("train", self._each_step["train"])

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Stops if some worker stops, be it by a callback at the end of an epoch."""
        del epoch, logs
        self._agree("train", True)

    def on_train_end(self, logs: Any = None) -> None:
        """Cleans up."""
        del logs
        if self._undo_skip is not None:
            self._undo_skip()
            self._undo_skip = None

    def on_test_begin(self, logs: Any = None) -> None:
        """Finds out whether the evaluation can stop early."""
        del logs
        self._compare("test", False, 0)

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """Stops the evaluation if some worker stops it."""
        del batch, logs
        self._agree("test", self._each_step["test"])

    def _implements_train_batch_hooks(self) -> bool:
        """tf_keras asks its callbacks whether they need to be called at batches."""
        return True

    _implements_test_batch_hooks = _implements_train_batch_hooks

    def _implements_predict_batch_hooks(self) -> bool:
        return False

    def _compare(self, kind: str, skips: bool, step: int) -> list[list[int]]:
        """Compares what the workers are about to do; finds out whether they must agree after each step."""
        hooked = getattr(self.model, f"{kind}_function", None)
        hooks = hooked.hooks if isinstance(hooked, HookedStep) else None
        alone = any(map(_callback_may_stop_alone, self._callbacks)) or any(map(_may_stop_alone, hooks or ()))
        facts = {_HOOKED: int(hooks is not None), _SKIPS: int(skips), _STEP: step}
        facts |= {_ALONE: int(alone), _LIMITS: _limits(hooks or ())}
        rows = self._workers.gather([facts[key] for key in sorted(facts)])
        if len({row[_HOOKED] for row in rows}) > 1 and not any(row[_SKIPS] for row in rows):
            raise DifferentWorkersError(
                "Some workers have a HookCallback and some have none. Give one to all of them: hooks that only the chief "
                "shall run go into HookCallback(chief_only_hooks=[...])."
            )
        differ = len({row[_LIMITS] for row in rows}) > 1
        needed = differ or any(row[_ALONE] for row in rows)
        self._each_step[kind] = needed if self._always is None else self._always
        if isinstance(hooked, HookedStep) and kind == "train":
            hooked.together = self._workers.any if self._each_step[kind] else None
        return rows

    def _agree(self, kind: str, now: bool) -> None:
        flag = _FLAGS[kind]
        mine = bool(getattr(self.model, flag, False))
        if now and self._workers.any(mine) and not mine:
            tf1.logging.info("Another worker stops: so does this one, after the same step.")
            setattr(self.model, flag, True)


# What the workers tell each other at the beginning: the places in a row.
_HOOKED, _SKIPS, _STEP, _ALONE, _LIMITS = range(5)


def _together(
    original: Callable[..., Any], workers: Workers, kind: str, agree_each_step: bool | None
) -> Callable[..., Any]:
    """Wraps a model's `fit` or `evaluate`."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        keywords = bound.kwargs
        arguments = bound.arguments if "callbacks" in signature.parameters else keywords
        callbacks: Any = arguments.get("callbacks")
        if hasattr(callbacks, "on_train_batch_end") and hasattr(callbacks, "callbacks"):  # A CallbackList.
            if kind == "test":
                return original(*args, **kwargs)  # The validation inside of a fit, whose callbacks these are.
            raise UnsupportedModelError(
                "fit was given a CallbackList. Where several processes train one model, give it the callbacks themselves: "
                "fit(callbacks=[...])."
            )
        others = _flat(callbacks)
        arguments["callbacks"] = [*others, StopTogether(workers, others, agree_each_step)]
        if arguments is bound.arguments:
            keywords = bound.kwargs
        return _run(functools.partial(original, *bound.args, **keywords), workers)

    setattr(call, _PREPARED, True)
    return call


def _run(call: Callable[[], Any], workers: Workers) -> Any:
    """Runs a `fit` or `evaluate`; if it fails, no worker waits for another."""
    try:
        return call()
    except WorkerLostError:
        raise
    except Exception as error:
        if cluster.is_lost_worker(error):
            raise cluster.worker_lost(error) from error
        workers.failed(error)
        raise


def _flat(callbacks: Any) -> list[Any]:
    if callbacks is None:
        return []
    if isinstance(callbacks, (list, tuple)):
        return [one for callback in callbacks for one in _flat(callback)]
    return [callbacks]


def _step_of(model: Any) -> int:
    optimizers = keras_internals.optimizers_of(model)
    if not optimizers:
        return 0
    with tf_internals.eager_mode():
        step = keras_internals.tf_variable(keras_internals.step_variable(optimizers[0]))
        return int(tf_internals.replicas(step)[0].numpy())


def _callback_may_stop_alone(callback: Any) -> bool:
    kind = type(callback)
    package = kind.__module__.split(".")[0]
    if package in ("keras", "tf_keras"):
        return kind.__name__ not in _CALLBACKS_ALIKE
    return package != "bridge"  # A HookCallback does what its hooks do.


def _may_stop_alone(hook: Any) -> bool:
    """Tells whether a hook might stop on one worker only, though all workers have the same."""
    if type(hook) is tf1.train.CheckpointSaverHook:
        return bool(hook._listeners)
    return type(hook) not in (*_HOOKS_ALIKE, tf1.train.StopAtStepHook)


def _limits(hooks: Iterable[Any]) -> int:
    """Returns a number that is the same on workers whose hooks stop at the same steps."""
    stops = [hook for hook in hooks if isinstance(hook, tf1.train.StopAtStepHook)]
    return zlib.crc32(repr(sorted((str(h._num_steps), str(h._last_step)) for h in stops)).encode())
