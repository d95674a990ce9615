"""Training jobs in processes of their own, which are stopped from outside or stop themselves at a chosen moment.

The processes are forked from a server that has TensorFlow imported but not started, so that each is a new program
without the time that the import takes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.checkpoint import checkpoint_management
from tensorflow.python.training import saver

import bridge
from bridge import tf_internals
from bridge.program import Program
from tests.bridge.exactness import cases, data, models
from tests.bridge.exactness.running import EPOCHS, seed

tf1 = tf.compat.v1

STEPS = 15  # Three epochs of five.


def model_of(k: Any) -> Any:
    """A model with batch normalisation and dropout, in whose forward pass a moment is reached."""

    class Reach(k.layers.Layer):  # type: ignore[misc, name-defined]
        def call(self, inputs: Any) -> Any:
            with tf.control_dependencies([tf.numpy_function(_in_the_step, [inputs[:1, 0]], tf.int64)]):
                return tf.identity(inputs)

    layers = [
        k.layers.Dense(6, "relu", name="first"),
        k.layers.BatchNormalization(),
        Reach(),
        k.layers.Dropout(0.3, seed=4),
        k.layers.Dense(1, name="last"),
    ]
    return k.Sequential([k.Input((models.FEATURES,)), *layers])


def _in_the_step(value: Any) -> np.int64:
    del value
    reach("inside_the_step")
    return np.int64(0)


JOB = cases.Case("job", model_of, data.arrays, cases.mse("Adam"))


@dataclasses.dataclass(frozen=True)
class Job:
    """One process of a job.

    Attributes:
      directory: Holds the checkpoints, and what the process tells: `trace`, `said`.
      moment: Where the process does `action`: a name of MOMENTS, or None.
      at_step: How many steps must be over, of which all hooks have heard.
      action: A name of ACTIONS.
      handler: What SIGTERM did before the session: "default", "ignore" or "own".
      options: More parameters of the session.
      flavour: "keras" or "tf_keras".
      epochs: How many epochs the job has.
    """

    directory: str
    moment: str | None = None
    at_step: int = 0
    action: str = "kill"
    handler: str = "default"
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    flavour: str = "keras"
    epochs: int = EPOCHS


def run(job: Job) -> int:
    """Runs a process of a job to its end, and returns its exit code (-9 for SIGKILL)."""
    process = start(job)
    process.join(600)  # For a slow machine; none needs more than seconds.
    assert process.exitcode is not None, "the process hangs"
    return int(process.exitcode)


def start(job: Job) -> Any:
    """Starts a process of a job."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.bridge.jobs", "tf_keras"])
    process = context.Process(target=work, args=(job,))
    process.start()
    return process


def say(job: Job, text: str) -> None:
    """Notes a line in a way that outlives SIGKILL."""
    with (Path(job.directory) / "said").open("a") as file:
        file.write(f"{text}\n")


def said(directory: Path) -> list[str]:
    """What the processes of a job said."""
    path = directory / "said"
    return path.read_text().splitlines() if path.exists() else []


def trace(directory: Path) -> list[tuple[int, str]]:
    """Step and digest of the whole trained state after each step of all processes of a job, in order."""
    path = directory / "trace"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(int(line.split()[0]), line.split()[1]) for line in lines if len(line.split()) == 2]


def work(job: Job) -> None:
    """What a process does: one session with one fit of three epochs, which goes on where the job was."""
    k = cases.package(job.flavour)
    if job.handler == "ignore":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif job.handler == "own":
        signal.signal(signal.SIGTERM, lambda number, frame: say(job, "own handler"))
    seed(k)
    model = JOB.compiled(k)
    arm(job)
    session = bridge.MonitoredTrainingSession(
        checkpoint_dir=job.directory,
        hooks=[Teller(job, model)],
        **{"save_checkpoint_steps": 2, **job.options},
    )
    with session as opened:
        history = opened.fit(model, **data.arrays(k), epochs=job.epochs, verbose=0, resume_data=True)
        say(job, f"epochs {history.epoch}")
    say(job, "left")


def digest(model: Any) -> str:
    """A digest of the weights and the optimizer's variables, by their values alone."""
    optimizer = model.optimizer.variables
    optimizer = optimizer() if callable(optimizer) and not isinstance(optimizer, list) else optimizer
    found = hashlib.sha256()
    with tf_internals.eager_mode():
        for variable in [*model.variables, *optimizer]:
            found.update(np.asarray(variable.numpy()).tobytes())
    return found.hexdigest()[:16]


