"""What TensorFlow's tf_upgrade_v2 gets wrong, each fault as a tree of files, run through both commands.

The codemod has none of the faults; which of them the installed tf_upgrade_v2 has is in the table of
`migration_guide/tf_upgrade_v2.md`, and checked here too, so that the page stays true from release to release.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codemod import tables
from tests.codemod import scripts_support
from tests.guide import programs

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "migration_guide" / "tf_upgrade_v2.md").read_text("utf-8")

SITE = "import tensorflow as tf\n\nx = tf.placeholder(tf.float32)\n"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """One command on one tree.

    Attributes:
      tree: The folder, as it is afterwards.
      status: The command's exit status.
      said: What it printed and reported.
    """

    tree: Path
    status: int
    said: str

    def text(self, name: str = "a.py") -> str:
        return (self.tree / name).read_bytes().decode("utf-8", "surrogateescape")

    def is_migrated(self, name: str = "a.py") -> bool:
        """Whether the file's placeholder is one that exists."""
        text = self.text(name)
        return "tf.compat.v1.placeholder" in text or "import tensorflow.compat.v1 as tf" in text


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something that a migration must not do.

    Attributes:
      name: In a few words, as the page has it.
      prepare: Makes the tree.
      happened: Whether the fault is there.
    """

    name: str
    prepare: Callable[[Path], object]
    happened: Callable[[Outcome], bool]


FAULTS: list[Fault] = []


def fault(name: str, files: Any) -> Callable[[Callable[[Outcome], bool]], Callable[[Outcome], bool]]:
    """Registers a fault: its name, its files (a text or bytes for each name, or a function), and whether it happened."""

    def prepare(tree: Path) -> None:
        for path, content in files.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_bytes(content.encode() if isinstance(content, str) else content)

    def register(happened: Callable[[Outcome], bool]) -> Callable[[Outcome], bool]:
        FAULTS.append(Fault(name, files if callable(files) else prepare, happened))
        return happened

    return register


# --- files that it cannot read ---------------------------------------------------------------------------------------

PYTHON_2 = "import tensorflow as tf\nprint 'a', tf.placeholder\n"
LATIN_1 = b"# caf\xe9\nimport tensorflow as tf\n\nx = tf.placeholder(tf.float32)\n"


@fault("A file that it cannot parse is emptied", {"a.py": PYTHON_2})
def _(outcome: Outcome) -> bool:
    return outcome.text() != PYTHON_2


@fault("A file that it cannot parse is not told by the exit status", {"a.py": PYTHON_2})
def _(outcome: Outcome) -> bool:
    return outcome.status == 0


@fault("A file that it cannot parse is not among the issues that it counts", {"a.py": PYTHON_2})
def _(outcome: Outcome) -> bool:
    return "Detected 0 issues" in outcome.said or "a.py" not in outcome.said


@fault(
    "One file that it cannot decode keeps others from being migrated",
    {"b.py": LATIN_1, **{f"{letter}.py": SITE for letter in "acdefgh"}},
)
def _(outcome: Outcome) -> bool:
    return not all(outcome.is_migrated(f"{letter}.py") for letter in "acdefgh")


# --- what is not its business ----------------------------------------------------------------------------------------


@fault(
    "Environments and build output are rewritten",
    {"a.py": SITE, ".venv/lib/b.py": SITE, "build/lib/c.py": SITE},
)
def _(outcome: Outcome) -> bool:
    return outcome.text(".venv/lib/b.py") != SITE or outcome.text("build/lib/c.py") != SITE


def _with_mode(tree: Path) -> None:
    (tree / "a.py").write_text(SITE)
    (tree / "a.py").chmod(0o755)


@fault("The file's mode is lost", _with_mode)
def _(outcome: Outcome) -> bool:
    return stat.S_IMODE((outcome.tree / "a.py").stat().st_mode) != 0o755


UNTOUCHED = "import os\r\n\r\nprint(os.getcwd())\r\n"


@fault("A file without a word about TensorFlow is rewritten", {"a.py": UNTOUCHED})
def _(outcome: Outcome) -> bool:
    return outcome.text() != UNTOUCHED


# --- the text around what it rewrites --------------------------------------------------------------------------------


@fault("Line ends (CRLF) are lost", {"a.py": SITE.replace("\n", "\r\n")})
def _(outcome: Outcome) -> bool:
    return bool(re.search(r"(?<!\r)\n", outcome.text())) or not outcome.is_migrated()


@fault("A byte order mark is lost, or stops it", {"a.py": b"\xef\xbb\xbf" + SITE.encode()})
def _(outcome: Outcome) -> bool:
    return not outcome.text().startswith("\ufeff") or not outcome.is_migrated()


@fault("Other encodings stop it", {"a.py": b"# -*- coding: latin-1 -*-\n" + LATIN_1})
def _(outcome: Outcome) -> bool:
    return not outcome.is_migrated() or b"caf\xe9" not in (outcome.tree / "a.py").read_bytes()


FORM_FEED = "import tensorflow as tf\n\n\ndef f():\n    return 1\n\x0c\n\ndef g():\n    return tf.placeholder(tf.float32)\n"


@fault("Form feeds corrupt the text", {"a.py": FORM_FEED})
def _(outcome: Outcome) -> bool:
    try:
        compile(outcome.text(), "a.py", "exec")
    except SyntaxError:
        return True
    return "    return 1\n\x0c\n\ndef g():\n" not in outcome.text() or not outcome.is_migrated()


CHAIN = """\
import tensorflow as tf

