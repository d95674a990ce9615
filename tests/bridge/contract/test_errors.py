"""Contract, "Errors": what goes wrong is named with its remedy, nothing is swallowed, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import bridge
from bridge import errors
from bridge.live_session import LiveSession
from tests.bridge.support import (
    Calls,
    FetchHook,
    FunctionHook,
    TraceHook,
    batches,
    phases,
    scalars,
    small_model,
    step_of,
    tensor,
    train,
)

tf1 = tf.compat.v1

PHASES = ("begin", "after_create_session", "before_run", "after_run", "end")


class HookFailureError(Exception):
    """An error that nothing else raises."""


def told(error: BaseException) -> str:
    """All that a traceback says of an error, the notes that were added to it included."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


# --- things that are no hooks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("thing", [3, "loss:0", keras.callbacks.History])
@pytest.mark.parametrize("argument", ["hooks", "chief_only_hooks", "eval_hooks", "predict_hooks"])
def test_something_that_is_no_hook_is_refused_with_its_class_and_the_argument(
    thing: Any, argument: str
) -> None:
    thing = thing() if isinstance(thing, type) else thing
    with pytest.raises(
        errors.InvalidHookError, match=f"{argument} .*{type(thing).__name__}.*SessionRunHook"
    ) as caught:
        bridge.HookCallback(**{argument: [thing]})
    assert isinstance(caught.value, TypeError)


def test_a_callable_that_returns_no_hook_is_refused_with_what_it_returned() -> None:
    def make() -> int:
        return 3

    model = small_model()
    with pytest.raises(errors.InvalidHookError, match=r"make.*returned a int"):
        train(make, model=model)
    assert step_of(model) == 0


# --- tensors and names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_feed", [False, True])
def test_a_tensor_of_another_graph_is_refused_with_its_name_and_the_remedy(as_feed: bool) -> None:
    with tf.Graph().as_default():
        foreign = tf1.placeholder(tf.float32, [], name="foreign")
    hook = FetchHook(feeds=lambda: {foreign: 1.0}) if as_feed else FetchHook(lambda: [foreign])
    model = small_model()
    with pytest.raises(errors.ForeignTensorError, match=r"foreign.*another graph.*lambda: MyHook") as caught:
        train(hook, model=model)
    assert isinstance(caught.value, ValueError)
    assert step_of(model) == 0


def test_an_eager_tensor_is_refused_as_a_fetch() -> None:
    eager = tf.constant(1.0)
    with pytest.raises(errors.ForeignTensorError, match="eager value"):
        train(FetchHook(lambda: eager))


def test_a_summary_that_was_made_eagerly_is_refused_with_the_remedy_and_harms_no_other_fit(
    tmp_path: Path,
) -> None:
    eager = tf1.summary.scalar("eager", 1.0)
    with pytest.raises(
        errors.ForeignTensorError, match=r"SummarySaverHook asks for.*eager value.*lambda: MyHook"
    ):
        train(tf1.train.SummarySaverHook(1, output_dir=str(tmp_path), summary_op=eager))
    assert step_of(train(FetchHook(lambda: "loss:0"), steps=2)) == 2


def test_a_variable_of_the_keras_model_is_refused_as_a_fetch_with_the_remedy() -> None:
    model = small_model()
    with pytest.raises((errors.ForeignTensorError, TypeError), match=r"name in the graph|describe"):
        train(FetchHook(lambda: model.layers[0].kernel.value), model=model)


@pytest.mark.parametrize("name", ["dense/kernl:0", "dens/kernel:0", "kernel:0"])
def test_an_unknown_name_is_refused_with_the_nearest_names(name: str) -> None:
    model = small_model()
    with pytest.raises(errors.UnknownNameError, match=f"{name}.*nearest.*dense/kernel.*describe") as caught:
        train(FetchHook(lambda: name), model=model)
    assert isinstance(caught.value, (ValueError, KeyError))
    assert step_of(model) == 0


def test_an_unknown_name_in_a_feed_is_refused_with_the_nearest_names() -> None:
    with pytest.raises((errors.UnknownNameError, TypeError), match=r"learning_rat:0.*learning_rate"):
        train(FetchHook(feeds=lambda: {"learning_rat:0": 1.0}))


def test_an_unknown_name_in_a_built_in_hook_is_refused_with_the_nearest_names() -> None:
    with pytest.raises((errors.UnknownNameError, KeyError), match=r"dense/outputs.*dense/output"):
        train(tf1.train.LoggingTensorHook(["dense/outputs"], every_n_iter=1))


