"""The command line: ``perceptive COMMAND``. Commands are imported when they are called."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from perceptive import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters
    options = _parser().parse_args(arguments)
    try:
        from perceptive.cli.demo import demo

        demo(seed=options.seed)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has gone: say no more
        return 0
    except OSError as error:
        print(f"perceptive: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
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