train_op = (
    tf.train  # the paper's rate
    # Not the mean: batches differ in size.
    .AdamOptimizer(0.1)
    .minimize(tf.placeholder(tf.float32))
)
"""


@fault("Comments between the parts of a chained call vanish", {"a.py": CHAIN})
def _(outcome: Outcome) -> bool:
    return "# the paper's rate" not in outcome.text() or "# Not the mean" not in outcome.text()


# --- names -----------------------------------------------------------------------------------------------------------

PARAMETER = (
    "import tensorflow as tf\n\n\ndef f(tf):\n    return tf.log(2.0)\n\n\nx = tf.placeholder(tf.float32)\n"
)


@fault("A parameter that is called `tf` is taken for the module", {"a.py": PARAMETER})
def _(outcome: Outcome) -> bool:
    return "def f(tf):\n    return tf.log(2.0)\n" not in outcome.text()


@fault("`import tensorflow as T` is not seen", {"a.py": SITE.replace("as tf", "as T").replace("tf.", "T.")})
def _(outcome: Outcome) -> bool:
    return "compat.v1" not in outcome.text()


@fault(
    "`from tensorflow.train import …` is not seen",
    {"a.py": "from tensorflow.train import AdamOptimizer\n\nx = AdamOptimizer(0.1)\n"},
)
def _(outcome: Outcome) -> bool:
    return "compat.v1" not in outcome.text()


@fault(
    "`from tensorflow.python…` is not seen",
    {
        "a.py": "from tensorflow.python.training import session_run_hook\n\nx = session_run_hook.SessionRunHook()\n"
    },
)
def _(outcome: Outcome) -> bool:
    return "compat.v1" not in outcome.text()


@fault(
    "Names inside f-strings stay old",
    {"a.py": 'import tensorflow as tf\n\nprint(f"{tf.placeholder(tf.float32)}")\n'},
)
def _(outcome: Outcome) -> bool:
    return not outcome.is_migrated()


@fault(
    "`tf.estimator`, which is gone, is left without a word",
    {"a.py": "import tensorflow as tf\n\nconfig = tf.estimator.RunConfig(model_dir='m')\n"},
)
def _(outcome: Outcome) -> bool:
    return "tf.estimator" in outcome.text() and "estimator" not in outcome.said


SET_SESSION = (
    "import tensorflow as tf\n\ntf.keras.backend.set_session(tf.Session())\nprint(tf.keras.Sequential())\n"
)


@fault("It writes names that do not exist, without a warning", {"a.py": SET_SESSION})
def _(outcome: Outcome) -> bool:
    names = re.findall(r"tf\.(?:compat\.v1\.)?([\w.]+)", outcome.text())
    return outcome.status == 0 and any(not tables.load(None).exists(f"tf.{name}") for name in names)


# --- sizes and kinds -------------------------------------------------------------------------------------------------


@fault("A long sum stops it", {"a.py": SITE + "y = " + " + ".join(["x"] * 1500) + "\n"})
def _(outcome: Outcome) -> bool:
    return not outcome.is_migrated()


def _notebook(source: str) -> dict[str, str]:
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source.splitlines(True),
    }
    return {
        "a.ipynb": json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}, indent=1)
    }


@fault("A notebook with `files = !ls` stops it", _notebook("files = !ls\n" + SITE))
def _(outcome: Outcome) -> bool:
    return not outcome.is_migrated("a.ipynb") or "files = !ls" not in outcome.text("a.ipynb")


@fault("A notebook with a cell of bash stops it", _notebook("%%bash\nfor i in 1 2; do echo $i; done\n"))
def _(outcome: Outcome) -> bool:
    return outcome.status == 1 and "Traceback" in outcome.said


def _with_link(tree: Path) -> None:
    outside = tree.parent / f"outside-{tree.name}.py"
    outside.write_text(SITE)
    (tree / "a.py").write_text(SITE)
    (tree / "link.py").symlink_to(outside)


@fault("A link out of the tree is followed, or replaced by a file", _with_link)
def _(outcome: Outcome) -> bool:
    outside = outcome.tree.parent / f"outside-{outcome.tree.name}.py"
    return outside.read_text() != SITE or not (outcome.tree / "link.py").is_symlink()


# --- what it is for --------------------------------------------------------------------------------------------------

PROGRAM = """\
import tensorflow as tf

