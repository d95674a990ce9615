"""The reports: each format is a module with `render(result, **options) -> str`, imported only when it is asked for.

A report reads a `RunResult` and nothing else: it opens no file and decides no exit code.
"""

from __future__ import annotations

import importlib
from typing import Any

from codemod.results import RunResult

# Format -> module. Not imported here: rich and jinja2 would cost every start of the command.
FORMATS = {
    "text": "codemod.report.text",
    "diff": "codemod.report.diff",
    "json": "codemod.report.json_report",
    "sarif": "codemod.report.sarif",
    "github": "codemod.report.github",
    "html": "codemod.report.html",
}


def render(name: str, result: RunResult, **options: Any) -> str:
    """Writes a run in one of the formats.

    Args:
      name: A key of `FORMATS`.
      result: The run.
      **options: What the format's own `render` takes.

    Returns:
      The report. It can hold lone surrogates only in the `diff` format, where they stand for bytes that are not UTF-8:
      write it with `errors="surrogateescape"`.

    Raises:
      ValueError: There is no such format.
    """
    if name not in FORMATS:
        raise ValueError(f"There is no report format {name!r}; there are {', '.join(FORMATS)}.")
    module = importlib.import_module(FORMATS[name])
    text: str = module.render(result, **options)
    return text
