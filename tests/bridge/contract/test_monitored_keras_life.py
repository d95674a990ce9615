"""Contract, "MonitoredTrainingSession", for a Keras model: from its opening over several fits to its end."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from bridge.errors import SessionClosedError, UnsupportedSessionError
from tests.bridge.contract.monitored import (
    KERAS_VERSIONS,
    Session,
    constant_summary,
    fit,
    model_of,
    package,
    step_of,
    train,
)
from tests.bridge.support import (
    OPENING,
    STEP,
    FetchHook,
    FunctionHook,
    TraceHook,
    batches,
    phases,
    saved,
    saved_steps,
    scalars,
    tensor,
)

tf1 = tf.compat.v1


def arrays() -> tuple[np.ndarray, np.ndarray]:
    x = (np.arange(24, dtype=np.float32) * 5 % 11 - 5).reshape(8, 3) / 8
    return x, x.sum(axis=1, keepdims=True)


def assert_equal_weights(found: Any, expected: Any) -> None:
    for one, other in zip(found.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


# --- fit: the arguments and results of Keras's ---------------------------------------------------------------------


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_all_arguments_of_fit_mean_what_they_mean_in_keras(version: str) -> None:
    x, y = arrays()
    arguments = {
        "batch_size": 2,
        "epochs": 4,
        "verbose": 0,
        "validation_data": (x[:3], y[:3], np.array([1.0, 0.0, 2.0])),
        "shuffle": False,
        "class_weight": None,
        "sample_weight": np.arange(8, dtype=np.float32),
        "initial_epoch": 1,
        "steps_per_epoch": 4,
        "validation_steps": 2,
        "validation_batch_size": 1,
        "validation_freq": 2,
    }
    plain = model_of(version, metrics=["mae"])
    expected = plain.fit(x, y, **arguments)
    model = model_of(version, metrics=["mae"])
    with Session() as session:
        history = session.fit(model, x, y, **arguments)
    assert history.history == expected.history
    assert history.epoch == expected.epoch == [1, 2, 3]
    assert_equal_weights(model, plain)


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_arguments_of_fit_can_be_given_by_position(version: str) -> None:
    x, y = arrays()
    seen: list[int] = []
    callback = package(version).callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: seen.append(epoch)
    )
    with Session() as session:
        history = session.fit(model_of(version), x, y, 4, 3, 0, [callback], 0.25)
    assert isinstance(history, package(version).callbacks.History)
    assert seen == history.epoch == [0, 1, 2]
    assert len(history.history["val_loss"]) == 3


def test_a_wrong_argument_of_fit_is_named_as_keras_does() -> None:
    with Session() as session, pytest.raises(TypeError, match="epocs"):
        session.fit(model_of(), *arrays(), epocs=3)


@pytest.mark.parametrize("version", KERAS_VERSIONS)
@pytest.mark.parametrize("given", ["none", "single", "list", "tuple"])
def test_callbacks_can_be_one_or_many_or_none(given: str, version: str) -> None:
    seen: list[int] = []
    callback = package(version).callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(epoch))
    callbacks: Any = {"none": None, "single": callback, "list": [callback], "tuple": (callback,)}[given]
    with Session() as session:
        fit(session, model_of(version), epochs=2, callbacks=callbacks)
    assert seen == ([] if given == "none" else [0, 1])


def test_the_list_of_callbacks_stays_as_it_was() -> None:
    callbacks: list[Any] = [keras.callbacks.TerminateOnNaN()]
    with Session() as session:
        fit(session, callbacks=callbacks)
    assert len(callbacks) == 1


def test_what_is_no_keras_model_is_refused() -> None:
    with Session() as session, pytest.raises((TypeError, ValueError), match=r"keras\.Model"):
        session.fit("model", *arrays())


def test_a_model_that_is_not_compiled_is_refused_as_by_keras() -> None:
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    with Session() as session, pytest.raises(ValueError, match=r"compile"):
        session.fit(model, *arrays())


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_evaluate_between_fits_sees_what_the_session_trained(version: str, tmp_path: Path) -> None:
    train(2, model=model_of(version), checkpoint_dir=str(tmp_path))
    model = model_of(version)
    x, y = arrays()
    with Session(checkpoint_dir=str(tmp_path)) as session:
        fit(session, model, 2, epochs=2)
        before = model.get_weights()
        assert session.evaluate(model, x, y, verbose=0) == model.evaluate(x, y, verbose=0)
        for one, other in zip(before, model.get_weights(), strict=True):
            np.testing.assert_array_equal(one, other)
        fit(session, model, 2)
    assert step_of(model) == 6


# --- several fits --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_hooks_live_from_the_first_fit_to_the_end_of_the_with_block(version: str, tmp_path: Path) -> None:
    calls: list[Any] = []
    model = model_of(version)
    with Session(hooks=[TraceHook(calls)], checkpoint_dir=str(tmp_path)) as session:
        fit(session, model, 2)
        fit(session, model, 1, epochs=2)
        model.evaluate(*arrays(), verbose=0)
        assert phases(calls) == OPENING + STEP * 4
        assert saved_steps(tmp_path) == [0]
    assert phases(calls) == [*OPENING, *STEP * 4, "end"]
    assert saved_steps(tmp_path) == [0, 4]


def test_several_fits_in_one_session_train_as_plain_fits_do() -> None:
    plain, model = model_of(), model_of()
    with Session() as session:
        for steps, epochs in ((2, 1), (3, 2)):
            plain.fit(batches(steps), epochs=epochs, verbose=0, shuffle=False)
            assert fit(session, model, steps, epochs=epochs).epoch == list(range(epochs))
    assert_equal_weights(model, plain)


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_a_model_compiled_anew_between_fits_gets_hooks_in_its_new_graph(version: str, tmp_path: Path) -> None:
    calls: list[Any] = []
    model = model_of(version)
    with Session(hooks=[TraceHook(calls)], checkpoint_dir=str(tmp_path)) as session:
        fit(session, model, 2)
        trained = model.get_weights()
        model.compile(package(version).optimizers.SGD(0.0), "mse", jit_compile=False)
        fit(session, model, 3)
    assert phases(calls) == [*OPENING, *STEP * 2, "end", *OPENING, *STEP * 3, "end"]
    for one, other in zip(model.get_weights(), trained, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_batches_of_another_form_in_the_next_fit_get_a_graph_of_their_own(
    version: str, tmp_path: Path
) -> None:
    calls: list[Any] = []
    model, plain = model_of(version), model_of(version)
    x, y = arrays()
    with Session(hooks=[TraceHook(calls)], checkpoint_dir=str(tmp_path)) as session:
        fit(session, model, 2)
        weighted = {"sample_weight": np.arange(8, dtype=np.float32), "batch_size": 4, "verbose": 0}
        session.fit(model, x, y, shuffle=False, **weighted)
    plain.fit(batches(2), shuffle=False, verbose=0)
    plain.fit(x, y, shuffle=False, **weighted)
    assert_equal_weights(model, plain)
    assert (phases(calls).count("end"), phases(calls).count("after_run")) == (2, 4)
    assert saved(tmp_path, "global_step") == 4


def test_another_model_needs_a_folder_of_its_own(tmp_path: Path) -> None:
    with Session(checkpoint_dir=str(tmp_path)) as session:
        fit(session, model_of(), 2)
        with pytest.raises(UnsupportedSessionError, match=r"checkpoint_dir of its own"):
            fit(session, model_of(), 2)
    assert saved_steps(tmp_path) == [0, 2]


def test_without_a_folder_another_model_gets_the_hooks_after_the_first() -> None:
    calls: list[Any] = []
    first, second = model_of(), model_of()
    with Session(hooks=[TraceHook(calls)]) as session:
        fit(session, first, 2)
        fit(session, second, 1, epochs=2)
    assert (step_of(first), step_of(second)) == (2, 2)
    assert phases(calls) == [*OPENING, *STEP * 2, "end", *OPENING, *STEP * 2, "end"]


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_a_stop_that_a_hook_requested_ends_the_fit_and_all_later_ones(version: str) -> None:
    model = model_of(version)
    with Session(hooks=[tf1.train.StopAtStepHook(last_step=2)]) as session:
        assert not session.should_stop()
        history = fit(session, model, 5, epochs=3)
        assert session.should_stop()
        assert fit(session, model, 5, epochs=3).epoch == []
        with pytest.raises(RuntimeError):
            session.run([])
    assert history.epoch == [0]
    assert step_of(model) == 2


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_a_last_step_that_is_reached_already_trains_nothing(version: str, tmp_path: Path) -> None:
    train(3, model=model_of(version), checkpoint_dir=str(tmp_path))
    calls: list[Any] = []
    hooks = [tf1.train.StopAtStepHook(last_step=3), TraceHook(calls)]
    model = model_of(version)
    with Session(checkpoint_dir=str(tmp_path), hooks=hooks) as session:
        history = fit(session, model, epochs=5)
        assert session.should_stop()
    assert (history.epoch, step_of(model), calls) == ([], 3, [])
    assert saved_steps(tmp_path) == [0, 3]
    np.testing.assert_array_equal(model.get_weights()[0], saved(tmp_path, "dense/kernel"))


# --- run, run_step_fn, should_stop, graph --------------------------------------------------------------------------


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_run_after_a_fit_reads_the_live_model_with_all_hooks(version: str) -> None:
    calls: list[Any] = []
    model = model_of(version)
    with Session(hooks=[TraceHook(calls)]) as session:
        fit(session, model, 2)
        with session.graph.as_default():
            step, kernel = session.run([tf1.train.get_global_step(), "dense/kernel:0"])
    assert step == 2
    np.testing.assert_array_equal(kernel, model.get_weights()[0])
    assert phases(calls) == [*OPENING, *STEP * 3, "end"]


def test_run_in_a_callback_is_a_run_between_two_steps() -> None:
    seen: list[int] = []
    with Session() as session:
        look = keras.callbacks.LambdaCallback(
            on_train_batch_end=lambda batch, logs: seen.append(int(session.run("global_step:0")))
        )
        fit(session, steps=3, callbacks=[look])
    assert seen == [1, 2, 3]


def test_run_step_fn_gives_the_raw_session_and_the_hooks() -> None:
    calls: list[Any] = []

    def step(step_context: Any) -> Any:
        raw = step_context.session.run("global_step:0")
        before = len(calls)
        return raw, step_context.run_with_hooks("global_step:0"), len(calls) - before

    with Session(hooks=[TraceHook(calls)]) as session:
        fit(session, steps=2)
        assert session.run_step_fn(step) == (2, 2, 2)


def test_the_parameter_of_a_step_function_must_be_called_step_context() -> None:
    with Session() as session:
        fit(session)
        with pytest.raises(ValueError, match="step_context"):
            session.run_step_fn(lambda context: None)


def test_a_step_function_can_request_the_stop() -> None:
    model = model_of()

    def stop(step_context: Any) -> None:
        step_context.request_stop()

    with Session() as session:
        fit(session, model, 2)
        session.run_step_fn(stop)  # Raises StopIteration, which leaves the block silently, as in v1.
    assert step_of(model) == 2
    assert session.should_stop()


def test_before_the_first_fit_there_is_no_graph_and_a_run_says_why() -> None:
    with Session() as session:
        assert session.graph is None
        assert not session.should_stop()
        with pytest.raises(SessionClosedError, match=r"first step of sess\.fit"):
            session.run("global_step:0")
        with pytest.raises(SessionClosedError, match=r"first step of sess\.fit"):
            session.run_step_fn(lambda step_context: None)


def test_the_graph_is_finalised_inside() -> None:
    with Session() as session:
        fit(session)
        assert session.graph.finalized
        with session.graph.as_default(), pytest.raises(RuntimeError, match="finalized"):
            tf.constant(1)


# --- close ---------------------------------------------------------------------------------------------------------


def test_close_ends_the_hooks_and_saves_and_twice_is_fine(tmp_path: Path) -> None:
    calls: list[Any] = []
    session = Session(checkpoint_dir=str(tmp_path), hooks=[TraceHook(calls)])
    fit(session)
    session.close()
    session.close()
    assert phases(calls).count("end") == 1
    assert saved_steps(tmp_path) == [0, 3]


def test_a_closed_session_is_closed_for_everything() -> None:
    session = Session()
    model = model_of()
    fit(session, model)
    session.close()
    assert session.should_stop()
    assert session.graph is None
    for use in (
        lambda: fit(session, model),
        lambda: session.evaluate(model, *arrays()),
        lambda: session.run("global_step:0"),
        lambda: session.run_step_fn(lambda step_context: None),
        session.__enter__,
    ):
        with pytest.raises(RuntimeError, match="already closed"):
            use()


def test_a_session_without_a_fit_closes_and_writes_nothing(tmp_path: Path) -> None:
    calls: list[Any] = []
    with Session(checkpoint_dir=str(tmp_path), hooks=[TraceHook(calls)]):
        pass
    assert calls == []
    assert saved_steps(tmp_path) == []


def test_the_model_has_its_own_train_function_again_after_each_fit() -> None:
    calls: list[Any] = []
    model = model_of()
    with Session(hooks=[TraceHook(calls)]) as session:
        fit(session, model)
        noted = len(calls)
        model.fit(batches(2), verbose=0, shuffle=False)  # Not the session's.
        assert len(calls) == noted
    model.fit(batches(2), verbose=0, shuffle=False)
    assert step_of(model) == 7


def test_the_signal_of_preemption_is_given_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Session() as session:
        assert signal.getsignal(signal.SIGTERM) is not before
        fit(session)
    assert signal.getsignal(signal.SIGTERM) is before
    with pytest.raises(KeyError), Session():
        raise KeyError
    assert signal.getsignal(signal.SIGTERM) is before


# --- fetches of hooks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", KERAS_VERSIONS)
def test_hooks_fetch_inner_tensors_and_feed(version: str) -> None:
    fetch = FetchHook(lambda: {"out": tensor("dense/output"), "step": tf1.train.get_global_step()})
    model = model_of(version)
    with Session(hooks=[fetch]) as session:
        fit(session, model, 2)
        fit(session, model, 1)
    assert [result["step"] for result in fetch.results] == [0, 1, 2]
    assert all(result["out"].shape == (2, 1) for result in fetch.results)


def test_summaries_of_several_fits_are_in_one_file_with_rising_steps(tmp_path: Path) -> None:
    model = model_of()
    with Session(summary_dir=str(tmp_path), save_summaries_steps=1, hooks=[constant_summary()]) as session:
        fit(session, model, 2)
        fit(session, model, 2)
    assert [step for step, _ in scalars(tmp_path, "constant")] == [1, 2, 3, 4]
    assert len(list(tmp_path.glob("events.out.tfevents.*"))) == 1


def test_the_whole_session_runs_in_another_thread() -> None:
    models: list[Any] = []
    thread = threading.Thread(target=lambda: models.append(train(3)))
    thread.start()
    thread.join()
    assert step_of(models[0]) == 3


def test_a_hook_may_use_the_session_from_begin_to_end() -> None:
    seen: list[Any] = []
    hook = FunctionHook(
        tf1.train.get_global_step,
        after_create_session=lambda session, step: seen.append(int(session.run(step))),
        after_run=lambda context, values, step: seen.append(int(context.session.run(step))),
        end=lambda session, step: seen.append(int(session.run(step))),
    )
    train(2, hooks=[hook])
    assert seen == [0, 1, 2, 2]
