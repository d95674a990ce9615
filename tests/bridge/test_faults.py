"""What goes wrong in real life, done for real: killed processes, full disks, damaged files, a second chief."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import bridge
from bridge.checkpoint_directory import ChiefLock
from bridge.errors import SecondChiefWarning, UnreadableCheckpointError, UnreadableCheckpointWarning
from tests.bridge.contract.monitored import Session, constant_summary, fit, model_of, step_of, train
from tests.bridge.jobs import MOMENTS, STEPS, Job, run, said, trace
from tests.bridge.support import TraceHook, batches, phases, saved, saved_steps, scalars

tf1 = tf.compat.v1

# --- killed processes ----------------------------------------------------------------------------------------------


def kills(seed: int, count: int) -> list[tuple[str, int]]:
    """Moments, and how many steps after the start, by chance but always the same: each moment is there."""
    chance = random.Random(seed)
    moments = [*MOMENTS, *chance.choices(list(MOMENTS), k=count - len(MOMENTS))]
    chance.shuffle(moments)
    return [(moment, 0 if moment == "after_create_session" else chance.randint(1, 2)) for moment in moments]


@pytest.mark.slow
@pytest.mark.multiprocess
def test_killed_at_twenty_random_moments_a_job_always_computes_the_same(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    job: dict[str, Any] = {"epochs": 9, "options": {"save_checkpoint_steps": 1, "save_summaries_steps": 1}}
    steps = 3 * STEPS
    assert run(Job(str(whole), **job)) == 0
    expected = dict(trace(whole))
    assert sorted(expected) == list(range(1, steps + 1))

    chance_kills = kills(seed=7, count=20)
    assert {moment for moment, _ in chance_kills} == set(MOMENTS)
    directory, killed = tmp_path / "job0", 0
    for number, (moment, later) in enumerate(chance_kills):
        if number % 10 == 0:  # Two jobs, each killed ten times.
            directory = tmp_path / f"job{number}"
            directory.mkdir()
        at_step = max(saved_steps(directory), default=0) + later if later else 0
        assert run(Job(str(directory), moment, at_step, **job)) == -signal.SIGKILL, moment
        killed += 1
        if number % 10 == 9:
            assert run(Job(str(directory), **job)) == 0
            assert said(directory)[-2:] == [f"end at {steps}", "left"]
            assert {pair for pair in trace(directory) if expected[pair[0]] != pair[1]} == set()
            np.testing.assert_array_equal(saved(directory, "last/kernel"), saved(whole, "last/kernel"))
            # What a process had saved but not told, or not yet written of its summaries, died with it. The last one
            # lost nothing.
            last = int(said(directory)[-4].removeprefix("from "))
            assert set(range(last + 1, steps + 1)) <= set(dict(trace(directory)))
            seen = {step for step, _ in scalars(directory, "step_seen")}
            assert set(range(last + 1, steps + 1)) <= seen <= set(expected)
    assert killed == 20


# --- damaged checkpoints -------------------------------------------------------------------------------------------


def damage(directory: Path, step: int, part: str) -> None:
    """Cuts a checkpoint's file in two and keeps the first half; "gone": deletes it."""
    (path,) = directory.glob(f"model.ckpt-{step}.{part.removeprefix('no ')}*")
    if part.startswith("no "):
        path.unlink()
    else:
        os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("part", ["data", "index", "no data", "no index"])
def test_a_damaged_newest_checkpoint_is_left_alone_and_the_one_before_restored(
    part: str, tmp_path: Path
) -> None:
    train(6, checkpoint_dir=str(tmp_path), save_checkpoint_steps=2)
    damage(tmp_path, 6, part)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if "ckpt" in path.name}
    model = model_of()
    with (
        pytest.warns(UnreadableCheckpointWarning, match=r"model\.ckpt-6.*Restored .*model\.ckpt-4"),
        Session(
            checkpoint_dir=str(tmp_path), save_checkpoint_steps=None, save_checkpoint_secs=None
        ) as session,
    ):
        fit(session, model, 6, resume_data=True)
    plain = model_of()
    plain.fit(batches(6), shuffle=False, verbose=0)
    np.testing.assert_array_equal(model.get_weights()[0], plain.get_weights()[0])
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if "ckpt" in path.name}
    assert after == before


@pytest.mark.parametrize("part", ["data", "index", "no index"])
def test_where_no_checkpoint_can_be_read_nothing_is_trained_and_nothing_deleted(
    part: str, tmp_path: Path
) -> None:
    train(4, checkpoint_dir=str(tmp_path), save_checkpoint_steps=2)
    for step in (0, 2, 4):
        damage(tmp_path, step, part)
    before = sorted(path.name for path in tmp_path.iterdir())
    model = model_of()
    weights = model.get_weights()
    with (
        pytest.raises(UnreadableCheckpointError, match=r"model\.ckpt-4.*model\.ckpt-2.*Nothing was changed"),
        Session(checkpoint_dir=str(tmp_path)) as session,
    ):
        fit(session, model, 6)
    assert step_of(model) == 0
    for one, other in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(one, other)
    assert [path.name for path in sorted(tmp_path.iterdir())] == before


