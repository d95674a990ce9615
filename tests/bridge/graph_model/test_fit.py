"""GraphModel trains a v1 graph: which steps are run, and what Keras is told of them."""

from __future__ import annotations

import re
import traceback
from typing import Any

import keras
import pytest
import tensorflow as tf

from bridge.graph_model import GraphModel
from tests.bridge.graph_model.support import At, Legacy, Notes, fit, open_session, stop_after, stop_training
from tests.bridge.support import Calls, FunctionHook, TraceHook, phases

tf1 = tf.compat.v1


def shown(text: str) -> list[str]:
    """What was printed, without colours, as one string for each state of the progress bar."""
    return re.split(r"[\r\n\b]+", re.sub(r"\x1b\[[0-9;]*m", "", text))


# --- steps and epochs ------------------------------------------------------------------------------------------


def test_it_is_a_keras_model(graph: tf.Graph) -> None:
    model = Legacy([1]).model()
    assert isinstance(model, keras.Model)
    assert model.graph is graph


def test_epochs_of_so_many_steps_are_run_and_no_step_more() -> None:
    legacy, notes = Legacy([1], repeat=True), Notes()
    with open_session() as session:
        legacy.model().fit_in(session, epochs=2, steps_per_epoch=3, verbose=0, callbacks=[notes])
        assert session.run(legacy.w) == 6.0
        assert not session.should_stop()
    epoch = [f"batch_{end} {n}" for n in range(3) for end in ("begin", "end")]
    assert notes.calls == [
        "train_begin",
        *["epoch_begin 0", *epoch, "epoch_end 0"],
        *["epoch_begin 1", *epoch, "epoch_end 1"],
        "train_end",
    ]


def test_the_session_has_its_hooks_called_for_each_step_and_for_nothing_else() -> None:
    calls: Calls = []
    callback = At(("batch", 0), lambda model: model.set_weights(model.get_weights()))
    fit(Legacy([1, 2, 3]).model(), TraceHook(calls), steps_per_epoch=3, callbacks=[callback])
    opening = ["begin", "after_create_session"]
    assert phases(calls) == [*opening, *["before_run", "after_run"] * 3, "end"]


def test_a_stop_in_the_middle_of_an_epoch_ends_that_epoch_there() -> None:
    notes = Notes()
    history = fit(
        Legacy([1, 2, 3, 4, 5, 6]).model(), stop_after(5), epochs=9, steps_per_epoch=4, callbacks=[notes]
    )
    assert history == {"loss": [2.5, 5.0]}
    assert notes.batches == [0, 1, 2, 3, 0]
    assert notes.epochs == [0, 1]
    assert notes.calls[-1] == "train_end"


def test_a_stop_with_the_last_step_of_an_epoch_begins_no_other() -> None:
    notes = Notes()
    fit(Legacy([1], repeat=True).model(), stop_after(4), epochs=9, steps_per_epoch=2, callbacks=[notes])
    assert [call for call in notes.calls if "epoch" in call] == [
        "epoch_begin 0",
        "epoch_end 0",
        "epoch_begin 1",
        "epoch_end 1",
    ]


def test_a_session_that_has_stopped_trains_no_step() -> None:
    legacy, notes = Legacy([1], repeat=True), Notes()
    with open_session(stop_after(1)) as session:
        session.run(legacy.train_op)
        history = legacy.model().fit_in(session, steps_per_epoch=3, verbose=0, callbacks=[notes])
    assert notes.calls == ["train_begin", "train_end"]
    assert history.history == {}


def test_without_steps_per_epoch_an_epoch_lasts_until_the_session_stops() -> None:
    assert fit(Legacy([1, 2, 3, 4, 5]).model(), stop_after(4), epochs=7) == {"loss": [2.5]}


def test_the_end_of_the_input_ends_the_training_quietly() -> None:
    notes = Notes()
    legacy = Legacy([1, 2, 3, 4, 5])
    calls: Calls = []
    history = fit(legacy.model(), TraceHook(calls), epochs=9, steps_per_epoch=3, callbacks=[notes])
    assert history == {"loss": [2.0, 4.5]}
    assert notes.calls[-2:] == ["epoch_end 1", "train_end"]
    assert phases(calls)[-1] == "end"


