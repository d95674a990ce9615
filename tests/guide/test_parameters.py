"""The tables of the page about the session's parameters: no parameter is missing, and every test that it names exists."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from pathlib import Path

import pytest

import bridge

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "migration_guide" / "parameters.md"
PARAMETERS = list(inspect.signature(bridge.MonitoredTrainingSession).parameters)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that follows some text."""
    below = PAGE.read_text("utf-8").partition(heading)[2].lstrip("\n")
    table = below[below.index("| parameter") :].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


@functools.cache
def functions_of(module: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((ROOT / "tests" / "bridge" / "contract" / module).read_text("utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_stages_of_all_parameters_are_told_in_their_order() -> None:
    told = [row[0].split("`")[1] for row in rows("is called alone.")[2:]]
    assert told == PARAMETERS


@pytest.mark.parametrize("row", rows("## How it is shown")[2:], ids=lambda row: row[0])
def test_each_parameter_has_a_test_in_three_worlds_that_uses_it(row: list[str]) -> None:
    header = rows("## How it is shown")[0]
    modules = [re.findall(r"`(\w+\.py)`", cell)[0] for cell in header[1:]]
    assert modules == [f"test_monitored_{world}.py" for world in ("keras", "tf_keras", "legacy")]
    for module, cell in zip(modules, row[1:], strict=True):
        name, *elsewhere = re.findall(r"`([\w.]+)`", cell)
        where = elsewhere[0] if elsewhere else module
        assert where.startswith(module.removesuffix(".py"))
        assert f"test_{name}" in functions_of(where), f"{where} has no test_{name}"


def test_the_table_of_tests_has_all_parameters() -> None:
    assert [row[0].strip("`") for row in rows("## How it is shown")[2:]] == PARAMETERS
