"""What the user asked for: command line and `[tool.codemod]` in one frozen value that workers are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Style = Literal["import", "explicit"]
Loops = Literal["fit", "keep"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that decide what becomes of a file.

    Attributes:
      style: `import` changes the import line to `import tensorflow.compat.v1 as tf`, the smallest diff; `explicit`
        leaves it and writes `tf.compat.v1.X`.
      loops: `fit` turns the loops that provably allow it into `sess.fit(…)`; `keep` leaves all.
      unsafe_fixes: Whether fixes that may change what runs are applied too.
      select: Prefixes of the codes that are run; empty for all.
      ignore: Prefixes of the codes that are not run; wins over `select` unless `select` is the longer prefix.
      todo: Whether a place that is left gets a `# TODO(codemod CODE): …` comment.
      tensorflow: Folder of the installed `tensorflow` package whose tables are read; None to search for it.
      scan: Only take stock: no edits are computed.
      py2: Whether files of Python 2 are converted to Python 3 first.
    """

    style: Style = "import"
    loops: Loops = "fit"
    unsafe_fixes: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    todo: bool = True
    tensorflow: str | None = None
    scan: bool = False
    py2: bool = False

    def wants(self, code: str) -> bool:
        """Tells whether the rule `code` is to be run; the longest prefix that fits it decides."""
        chosen = max((len(p) for p in self.select if code.startswith(p)), default=-1 if self.select else 0)
        refused = max((len(p) for p in self.ignore if code.startswith(p)), default=-1)
        return chosen >= 0 and chosen > refused