@pytest.mark.parametrize("kind", [StopIteration, tf.errors.OutOfRangeError])
def test_the_end_of_the_input_comes_out_when_the_callbacks_have_ended_if_it_shall(
    kind: type[Exception],
) -> None:
    notes, feeds = Notes(), iter([{}, {}, {}])
    legacy = Legacy([1, 2]) if kind is tf.errors.OutOfRangeError else Legacy([1], repeat=True)
    model = legacy.model(raise_at_end=True, feed_fn=lambda: next(feeds))
    steps = 2 if kind is tf.errors.OutOfRangeError else 3
    with open_session() as session, pytest.raises(kind):
        model.fit_in(session, verbose=0, callbacks=[notes])
    assert notes.batches == list(range(steps))
    assert notes.calls[-2:] == ["epoch_end 0", "train_end"]


def test_an_end_that_a_hook_or_the_epochs_bring_raises_nothing() -> None:
    model = Legacy([1, 2, 3]).model(raise_at_end=True)
    assert fit(model, stop_after(2)) == {"loss": [1.5]}
    assert fit(model, steps_per_epoch=3) == {"loss": [2.0]}


def test_an_epoch_without_a_step_does_not_count() -> None:
    notes = Notes()
    assert fit(Legacy([1, 3]).model(), epochs=9, steps_per_epoch=2, callbacks=[notes]) == {"loss": [2.0]}
    assert notes.epochs == [0]
    assert notes.calls[-1] == "train_end"
    assert notes.logs["train_end"] == {"loss": 2.0}


def test_stop_training_of_a_callback_ends_the_fit_and_leaves_the_session_open() -> None:
    legacy = Legacy([1], repeat=True)
    with open_session() as session:
        for when in [("batch", 1), ("epoch", 0)]:
            legacy.model().fit_in(
                session, epochs=5, steps_per_epoch=3, verbose=0, callbacks=[At(when, stop_training)]
            )
        assert not session.should_stop()
        assert session.run(legacy.w) == 2.0 + 3.0


def test_stop_training_at_the_beginning_runs_no_step() -> None:
    class StopAtOnce(keras.callbacks.Callback):
        def on_train_begin(self, logs: Any = None) -> None:
            self.model.stop_training = True

    assert fit(Legacy([1]).model(), callbacks=[StopAtOnce()]) == {}


def test_a_second_fit_goes_on_in_the_same_session() -> None:
    legacy = Legacy([1, 2, 3, 4])
    model = legacy.model()
    with open_session() as session:
        assert model.fit_in(session, steps_per_epoch=2, verbose=0).history == {"loss": [1.5]}
        second = model.fit_in(session, steps_per_epoch=2, verbose=0)
    assert second.history == {"loss": [3.5]}
    assert model.history is second


def test_anything_with_run_and_should_stop_is_a_session() -> None:
    legacy = Legacy([1, 2, 3])

    class Wrapper:
        def __init__(self, session: Any) -> None:
            self._session, self.steps = session, 0

        def run(self, fetches: Any, feed_dict: Any = None) -> Any:
            self.steps += 1
            return self._session.run(fetches, feed_dict)

        def should_stop(self) -> bool:
            return self.steps == 2

    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        wrapper = Wrapper(session)
        assert legacy.model().fit_in(wrapper, verbose=0).history == {"loss": [1.5]}
        assert wrapper.steps == 2


def test_nothing_is_added_to_the_graph(graph: tf.Graph) -> None:
    legacy = Legacy([1, 2, 3])
    before = len(graph.get_operations())
    model = legacy.model(learning_rate=legacy.rate, eval_logs={"w": legacy.w})
    assert len(graph.get_operations()) == before
    fit(model, steps_per_epoch=2)  # The session finalizes the graph: more would raise.


# --- resuming ---------------------------------------------------------------------------------------------------


def test_an_initial_step_goes_on_in_its_epoch_at_its_batch() -> None:
    notes = Notes()
    history = fit(
        Legacy([1, 2, 3, 4, 5]).model(), epochs=4, steps_per_epoch=3, initial_step=7, callbacks=[notes]
    )
    assert [call for call in notes.calls if "begin" in call] == [
        *["train_begin", "epoch_begin 2", "batch_begin 1", "batch_begin 2"],
        *["epoch_begin 3", "batch_begin 0", "batch_begin 1", "batch_begin 2"],
    ]
    assert history == {"loss": [1.5, 4.0]}


def test_an_initial_step_at_the_end_of_an_epoch_begins_the_next() -> None:
    notes = Notes()
    fit(Legacy([1], repeat=True).model(), epochs=3, steps_per_epoch=2, initial_step=4, callbacks=[notes])
    assert notes.epochs == [2]
    assert notes.batches == [0, 1]