x = tf.placeholder_with_default(3.0, [])
w = tf.get_variable("w", initializer=1.0)
loss = tf.square(w - x)
step = tf.train.get_or_create_global_step()
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(last_step=5)]) as sess:
    while not sess.should_stop():
        sess.run(train_op)
print("trained")
"""


@fault("A training program does not run afterwards", {"a.py": PROGRAM})
def _(outcome: Outcome) -> bool:
    done = subprocess.run(
        [sys.executable, "a.py"],
        cwd=outcome.tree,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return not done.stdout.endswith("trained\n")


@fault("It cannot show what it would do without doing it", {"a.py": SITE})
def _(outcome: Outcome) -> bool:
    return "--diff" not in outcome.said


# ---------------------------------------------------------------------------------------------------------------------


def run_peer(jobs: list[dict[str, Any]]) -> list[int]:
    """Runs tf_upgrade_v2 for each job, and returns the exit statuses."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("peer_runner.py"))],
        input=json.dumps(jobs),
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=True,
        timeout=400,
    )
    return list(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What tf_upgrade_v2 makes of each tree."""
    folder = tmp_path_factory.mktemp("peer")
    jobs = []
    for number, each in enumerate(FAULTS):
        tree = folder / f"tree{number}"
        tree.mkdir()
        each.prepare(tree)
        place = ["--infile", "a.ipynb"] if (tree / "a.ipynb").exists() else ["--intree", "."]
        jobs.append(
            {
                "folder": str(tree),
                "arguments": [
                    *place,
                    "--inplace",
                    "--print_all",
                    "--reportfile",
                    str(folder / f"report{number}"),
                ],
                "output": str(folder / f"output{number}"),
                "errors": str(folder / f"errors{number}"),
            }
        )
    jobs.append({**jobs[0], "arguments": ["--help"], "output": str(folder / "help")})
    statuses = run_peer(jobs)
    help_text = (folder / "help").read_text()

    return {
        each.name: Outcome(
            Path(job["folder"]),
            status,
            "".join(Path(job[name]).read_text(errors="replace") for name in ("output", "errors")) + help_text,
        )
        for each, job, status in zip(FAULTS, jobs, statuses, strict=False)
    }


def told() -> dict[str, bool]:
    """The table of the page: fault, and whether tf_upgrade_v2 has it."""
    rows = re.findall(r"^\| (.+?) \| (yes|no) \| no \|$", PAGE, re.MULTILINE)
    return {name: answer == "yes" for name, answer in rows}


@pytest.mark.slow
@pytest.mark.parametrize("each", FAULTS, ids=lambda each: each.name)
def test_the_peer_has_the_fault_as_the_guide_says(each: Fault, peers: dict[str, Outcome]) -> None:
    assert each.happened(peers[each.name]) == told()[each.name], peers[each.name].said[-2000:]


def codemod(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codemod", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@functools.cache
def help_text() -> str:
    return codemod("migrate", "--help", folder=ROOT).stdout


@pytest.mark.parametrize("each", FAULTS, ids=lambda each: each.name)
def test_the_codemod_does_not_have_the_fault(each: Fault, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    each.prepare(tree)
    done = codemod("migrate", ".", folder=tree)
    outcome = Outcome(tree, done.returncode, done.stdout + done.stderr + help_text())
    assert not each.happened(outcome), outcome.said


def test_the_table_of_the_guide_has_all_faults_in_their_order() -> None:
    assert list(told()) == [each.name for each in FAULTS]


def test_the_guide_counts_the_faults_of_the_peer() -> None:
    assert f"`tf_upgrade_v2` has {sum(told().values())} of these {len(FAULTS)}." in PAGE


@pytest.mark.slow
def test_of_the_guides_programs_one_runs_after_the_peer_and_all_after_the_codemod(tmp_path: Path) -> None:
    code = tmp_path / "code"
    shutil.copytree(programs.BEFORE, code, ignore=shutil.ignore_patterns("__pycache__"))
    places = [["--intree", "."], ["--infile", "rings.ipynb"]]
    jobs = [
        {
            "folder": str(code),
            "arguments": [*place, "--inplace", "--reportfile", str(tmp_path / "report")],
            "output": str(tmp_path / "output"),
            "errors": str(tmp_path / "errors"),
        }
        for place in places
    ]
    run_peer(jobs)
    single = [program for program in programs.PROGRAMS if not program.cluster]
    server = scripts_support.ScriptServer()
    same = []
    for program in single:
        try:
            result = scripts_support.run(program, code, tmp_path / program.name, [sys.executable], server)
        except scripts_support.ScriptFailedError:
            continue
        if not list(scripts_support.differences(result, programs.results()[program.name], program.rtol)):
            same.append(program.name)
    server.close()
    # That all of them run after the codemod is shown by `tests/guide/test_programs.py`.
    assert same == ["restored_weights"]
    assert len(single) == 11
    assert "Of the eleven programs" in PAGE
