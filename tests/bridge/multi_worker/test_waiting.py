"""A process without a strategy waits for the chief's first checkpoint; what each process writes, and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tensorflow as tf

from bridge import cluster

CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"]}


class Clock:
    """Time that passes only in `sleep`, in which others may do something."""

    def __init__(self, *events: tuple[float, object]) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self._events = list(events)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        while self._events and self._events[0][0] <= self.now:
            self._events.pop(0)[1]()  # type: ignore[operator]


def save(directory: Path, step: int) -> str:
    directory.mkdir(exist_ok=True)
    checkpoint = tf.train.Checkpoint(value=tf.Variable(1.0))
    prefix = checkpoint.write(str(directory / f"model.ckpt-{step}"))
    tf.compat.v1.train.update_checkpoint_state(str(directory), prefix)
    return prefix


def wait(directory: Path, seconds: float | None, clock: Clock) -> str:
    return cluster.wait_for_checkpoint(directory, seconds, clock=clock, sleep=clock.sleep)


def test_a_checkpoint_that_is_there_is_taken_at_once(tmp_path: Path) -> None:
    prefix = save(tmp_path, 7)
    clock = Clock()
    assert wait(tmp_path, 0, clock) == prefix
    assert clock.slept == []


def test_the_newest_checkpoint_is_taken(tmp_path: Path) -> None:
    save(tmp_path, 7)
    assert wait(tmp_path, 10, Clock()) == str(tmp_path / "model.ckpt-7")
    save(tmp_path, 9)
    assert wait(tmp_path, 10, Clock()) == str(tmp_path / "model.ckpt-9")


def test_it_waits_until_the_chief_has_made_the_folder_and_saved(tmp_path: Path) -> None:
    directory = tmp_path / "job"
    clock = Clock((3.0, directory.mkdir), (5.0, lambda: save(directory, 0)))
    assert wait(directory, 100, clock) == str(directory / "model.ckpt-0")
    assert clock.now == 5.0


def test_without_a_limit_it_waits_on(tmp_path: Path) -> None:
    clock = Clock((20_000.0, lambda: save(tmp_path, 1)))
    assert wait(tmp_path, None, clock) == str(tmp_path / "model.ckpt-1")


def no_folder(directory: Path) -> None:
    del directory


def empty_folder(directory: Path) -> None:
    directory.mkdir()


def checkpoint_that_was_deleted(directory: Path) -> None:
    save(directory, 3)
    for file in directory.glob("model.ckpt-3*"):
        file.unlink()


def garbled_state(directory: Path) -> None:
    directory.mkdir()
    (directory / "checkpoint").write_text("model_checkpoint_pa")


@pytest.mark.parametrize(
    ("prepare", "missing"),
    [
        (no_folder, "there is no folder"),
        (empty_folder, "has no checkpoint yet"),
        (checkpoint_that_was_deleted, "model.ckpt-3 is named in"),
        (garbled_state, "has no checkpoint yet"),
    ],
)
def test_in_time_or_an_error_that_says_what_is_missing(tmp_path: Path, prepare: object, missing: str) -> None:
    directory = tmp_path / "job"
    prepare(directory)  # type: ignore[operator]
    clock = Clock()
    with pytest.raises(tf.errors.DeadlineExceededError, match=missing) as caught:
        wait(directory, 4.5, clock)
    assert clock.now == 4.5
    assert "after waiting 4.5 secs" in str(caught.value)
    assert "is_chief=True" in str(caught.value)


def test_a_process_without_a_cluster_writes_everything() -> None:
    assert cluster.writes_here() == (True, True)
    assert cluster.writes_here(tf.distribute.OneDeviceStrategy("cpu:0")) == (True, True)


class Worker:
    """A strategy as a worker has it that is not the chief."""

    class extended:  # noqa: N801 - the attribute of a strategy
        should_checkpoint = False
        should_save_summary = False

    cluster_resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(CLUSTER), task_type="worker", task_id=1
    )


def test_the_strategys_flags_tell_what_is_written() -> None:
    assert cluster.writes_here(Worker()) == cluster.Writes(checkpoints=False, summaries=False)


def test_a_worker_has_a_folder_of_its_own_inside_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert cluster.own_directory("gs://bucket/job", Worker()) == "gs://bucket/job/tmp_worker_1"
    assert cluster.own_directory(Path("job")) == "job/tmp"
    monkeypatch.setenv(
        "TF_CONFIG", json.dumps({"cluster": CLUSTER, "task": {"type": "worker", "index": "0"}})
    )
    assert cluster.own_directory("job") == "job/tmp_worker_0"
    assert cluster.own_directory("job", Worker()) == "job/tmp_worker_1"


def test_a_process_is_called_by_its_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert cluster.task_name() == "this process"
    assert cluster.task_name(Worker()) == "worker 1"


def test_without_a_cluster_devices_need_no_task() -> None:
    assert cluster.task_device(tf.distribute.get_strategy()) is None
    assert cluster.task_device(tf.distribute.MirroredStrategy(["cpu:0"])) is None


ABORTED = tf.errors.UnavailableError(
    None, None, "Detected at node x\n\nCollective ops is aborted by: Connection reset by peer\nmore\n"
)


def test_only_errors_of_collective_operations_mean_a_lost_worker() -> None:
    assert cluster.is_lost_worker(ABORTED)
    assert not cluster.is_lost_worker(tf.errors.UnavailableError(None, None, "the disk of a hook"))
    assert not cluster.is_lost_worker(ValueError("Collective ops is aborted"))


def test_a_lost_worker_is_no_error_that_a_monitored_session_tries_again() -> None:
    error = cluster.worker_lost(ABORTED)
    assert not isinstance(error, tf.errors.OpError)
    assert "Connection reset by peer" in str(error)
    assert "start all processes of the job again" in str(error)
