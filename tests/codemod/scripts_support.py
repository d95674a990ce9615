"""Runs the programs of `tests/cases/scripts/` and `tests/cases/estimator_scripts/`, and compares what they print.

Each program is TensorFlow 1 code that nobody changed, takes a folder to work in from its arguments or from WORK_DIR, and
ends by printing one line of JSON: its last step, its loss, and what else is worth comparing. `golden.json` beside the programs
holds the lines that TensorFlow 1.15.5 printed (`make_script_golden.py`).

This file is also run by Python 3.7, for the golden values.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Iterator, Sequence

CASES = Path(__file__).resolve().parent.parent / "cases"
ROOT = CASES.parent.parent
TIMEOUT = 240
QUIET = {
    "CUDA_VISIBLE_DEVICES": "",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    # Another library's kernels round differently, and the golden values were made without it.
    "TF_ENABLE_ONEDNN_OPTS": "0",
}


@dataclasses.dataclass(frozen=True)
class Script:
    """One program, and what is known about it.

    Attributes:
        name: the file (without its ending) or folder below `folder`.
        shape: which shape of legacy code it stands for.
        folder: the folder below `tests/cases/`.
        entry: the file to run; by default the file of that name, or `train.py` in the folder of that name.
        cluster: for several processes, how they get their roles: "flags" or "TF_CONFIG".
        cannot_swap: what today's TensorFlow says (a pattern for the last line of its traceback) if only the import line
            is swapped; None if it runs.
        rtol: how close numbers must be to TensorFlow 1.15.5's.
        why: where `rtol` is not the usual one, the reason.
        unsafe: the migration needs `--unsafe-fixes`.
        differs: keys whose values are not TensorFlow 1.15.5's on today's TensorFlow, each with the reason.
        slow: takes more than about ten seconds.
    """

    name: str
    shape: str
    folder: str = "scripts"
    entry: str = ""
    cluster: str = ""
    cannot_swap: str | None = None
    rtol: float = 1e-5
    why: str = ""
    unsafe: bool = False
    differs: dict[str, str] = dataclasses.field(default_factory=dict)
    slow: bool = False

    @property
    def source(self) -> Path:
        """The file or folder with the code."""
        for candidate in (self.name, self.name + ".py", self.name + ".ipynb"):
            path = CASES / self.folder / candidate
            if path.exists():
                return path
        raise FileNotFoundError(f"tests/cases/{self.folder}/{self.name}")

    def program(self, code: Path) -> Path:
        """The file to run, where the code of all scripts of the folder is below `code`."""
        if self.entry:
            return code / self.entry
        if self.source.is_dir():
            return code / self.name / "train.py"
        return code / self.source.name


class ScriptFailedError(Exception):
    """A program ended with an error; `last_line` is the last line of its traceback."""

    def __init__(self, script: Script, what: str, errors: str) -> None:
        lines = [line for line in errors.splitlines() if re.match(r"[\w.]+(Error|Exception|Exit)\b", line)]
        self.last_line = lines[-1] if lines else ""
        super().__init__(f"{script.name} {what}\n{errors[-4000:]}")


def copy_code(script: Script, target: Path) -> None:
    """Puts the script's file or folder below `target`, as it is."""
    target.mkdir(parents=True, exist_ok=True)
    if script.source.is_dir():
        shutil.copytree(
            script.source, target / script.source.name, ignore=shutil.ignore_patterns("__pycache__")
        )
    else:
        shutil.copy(script.source, target)


SWAPS = (
    (
        rb"^([ \t]*\"?)import tensorflow as (\w+)",
        rb"\1import tensorflow.compat.v1 as \2; \2.disable_v2_behavior()",
    ),
    (rb"^from tensorflow import ", rb"from tensorflow.compat.v1 import "),
    (rb"^from tensorflow\.train import ", rb"from tensorflow.compat.v1.train import "),
)


def swap_imports(code: Path) -> None:
    """Imports TensorFlow's names from `tensorflow.compat.v1`, without v2 behaviour, and changes nothing else."""
    for path in sorted(code.rglob("*")):
        if path.suffix in (".py", ".ipynb"):
            text = path.read_bytes()
            for old, new in SWAPS:
                text = re.sub(old, new, text, flags=re.MULTILINE)
            path.write_bytes(text)


def run(
    script: Script, code: Path, work: Path, python: Sequence[str], server: ScriptServer | None = None
) -> Any:
    """Runs the script and returns the JSON that it printed last.

    Args:
        script: what to run.
        code: the folder that holds the code, for example a migrated copy.
        work: a folder for what the program writes.
        python: the interpreter, as a command.
        server: runs the program in a fork of a process that has TensorFlow already; for single programs.

    Raises:
        ScriptFailedError: the program failed, or printed no JSON at the end.
    """
    work.mkdir(parents=True, exist_ok=True)
    program = script.program(code)
    if program.suffix == ".ipynb":
        program = _notebook_as_program(program, work.parent)
    if script.cluster:
        output = _run_cluster(script, program, work, python)
    else:
        arguments = [str(program), str(work)]
        if server is not None:
            status, output, errors = server.run(arguments, work)
        else:
            status, output, errors = _run_alone([*python, *arguments], work)
        if status != 0:
            raise ScriptFailedError(script, f"ended with {status}", errors)
    lines = [line for line in output.splitlines() if line.strip()]
    try:
        result = json.loads(lines[-1])
    except (IndexError, ValueError) as error:
        raise ScriptFailedError(script, "printed no JSON at the end", output) from error
    missing = {"step", "loss"} - set(result)
    if missing:
        raise ScriptFailedError(script, f"did not print {sorted(missing)}", output)
    return result


