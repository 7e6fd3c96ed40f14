"""The command line: ``perceptive COMMAND``. Commands are imported when they are called."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from perceptive import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 2 wrong usage, 130 interrupted."""
    options = _parser().parse_args(arguments)
    try:
        from perceptive.cli.demo import demo

        demo(seed=options.seed)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="perceptive", description="Learning from mistakes, certified.")
    parser.add_argument("--version", action="version", version=f"perceptive {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    demo = commands.add_parser(
        "demo",
        help="learn handwritten digits and play a game against the mistake bound",
        description="Learn handwritten digits four ways, and play a separable game against its mistake bound.",
        epilog="example: perceptive demo --seed 7",
    )
    demo.add_argument("--seed", type=_seed, default=0, help="of the shuffling and of the game (default: 0)")
    return parser


def _seed(text: str) -> int:
    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if seed < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number ≥ 0")
    return seed
