"""`python -m codemod`."""

import sys

from codemod.cli import main

if __name__ == "__main__":
    sys.exit(main())
