"""`HookCallback`: v1 session hooks as a Keras callback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import keras
import tensorflow as tf

from bridge import cluster, keras_internals
from bridge.errors import InvalidHookError, UnsupportedModelError
from bridge.fit_guard import FitGuard
from bridge.hooked_step import HookedStep, last_step_reached, step_of

tf1 = tf.compat.v1

Hook = tf1.train.SessionRunHook
HookOrFactory = Any  # A SessionRunHook, or a callable without arguments that returns one.

_FUNCTIONS = {"train": "train_function", "test": "test_function", "predict": "predict_function"}


class HookCallback(keras.callbacks.Callback):
    """Runs `tf.compat.v1.train.SessionRunHook`s inside `fit`, `evaluate` and `predict`.

    The model's step is imported into a v1 graph over the model's own variables, in which the hooks live from `begin`
    to `end` as under `tf.compat.v1.train.MonitoredSession`. Weights and history are bit for bit those of a `fit`
    without the callback.
    """

    # Keras 3 may call callbacks from a thread unless they say that they do not care; this one has no batch methods.
    async_safe = True
    # tf_keras passes logs as they are to callbacks that say so.
    _supports_tf_logs = True

    def __init__(
        self,
        hooks: HookOrFactory | Iterable[HookOrFactory] = (),
        *,
        chief_only_hooks: HookOrFactory | Iterable[HookOrFactory] = (),
        is_chief: bool | None = None,
        scaffold: Any = None,
        eval_hooks: HookOrFactory | Iterable[HookOrFactory] = (),
        predict_hooks: HookOrFactory | Iterable[HookOrFactory] = (),
    ) -> None:
        """Wraps hooks.

        Args:
          hooks: One hook or many, for training. A hook is an instance, or a callable without arguments that is called
            inside the step's graph before `begin`, for hooks whose constructor needs tensors.
          chief_only_hooks: Hooks that run on the chief only, before `hooks` in every phase.
          is_chief: Whether this process is the chief; None asks the model's strategy, then TF_CONFIG.
          scaffold: A `tf.compat.v1.train.Scaffold` for the training graph, or a callable without arguments that makes
            it, called inside the graph before any hook is made; None stands for the default one.
          eval_hooks: Hooks for evaluation, also for the validation inside `fit`.
          predict_hooks: Hooks for prediction.

        Raises:
          InvalidHookError: if something given is neither a hook nor a callable.
        """
        super().__init__()
        self._hooks = {
            "train": hook_list(hooks, "hooks"),
            "test": hook_list(eval_hooks, "eval_hooks"),
            "predict": hook_list(predict_hooks, "predict_hooks"),
        }
        self._chief_only_hooks = hook_list(chief_only_hooks, "chief_only_hooks")
        self._is_chief = is_chief
        self._scaffold = scaffold
        self._steps: dict[str, HookedStep] = {}
        self._train_hooks: list[Any] = []
        self._guard: FitGuard | None = None
        self._undo_skip: Callable[[], None] | None = None

    def set_model(self, model: Any) -> None:
        """Takes the model, and watches the list of callbacks that hands it over for errors."""
        super().set_model(model)
        if not self._steps:
            self._release()
            self._guard = FitGuard.around_caller(self, self._abort)
            self._prepare_test()

    def on_train_begin(self, logs: Any = None) -> None:
        """Puts the hooks around the model's training step."""
        del logs
        if "train" in self._steps:
            self._abort(None)
        keras_internals.check_model(self.model)
        hooks = list(self._hooks["train"])
        is_chief = self._is_chief
        if is_chief is None:
            is_chief = cluster.is_chief(self.model.distribute_strategy)
        if is_chief:
            hooks = [*self._chief_only_hooks, *hooks]
        if self._guard is None:
            self._guard = FitGuard.around_caller(self, self._abort)
        if self._guard is not None:
            self._guard.guard_validation(self.model)
        if self._is_over() or last_step_reached(lambda: step_of(self.model), hooks):
            tf1.logging.info("The last step is reached already: nothing is trained.")
            if self._start_at_epoch(sys.maxsize):
                return
        self._train_hooks = hooks
        self._install("train", hooks, self._scaffold)

    def _is_over(self) -> bool:
        """Tells whether nothing is left to train, which only a monitored session knows."""
        return False

    def _start_at_epoch(self, epoch: int) -> bool:
        """Makes the fit start at another epoch; tells whether this Keras can."""
        self._undo_skip = keras_internals.start_at_epoch(self.model, epoch)
        return self._undo_skip is not None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Notices a model that was compiled anew in the middle of a fit: its new step gets the hooks, too."""
        del epoch, logs
        step = self._steps.get("train")
        function = getattr(self.model, _FUNCTIONS["train"], None)
        if step is not None and function is not step and function is not None:
            tf1.logging.info(
                "The model was compiled anew: the hooks end, and begin in the graph of its new step."
            )
            self._remove("train")
            self._install("train", self._train_hooks, self._scaffold)

    def on_train_end(self, logs: Any = None) -> None:
        """Ends the training hooks and gives the model its own step back."""
        del logs
        self._remove("train")
        self._remove("test")
        self._release()

    def on_test_begin(self, logs: Any = None) -> None:
        """Puts the evaluation hooks around the model's test step."""
        del logs
        if self._hooks["test"] and "test" not in self._steps:
            self._begin_apart("test")

    def on_test_end(self, logs: Any = None) -> None:
        """Ends the evaluation hooks."""
        del logs
        self._remove("test")
        if "train" in self._steps:
            self._prepare_test()

    def on_predict_begin(self, logs: Any = None) -> None:
        """Puts the prediction hooks around the model's predict step."""
        del logs
        if self._hooks["predict"]:
            self._begin_apart("predict")

    def on_predict_end(self, logs: Any = None) -> None:
        """Ends the prediction hooks."""
        del logs
        self._remove("predict")
        if "train" not in self._steps:
            self._remove("test")

    def _implements_train_batch_hooks(self) -> bool:
        """tf_keras asks its callbacks whether they need to be called at batches; this one does not."""
        return False

    _implements_test_batch_hooks = _implements_train_batch_hooks
    _implements_predict_batch_hooks = _implements_train_batch_hooks

    def _prepare_test(self) -> None:
        """Puts the evaluation hooks in place early for tf_keras, which takes its test step before on_test_begin."""
        if self._hooks["test"] and keras_internals.is_tf_keras(self.model):
            self._begin_apart("test")

    def _begin_apart(self, kind: str) -> None:
        keras_internals.check_model(self.model)
        if kind == "predict" and self.model.distribute_strategy.num_replicas_in_sync > 1:
            raise UnsupportedModelError(
                "predict_hooks cannot run under a strategy of several replicas. Predict without the strategy, or use "
                "eval_hooks."
            )
        if self._guard is None:
            self._guard = FitGuard.around_caller(self, self._abort)
        self._install(kind, self._hooks[kind], None)

    def _install(self, kind: str, hooks: Sequence[Any], scaffold: Any) -> None:
        step = self._make_step(kind, hooks, scaffold, self._plain_function(kind))
        self._steps[kind] = step
        keras_internals.replace_function(self.model, _FUNCTIONS[kind], step)

    def _make_step(
        self, kind: str, hooks: Sequence[Any], scaffold: Any, plain: Callable[..., Any]
    ) -> HookedStep:
        return HookedStep(self.model, kind, hooks, scaffold=scaffold, plain=plain, **self._fit_facts())

    def _fit_facts(self) -> dict[str, Any]:
        """Returns what a hooked step must know of the running fit."""
        guard = self._guard
        return {
            "steps": (self.params or {}).get("steps"),
            "caller": guard.caller if guard is not None else lambda: "own",
            "clean_up": self._abort,
        }

    def _plain_function(self, kind: str) -> Any:
        """Returns the model's own compiled function; makes it where a loop of the user's own has not."""
        name = _FUNCTIONS[kind]
        keras_internals.check_function(self.model, kind)
        plain = getattr(self.model, name, None)
        if isinstance(plain, HookedStep):
            if plain.is_current:
                raise UnsupportedModelError(
                    "There are two HookCallbacks in one fit, or in a fit inside of another. Give all hooks to one: HookCallback([*hooks, *others])."
                )
            plain.discard()
            return plain.plain
        if plain is None:
            getattr(self.model, f"make_{name}")()
            plain = getattr(self.model, name)
        return plain

    def _remove(self, kind: str) -> None:
        """Ends the hooks of one kind of step; the model is whole again even if a hook raises."""
        step = self._steps.pop(kind, None)
        if step is None:
            return
        self._give_back(kind, step)
        self._end(step)
        if not self._steps and kind != "train":
            self._release()

    def _end(self, step: HookedStep) -> None:
        step.close()

    def _give_back(self, kind: str, step: HookedStep) -> None:
        if getattr(self.model, _FUNCTIONS[kind], None) is step:
            keras_internals.replace_function(self.model, _FUNCTIONS[kind], step.plain)

    def _release(self) -> None:
        if self._undo_skip is not None:
            self._undo_skip()
            self._undo_skip = None
        if self._guard is not None:
            self._guard.release()
            self._guard = None

    def _abort(self, error: BaseException | None) -> None:
        """Cleans up after a fit that did not reach its end, wherever the error came from."""
        steps, self._steps = self._steps, {}
        try:
            for kind, step in steps.items():
                self._give_back(kind, step)
                step.abort(error)
        finally:
            self._release()


def hook_list(hooks: Any, argument: str) -> list[Any]:
    """Checks one hook or many.

    Args:
      hooks: A hook, many, or None; a hook is an instance or a callable that makes one.
      argument: The name of the argument, for the error.

    Returns:
      A list.

    Raises:
      InvalidHookError: if something is neither.
    """
    if hooks is None:
        return []
    if isinstance(hooks, Hook) or callable(hooks) or not isinstance(hooks, Iterable):
        hooks = [hooks]
    checked = list(hooks)
    for hook in checked:
        if not isinstance(hook, Hook) and not callable(hook):
            raise InvalidHookError(
                f"{argument} holds a {type(hook).__name__} ({hook!r}), which is not a "
                "tf.compat.v1.train.SessionRunHook. Give a hook, or a callable without arguments that returns one; "
                "Keras callbacks go into fit(callbacks=[...]) beside HookCallback."
            )
    return checked