@pytest.mark.parametrize("name", ["loss", "no_such_name:0"])
def test_an_error_of_a_fetch_names_the_class_of_the_hook_that_asked(name: str) -> None:
    class CuriousHook(FetchHook):
        """The one hook of two that asks for something wrong."""

    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    wrong = CuriousHook(lambda: {"a": ["loss:0", foreign if name == "loss" else name]})
    with pytest.raises(ValueError, match="CuriousHook"):
        train([FetchHook(lambda: "loss:0"), wrong])


# --- the finalised graph ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["after_create_session", "before_run", "after_run"])
def test_an_operation_that_is_added_after_begin_is_refused(phase: str) -> None:
    hook = FunctionHook(**{phase: lambda *arguments: tf.constant(1.0)})
    with pytest.raises(RuntimeError, match="finalized") as caught:
        train(hook)
    assert "FunctionHook" in told(caught.value)
    assert "begin" in told(caught.value)


# --- feeds -----------------------------------------------------------------------------------------------------


def test_a_feed_of_the_wrong_shape_is_refused_with_both_shapes() -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\).*learning_rate:0.*\(\)"):
        train(FetchHook(feeds=lambda: {tensor("learning_rate"): np.zeros(2)}))


def test_a_placeholder_without_a_value_is_refused_with_its_name() -> None:
    hook = FetchHook(lambda: tf1.placeholder(tf.float32, [], name="factor") * 2.0)
    with pytest.raises(errors.MissingFeedError, match=r"factor.*feed_dict"):
        train(hook)


def test_a_batch_outside_of_the_step_is_refused_with_the_remedy() -> None:
    hook = FunctionHook(after_create_session=lambda session, _: session.run("loss:0"))
    with pytest.raises(errors.MissingFeedError, match=r"batch/[xy].*before_run"):
        train(hook)


# --- a hook that raises ----------------------------------------------------------------------------------------


# What Keras leaves on a model whose fit failed.
KERAS_OWN = ("history", "_eval_epoch_iterator")


