"""`train_and_evaluate` in one process and as an evaluator: throttling, start delay, its end, by a clock of the test."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import keras
import pytest
import tensorflow as tf

from bridge import estimator as est
from bridge.estimator.errors import EstimatorError, EstimatorTypeError
from bridge.estimator.train_and_evaluate import Executor
from tests.bridge.estimator.support import dataset, linear, once
from tests.bridge.support import FakeClock, FunctionHook, TraceHook, scalars

tf1 = tf.compat.v1


def evaluated_steps(estimator: est.Estimator, name: str | None = None) -> list[int]:
    folder = Path(estimator.eval_dir(name))
    return [step for step, _ in scalars(folder, "loss")] if folder.exists() else []


def test_each_checkpoint_is_evaluated_but_the_first(tmp_path: Path) -> None:
    estimator = linear(tmp_path, config={"save_checkpoints_steps": 2})
    result = est.train_and_evaluate(
        estimator, est.TrainSpec(dataset, max_steps=5), est.EvalSpec(once, throttle_secs=0)
    )
    assert result is not None
    assert result[0]["global_step"] == 5
    assert evaluated_steps(estimator) == [2, 4, 5]


def test_evaluations_are_throttled_but_the_last_one_is_not_lost(tmp_path: Path) -> None:
    clock = FakeClock()
    estimator = linear(tmp_path, config={"save_checkpoints_steps": 1})
    ten_seconds = FunctionHook(before_run=lambda run_context, built: clock.sleep(10))
    Executor(
        estimator,
        est.TrainSpec(dataset, max_steps=8, hooks=[ten_seconds]),
        est.EvalSpec(once, throttle_secs=25),
        clock=clock.time,
        sleep=clock.sleep,
    ).run()
    assert evaluated_steps(estimator) == [1, 4, 7, 8]


def test_exporters_get_every_evaluation_and_know_the_last(tmp_path: Path) -> None:
    seen: list[Any] = []

    class Note(est.Exporter):
        name = "note"

        def export(
            self,
            estimator: Any,
            export_path: str,
            checkpoint_path: str,
            eval_result: Any,
            is_the_final_export: bool,
        ) -> Any:
            seen.append(
                (Path(export_path).relative_to(tmp_path), Path(checkpoint_path).name, is_the_final_export)
            )
            return len(seen)

    estimator = linear(tmp_path, config={"save_checkpoints_steps": 2})
    spec = est.EvalSpec(once, throttle_secs=0, exporters=Note())
    _, exports = est.train_and_evaluate(estimator, est.TrainSpec(dataset, max_steps=4), spec) or (None, None)
    assert seen == [
        (Path("export/note"), "model.ckpt-2", False),
        (Path("export/note"), "model.ckpt-4", True),
    ]
    assert exports == [2]


def test_callbacks_are_given_to_the_training(tmp_path: Path) -> None:
    epochs: list[int] = []
    look = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: epochs.append(epoch))
    estimator = linear(tmp_path)
    specs = est.TrainSpec(dataset, max_steps=6), est.EvalSpec(once)
    est.train_and_evaluate(estimator, *specs, callbacks=[look], steps_per_epoch=3)
    assert epochs == [0, 1]


def test_without_checkpoints_it_says_what_to_do(tmp_path: Path) -> None:
    estimator = linear(tmp_path, config={"save_checkpoints_secs": None})
    with pytest.raises(EstimatorError, match="save_checkpoints_steps"):
        est.train_and_evaluate(estimator, est.TrainSpec(dataset, max_steps=2), est.EvalSpec(once))


def test_arguments_of_other_types_are_refused(tmp_path: Path) -> None:
    train, evaluation = est.TrainSpec(dataset, max_steps=1), est.EvalSpec(once)
    for arguments in (
        (1, train, evaluation),
        (linear(tmp_path), 1, evaluation),
        (linear(tmp_path), train, None),
    ):
        with pytest.raises(EstimatorTypeError, match="must have type"):
            est.train_and_evaluate(*arguments)  # type: ignore[arg-type]


CLUSTER = {"chief": ["localhost:1"], "ps": ["localhost:2"], "worker": ["localhost:3", "localhost:4"]}


def in_cluster(monkeypatch: pytest.MonkeyPatch, task: str, index: int = 0) -> None:
    config = {"cluster": CLUSTER, "task": {"type": task, "index": index}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))


class SleptError(Exception):
    """Ends a process that would wait for others."""


def test_an_evaluator_waits_evaluates_what_is_new_and_ends_with_the_last_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    trainer = linear(tmp_path)  # The chief, as far as the evaluator can see.
    clock, waits = FakeClock(), []
    todo = iter(
        [None, lambda: trainer.train(dataset, steps=3), None, lambda: trainer.train(dataset, steps=4)]
    )

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock.sleep(seconds)
        with_chief = next(todo)
        if with_chief is not None:
            monkeypatch.delenv("TF_CONFIG", raising=False)
            with_chief()

    in_cluster(monkeypatch, "evaluator")
    evaluator = linear(tmp_path)
    hook_calls: list[tuple[str, ...]] = []
    spec = est.EvalSpec(once, start_delay_secs=7, throttle_secs=30, hooks=[TraceHook(hook_calls)])
    Executor(evaluator, est.TrainSpec(dataset, max_steps=7), spec, clock=clock.time, sleep=sleep).run()
    assert waits == [7, 30, 30, 30]
    assert evaluated_steps(evaluator) == [3, 7]
    assert [phase for phase, _ in hook_calls].count("begin") == 2
    assert "not trained yet" in log.text
    assert "No new checkpoint" in log.text


def test_there_is_only_one_evaluator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_cluster(monkeypatch, "evaluator", 1)
    with pytest.raises(EstimatorError, match="only be one `evaluator`"):
        est.train_and_evaluate(linear(tmp_path), est.TrainSpec(dataset), est.EvalSpec(once))


@pytest.mark.parametrize(("index", "longest", "delay"), [(0, None, 5), (1, None, 10), (1, 3, 3)])
def test_workers_start_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: int, longest: int | None, delay: int
) -> None:
    in_cluster(monkeypatch, "worker", index)
    monkeypatch.setenv(
        "TF_CONFIG", json.dumps({**json.loads(os.environ["TF_CONFIG"]), "environment": "google"})
    )
    estimator = linear(tmp_path, config={"experimental_max_worker_delay_secs": longest})

    def sleep(seconds: float) -> None:
        raise SleptError(seconds)

    with pytest.raises(SleptError) as slept:
        Executor(estimator, est.TrainSpec(dataset, max_steps=1), est.EvalSpec(once), sleep=sleep).run()
    assert slept.value.args == (delay,)


@pytest.mark.parametrize("task", ["evaluator", "ps"])
def test_train_is_refused_in_a_process_that_does_not_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    in_cluster(monkeypatch, task)
    with pytest.raises(EstimatorError, match="train_and_evaluate"):
        linear(tmp_path).train(dataset, steps=1)
