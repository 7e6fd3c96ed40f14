"""``perceptive trace``: a run on a small table, round by round."""

from __future__ import annotations

import argparse
import csv
import math
import sys
from typing import Any

from perceptive.cli.options import add_json, as_json, whole
from perceptive.errors import UsageError
from perceptive.rules import RULES

EXAMPLE = """\
examples:
  perceptive trace movies.csv --label profit
  perceptive trace movies.csv --label profit --ties positive --bias 0 --initial=-1,0,0
  perceptive trace movies.csv --label profit --u=-3,1,1 --columns step,weights,score,correct
  perceptive trace points.csv --label class --kernel 'poly(2)' --epochs 3 --html > table.html
"""
SIGNS = {"+": 1, "-": -1, "−": -1}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Learn from a small table, in its order, and show every round: the weights, the score, whether it was right, "
        "and the limits of the two lemmas. The table has a header (commas, tabs or semicolons); all columns but the "
        "label are numbers, which are neither scaled nor hashed."
    )
    parser.add_argument("data", metavar="DATA", help="a table with a header, or - for standard input")
    parser.add_argument("--label", metavar="COLUMN", required=True, help="the answers; + and - are +1 and -1")
    parser.add_argument("--rule", choices=RULES, default="perceptron", help="how it learns (default: perceptron)")
    parser.add_argument("--ties", choices=("mistake", "positive"), default="mistake", help="how to count a score of 0")
    parser.add_argument("--bias", type=float, default=0.0, metavar="B", help="value of a constant feature (default: 0)")
    parser.add_argument("--kernel", metavar="K", help="show the dual, α, with this kernel: linear, 'poly(2)', …")
    parser.add_argument("--epochs", type=whole(1), default=1, help="how often the table is played (default: 1)")
    parser.add_argument("--initial", metavar="V", help="v₀, numbers separated by commas, the constant feature last")
    parser.add_argument("--u", metavar="U", help="show v·u for this vector: numbers separated by commas")
    parser.add_argument("--columns", metavar="NAMES", help="columns to show, separated by commas")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--html", action="store_true", help="write an HTML table")
    add_json(shown)  # type: ignore[arg-type]


def run(options: argparse.Namespace) -> None:
    from perceptive.parameters import KernelParameters, LinearParameters
    from perceptive.tracing import trace

    names, X, y = _read(options.data, options.label)
    given = {"rule": options.rule, "ties": options.ties, "bias": options.bias}
    parameters: Any = (
        LinearParameters(**given) if options.kernel is None else KernelParameters(kernel=options.kernel, **given)
    )
    initial, u = _vector(options.initial, "--initial"), _vector(options.u, "--u")
    table = trace(parameters, X, y, initial=initial, u=u, epochs=options.epochs)
    columns = None if options.columns is None else options.columns.split(",")
    if options.json:
        told = {"features": names, "rounds": table.rows(), "weights": table.weights, "updates": table.k}
        print(as_json({"trace": {**told, "margin": table.margin, "radius": table.radius}}))
    else:
        print(table.html(columns) if options.html else table.text(columns))
    if table.margin is not None and table.margin <= 0:
        note = f"--u does not separate the examples: its margin γ is {table.margin:g}, so the lemma of kγ says nothing"
        print(note, file=sys.stderr)


def _read(path: str, label: str) -> tuple[list[str], list[list[float]], list[Any]]:
    """The names of the features, the rows, and the answers."""
    if path == "-":
        lines = sys.stdin.read().splitlines()
    else:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = file.read().splitlines()
    where = "standard input" if path == "-" else path
    if not lines:
        raise ValueError(f"{where}: is empty; give a table with a header")
    delimiter = max(",\t;", key=lines[0].count)
    header, *rows = csv.reader(lines, delimiter=delimiter)
    if label not in header:
        raise UsageError(f"--label {label}: {where} has the columns {', '.join(header)}")
    at = header.index(label)
    X, y = [], []
    for number, row in enumerate(rows, 2):
        if not row:
            continue
        if len(row) != len(header):
            raise ValueError(f"{where}, line {number}: has {len(row)} fields, the header {len(header)}")
        try:
            X.append([float(field) for i, field in enumerate(row) if i != at])
        except ValueError as error:
            raise ValueError(f"{where}, line {number}: {error}; trace takes columns of numbers") from None
        wrong = next((i for i, field in enumerate(row) if i != at and not math.isfinite(float(field))), None)
        if wrong is not None:
            raise ValueError(f"{where}, line {number}: column {header[wrong]!r} is {row[wrong]!r}; give finite numbers")
        y.append(SIGNS.get(row[at], row[at]))
    return [name for name in header if name != label], X, _numbers(y)


def _numbers(labels: list[Any]) -> list[Any]:
    """Labels as whole numbers, where all are."""
    try:
        return [int(label) for label in labels]
    except ValueError:
        return [str(label) for label in labels]


def _vector(text: str | None, option: str) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise UsageError(f"{option} {text}: give numbers with commas between them") from None