def attributes_of(model: keras.Model) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if name not in KERAS_OWN}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[LiveSession]:
    """Every session that is opened during the test."""
    sessions: list[LiveSession] = []
    original = LiveSession.__init__

    def noting(self: LiveSession, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        sessions.append(self)

    monkeypatch.setattr(LiveSession, "__init__", noting)
    return sessions


def is_closed(session: LiveSession) -> bool:
    try:
        session.run("global_step:0")
    except errors.SessionClosedError:
        return True
    return False


@pytest.mark.parametrize("error", [HookFailureError("broken"), KeyboardInterrupt("pressed")])
@pytest.mark.parametrize("phase", PHASES)
def test_an_error_in_any_phase_reaches_the_caller_as_it_is(phase: str, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        train(TraceHook([], raises=error, phase=phase))
    assert caught.value is error


@pytest.mark.parametrize("phase", PHASES)
def test_an_error_in_any_phase_tells_which_hook_and_which_of_its_methods_raised(phase: str) -> None:
    error = HookFailureError("broken")
    with pytest.raises(HookFailureError):
        train([FunctionHook(), TraceHook([], raises=error, phase=phase)])
    assert f"TraceHook.{phase}" in told(error)


def test_a_nan_tells_which_hook_raised_and_what_to_do() -> None:
    with pytest.raises(tf1.train.NanLossDuringTrainingError) as caught:
        train(lambda: tf1.train.NanTensorHook(tensor("loss")), data=batches(3, nan_at=1))
    assert "NanTensorHook" in told(caught.value)


def test_a_tensor_that_is_fed_twice_tells_which_hooks_feed_it() -> None:
    class OtherHook(FetchHook):
        """The second hook."""

    def feeds() -> dict[Any, float]:
        return {tensor("learning_rate"): 0.5}

    with pytest.raises(RuntimeError, match="Same tensor is fed") as caught:
        train([FetchHook(feeds=feeds), OtherHook(feeds=feeds)])
    assert "OtherHook" in told(caught.value)


@pytest.mark.parametrize("phase", PHASES)
def test_an_error_in_any_phase_gives_the_model_back_as_it_was(phase: str) -> None:
    model = small_model()
    model.fit(batches(1), shuffle=False, verbose=0)
    before, function = attributes_of(model), model.train_function
    with pytest.raises(HookFailureError):
        train(TraceHook([], raises=HookFailureError(), phase=phase, at_run=2), model=model)
    assert model.train_function is function
    assert attributes_of(model).keys() == before.keys()
    assert model.evaluate.__func__ is keras.Model.evaluate


@pytest.mark.parametrize("phase", PHASES)
def test_a_model_trains_on_after_an_error_in_any_phase(phase: str) -> None:
    model = small_model()
    with pytest.raises(HookFailureError):
        train(TraceHook([], raises=HookFailureError(), phase=phase, at_run=2), model=model)
    reached = step_of(model)
    model.fit(batches(2), shuffle=False, verbose=0)
    assert step_of(model) == reached + 2


@pytest.mark.parametrize("phase", PHASES)
def test_an_error_in_any_phase_closes_the_session(phase: str, opened: list[LiveSession]) -> None:
    with pytest.raises(HookFailureError):
        train(TraceHook([], raises=HookFailureError(), phase=phase, at_run=2))
    assert all(is_closed(session) for session in opened)
    assert len(opened) == (0 if phase == "begin" else 1)


@pytest.mark.parametrize("phase", ["before_run", "after_run", "end"])
def test_an_error_in_any_phase_leaves_flushed_writers(phase: str, tmp_path: Path) -> None:
    def summary() -> tf1.train.SessionRunHook:
        rate = tf1.summary.scalar("rate", tensor("learning_rate"))
        return tf1.train.SummarySaverHook(1, output_dir=str(tmp_path), summary_op=rate)

    failing = TraceHook([], raises=HookFailureError(), phase=phase, at_run=3)
    with pytest.raises(HookFailureError):
        train([failing, summary] if phase == "end" else [summary, failing], steps=4)
    steps = {"before_run": [1, 2], "after_run": [1, 2, 3], "end": [1, 2, 3, 4]}[phase]
    assert scalars(tmp_path, "rate") == [(step, 0.125) for step in steps]


def test_an_error_in_the_end_of_one_hook_still_reaches_the_caller_after_the_others_were_flushed(
    tmp_path: Path,
) -> None:
    saver = tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=2)
    with pytest.raises(HookFailureError):
        train([saver, TraceHook([], raises=HookFailureError(), phase="end")], steps=3)
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-3")


class WriterUser(tf1.train.SessionRunHook):
    """Writes through the cache of writers without keeping the writer, as exporters and evaluators do."""

    def __init__(self, directory: Path) -> None:
        self._directory = str(directory)
        self._run = 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._run += 1
        summary = tf1.Summary(value=[tf1.Summary.Value(tag="mine", simple_value=1.0)])
        tf1.summary.FileWriterCache.get(self._directory).add_summary(summary, self._run)


@pytest.mark.parametrize("fails", [True, False])
def test_writers_that_no_hook_keeps_are_flushed_too(fails: bool, tmp_path: Path) -> None:
    hooks: list[Any] = [WriterUser(tmp_path)]
    if fails:
        hooks.append(TraceHook([], raises=HookFailureError(), phase="before_run", at_run=3))
        with pytest.raises(HookFailureError):
            train(hooks, steps=4)
    else:
        train(hooks, steps=2)
    assert scalars(tmp_path, "mine") == [(1, 1.0), (2, 1.0)]


# --- errors from elsewhere -------------------------------------------------------------------------------------


class FailingCallback(keras.callbacks.Callback):
    """Raises in one method."""

    def __init__(self, method: str) -> None:
        super().__init__()

        def fail(*args: Any, **kwargs: Any) -> None:
            raise HookFailureError("Failure")

        setattr(self, method, fail)


def failing_data(after: int = 5) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Keras itself looks at the first few batches when it gets a generator."""
    for _ in range(after):
        yield np.ones((2, 3)), np.ones((2, 1))
    raise HookFailureError("Failure")


def failing_fit(kind: str, model: keras.Model, callback: bridge.HookCallback) -> None:
    options: dict[str, Any] = {"verbose": 0, "callbacks": [callback]}
    if kind == "data":
        model.fit(failing_data(), **options)
    elif kind == "validation":
        model.fit(batches(2), validation_data=failing_data(), shuffle=False, **options)
    else:
        options["callbacks"].append(FailingCallback(kind))
        model.fit(batches(2), shuffle=False, **options)


ELSEWHERE = ("data", "validation", "on_train_begin", "on_train_batch_end", "on_epoch_end", "on_train_end")


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_an_error_from_elsewhere_leaves_model_session_and_writers_in_order(
    kind: str, tmp_path: Path, opened: list[LiveSession]
) -> None:
    def summary() -> tf1.train.SessionRunHook:
        rate = tf1.summary.scalar("rate", tensor("learning_rate"))
        return tf1.train.SummarySaverHook(1, output_dir=str(tmp_path), summary_op=rate)

    model = small_model()
    model.fit(batches(1), validation_data=batches(1), shuffle=False, verbose=0)
    before, function = attributes_of(model), model.train_function
    with pytest.raises(Exception, match="Failure"):  # TensorFlow wraps what a generator raises.
        failing_fit(kind, model, bridge.HookCallback(summary))
    assert model.train_function is function
    assert attributes_of(model).keys() == before.keys()
    assert all(is_closed(session) for session in opened)
    if kind != "on_train_begin":
        assert scalars(tmp_path, "rate")[0] == (2, 0.125)


def test_an_error_in_the_on_train_end_of_an_earlier_callback_leaves_no_session_open(
    opened: list[LiveSession],
) -> None:
    calls: Calls = []
    model = small_model()
    callbacks = [FailingCallback("on_train_end"), bridge.HookCallback(TraceHook(calls))]
    with pytest.raises(HookFailureError):
        model.fit(batches(2), callbacks=callbacks, shuffle=False, verbose=0)
    assert [is_closed(session) for session in opened] == [True]
    assert "end" not in phases(calls)


def test_a_model_trains_on_after_its_validation_data_could_not_be_opened() -> None:
    model = small_model()
    with pytest.raises(Exception, match="Failure"):
        model.fit(
            batches(2),
            validation_data=failing_data(after=0),
            callbacks=[bridge.HookCallback(TraceHook([]))],
            shuffle=False,
            verbose=0,
        )
    reached = step_of(model)
    model.fit(batches(3), shuffle=False, verbose=0)
    assert step_of(model) == reached + 3


@pytest.mark.parametrize("kind", ["on_train_batch_end", "on_epoch_end"])
def test_hooks_have_no_end_after_an_error_from_elsewhere(kind: str) -> None:
    calls: Calls = []
    with pytest.raises(HookFailureError):
        failing_fit(kind, small_model(), bridge.HookCallback(TraceHook(calls)))
    assert "after_run" in phases(calls)
    assert "end" not in phases(calls)


def test_a_callback_can_be_used_again_after_an_error() -> None:
    calls: Calls = []
    callback = bridge.HookCallback(TraceHook(calls))
    with pytest.raises(HookFailureError):
        failing_fit("on_train_batch_end", small_model(), callback)
    calls.clear()
    small_model().fit(batches(2), callbacks=[callback], shuffle=False, verbose=0)
    assert phases(calls) == ["begin", "after_create_session", *["before_run", "after_run"] * 2, "end"]


# --- without an error ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", ["whole", "stopped", "in evaluate", "in predict"])
def test_a_fit_without_error_gives_the_model_back_too(fit: str, opened: list[LiveSession]) -> None:
    model = small_model()
    for use in (model.fit, model.evaluate):
        use(batches(1), verbose=0)
    x = np.ones((4, 3), np.float32)
    model.predict(x, verbose=0)
    before = attributes_of(model)
    functions = model.train_function, model.test_function, model.predict_function
    trace = TraceHook([], stop_at_run=1 if fit == "stopped" else 0)
    uses: dict[str, Callable[[], object]] = {
        "in evaluate": lambda: model.evaluate(
            batches(2), callbacks=[bridge.HookCallback(eval_hooks=trace)], verbose=0
        ),
        "in predict": lambda: model.predict(
            x, callbacks=[bridge.HookCallback(predict_hooks=trace)], verbose=0
        ),
    }
    uses.get(fit, lambda: train(trace, model=model))()
    after = model.train_function, model.test_function, model.predict_function
    assert all(one is other for one, other in zip(functions, after, strict=True))
    assert attributes_of(model).keys() == before.keys()
    assert opened
    assert all(is_closed(session) for session in opened)


def test_a_hook_that_runs_the_step_by_itself_is_told_where_several_updates_belong() -> None:
    class Twice(tf1.train.SessionRunHook):
        """As GAN hooks do, which train one network more often than the other."""

        def before_run(self, run_context: Any) -> None:
            run_context.session.run("train_op")

    with pytest.raises(errors.UnsupportedSessionCallError, match="belong in the model's train_step"):
        train(Twice())


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # Of tfdbg's half-made session.
def test_a_hook_of_tfdbg_is_told_what_debugs_a_keras_step(tmp_path: Path) -> None:
    debug = pytest.importorskip("tensorflow.python.debug.wrappers.hooks")
    with pytest.raises(TypeError) as caught:
        train(lambda: debug.DumpingDebugHook(str(tmp_path)))
    assert "enable_dump_debug_info" in told(caught.value)