@pytest.mark.parametrize("step", [6, 100])
def test_an_initial_step_past_the_last_epoch_trains_nothing(step: int) -> None:
    notes = Notes()
    model = Legacy([1], repeat=True).model()
    assert fit(model, epochs=2, steps_per_epoch=3, initial_step=step, callbacks=[notes]) == {}
    assert notes.calls == ["train_begin", "train_end"]


def test_an_initial_epoch_is_keras_s_own() -> None:
    notes = Notes()
    model = Legacy([1], repeat=True).model()
    fit(model, epochs=3, steps_per_epoch=2, initial_epoch=1, initial_step=1, callbacks=[notes])
    assert notes.epochs == [1, 2]
    assert notes.batches == [0, 1, 0, 1]


# --- what is run and fed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "nest",
    [
        lambda op, tensor: op,
        lambda op, tensor: tensor,
        lambda op, tensor: "train",
        lambda op, tensor: [op, [tensor]],
        lambda op, tensor: {"b": op, "a": (tensor, tensor)},
        lambda op, tensor: tf.IndexedSlices(tensor, tf.constant([0])),
    ],
    ids=["operation", "tensor", "name", "lists", "dict", "slices"],
)
def test_the_train_op_may_be_any_nest(nest: Any) -> None:
    legacy = Legacy([1], repeat=True)
    with tf1.control_dependencies([legacy.train_op]):
        tensor = tf.constant([7.0])
    model = GraphModel(nest(legacy.train_op, tensor))
    with open_session() as session:
        model.fit_in(session, steps_per_epoch=3, verbose=0)
        assert session.run(legacy.w) == 3.0


def test_feed_fn_gives_what_is_fed_in_each_step() -> None:
    x = tf1.placeholder(tf.float32, [], name="x")
    total = tf1.get_variable("total", initializer=0.0)
    values = iter([1.0, 2.0, 4.0, 8.0])
    model = GraphModel(total.assign_add(x), {"x": x * 1}, feed_fn=lambda: {x: next(values)})
    notes = Notes()
    with open_session() as session:
        history = model.fit_in(session, epochs=9, steps_per_epoch=3, verbose=0, callbacks=[notes]).history
        assert session.run(total, {x: 0.0}) == 15.0
    assert history == {
        "x": [7 / 3, 8.0]
    }  # StopIteration of feed_fn ended it, as it leaves the `with` of a session.


