"""Train a small network on real handwritten digits with `model.fit`, and keep seven TF1 session hooks in it.

Six of the hooks are TensorFlow's own. The seventh is one that a team might have written for TensorFlow 1. None of them
knows about Keras: they find their tensors by name, in the graph that `bridge.HookCallback` makes of the training step.
`bridge.describe(model, data)` lists the names that there are.

Run it with `make demo`, or `python migration_guide/examples/digits.py --output DIR`.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import logging
import math
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple


@contextlib.contextmanager
def quiet_start() -> Iterator[None]:
    """Keeps what TensorFlow's C++ code prints while it is loaded off the screen."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    screen = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(screen, 2)
        os.close(nowhere)
        os.close(screen)


with quiet_start():
    import keras
    import numpy as np
    import tensorflow as tf
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    import bridge

tf1 = tf.compat.v1

LOG_FILE = "train.log"
LOGGED = "active in conv = "  # What marks the LoggingTensorHook's lines.


# ---- TF1 code, as it stands in many repositories. Only the names of tensors are the bridge's. ----


class ClippedRateHook(tf1.train.SessionRunHook):
    """Fetches the norm of all gradients, and feeds a learning rate that is smaller after a large one."""

    def __init__(self, rate: float, norm_limit: float) -> None:
        self._rate = rate
        self._norm_limit = norm_limit
        self.norms: list[float] = []
        self.rates: list[float] = []

    def begin(self) -> None:
        graph = tf1.get_default_graph()
        gradients = [graph.get_tensor_by_name(f"gradients/{v.op.name}:0") for v in tf1.trainable_variables()]
        self._norm_tensor = tf.linalg.global_norm(gradients)
        self._rate_tensor = graph.get_tensor_by_name("learning_rate:0")

    def before_run(self, run_context: tf1.train.SessionRunContext) -> tf1.train.SessionRunArgs:
        last = self.norms[-1] if self.norms else 0.0
        self.rates.append(self._rate * min(1.0, self._norm_limit / max(last, 1e-12)))
        return tf1.train.SessionRunArgs(self._norm_tensor, feed_dict={self._rate_tensor: self.rates[-1]})

    def after_run(self, run_context: Any, run_values: tf1.train.SessionRunValues) -> None:
        self.norms.append(float(run_values.results))


class SaveListener(tf1.train.CheckpointSaverListener):
    """Is told by a CheckpointSaverHook of each checkpoint."""

    def __init__(self) -> None:
        self.steps: list[int] = []

    def after_save(self, session: Any, global_step_value: int) -> None:
        self.steps.append(int(global_step_value))


def make_summary_hook(directory: str) -> tf1.train.SessionRunHook:
    """Makes summaries of tensors in the default graph, and the hook that saves them."""
    graph = tf1.get_default_graph()
    for name in ("loss", "learning_rate"):
        tf1.summary.scalar(f"train/{name}", graph.get_tensor_by_name(f"{name}:0"))
    tf1.summary.histogram("train/conv", graph.get_tensor_by_name("conv/output:0"))
    return tf1.train.SummarySaverHook(save_steps=20, output_dir=directory, summary_op=tf1.summary.merge_all())


def make_logging_hook() -> tf1.train.SessionRunHook:
    """Makes a tensor of an inner activation, and the hook that logs it."""
    activations = tf1.get_default_graph().get_tensor_by_name("conv/output:0")
    active = tf.reduce_mean(tf.cast(activations > 0, tf.float32))
    tensors = {"step": "global_step:0", "loss": "loss:0", "active in conv": active}
    return tf1.train.LoggingTensorHook(tensors, every_n_iter=100)


# ---- The Keras model and its fit. ----


def make_model() -> keras.Model:
    """Builds and compiles the network."""
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, activation="relu", name="conv"),
            layers.MaxPooling2D(name="pool"),
            layers.Flatten(name="flatten"),
            layers.Dropout(0.2, name="dropout"),
            layers.Dense(10, name="classes"),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    # XLA hides inner tensors, which some of the hooks ask for.
    model.compile("adam", loss, metrics=["accuracy"], jit_compile=False)
    return model


class Outcome(NamedTuple):
    """What is known after a fit: its steps and epochs, and the two objects of TF1 code that can tell more."""

    steps: int
    epochs: int
    listener: SaveListener
    rate_hook: ClippedRateHook


def train(directory: Path, epochs: int, last_step: int) -> Outcome:
    """Trains with the seven hooks.

    Args:
      directory: Where the hooks write.
      epochs: How many epochs `fit` is asked for.
      last_step: The step at which a hook stops it.
    """
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")[..., np.newaxis]
    x, x_test, y, y_test = train_test_split(images, digits.target, test_size=297, random_state=0)

    keras.utils.set_random_seed(0)
    model = make_model()
    listener = SaveListener()
    rate_hook = ClippedRateHook(rate=3e-3, norm_limit=1.0)
    hooks = [
        # A hook whose constructor needs tensors is given as a function, which is called inside the graph.
        lambda: make_summary_hook(str(directory)),
        tf1.train.CheckpointSaverHook(str(directory), save_steps=100, listeners=[listener]),
        make_logging_hook,
        tf1.train.StepCounterHook(every_n_steps=50, output_dir=str(directory)),
        tf1.train.NanTensorHook("loss:0"),
        tf1.train.StopAtStepHook(last_step=last_step),
        rate_hook,
    ]
    history = model.fit(
        x,
        y,
        epochs=epochs,
        validation_data=(x_test, y_test),
        # A progress bar, or a line an epoch where the output is no terminal.
        verbose=1 if sys.stdout.isatty() else 2,
        callbacks=[bridge.HookCallback(hooks)],
    )
    return Outcome(int(model.optimizer.iterations), len(history.epoch), listener, rate_hook)


