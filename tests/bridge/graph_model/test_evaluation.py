"""`eval_logs`: in `evaluate_in`, and after the epochs of a fit."""

from __future__ import annotations

from typing import Any

import keras
import pytest
import tensorflow as tf

from bridge.errors import GraphModelError
from bridge.graph_model import GraphModel
from tests.bridge.graph_model.support import Legacy, Notes, fit, open_session, stop_after
from tests.bridge.support import Calls, TraceHook, phases

tf1 = tf.compat.v1


def held_out(values: list[float]) -> tuple[Any, tf.Tensor]:
    """An input that can begin anew: its initializer and its element."""
    iterator = tf1.data.make_initializable_iterator(tf1.data.Dataset.from_tensor_slices(values))
    return iterator.initializer, iterator.get_next()


def test_an_epoch_s_validation_is_shown_after_val() -> None:
    legacy = Legacy([1, 2, 3, 4])
    history = fit(legacy.model(eval_logs={"w": legacy.w}), epochs=2, steps_per_epoch=2)
    assert history == {"loss": [1.5, 3.5], "val_w": [2.0, 4.0]}


def test_an_input_with_an_initializer_is_read_to_its_end_after_every_epoch() -> None:
    legacy = Legacy([1, 2])
    init, element = held_out([1.0, 5.0, 9.0])
    model = legacy.model(eval_logs={"x": element}, eval_init_op=init)
    assert fit(model, epochs=2, steps_per_epoch=1)["val_x"] == [5.0, 5.0]


def test_validation_steps_are_so_many_runs() -> None:
    legacy = Legacy([1, 2])
    init, element = held_out([1.0, 5.0, 9.0])
    model = legacy.model(eval_logs={"x": element}, eval_init_op=init)
    assert fit(model, epochs=2, steps_per_epoch=1, validation_steps=2)["val_x"] == [3.0, 3.0]


def test_streaming_metrics_begin_anew_if_their_variables_are_initialised() -> None:
    legacy = Legacy([1, 2])
    init, element = held_out([1.0, 5.0, 9.0])
    metric = tf1.metrics.mean(element, name="held_out")
    reset = tf1.variables_initializer(tf1.get_collection(tf1.GraphKeys.METRIC_VARIABLES))
    model = legacy.model(eval_logs={"x": metric}, eval_init_op=[init, reset])
    assert fit(model, epochs=2, steps_per_epoch=1)["val_x"] == [5.0, 5.0]


@pytest.mark.parametrize(("freq", "epochs"), [(2, [1, 3]), ([1, 4], [0, 3])])
def test_validation_freq_is_keras_s_own(freq: Any, epochs: list[int]) -> None:
    legacy, notes = Legacy([1], repeat=True), Notes()
    fit(
        legacy.model(eval_logs={"w": legacy.w}),
        epochs=4,
        steps_per_epoch=1,
        validation_freq=freq,
        callbacks=[notes],
    )
    assert [n for n in range(4) if "val_w" in notes.logs[f"epoch_end {n}"]] == epochs


def test_hooks_do_not_see_evaluations() -> None:
    legacy = Legacy([1, 2])
    calls: Calls = []
    fit(legacy.model(eval_logs={"w": legacy.w}), TraceHook(calls), epochs=2, steps_per_epoch=1)
    assert phases(calls).count("before_run") == 2


def test_an_epoch_that_a_hook_stopped_is_validated() -> None:
    legacy = Legacy([1, 2, 3])
    model = legacy.model(eval_logs={"w": legacy.w})
    assert fit(model, stop_after(1), steps_per_epoch=3) == {"loss": [1.0], "val_w": [1.0]}


def test_evaluation_feeds_by_its_own_function() -> None:
    x = tf1.placeholder_with_default(0.0, [])
    feeds = iter([1.0, 2.0])
    step = tf1.train.get_or_create_global_step().assign_add(1)
    model = GraphModel(
        step, {"x": x * 1}, lambda: {x: next(feeds)}, {"x": x * 1}, eval_feed_fn=lambda: {x: 10.0}
    )
    assert fit(model, epochs=2, steps_per_epoch=1) == {"x": [1.0, 2.0], "val_x": [10.0, 10.0]}


