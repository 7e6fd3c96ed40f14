"""The table of a run: a row for each round, as text, HTML or plain values."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from perceptive.errors import ParameterError, literal

Weights = list[Any] | dict[str, float]  # of one vector, of one for each class, or by name


@dataclass(frozen=True)
class Round:
    """A round: the guess v_k before it, the question and the answer, and the limits of the lemmas.

    Attributes
    ----------
    step : int
        From 1 on.
    example, answer : object
        x and its answer.
    weights : list or dict
        v_k at the start of the round; for kernels α, for taggers the weights that are not 0, by name.
    score : float or list
        v_k·x, or one for each class or candidate; for a sentence that of the best path.
    spelled : str
        The score written as a sum, if it is one.
    prediction : object
    correct : bool
    k : int
        Updates before the round: the number of the guess; the trace begins with v₀.
    along, along_least : float or None
        v_k·u and its limit v₀·u + kγ by Lemma 1; None without u.
    length2, length2_most : float or None
        ‖v_k‖² and its limit ‖v₀‖² + kR² by Lemma 2; the limit is None for rules other than the perceptron.
    """

    step: int
    example: Any
    answer: Any
    weights: Weights
    score: float | list[float]
    spelled: str
    prediction: Any
    correct: bool
    k: int
    length2: float
    along: float | None = None
    along_least: float | None = None
    length2_most: float | None = None


def shown(value: Any) -> str:
    """Format a value of the table, numbers to six digits.

    >>> shown([-1.0, 0.1 + 0.2]), shown({"the|DT": 1.0}), shown("x")
    ('[-1, 0.3]', 'the|DT: 1', 'x')
    """
    if isinstance(value, bool) or value is None:
        return "" if value is None else ("yes" if value else "no")
    if isinstance(value, int | float):
        return f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {shown(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    return str(value)


def _score(row: Round) -> str:
    return f"{row.spelled} = {shown(row.score)}" if row.spelled else shown(row.score)


# What a table can show: the heading, and what stands below it.
COLUMNS: dict[str, tuple[str, Callable[[Round], str]]] = {
    "step": ("step", lambda row: str(row.step)),
    "guess": ("guess", lambda row: f"v{row.k}"),
    "input": ("input", lambda row: f"x{row.step}"),
    "result": ("result", lambda row: "✓" if row.correct else "X"),
    "example": ("example", lambda row: shown(row.example)),
    "answer": ("answer", lambda row: shown(row.answer)),
    "weights": ("weights", lambda row: shown(row.weights)),
    "score": ("score", _score),
    "prediction": ("says", lambda row: shown(row.prediction)),
    "correct": ("correct?", lambda row: shown(row.correct)),
    "k": ("k", lambda row: str(row.k)),
    "along": ("v·u", lambda row: shown(row.along)),
    "along_least": ("≥ kγ", lambda row: shown(row.along_least)),
    "length2": ("‖v‖²", lambda row: shown(row.length2)),
    "length2_most": ("≤ kR²", lambda row: shown(row.length2_most)),
}
OF_U = ("along", "along_least")
DEFAULT = ("step", "example", "answer", "weights", "score", "correct", "k", *OF_U, "length2", "length2_most")


@dataclass(frozen=True)
class Trace:
    """What a learner did on a stream of examples. Prints as a table; in notebooks too.

    Attributes
    ----------
    rounds : list of Round
    weights : list or dict
        The last weights.
    k : int
        Updates made.
    margin, radius : float or None
        γ, the smallest margin of u on the examples, and R, the longest δ of an update; None if there are none.
    from_zero : bool
        Whether it began with v₀ = 0: otherwise the lemmas add v₀·u and ‖v₀‖².
    """

    rounds: list[Round]
    weights: Weights
    k: int
    margin: float | None
    radius: float | None
    from_zero: bool

    def rows(self) -> list[dict[str, Any]]:
        """Plain values: a dict for each round."""
        return [asdict(one) for one in self.rounds]

    def cells(self, columns: Sequence[str] | None = None) -> list[list[str]]:
        """The heading and the rows, as texts; ``columns`` are keys of `COLUMNS`."""
        filled = [name for name in DEFAULT if any(COLUMNS[name][1](row) for row in self.rounds)]
        chosen = filled if columns is None else list(columns)
        for name in chosen:
            if name not in COLUMNS:
                said = literal(f"there is no column {name!r}; choose from {', '.join(COLUMNS)}")
                raise ParameterError("{}: " + said, "columns")
        heading = [COLUMNS[name][0] for name in chosen]
        if not self.from_zero:
            more = {"≥ kγ": "≥ v₀·u + kγ", "≤ kR²": "≤ ‖v₀‖² + kR²"}
            heading = [more.get(title, title) for title in heading]
        return [heading, *([COLUMNS[name][1](row) for name in chosen] for row in self.rounds)]

    def text(self, columns: Sequence[str] | None = None) -> str:
        """The table as text, the final weights below."""
        cells = self.cells(columns)
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]
        lines.insert(1, "  ".join("─" * width for width in widths))
        return "\n".join([*lines, "", f"final weights: {shown(self.weights)}"])

    def html(self, columns: Sequence[str] | None = None) -> str:
        """The table as HTML."""
        heading, *rows = [[html.escape(cell) for cell in row] for row in self.cells(columns)]
        parts = ["<table>", f"<thead><tr>{''.join(f'<th>{cell}</th>' for cell in heading)}</tr></thead>", "<tbody>"]
        parts += [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows]
        return "\n".join([*parts, "</tbody>", "</table>", f"<p>final weights: {html.escape(shown(self.weights))}</p>"])

    __str__, _repr_html_ = text, html
