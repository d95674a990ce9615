"""The site builds without a warning, holds a page for each rule, and its pictures are small."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codemod.rules import all_rules

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_has_a_page_for_each_rule(tmp_path):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    pytest.importorskip("material")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout + done.stderr == ""
    codes = {rule.code for rule in all_rules()}
    assert codes | {"index"} == {path.stem for path in (tmp_path / "rules").glob("*.html")}
    index = (tmp_path / "index.html").read_text("utf-8")
    assert "<svg" in index
    assert f'href="rules/{min(codes)}.html"' in index
    assert "--8&lt;" not in (tmp_path / "examples.html").read_text("utf-8")
    assert not list(tmp_path.rglob("*.py"))


def test_no_picture_is_larger_than_150_kilobytes():
    pictures = [*(ROOT / "migration_guide").glob("*.png"), *(ROOT / "migration_guide").glob("*.svg")]
    assert len(pictures) == 2
    assert all(path.stat().st_size < 150_000 for path in pictures)
