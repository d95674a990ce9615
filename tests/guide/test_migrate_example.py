"""The example of a project that is migrated and run: what it prints."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "migration_guide" / "examples"


@pytest.mark.slow
def test_the_project_is_migrated_in_a_copy_and_trains_to_the_result_of_tensorflow_1(tmp_path):
    before = {path: path.read_bytes() for path in (EXAMPLES / "before" / "project").rglob("*.py")}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "migrate.py"), "--output", "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    code = Path("out", "project-1", "code")
    assert f"$ python -m codemod migrate {code}" in lines
    assert "3 files changed, 1 unchanged" in done.stderr
    assert "  +        sess.fit(bridge.GraphModel(train_op), verbose=0)" in lines
    assert "  -            sess.run(train_op)" in lines
    assert lines[-1].startswith("TensorFlow 1.15.5 ended the project, as it was, at step 120 with loss")
    assert "today: step 120, loss" in lines[-1]
    assert (tmp_path / "out" / "project-1" / "model" / "model.ckpt-120.index").exists()
    for path in (EXAMPLES / "after" / "project").rglob("*.py"):
        place = path.relative_to(EXAMPLES / "after" / "project")
        assert (tmp_path / code / place).read_bytes() == path.read_bytes()
    assert before == {path: path.read_bytes() for path in before}