# --- disks ---------------------------------------------------------------------------------------------------------


def mount(*arguments: str) -> None:
    """Mounts something, or skips the test where this process may not."""
    command = shutil.which("mount")
    if command is None or subprocess.run([command, *arguments], capture_output=True, check=False).returncode:
        pytest.skip("only an administrator who may mount folders can make this fault")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    mount("-t", "tmpfs", "-o", "size=2m", "tmpfs", str(tmp_path))
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


class FillDisk(tf1.train.SessionRunHook):
    """Leaves no byte of the disk once a session is made."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "filler"

    def after_create_session(self, session: Any, coord: Any) -> None:
        with contextlib.suppress(OSError), self._path.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))


def test_a_full_disk_during_a_save_is_an_error_and_the_checkpoints_before_stay(small_disk: Path) -> None:
    jobs = small_disk / "job"
    options = {"save_graph_def": False, "log_step_count_steps": None, "save_summaries_steps": None}
    options |= {"checkpoint_dir": str(jobs), "save_checkpoint_steps": 1}
    train(2, **options)
    calls: list[Any] = []
    model = model_of()
    with (
        pytest.raises(tf.errors.ResourceExhaustedError, match="No space left"),
        Session(hooks=[FillDisk(small_disk), TraceHook(calls)], **options) as session,
    ):
        fit(session, model, 2, epochs=2)
    assert "end" not in phases(calls)
    assert step_of(model) == 3
    (small_disk / "filler").unlink()
    assert tf.train.latest_checkpoint(str(jobs)) == str(jobs / "model.ckpt-2")
    resumed = train(2, fits={"epochs": 2}, **options)
    plain = model_of()
    plain.fit(batches(2), epochs=2, shuffle=False, verbose=0)
    np.testing.assert_array_equal(resumed.get_weights()[0], plain.get_weights()[0])


@pytest.mark.multiprocess
@pytest.mark.parametrize("kind", ["keras", "graph", "loop"])
def test_a_file_that_reaches_the_size_limit_during_a_save_is_an_error_not_the_end_of_the_data(
    kind: str, tmp_path: Path
) -> None:
    """TensorFlow reports EFBIG as OutOfRangeError, by which v1 knows the end of the data."""
    program = [sys.executable, "-m", "tests.bridge.file_limit_program", kind, str(tmp_path)]
    assert subprocess.run(program, check=False, timeout=600, capture_output=True).returncode == 3
    # The save before the limit is whole, and named; of the other nobody has heard.
    assert saved_steps(tmp_path)[-1] == 2
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder in which nothing can be written, not even by the administrator."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    if os.geteuid() != 0:
        source.chmod(0o500)
        yield source
        source.chmod(0o700)
        return
    target.mkdir()
    mount("--bind", str(source), str(target))
    mount("-o", "remount,ro,bind", str(target))
    yield target
    subprocess.run(["umount", "--lazy", str(target)], check=True)


def test_a_folder_that_cannot_be_written_is_an_error_before_the_first_step(read_only: Path) -> None:
    model = model_of()
    with (
        pytest.raises((tf.errors.OpError, OSError), match=r"ead-only|ermission"),
        Session(checkpoint_dir=str(read_only)) as session,
    ):
        fit(session, model)
    assert step_of(model) == 0
    model.fit(batches(1), verbose=0, shuffle=False)


# --- two chiefs ----------------------------------------------------------------------------------------------------


def test_a_second_chief_in_one_folder_is_warned(tmp_path: Path) -> None:
    with ChiefLock(str(tmp_path)), pytest.warns(SecondChiefWarning, match="Another chief"):
        train(1, checkpoint_dir=str(tmp_path))


def test_a_chief_after_another_and_a_worker_beside_one_are_not_warned(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    train(1, checkpoint_dir=str(tmp_path))
    model = model_of()
    with (
        Session(checkpoint_dir=str(tmp_path)) as chief,
        Session(checkpoint_dir=str(tmp_path), is_chief=False) as worker,
    ):
        fit(chief, model, epochs=2)
        fit(worker, epochs=2)
    with pytest.raises(KeyError), Session(checkpoint_dir=str(tmp_path)) as session:  # noqa: PT012
        fit(session, epochs=3)
        {}["mine"]
    train(1, checkpoint_dir=str(tmp_path))
    assert [warning for warning in recwarn if warning.category is SecondChiefWarning] == []


# --- writers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
def test_summaries_are_on_the_disk_after_each_way_out(
    error: type[BaseException] | None, tmp_path: Path
) -> None:
    expected = contextlib.nullcontext() if error is None else pytest.raises(error)
    options = {"summary_dir": str(tmp_path), "save_summaries_steps": 1}
    with expected, Session(hooks=[constant_summary()], **options) as session:
        fit(session)
        if error is not None:
            raise error
    assert [step for step, _ in scalars(tmp_path, "constant")] == [1, 2, 3]


def test_the_public_names_of_the_faults_are_there() -> None:
    for error in (UnreadableCheckpointError, UnreadableCheckpointWarning, SecondChiefWarning):
        assert getattr(bridge.errors, error.__name__) is error
