"""The examples of the migration guide run, and what they say about themselves is true."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "migration_guide" / "examples" / "digits.py"
EPOCHS, LAST_STEP = 4, 120  # 47 steps an epoch: the third is cut short.


def run_digits(directory, *arguments):
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [
            sys.executable,
            str(DIGITS),
            "--output",
            "out",
            f"--epochs={EPOCHS}",
            f"--last-step={LAST_STEP}",
            *arguments,
        ],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """The finished process and the folder that it wrote to."""
    directory = tmp_path_factory.mktemp("digits")
    done = run_digits(directory)
    assert done.returncode == 0, done.stderr
    return done, directory / "out" / "run-1"


@pytest.fixture(scope="module")
def said(digits):
    """What the table says, by hook."""
    section = digits[0].stdout.split("What each hook did\n")[1].split("\n\n")[0]
    return dict(re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in section.splitlines())


@pytest.fixture(scope="module")
def events(digits):
    """The event files, as TensorBoard reads them."""
    return EventAccumulator(str(digits[1]), size_guidance={"scalars": 0, "histograms": 0}).Reload()


def numbers(text):
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e[-+]\d+)?", text)]


def section(stdout, title):
    rows = stdout.split(f"\n{title}")[1].split("\n\n")[0].splitlines()[1:]
    return dict(re.split(r"\s{2,}", row.strip(), maxsplit=1) for row in rows)


def test_nothing_but_the_program_itself_writes_on_the_screen(digits):
    done, _ = digits
    assert done.stderr == ""
    assert "tensorflow" not in done.stdout.lower()


def test_validation_is_part_of_the_fit(digits):
    assert len(re.findall(r"val_accuracy: \d", digits[0].stdout)) == 3


def test_all_seven_hooks_are_in_the_table(said):
    assert list(said) == [
        "SummarySaverHook",
        "CheckpointSaverHook",
        "LoggingTensorHook",
        "StepCounterHook",
        "NanTensorHook",
        "StopAtStepHook",
        "ClippedRateHook",
    ]


def test_summaries_are_in_the_event_files(said, events):
    assert events.Tags()["histograms"] == ["train/conv"]
    losses = events.Scalars("train/loss")
    for tag in ("train/conv", "train/learning_rate", "train/loss"):
        assert tag in said["SummarySaverHook"]
    assert f"{len(losses)} times, last at step {losses[-1].step}" in said["SummarySaverHook"]
    assert len(events.Histograms("train/conv")) == len(events.Scalars("train/learning_rate")) == len(losses)
    assert numbers(said["NanTensorHook"]) == [len(losses), len(losses)]


def test_the_saved_activations_are_those_of_a_relu(events):
    histogram = events.Histograms("train/conv")[-1].histogram_value
    assert histogram.min == 0
    assert histogram.max > 0
    assert histogram.num == 32 * 6 * 6 * 16


def test_checkpoints_are_there(said, digits):
    saved, *kept = numbers(said["CheckpointSaverHook"])
    paths = tf.train.get_checkpoint_state(str(digits[1])).all_model_checkpoint_paths
    assert [int(path.rsplit("-", 1)[1]) for path in paths] == kept == [0, 100, LAST_STEP]
    assert saved == len(kept)


def test_the_log_holds_the_lines_of_the_logging_hook(said, digits):
    done, directory = digits
    lines = [line for line in (directory / "train.log").read_text().splitlines() if "active in conv" in line]
    assert numbers(said["LoggingTensorHook"]) == [len(lines)]
    assert len(lines) == 2
    assert all(line in done.stdout for line in lines)


def test_speeds_are_in_the_event_files(said, events):
    speeds = [event.value for event in events.Scalars("global_step/sec")]
    count, low, high = numbers(said["StepCounterHook"])
    assert count == len(speeds)
    assert [low, high] == pytest.approx([min(speeds), max(speeds)], rel=0.01)


def test_the_fit_ended_at_the_last_step(said, digits):
    latest = tf.train.latest_checkpoint(str(digits[1]))
    assert int(tf.train.load_variable(latest, "global_step")) == LAST_STEP
    assert numbers(said["StopAtStepHook"]) == [LAST_STEP, 3, EPOCHS]


def test_the_rates_that_were_fed_are_those_that_the_step_used(said, events):
    norms, low_norm, high_norm, rates, low, high = numbers(said["ClippedRateHook"])
    assert norms == rates == LAST_STEP
    assert 0 < low_norm <= high_norm
    used = [event.value for event in events.Scalars("train/learning_rate")]
    assert used[0] == pytest.approx(high, rel=0.01)
    assert all(low * 0.99 <= rate <= high * 1.01 for rate in used)


def test_the_files_and_variables_that_it_lists_exist(digits):
    done, directory = digits
    files = section(done.stdout, "Files in")
    assert all(any(directory.glob(name)) for name in files)
    assert all(any(file.match(name) for name in files) for file in directory.iterdir())
    latest = tf.train.latest_checkpoint(str(directory))
    variables = {name: str(shape) for name, shape in tf.train.list_variables(latest)}
    assert section(done.stdout, "Variables in") == variables
    assert variables["conv/kernel"] == "[3, 3, 1, 16]"


def test_it_ends_with_the_command_for_tensorboard(digits):
    assert digits[0].stdout.rstrip().endswith(f"tensorboard --logdir {Path('out') / 'run-1'}")


def test_another_run_gets_a_folder_of_its_own(digits):
    _, directory = digits
    before = sorted(directory.iterdir())
    done = run_digits(directory.parents[1], "--epochs=1", "--last-step=5")
    assert done.returncode == 0, done.stderr
    assert (directory.parent / "run-2" / "checkpoint").exists()
    assert sorted(directory.iterdir()) == before