class Teller(tf1.train.SessionRunHook):
    """Says when hooks begin and end, writes the trace and a summary, and acts at the moments around a step."""

    def __init__(self, job: Job, model: Any) -> None:
        self._job, self._model = job, model

    def begin(self) -> None:
        tf1.summary.scalar("step_seen", tf.cast(tf1.train.get_global_step(), tf.float32))

    def after_create_session(self, session: Any, coord: Any) -> None:
        say(self._job, f"from {step_of(self._model)}")
        finished[0] = step_of(self._model)
        reach("after_create_session")

    def before_run(self, run_context: Any) -> None:
        reach("before_run")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        with (Path(self._job.directory) / "trace").open("a") as file:
            file.write(f"{step_of(self._model)} {digest(self._model)}\n")
        finished[0] = step_of(self._model)
        reach("after_run")

    def end(self, session: Any) -> None:
        say(self._job, f"end at {step_of(self._model)}")


def step_of(model: Any) -> int:
    """The model's global step, asked from wherever hooks run."""
    with tf_internals.eager_mode():
        return int(model.optimizer.iterations.numpy())


# --- moments -------------------------------------------------------------------------------------------------------

# The last step of which hooks have heard. The model's own counter moves at any time inside of a step.
finished = [0]
reach: Callable[[str], None] = lambda moment: None  # noqa: E731


def arm(job: Job) -> None:
    """Makes the process act at the job's moment, once."""
    is_armed = [job.moment is not None]

    def reached(moment: str) -> None:
        if is_armed[0] and moment == job.moment and finished[0] >= job.at_step:
            is_armed[0] = False
            ACTIONS[job.action](job)

    globals()["reach"] = reached
    if job.moment is not None:
        MOMENTS[job.moment]()


def around(owner: Any, name: str, moment: str, *, before: bool) -> Callable[[], None]:
    """Returns what makes a function of TensorFlow's reach a moment before or after its work."""

    def patch() -> None:
        original = getattr(owner, name)

        def patched(*args: Any, **kwargs: Any) -> Any:
            if before:
                reach(moment)
            result = original(*args, **kwargs)
            if not before:
                reach(moment)
            return result

        setattr(owner, name, patched)

    return patch


def _half_an_event() -> None:
    """The process ends in the middle of writing an event to the file."""
    original = tf1.summary.FileWriter.add_summary

    def patched(writer: Any, summary: Any, global_step: Any = None) -> None:
        original(writer, summary, global_step)
        writer.flush()
        path = max(Path(writer.get_logdir()).glob("events.out.tfevents.*"))
        with path.open("ab") as file:
            file.write(b"\x18\x00\x00\x00\x00\x00\x00\x00half")
        reach("half_an_event")

    tf1.summary.FileWriter.add_summary = patched


def _step_not_reported() -> None:
    """The process ends when the step has changed the weights, but no hook has heard of it."""
    original = Program.__call__

    def patched(program: Program, inputs: Any) -> Any:
        results = original(program, inputs)
        if program.trains:
            reach("step_not_reported")
        return results

    Program.__call__ = patched  # type: ignore[method-assign]


MOMENTS: dict[str, Callable[[], None]] = {
    "after_create_session": lambda: None,
    "before_run": lambda: None,
    "after_run": lambda: None,
    "inside_the_step": lambda: None,
    "step_not_reported": _step_not_reported,
    "before_save": around(saver.Saver, "save", "before_save", before=True),
    "data_written": around(saver.Saver, "_RecordLastCheckpoint", "data_written", before=True),
    "before_old_is_deleted": around(
        checkpoint_management, "remove_checkpoint", "before_old_is_deleted", before=True
    ),
    "state_file_not_written": around(
        checkpoint_management, "update_checkpoint_state_internal", "state_file_not_written", before=True
    ),
    "state_file_written": around(
        checkpoint_management, "update_checkpoint_state_internal", "state_file_written", before=False
    ),
    "before_meta": around(saver.Saver, "export_meta_graph", "before_meta", before=True),
    "after_save": around(saver.Saver, "save", "after_save", before=False),
    "before_summary": around(tf1.summary.FileWriter, "add_summary", "before_summary", before=True),
    "after_summary": around(tf1.summary.FileWriter, "add_summary", "after_summary", before=False),
    "half_an_event": _half_an_event,
}


def _terminate(job: Job) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _terminate_twice(job: Job) -> None:
    _terminate(job)
    _terminate(job)


def _raise(job: Job) -> None:
    raise ValueError("the job's own error")


ACTIONS: dict[str, Callable[[Job], None]] = {
    "kill": lambda job: os.kill(os.getpid(), signal.SIGKILL),
    "terminate": _terminate,
    "terminate twice": _terminate_twice,
    "raise": _raise,
}
