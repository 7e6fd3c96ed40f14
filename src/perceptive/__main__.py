"""``python -m perceptive``."""

import sys

from perceptive.cli import main

if __name__ == "__main__":
    sys.exit(main())
