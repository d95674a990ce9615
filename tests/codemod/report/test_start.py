"""Reports that need a library import it when they are asked for, so that the command starts at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from codemod.report import render
from codemod.results import RunResult
{}
loaded = {{"rich", "jinja2", "libcst", "tensorflow", "bridge"}} & sys.modules.keys()
print(*sorted(loaded))
"""


def loaded(program):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(program)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.split()


def test_the_registry_of_formats_loads_nothing():
    assert loaded("") == []


@pytest.mark.parametrize("name", ["text", "diff", "json", "sarif", "github"])
def test_plain_formats_need_nothing_but_python(name):
    assert loaded(f"render({name!r}, RunResult(errors=('x',)))") == []


def test_colour_needs_rich_and_a_page_needs_jinja2():
    assert loaded("render('text', RunResult(errors=('x',)), color=True)") == ["rich"]
    assert loaded("render('html', RunResult())") == ["jinja2"]