def differences(got: Any, expected: Any, rtol: float, where: str = "") -> Iterator[str]:
    """What is not equal: numbers with a fraction within `rtol`, all else exactly."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted(set(expected) | set(got)):
            if key not in got or key not in expected:
                yield f"{where}.{key}: only in the {'golden value' if key in expected else 'result'}"
            else:
                yield from differences(got[key], expected[key], rtol, f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for index, pair in enumerate(zip(got, expected)):
            yield from differences(*pair, rtol, f"{where}[{index}]")
    elif isinstance(expected, float) and isinstance(got, float):
        # Near zero what counts is the size of the numbers that were added up, which is about one here.
        if not math.isclose(got, expected, rel_tol=rtol, abs_tol=rtol / 10):
            yield f"{where}: {got!r} instead of {expected!r}"
    elif type(got) is not type(expected) or got != expected:
        yield f"{where}: {got!r} instead of {expected!r}"


def golden(folder: str) -> dict[str, Any]:
    """The results under TensorFlow 1.15.5 of the programs in `tests/cases/<folder>/`."""
    return dict(json.loads((CASES / folder / "golden.json").read_text())["scripts"])


class ScriptServer:
    """A process that has imported TensorFlow and runs each program in a fork of itself.

    Most of a small script's time is the import of TensorFlow. A fork made before TensorFlow did anything has a fresh state, so
    that programs don't see each other.
    """

    def __init__(self) -> None:
        environment = {**os.environ, **QUIET, "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def run(self, arguments: list[str], work: Path) -> tuple[int, str, str]:
        """Runs a program; its exit status, output and errors."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        output, errors = work.parent / (work.name + ".out"), work.parent / (work.name + ".err")
        request = {"arguments": arguments, "work": str(work), "output": str(output), "errors": str(errors)}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"The server of scripts ended with {self._process.wait()}.")
        return json.loads(answer)["status"], output.read_text(), errors.read_text()

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(TIMEOUT)


def _serve() -> None:
    """What the server's process does."""
    import signal

    import tensorflow as tf

    with contextlib.suppress(ImportError):
        import keras  # noqa: F401
    assert tf.compat.v1 is not None
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            signal.alarm(TIMEOUT)
            _be_the_program(request)
        _, status = os.waitpid(child, 0)
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        print(json.dumps({"status": code}), flush=True)


def _be_the_program(request: dict[str, Any]) -> None:
    """Turns this forked process into `python program arguments`; never returns."""
    import runpy
    import traceback

    for descriptor, key in ((1, "output"), (2, "errors")):
        file = os.open(request[key], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, descriptor)
    program, *_ = sys.argv = request["arguments"]
    sys.path[0] = str(Path(program).parent)
    os.environ["WORK_DIR"] = request["work"]
    os.chdir(request["work"])
    status = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 -- what Python does at the top of a program
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # Not sys.exit: the server's own clean-up is not this process's business.
    os._exit(status)


def _run_alone(command: list[str], work: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        command,
        cwd=work,
        env=_environment(work),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def _environment(work: Path) -> dict[str, str]:
    # The project is on the path for the bridge, which migrated programs import.
    return {**os.environ, **QUIET, "WORK_DIR": str(work), "PYTHONPATH": str(ROOT)}


def _run_cluster(script: Script, program: Path, work: Path, python: Sequence[str]) -> str:
    """Starts one parameter server and two workers, waits for the workers, and returns what the chief printed."""
    ports = _free_ports(3)
    addresses = [f"localhost:{port}" for port in ports]
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    processes = []
    try:
        for job, index in (("ps", 0), ("worker", 0), ("worker", 1)):
            if script.cluster == "flags":
                arguments = [
                    f"--ps_hosts={addresses[0]}",
                    f"--worker_hosts={','.join(addresses[1:])}",
                    f"--job_name={job}",
                    f"--task_index={index}",
                    f"--work_dir={work}",
                ]
                roles = {}
            else:
                arguments = [str(work)]
                roles = {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})}
            name = f"{work.name}-{job}-{index}"
            with contextlib.ExitStack() as files:
                output, errors = (
                    files.enter_context((work.parent / f"{name}.{ending}").open("w"))
                    for ending in ("out", "err")
                )
                process = subprocess.Popen(
                    [*python, str(program), *arguments],
                    cwd=work,
                    env={**_environment(work), **roles},
                    stdout=output,
                    stderr=errors,
                )
            processes.append((name, process))
            if (job, index) == ("worker", 0):
                # A worker that comes before the chief is ready looks again after 30 seconds only.
                _wait_for_first_checkpoint(work, process)
        for name, process in processes[1:]:
            status = process.wait(TIMEOUT)
            if status != 0:
                raise ScriptFailedError(
                    script, f"({name}) ended with {status}", (work.parent / f"{name}.err").read_text()
                )
    finally:
        # A parameter server serves until somebody ends it.
        for _, process in processes:
            process.kill()
            process.wait()
    return (work.parent / f"{processes[1][0]}.out").read_text()


def _wait_for_first_checkpoint(work: Path, chief: Any) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not list(work.glob("*.index")) and chief.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("localhost", 0))
        return [each.getsockname()[1] for each in sockets]


def _notebook_as_program(notebook: Path, folder: Path) -> Path:
    """The code cells one after the other, without what only IPython understands."""
    cells = json.loads(notebook.read_text())["cells"]
    lines = []
    for cell in cells:
        if cell["cell_type"] == "code":
            lines += "".join(cell["source"]).splitlines()
    plain = [line for line in lines if not re.match(r"\s*([%!]|\w+\s*=\s*!)", line)]
    program = folder / (notebook.stem + "_cells.py")
    program.write_text("\n".join(plain) + "\n")
    return program


if __name__ == "__main__":
    _serve()
