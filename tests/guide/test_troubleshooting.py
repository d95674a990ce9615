"""The page about errors: none of the bridge's is missing, and the messages that it quotes are those of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import bridge.errors
import bridge.estimator.errors

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "migration_guide" / "troubleshooting.md").read_text("utf-8")
OURS = PAGE.partition("## From TensorFlow and Keras")[0]
CODEMODS = PAGE.partition("## From the codemod")[2]


def classes() -> list[str]:
    """The errors and warnings that the bridge raises, without their common base."""
    found = {
        name
        for module in (bridge.errors, bridge.estimator.errors)
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Exception) and value.__module__.startswith("bridge.")
    }
    return sorted(found - {"BridgeError"})


def quoted(text: str) -> list[str]:
    """The messages in the first columns of its tables."""
    return re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)


def texts(package: str) -> str:
    """Every text constant of a package's code; the parts of one f-string are lines of their own."""
    constants = (
        node.value
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return "\n".join(constants)


BRIDGE, CODEMOD = texts("bridge"), texts("codemod")


@pytest.mark.parametrize("name", classes())
def test_each_error_has_a_section_with_a_cause_and_a_way_out(name: str) -> None:
    assert f"\n### {name}\n" in OURS
    section = OURS.partition(f"\n### {name}\n")[2].partition("\n##")[0].strip()
    assert len(section) > 60
    for row in re.findall(r"^\| `.*", section, re.MULTILINE):
        message, _, way_out = (cell.strip() for cell in row.strip("|").split(" | "))
        assert message
        assert way_out, row


def test_no_section_is_about_an_error_that_does_not_exist() -> None:
    assert sorted(re.findall(r"^### (\w+)$", OURS, re.MULTILINE)) == classes()


@pytest.mark.parametrize("message", quoted(OURS))
def test_the_messages_of_the_bridge_are_quoted_as_they_are(message: str) -> None:
    parts = [part.strip(" '") for part in message.split("…")]
    assert max(map(len, parts)) > 10, "nothing of the message is quoted"
    for part in parts:
        assert part in BRIDGE, part


@pytest.mark.parametrize("message", quoted(CODEMODS))
def test_the_messages_of_the_codemod_are_quoted_as_they_are(message: str) -> None:
    for part in message.split("…"):
        assert part.strip() in CODEMOD, part
