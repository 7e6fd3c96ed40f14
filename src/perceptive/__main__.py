"""``python -m perceptive``."""

import sys

from perceptive.cli import main

sys.exit(main())
