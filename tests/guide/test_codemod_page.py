"""The page about the codemod's command says neither more nor less than the command itself, and its rule pages are made."""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codemod import cli, config
from codemod.loops import Kept
from codemod.rules import all_rules

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "migration_guide" / "codemod.md").read_text("utf-8")
YAML = (ROOT / "mkdocs.yml").read_text("utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def subparsers() -> dict[str, argparse.ArgumentParser]:
    actions = cli._parser()._actions
    return next(a.choices for a in actions if isinstance(a, argparse._SubParsersAction))


def rule_pages() -> Any:
    spec = importlib.util.spec_from_file_location("rule_pages", ROOT / "migration_guide" / "rule_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_flags_has_all_flags_with_the_commands_that_take_them() -> None:
    told = {}
    for flags, commands in re.findall(r"^\| (`-.*?) \| (\S+) \|", section("Flags"), re.MULTILINE):
        for flag in re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", flags):
            told[flag] = {"migrate", "scan"} if commands == "both" else {commands.strip("`")}
    real: dict[str, set[str]] = {}
    for command in ("migrate", "scan"):
        for action in subparsers()[command]._actions:
            for flag in action.option_strings:
                real.setdefault(flag, set()).add(command)
    del real["-h"], real["--help"]
    assert told == real


def test_the_table_of_commands_has_all_commands() -> None:
    assert set(re.findall(r"^\| `(\w+)", section("Commands"), re.MULTILINE)) == set(subparsers())


def test_the_configuration_on_the_page_is_one_that_is_taken(tmp_path: Path) -> None:
    text = section("Configuration").partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "pyproject.toml").write_text(text)
    read = config.read(tmp_path / "pyproject.toml")
    assert read == config.tomllib.loads(text)["tool"]["codemod"]
    rest = set(re.findall(r"`([a-z]+)`", section("Configuration").rpartition("```")[2]))
    assert set(read) | rest == set(config.KEYS)


def test_each_rule_has_a_page_that_says_what_explain_prints() -> None:
    pages = rule_pages()
    for rule in all_rules():
        page = pages.page(rule)
        done = [line for line in rule.page.strip().splitlines()[1:] if line]
        assert page.startswith(f"# {rule.code}: {rule.title}\n")
        lines = iter(page.splitlines())
        assert all(any(line == ours for ours in lines) for line in done), rule.code


def test_the_list_of_rules_has_each_with_its_safety() -> None:
    pages = rule_pages()
    index = pages.index()
    for rule in all_rules():
        assert f"| [{rule.code}]({rule.code}.md) | {rule.title.replace('|', '')}" in index
        assert pages.safety(rule)


def test_pages_of_rules_are_in_the_navigation() -> None:
    configuration = argparse.Namespace(nav=[{"The codemod": [{"Rules": "rules/index.md"}]}])
    rule_pages().on_config(configuration)
    made = configuration.nav[0]["The codemod"][0]["Rules"]
    assert made[0] == "rules/index.md"
    assert {key for entry in made[1:] for key in entry} == {rule.code for rule in all_rules()}
    assert "Rules: rules/index.md" in YAML


def test_explain_prints_the_page_of_a_rule() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "codemod", "explain", "TFB201"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "## Is it safe?" in done.stdout


def test_a_report_links_to_the_guide_where_it_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import tensorflow as tf\n\nx = tf.placeholder(tf.float32)\n")
    command = [
        sys.executable,
        "-m",
        "codemod",
        "scan",
        "a.py",
        "--report",
        "r.html",
        "--output-format",
        "json",
    ]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    for arguments, linked in (([], False), (["--guide", "https://example.org/guide/"], True)):
        done = subprocess.run(
            [*command, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert json.loads(done.stdout)["files"]
        html = (tmp_path / "r.html").read_text("utf-8")
        assert ("https://example.org/guide/rules/TFB101.html" in html) == linked


def test_a_guide_that_is_no_address_of_the_web_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["scan", "a.py", "--report", "r.html", "--guide", "javascript:alert(1)"]) == 2
    assert "an address of the web is needed" in capsys.readouterr().err


def test_the_reasons_for_kept_loops_on_the_page_are_real_ones() -> None:
    shown = re.findall(r"^  \d+  (.+)$", section("Loops"), re.MULTILINE)
    assert len(shown) == 2
    assert set(shown) <= {reason.value for reason in Kept}