def test_without_a_function_of_its_own_evaluation_feeds_as_training_does() -> None:
    x = tf1.placeholder(tf.float32, [])
    step = tf1.train.get_or_create_global_step().assign_add(1)
    model = GraphModel(step, {"x": x * 1}, lambda: {x: 3.0}, {"y": x * 2})
    assert fit(model, steps_per_epoch=1) == {"x": [3.0], "val_y": [6.0]}


def test_evaluate_returns_what_keras_returns() -> None:
    legacy = Legacy([1, 2])
    init, element = held_out([1.0, 5.0])
    one = legacy.model(eval_logs={"x": element}, eval_init_op=init)
    two = legacy.model(eval_logs={"x": element, "w": legacy.w}, eval_init_op=init)
    with open_session() as session:
        assert one.evaluate_in(session, verbose=0) == 3.0
        assert two.evaluate_in(session, verbose=0) == [3.0, 0.0]
        assert two.evaluate_in(session, 1, verbose=0, return_dict=True) == {"x": 1.0, "w": 0.0}


def test_evaluate_calls_callbacks_and_leaves_the_history_of_the_fit_alone() -> None:
    legacy, notes = Legacy([1, 2]), Notes()
    init, element = held_out([1.0, 5.0])
    model = legacy.model(eval_logs={"x": element}, eval_init_op=init)
    with open_session() as session:
        history = model.fit_in(session, steps_per_epoch=1, verbose=0)
        model.evaluate_in(session, verbose=0, steps=2, callbacks=[notes])
    assert model.history is history
    assert notes.calls == [
        "test_begin",
        *[f"test_batch_{end} {n}" for n in range(2) for end in ("begin", "end")],
        "test_end",
    ]
    assert notes.logs["test_batch_end 1"] == {"x": 5.0}
    assert notes.logs["test_end"] == {"x": 3.0}


def test_evaluate_has_a_bar_and_the_validation_of_a_fit_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    legacy = Legacy([1, 2])
    init, element = held_out([1.0, 5.0])
    model = legacy.model(eval_logs={"x": element}, eval_init_op=init)
    with open_session() as session:
        model.fit_in(session, steps_per_epoch=1, verbose=2)
        printed = capsys.readouterr().out
        assert printed.count("1/1") == 1
        assert "val_x: 3.0000" in printed
        model.evaluate_in(session, verbose=2)
        assert "2/2" in (printed := capsys.readouterr().out)
        assert " - x: 3.0000" in printed


def test_the_model_can_be_evaluated_after_its_session_stopped() -> None:
    legacy = Legacy([1, 2])
    model = legacy.model(eval_logs={"w": legacy.w})
    with open_session(stop_after(2)) as session:
        model.fit_in(session, verbose=0)
        assert session.should_stop()
        assert model.evaluate_in(session, verbose=0) == 2.0


def test_an_evaluation_can_be_stopped_by_a_callback() -> None:
    class Stops(keras.callbacks.Callback):
        def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
            self.model.stop_evaluating = True

    legacy = Legacy([1])
    init, element = held_out([1.0, 5.0])
    model = legacy.model(eval_logs={"x": element}, eval_init_op=init)
    with open_session() as session:
        assert model.evaluate_in(session, verbose=0, callbacks=[Stops()]) == 1.0


# --- errors -----------------------------------------------------------------------------------------------------


def test_an_input_that_has_ended_is_an_error_that_names_the_initializer() -> None:
    legacy = Legacy([1, 2])
    once = tf1.data.make_one_shot_iterator(tf1.data.Dataset.from_tensor_slices([1.0])).get_next()
    with pytest.raises(GraphModelError, match=r"eval_init_op=iterator\.initializer"):
        fit(legacy.model(eval_logs={"x": once}), epochs=2, steps_per_epoch=1)


def test_evaluating_nothing_is_an_error() -> None:
    model = Legacy([1]).model()
    with open_session() as session, pytest.raises(GraphModelError, match="eval_logs="):
        model.evaluate_in(session)


def test_validation_steps_without_something_to_validate_are_refused() -> None:
    with pytest.raises(GraphModelError, match=r"validation_steps is given.*eval_logs="):
        fit(Legacy([1]).model(), validation_steps=3)


def test_data_are_refused_in_evaluate() -> None:
    legacy = Legacy([1])
    model = legacy.model(eval_logs={"w": legacy.w})
    with open_session() as session, pytest.raises(GraphModelError, match=r"x is given.*feed_fn"):
        model.evaluate_in(session, x=[1.0])
