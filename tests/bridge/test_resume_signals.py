"""Processes that a signal ends, in order (SIGTERM) or at once (SIGKILL), and the processes that go on after them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bridge import jobs
from tests.bridge.exactness.cases import BOTH
from tests.bridge.jobs import STEPS, Job, run, said, trace
from tests.bridge.support import saved_steps

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow]

TERMINATED = 128 + signal.SIGTERM


def assert_one_way(directory: Path) -> None:
    """Asserts that all processes of a job computed the same state at each step, and that the job is over."""
    states: dict[int, set[str]] = {}
    for step, state in trace(directory):
        states.setdefault(step, set()).add(state)
    assert sorted(states) == list(range(1, STEPS + 1))
    assert [step for step, found in states.items() if len(found) > 1] == []


@pytest.fixture(scope="module", params=BOTH)
def whole(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[int, str]]:
    """The state after each step of a process that nobody stops."""
    directory = tmp_path_factory.mktemp(request.param)
    assert run(Job(str(directory), flavour=request.param)) == 0
    return request.param, dict(trace(directory))


@pytest.mark.parametrize("moment", ["before_run", "inside_the_step", "after_run"])
def test_sigterm_finishes_the_step_saves_ends_hooks_and_leaves_with_143(
    moment: str, whole: tuple[str, dict[int, str]], tmp_path: Path
) -> None:
    flavour, expected = whole
    job = {"directory": str(tmp_path), "flavour": flavour, "options": {"save_checkpoint_steps": 100}}
    assert run(Job(**job, moment=moment, at_step=6, action="terminate")) == TERMINATED
    stopped = 6 if moment == "after_run" else 7
    assert saved_steps(tmp_path) == [0, stopped]
    # The fit returned, the hooks ended; the process left on its way out of the `with` block.
    assert said(tmp_path) == ["from 0", "epochs [0, 1]", f"end at {stopped}"]
    assert run(Job(**job)) == 0
    assert said(tmp_path)[3:] == [f"from {stopped}", "epochs [1, 2]", f"end at {STEPS}", "left"]
    assert dict(trace(tmp_path)) == expected
    assert len(trace(tmp_path)) == STEPS


def test_a_handler_of_the_program_is_called_instead_of_leaving(tmp_path: Path) -> None:
    job = Job(str(tmp_path), moment="after_run", at_step=6, action="terminate", handler="own")
    assert run(job) == 0
    assert said(tmp_path) == ["from 0", "epochs [0, 1]", "end at 6", "own handler", "left"]
    assert saved_steps(tmp_path)[-1] == 6


def test_a_program_that_ignores_the_signal_goes_on_ignoring_it(tmp_path: Path) -> None:
    job = Job(str(tmp_path), moment="after_run", at_step=6, action="terminate", handler="ignore")
    assert run(job) == 0
    assert said(tmp_path) == ["from 0", "epochs [0, 1, 2]", f"end at {STEPS}", "left"]


def test_a_second_signal_ends_the_process_at_once(tmp_path: Path) -> None:
    job = Job(str(tmp_path), moment="after_run", at_step=6, action="terminate twice")
    assert run(job) == -signal.SIGTERM
    assert said(tmp_path) == ["from 0"]
    assert run(Job(str(tmp_path))) == 0
    assert_one_way(tmp_path)


def test_a_process_that_was_killed_goes_on_at_its_last_checkpoint(
    whole: tuple[str, dict[int, str]], tmp_path: Path
) -> None:
    flavour, expected = whole
    assert run(Job(str(tmp_path), flavour=flavour, moment="inside_the_step", at_step=8)) == -signal.SIGKILL
    assert run(Job(str(tmp_path), flavour=flavour)) == 0
    assert said(tmp_path)[:3] == ["from 0", "from 8", "epochs [1, 2]"]
    assert dict(trace(tmp_path)) == expected
    assert_one_way(tmp_path)


PROGRAM = """
import sys
from tests.bridge.contract.monitored import Session, fit, model_of
from tests.bridge.support import FunctionHook

def tell(context, values, built):
    print("step", flush=True)
    sys.stdin.readline()

with Session(checkpoint_dir=sys.argv[1], hooks=[FunctionHook(after_run=tell)]) as session:
    fit(session, model_of(), 5)
"""


def test_a_shell_sees_status_143_of_a_real_program(tmp_path: Path) -> None:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "step\n"
        process.send_signal(signal.SIGTERM)
        process.stdin.write("go on\n" * 5)
        process.stdin.close()
        assert process.wait(600) == TERMINATED
    assert saved_steps(tmp_path)[-1] in (1, 2)


def test_a_job_starts_no_processes_and_leaves_no_zombies(tmp_path: Path) -> None:
    process = jobs.start(Job(str(tmp_path), moment="after_run", at_step=6, action="terminate"))
    pid = process.pid
    process.join(600)
    assert process.exitcode == TERMINATED
    found = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    parents = [text.split(")")[-1].split()[1] for text in map(_stat, found) if text]
    assert str(pid) not in parents


def _stat(path: Path) -> str:
    try:
        return (path / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""  # It ended meanwhile.
