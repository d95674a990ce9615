"""Makes a page of the site for each rule of the codemod, from the docstring that `python -m codemod explain` prints.

MkDocs calls the functions here while it builds the site (see `hooks` in mkdocs.yml). No page of a rule is kept as a file, so
none can be out of date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # The folder of this checkout's codemod, installed or not.

from codemod.rules import Rule, all_rules

FOLDER = "rules"
_ROOMS = {
    "0": "Files that cannot be read, and comments to the codemod",
    "1": "Imports",
    "2": "Sessions and loops",
    "3": "Names that have moved",
    "4": "Hooks",
    "5": "Keras",
    "6": "Estimators",
    "7": "Hints at a difference",
    "9": "Names that are gone",
}


def on_config(config: Any) -> Any:
    """Puts the rules' pages into the navigation, behind the page that lists them."""
    _fill(config.nav)
    return config


def _fill(entries: list[Any]) -> None:
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        if entry.get("Rules") == f"{FOLDER}/index.md":
            entry["Rules"] = [entry["Rules"], *({rule.code: address(rule)} for rule in by_code())]
        for below in entry.values():
            if isinstance(below, list):
                _fill(below)


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages, which exist nowhere as files."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, f"{FOLDER}/index.md", content=index()))
    for rule in by_code():
        files.append(File.generated(config, address(rule), content=page(rule)))
    return files


def by_code() -> list[Rule]:
    """The rules, as a reader looks for them."""
    return sorted(all_rules(), key=lambda rule: rule.code)


def address(rule: Rule) -> str:
    """Where the page of a rule is, from the root of the site."""
    return f"{FOLDER}/{rule.code}.md"


def page(rule: Rule) -> str:
    """The page of a rule: its docstring below a heading with its code, and the command that prints the same."""
    title, _, body = rule.page.strip().partition("\n")
    return (
        f"# {rule.code}: {title.rstrip('.')}\n{_unescaped(body)}\n\n"
        f"## On the command line\n```console\npython -m codemod explain {rule.code}\n"
        f"python -m codemod migrate src/ --select {rule.code} --diff\n```\n\n"
        f"A comment `# codemod: ignore[{rule.code}]` on a line keeps the rule away from it. "
        "[All rules](index.md), [the command](../codemod.md).\n"
    )


def index() -> str:
    """The page that lists the rules, room by room."""
    lines = [
        "# The codemod's rules",
        "",
        "Each rule has a code. `--select` and `--ignore` take codes and their beginnings: `TFB2` is every rule about",
        "sessions and loops. `python -m codemod rules` prints this list, `python -m codemod explain CODE` the page of a",
        "rule. How the command behaves is on [its own page](../codemod.md).",
        "",
    ]
    room = ""
    for rule in by_code():
        digit = rule.code[3]
        if digit != room:
            room = digit
            lines += ["", f"## {_ROOMS[digit]}", "", "| code | rule | is it safe? |", "| --- | --- | --- |"]
        lines.append(f"| [{rule.code}]({rule.code}.md) | {_cell(rule.title)} | {_cell(safety(rule))} |")
    return "\n".join(lines) + "\n"


def safety(rule: Rule) -> str:
    """The first sentence of the answer to "Is it safe?"."""
    answer = " ".join(rule.page.partition("## Is it safe?\n")[2].split())
    return re.split(r"(?<=[.])\s", answer, maxsplit=1)[0].rstrip(".")


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _unescaped(body: str) -> str:
    """A rule's page has its code blocks right below a heading; Markdown is surer of them behind an empty line."""
    return re.sub(r"^(## .*)\n(?=\S)", r"\1\n\n", body, flags=re.MULTILINE)
