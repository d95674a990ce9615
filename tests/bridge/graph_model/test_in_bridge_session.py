"""`bridge.MonitoredTrainingSession` fits and evaluates a GraphModel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

import bridge
from tests.bridge.graph_model.support import Legacy, Notes
from tests.bridge.support import saved_steps

tf1 = tf.compat.v1


def job(directory: Path, last_step: int, **arguments: Any) -> tuple[keras.callbacks.History, Notes]:
    """One process's part of a job of three epochs of four steps."""
    with tf.Graph().as_default():
        notes = Notes()
        model = Legacy([1], repeat=True).model()
        hook = tf1.train.StopAtStepHook(last_step=last_step)
        with bridge.MonitoredTrainingSession(checkpoint_dir=str(directory), hooks=[hook]) as session:
            history = session.fit(
                model, epochs=3, steps_per_epoch=4, verbose=0, callbacks=[notes], **arguments
            )
        return history, notes


def test_a_job_that_was_stopped_goes_on_in_its_epoch_at_its_step(tmp_path: Path) -> None:
    first, _ = job(tmp_path, 6)
    second, notes = job(tmp_path, 100)
    third, nothing = job(tmp_path, 100)
    assert (first.epoch, second.epoch, third.epoch) == ([0, 1], [1, 2], [])
    assert notes.batches == [2, 3, 0, 1, 2, 3]
    assert nothing.calls == ["train_begin", "train_end"]
    assert saved_steps(tmp_path)[-1] == 12


def test_it_evaluates_in_the_session() -> None:
    legacy = Legacy([1], repeat=True)
    model = legacy.model(eval_logs={"w": legacy.w})
    with bridge.MonitoredTrainingSession() as session:
        session.fit(model, steps_per_epoch=3, verbose=0)
        assert session.evaluate(model, verbose=0) == 3.0
        assert model.get_weights() == [1.0, 3.0]


def test_an_initial_step_of_0_begins_anew_whatever_was_restored(tmp_path: Path) -> None:
    job(tmp_path, 6)
    history, notes = job(tmp_path, 100, initial_step=0)
    assert history.epoch == [0, 1, 2]
    assert len(notes.batches) == 12
    assert saved_steps(tmp_path)[-1] == 18


def test_a_callback_may_run_the_session_and_the_hooks_see_it(tmp_path: Path) -> None:
    modes: list[bool] = []

    class Modes(tf1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            modes.append(tf.executing_eagerly())

    with tf.Graph().as_default():
        legacy = Legacy([1], repeat=True)
        model = legacy.model()
        with bridge.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path), save_checkpoint_steps=1, hooks=[Modes()]
        ) as session:
            seen: list[float] = []

            def look(batch: int, logs: Any) -> None:
                seen.append(session.run(legacy.w))
                seen.append(session.run_step_fn(lambda step_context: step_context.run_with_hooks(legacy.w)))
                assert tf.executing_eagerly()

            callback = keras.callbacks.LambdaCallback(on_train_batch_end=look)
            session.fit(model, steps_per_epoch=3, verbose=0, callbacks=[callback])
    assert seen == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    assert modes == [False] * 9
    assert saved_steps(tmp_path)[-1] == 3