def test_feed_fn_and_hooks_find_the_graph_and_callbacks_find_eager_mode(graph: tf.Graph) -> None:
    x = tf1.placeholder(tf.float32, [], name="x")
    found: dict[str, Any] = {}

    def feed() -> dict[Any, float]:
        found["feed_fn"] = tf1.get_default_graph()
        return {x: 1.0}

    class Looks(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            found["batch"] = float(keras.ops.convert_to_tensor(logs["x"]) + 1)

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            found["epoch"] = tf.executing_eagerly()

    hook = FunctionHook(
        before_run=lambda context, _: found.__setitem__("hook", tf1.get_default_graph()),
    )
    fit(GraphModel(x * 1, {"x": x * 1}, feed_fn=feed), hook, steps_per_epoch=1, callbacks=[Looks()])
    assert found == {"feed_fn": graph, "hook": graph, "batch": 2.0, "epoch": True}


def test_queue_runners_feed_the_graph_and_their_end_ends_the_training() -> None:
    queue = tf1.train.range_input_producer(6, num_epochs=1, shuffle=False)
    element = tf.cast(queue.dequeue(), tf.float32)
    assert fit(GraphModel(element, {"element": element}), epochs=9, steps_per_epoch=4) == {
        "element": [1.5, 4.5]
    }


def test_an_aborted_step_is_recovered_and_repeated(tmp_path: Any) -> None:
    legacy = Legacy([1], repeat=True)
    calls: list[int] = []

    def fail_once(context: Any, values: Any, built: Any) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise tf.errors.AbortedError(None, None, "preempted")

    notes = Notes()
    with open_session(
        FunctionHook(after_run=fail_once), directory=tmp_path, save_checkpoint_steps=1
    ) as session:
        legacy.model().fit_in(session, steps_per_epoch=5, verbose=0, callbacks=[notes])
    assert notes.batches == [0, 1, 2, 3, 4]
    assert len(calls) == 6


# --- errors -----------------------------------------------------------------------------------------------------


def test_an_error_of_a_step_comes_out_as_it_is() -> None:
    legacy = Legacy([1], repeat=True)
    with tf1.control_dependencies([legacy.train_op]):
        wrong = tf1.Assert(legacy.step < 2, ["too far"], name="limit")
    calls: Calls = []
    notes = Notes()
    with pytest.raises(tf.errors.InvalidArgumentError, match="too far"), open_session(TraceHook(calls)) as s:
        GraphModel(wrong).fit_in(s, steps_per_epoch=5, verbose=0, callbacks=[notes])
    assert "end" not in phases(calls)
    assert "train_end" not in notes.calls


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_an_error_of_a_hook_comes_out_with_its_traceback(kind: type[BaseException]) -> None:
    error = kind("of the hook")
    hook = TraceHook([], raises=error, phase="after_run", at_run=2)
    model = Legacy([1, 2, 3]).model()
    with pytest.raises(kind) as caught, open_session(hook) as session:
        model.fit_in(session, steps_per_epoch=3, verbose=0)
    assert caught.value is error
    assert "_note" in [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def test_an_error_of_feed_fn_comes_out() -> None:
    def feed() -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fit(Legacy([1]).model(feed_fn=feed))


def test_stop_iteration_of_a_callback_is_not_the_end_of_the_input() -> None:
    legacy = Legacy([1, 2])

    def end_too_far(model: Any) -> None:
        next(iter(()))

    ended: list[bool] = []
    with open_session() as session:  # The session's own `with` is what lets it go.
        legacy.model().fit_in(session, verbose=0, callbacks=[At(("batch", 0), end_too_far)])
        ended.append(True)
    assert not ended


# --- the progress bar -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verbose", [1, "auto"])
def test_the_bar_shows_the_mean_of_every_epoch(capsys: pytest.CaptureFixture[str], verbose: Any) -> None:
    fit(Legacy([1, 2, 6, 7]).model(), epochs=2, steps_per_epoch=2, verbose=verbose)
    lines = shown(capsys.readouterr().out)
    assert "Epoch 1/2" in lines
    assert "Epoch 2/2" in lines
    ends = [line for line in lines if line.startswith("2/2")]
    assert ["loss: 1.5000" in ends[0], "loss: 6.5000" in ends[-1]] == [True, True]


def test_the_bar_between_the_steps_shows_the_mean_so_far(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from bridge import callback_calls

    times = iter(range(1000, 100000, 1000))
    monkeypatch.setattr(callback_calls.time, "monotonic", lambda: next(times))
    monkeypatch.setattr(
        keras.utils.Progbar.__init__,
        "__defaults__",
        tuple(-1 if d == 0.05 else d for d in keras.utils.Progbar.__init__.__defaults__),
    )
    fit(Legacy([1, 3, 8, 0]).model(), steps_per_epoch=4, verbose=1)
    lines = [line for line in shown(capsys.readouterr().out) if "/4" in line]
    found = [re.search(r"(\d)/4 .*loss: ([\d.]+)", line).groups() for line in lines]
    assert found == [("1", "1.0000"), ("2", "2.0000"), ("3", "4.0000"), ("4", "3.0000"), ("4", "3.0000")]


def test_the_bar_stands_where_a_hook_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    for verbose in (1, 2):
        with tf.Graph().as_default():
            model = Legacy([1, 2, 3, 4, 5]).model()
            fit(model, stop_after(3), epochs=3, steps_per_epoch=5, verbose=verbose)
        last = [line for line in shown(capsys.readouterr().out) if "/5" in line][-1]
        assert last.strip().startswith("3/5")
        assert "loss: 2.0000" in last


def test_the_bar_of_a_resumed_epoch_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    fit(Legacy([4, 6]).model(), epochs=1, steps_per_epoch=5, initial_step=3, verbose=1)
    bars = [line for line in shown(capsys.readouterr().out) if "/5" in line]
    assert bars[0].startswith("4/5")
    assert bars[-1].startswith("5/5")
    assert "loss: 5.0000" in bars[-1]


def test_the_bar_of_an_open_end_shows_the_steps_that_were_run(capsys: pytest.CaptureFixture[str]) -> None:
    fit(Legacy([4, 6, 8]).model(), verbose=2)
    assert "3/3" in capsys.readouterr().out


def test_silent_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    fit(Legacy([4, 6, 8]).model(), steps_per_epoch=2, verbose=0)
    assert capsys.readouterr().out == ""


def test_a_bar_of_the_user_s_own_is_the_only_one(capsys: pytest.CaptureFixture[str]) -> None:
    fit(Legacy([1, 2]).model(), steps_per_epoch=2, verbose=2, callbacks=[keras.callbacks.ProgbarLogger()])
    assert capsys.readouterr().out.count("2/2") == 1
