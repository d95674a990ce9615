"""The oracle's programs about `MonitoredTrainingSession` itself: its parameters, with hooks around them.

They train the model of `scenarios`. In front of the session's own hooks, as chief-only hooks, are those that both worlds
need (the clock, and in the first world the observer).
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import tensorflow.compat.v1 as tf

from tests.oracle.recording import Run
from tests.oracle.scenarios import Scenario, Tracer, tensor


def _nothing(run: Run) -> list[Any]:
    return []


@dataclasses.dataclass(frozen=True)
class SessionScenario(Scenario):
    """One program: the arguments of the session, and how often it is opened on the same folder."""

    make_hooks: Callable[[Run], list[Any]] = _nothing
    options: Callable[[Run], dict[str, Any]] = dataclasses.field(default=lambda run: {})
    runs: int = 1


SESSIONS: dict[str, SessionScenario] = {}


def session(
    name: str, **rest: Any
) -> Callable[[Callable[[Run], dict[str, Any]]], Callable[[Run], dict[str, Any]]]:
    def register(options: Callable[[Run], dict[str, Any]]) -> Callable[[Run], dict[str, Any]]:
        full = "monitored_session/" + name
        SESSIONS[full] = SessionScenario(full, options=options, **rest)
        return options

    return register


class Summaries(tf.train.SessionRunHook):
    """Adds a summary to the graph."""

    def begin(self) -> None:
        tf.summary.scalar("rate", tensor("learning_rate"))


class KeepingTwo(tf.train.Scaffold):
    """A scaffold whose saver, made with the graph, keeps two checkpoints."""

    def finalize(self) -> Any:
        if tf.get_collection(tf.GraphKeys.SAVERS) == []:
            tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver(max_to_keep=2))
        return super().finalize()


class Losing(tf.train.SessionRunHook):
    """Loses its server in front of some runs, counted over all sessions."""

    def __init__(self, *at_runs: int) -> None:
        self._at_runs, self._runs = at_runs, 0

    def before_run(self, run_context: Any) -> None:
        self._runs += 1
        if self._runs in self._at_runs:
            raise tf.errors.AbortedError(None, None, "the server went away")


def summaries(run: Run) -> list[Any]:
    return [Summaries()]


def tracers(run: Run) -> list[Any]:
    run.chief_only_hooks.append(Tracer(run, "chief"))
    return [Tracer(run, "first"), Tracer(run, "second")]


def losing(run: Run) -> list[Any]:
    return [Tracer(run), Losing(4, 5, 9)]


def stop_after_three(run: Run) -> list[Any]:
    return [tf.train.StopAtStepHook(num_steps=3), Summaries()]


@session("without_a_folder", make_hooks=tracers, batches=2, epochs=1)
def _(run: Run) -> dict[str, Any]:
    return {}


@session("defaults", make_hooks=summaries, batches=8, epochs=26)
def _(run: Run) -> dict[str, Any]:
    return {"checkpoint_dir": run.directory}


@session("its_hooks_are_between_those_of_the_chief_and_the_others", make_hooks=tracers, batches=2, epochs=1)
def _(run: Run) -> dict[str, Any]:
    return {"checkpoint_dir": run.directory, "save_checkpoint_steps": 1, "log_step_count_steps": 1}


@session("steps", make_hooks=summaries)
def _(run: Run) -> dict[str, Any]:
    return {
        "checkpoint_dir": run.directory,
        "save_checkpoint_steps": 4,
        "save_summaries_steps": 3,
        "log_step_count_steps": 2,
    }


@session("seconds", make_hooks=summaries)
def _(run: Run) -> dict[str, Any]:
    return {"checkpoint_dir": run.directory, "save_checkpoint_secs": 3, "save_summaries_secs": 2}


@session("everything_off", make_hooks=summaries)
def _(run: Run) -> dict[str, Any]:
    return {
        "checkpoint_dir": run.directory,
        "save_checkpoint_secs": None,
        "save_summaries_steps": 0,
        "log_step_count_steps": None,
    }


@session("a_folder_for_summaries", make_hooks=summaries, epochs=1)
def _(run: Run) -> dict[str, Any]:
    return {
        "checkpoint_dir": run.path("checkpoints"),
        "summary_dir": run.path("summaries"),
        "save_summaries_steps": 3,
    }


@session("only_a_folder_for_summaries", make_hooks=summaries)
def _(run: Run) -> dict[str, Any]:
    return {"summary_dir": run.directory, "save_summaries_steps": 5, "log_step_count_steps": 5}


@session("a_scaffold_that_keeps_two", make_hooks=summaries, epochs=1)
def _(run: Run) -> dict[str, Any]:
    return {"checkpoint_dir": run.directory, "save_checkpoint_steps": 2, "scaffold": KeepingTwo()}


@session("resumed", make_hooks=summaries, runs=2)
def _(run: Run) -> dict[str, Any]:
    return {"checkpoint_dir": run.directory, "save_checkpoint_steps": 6, "save_summaries_steps": 6}


@session("stopped_and_resumed_twice", make_hooks=stop_after_three, runs=3)
def _(run: Run) -> dict[str, Any]:
    return {"checkpoint_dir": run.directory, "save_summaries_steps": 2}


@session("a_lost_server_with_checkpoints", make_hooks=losing, epochs=1)
def _(run: Run) -> dict[str, Any]:
    return {"checkpoint_dir": run.directory, "save_checkpoint_steps": 2, "log_step_count_steps": None}


@session("a_lost_server_without_checkpoints", make_hooks=losing, epochs=1)
def _(run: Run) -> dict[str, Any]:
    return {}
