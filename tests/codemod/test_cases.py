"""Every case file: `NAME.in.py` becomes `NAME.out.py`, `NAME.same.py` stays; and no output changes a second time."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path
from typing import Any

import pytest

from codemod.migrate import Migrated, migrate_text
from codemod.rules import all_rules
from codemod.settings import Settings

CASES = Path(__file__).parents[1] / "cases"
RULES = {rule.name: rule for rule in all_rules()}
FOLDERS = sorted(folder for folder in CASES.iterdir() if folder.name in RULES)


def files(suffix: str) -> list[Any]:
    found = [path for folder in FOLDERS for path in sorted(folder.glob(f"*{suffix}"))]
    return [pytest.param(path, id=f"{path.parent.name}-{path.name.removesuffix(suffix)}") for path in found]


def options(text: str) -> dict[str, Any]:
    """The settings that a case's first line gives, such as `# codemod: --unsafe-fixes --style explicit`."""
    first = text.partition("\n")[0]
    if not first.startswith("# codemod: --"):
        return {}
    parser = argparse.ArgumentParser()
    parser.add_argument("--unsafe-fixes", action="store_true")
    parser.add_argument("--style", default="import")
    parser.add_argument("--loops", default="fit")
    parser.add_argument("--no-todo", dest="todo", action="store_false")
    parser.add_argument("--path", default="")
    return vars(parser.parse_args(first.removeprefix("# codemod: ").split()))


def migrate(path: Path, text: str) -> Migrated:
    settings = options(text)
    return migrate_text(settings.pop("path", "") or path.name, text, Settings(**settings))


def read(path: Path) -> str:
    return path.read_bytes().decode()


def test_every_rule_has_cases() -> None:
    for rule in RULES.values():
        if rule.trigger.pattern != "(?!)":
            assert list((CASES / rule.name).glob("*.in.py")), f"{rule.name} has no case"
            assert list((CASES / rule.name).glob("*.same.py")), f"{rule.name} has no case of what stays"


def test_every_input_has_an_output() -> None:
    for folder in FOLDERS:
        names = {path.name.removesuffix(".in.py") for path in folder.glob("*.in.py")}
        assert names == {path.name.removesuffix(".out.py") for path in folder.glob("*.out.py")}, folder.name


@pytest.mark.parametrize("path", files(".in.py"))
def test_an_input_becomes_its_output(path: Path) -> None:
    outcome = migrate(path, read(path))
    assert outcome.text == read(path.with_name(path.name.replace(".in.py", ".out.py")))
    assert any(f.code == RULES[path.parent.name].code for f in outcome.findings)


@pytest.mark.parametrize("path", files(".out.py"))
def test_an_output_does_not_change_again(path: Path) -> None:
    text = read(path)
    ast.parse(text)
    assert migrate(path, text).text == text


@pytest.mark.parametrize("path", files(".same.py"))
def test_what_stays_stays_without_a_finding_of_the_rule(path: Path) -> None:
    outcome = migrate(path, read(path))
    assert outcome.text == read(path)
    assert not [f for f in outcome.findings if f.code == RULES[path.parent.name].code]


def example(page: str, heading: str) -> str | None:
    """The Python text below a heading of a rule's page."""
    _, found, below = page.partition(f"## {heading}\n```python\n")
    return below.partition("```")[0] if found else None


@pytest.mark.parametrize("name", sorted(RULES))
def test_the_example_on_a_rules_page_is_true(name: str) -> None:
    page = RULES[name].page
    before, after = example(page, "Before"), example(page, "After")
    if RULES[name].trigger.pattern == "(?!)":
        return
    assert before is not None
    assert after is not None
    unsafe = page.partition("## Is it safe?\n")[2].startswith("Unsafe")
    assert migrate_text("train.py", before, Settings(unsafe_fixes=unsafe)).text == after


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_rules_page_has_its_headings(name: str) -> None:
    page = RULES[name].page
    headings = [line[3:] for line in page.splitlines() if line.startswith("## ")]
    assert headings == ["What it does", "Why", "Before", "After", "Is it safe?"]
    assert RULES[name].title
