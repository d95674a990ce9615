"""Writes `migration_guide/examples/after/` anew: what the codemod makes of `before/`.

python -m tests.guide.make_after            # look at the difference before you commit it
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.guide import programs


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder, "after")
        done = programs.migrate(new)
        sys.stderr.write(done.stderr)
        if done.returncode == 2:
            return 2
        shutil.rmtree(programs.AFTER, ignore_errors=True)
        shutil.copytree(new, programs.AFTER)
    print(f"{len(programs.files(programs.AFTER))} files below {programs.AFTER.relative_to(programs.ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
