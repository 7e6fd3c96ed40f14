"""The program ``perceptive``, and ``python -m perceptive``."""

import gc
import sys

RARELY = 50_000  # objects between two searches for cycles: what is imported makes many objects and no garbage


def main() -> int:
    """Run the command of the process; Ctrl-C ends it quietly, also while modules are imported."""
    gc.set_threshold(RARELY)
    try:
        from perceptive.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    finally:
        gc.freeze()  # the interpreter, as it ends, need not search what it frees


if __name__ == "__main__":
    sys.exit(main())
