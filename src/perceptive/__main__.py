"""The program ``perceptive``, and ``python -m perceptive``."""

import sys


def main() -> int:
    """Run the command of the process; Ctrl-C ends it quietly, also while modules are imported."""
    try:
        from perceptive.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