# ---- What came of it: everything below is read back from files and hooks. ----


def log_to(file: Path) -> None:
    """Sends TensorFlow's log to a file, and the LoggingTensorHook's lines to the screen as well.

    On a terminal, a line first wipes the progress bar away, which Keras draws anew below it.
    """
    whole = logging.FileHandler(file)
    screen = logging.StreamHandler(sys.stdout)
    screen.setFormatter(logging.Formatter("\r\x1b[K%(message)s" if sys.stdout.isatty() else "%(message)s"))
    screen.addFilter(lambda record: LOGGED in record.getMessage())
    logger = tf.get_logger()
    logger.handlers = [whole, screen]
    logger.propagate = False
    logger.setLevel(logging.INFO)


def read_summaries(directory: Path) -> dict[str, dict[int, Any]]:
    """Reads the event files: by tag, from steps to values (of histograms: how many numbers they stand for)."""
    found: dict[str, dict[int, Any]] = collections.defaultdict(dict)
    for file in sorted(directory.glob("events.out.tfevents.*")):
        for event in tf1.train.summary_iterator(str(file)):
            for value in event.summary.value:
                is_scalar = value.HasField("simple_value")
                found[value.tag][event.step] = value.simple_value if is_scalar else int(value.histo.num)
    return dict(found)


def what_hooks_did(directory: Path, epochs: int, last_step: int, outcome: Outcome) -> list[tuple[str, str]]:
    """Says in a line for each hook what it did."""
    summaries = read_summaries(directory)
    speeds = summaries.pop("global_step/sec", {}).values()
    losses = summaries["train/loss"]
    checkpoints = tf.train.get_checkpoint_state(str(directory)).all_model_checkpoint_paths
    saved_at = ", ".join(path.rsplit("-", 1)[1] for path in checkpoints)
    numbers = sum(map(math.isfinite, losses.values()))
    logged = sum(LOGGED in line for line in (directory / LOG_FILE).read_text().splitlines())
    ended = "ended the fit" if outcome.steps == last_step else "had nothing to do: the fit ended"
    norms, rates = outcome.rate_hook.norms, outcome.rate_hook.rates
    return [
        (
            "SummarySaverHook",
            f"saved {', '.join(sorted(summaries))} {len(losses)} times, last at step {max(losses)}",
        ),
        (
            "CheckpointSaverHook",
            f"saved {len(outcome.listener.steps)} checkpoints, as its listener tells; steps {saved_at} are kept",
        ),
        ("LoggingTensorHook", f"wrote {logged} lines about an inner activation"),
        (
            "StepCounterHook",
            f"measured the speed {len(speeds)} times, in steps a second{span(speeds)}",
        ),
        (
            "NanTensorHook",
            f"stopped nothing: {numbers} of the {len(losses)} saved losses are numbers",
        ),
        (
            "StopAtStepHook",
            f"{ended} after step {outcome.steps}, in epoch {outcome.epochs} of {epochs}",
        ),
        (
            "ClippedRateHook",
            f"fetched {len(norms)} gradient norms{span(norms)}, fed {len(rates)} rates{span(rates)}",
        ),
    ]


def span(values: Collection[float]) -> str:
    """Formats the smallest and the largest of some numbers."""
    return f" ({min(values):.3g} to {max(values):.3g})" if values else ""


def files_written(directory: Path) -> list[tuple[str, str]]:
    """Lists the files with their sizes; those of one checkpoint share a line."""
    sizes: dict[str, list[int]] = collections.defaultdict(list)
    for file in sorted(directory.iterdir(), key=lambda file: (file.stat().st_mtime, file.name)):
        name = f"{file.stem.split('.data')[0]}.*" if file.name.startswith("model.ckpt") else file.name
        sizes[name].append(file.stat().st_size)
    return [
        (name, size(sum(each)) + (f" in {len(each)} files" if len(each) > 1 else ""))
        for name, each in sizes.items()
    ]


def size(count: int) -> str:
    """Formats a number of bytes."""
    return f"{count / 1024:.0f} KiB" if count >= 1024 else f"{count} bytes"


def print_table(title: str, rows: list[tuple[str, str]]) -> None:
    """Prints two columns under a title."""
    width = max(len(left) for left, _ in rows)
    print(f"\n{title}")
    for left, right in rows:
        print(f"  {left:<{width}}  {right}")


def short(path: Path) -> Path:
    """Returns the path from the current folder where that is shorter."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def new_directory(parent: Path) -> Path:
    """Makes the next free `run-1`, `run-2`, … in a folder."""
    number = 1
    while True:
        directory = parent / f"run-{number}"
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return directory


def main() -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--output", type=Path, default=Path("demo-output"), help="each run gets a folder of its own there"
    )
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument(
        "--last-step", type=int, default=400, help="the step at which StopAtStepHook ends the fit"
    )
    arguments = parser.parse_args()

    directory = new_directory(arguments.output.absolute())
    log_to(directory / LOG_FILE)
    print(f"One fit with seven TF1 hooks, which write to {short(directory)}", flush=True)
    outcome = train(directory, arguments.epochs, arguments.last_step)

    done = what_hooks_did(directory, arguments.epochs, arguments.last_step, outcome)
    print_table("What each hook did", done)
    print_table(f"Files in {short(directory)}", files_written(directory))
    latest = tf.train.latest_checkpoint(str(directory))
    variables = [(name, str(shape)) for name, shape in tf.train.list_variables(latest)]
    print_table(f"Variables in {Path(latest).name}", variables)
    tensorboard = Path(sys.executable).parent / "tensorboard"
    print(f"\nTo see the summaries:\n  {short(tensorboard)} --logdir {short(directory)}")


if __name__ == "__main__":
    main()
