"""Reproduce the papers: `cd benchmarks; python -m papers [NAME …] [--quick]`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from papers.paper import FOLDER, Paper

PAPERS = (
    "freund_schapire1999",
    "collins_duffy2001",
    "lodhi2002",
    "collins2002",
    "collins2002b",
    "shi2009",
    "mcdonald2010",
)


def main() -> None:
    """Reproduce some or all; without --quick the pages are written."""
    parser = argparse.ArgumentParser(prog="python -m papers", description=__doc__)
    parser.add_argument(
        "papers", nargs="*", default=PAPERS, metavar="NAME", help=f"of {', '.join(PAPERS)}; all if none"
    )
    parser.add_argument("--quick", action="store_true", help="small parts of the data: try a script out, write nothing")
    options = parser.parse_args()
    for name in options.papers:
        print(f"{name} …", flush=True)
        try:
            paper: Paper = import_module(f"papers.{name}").reproduce(options.quick)
        except FileNotFoundError as error:
            sys.exit(str(error))
        paper.show()
        if not options.quick:
            paper.write(name)
            print(f"written: {FOLDER / name}.md")


if __name__ == "__main__":
    main()
