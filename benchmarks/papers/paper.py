"""A paper made again: its tables beside ours, a picture, and what agrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev, variance
from typing import Any

from machine import machine
from report import Table, show

FOLDER = Path(__file__).parents[2] / "docs" / "papers"


@dataclass(frozen=True)
class Claim:
    """What the paper says, what we measured, and whether that agrees; None: it cannot be decided."""

    text: str
    measured: str
    agrees: bool | None

    @property
    def verdict(self) -> str:
        """In words."""
        return {True: "agrees", False: "does not agree", None: "undecided"}[self.agrees]


@dataclass(frozen=True)
class Paper:
    """What a script found out.

    Attributes
    ----------
    title, source : str
        Of the page, and of the paper.
    about : str
        What the paper asks, and what is done here to answer it.
    differs : str
        How data and methods differ from the paper's, and so what can be compared.
    tables, claims
        In the order of the page.
    draw : callable
        Draws the picture on a matplotlib figure.
    caption : str
        What the picture shows.
    """

    title: str
    source: str
    about: str
    differs: str
    tables: Sequence[Table]
    claims: Sequence[Claim]
    draw: Callable[[Any], None]
    caption: str

    def show(self) -> None:
        """Print the tables and the claims."""
        show(self.tables, [])
        for claim in self.claims:
            print(f"{claim.verdict:>14}  {claim.text}: {claim.measured}")

    def write(self, name: str) -> None:
        """Write the page and its picture."""
        import matplotlib

        matplotlib.use("Agg")
        matplotlib.rcParams["svg.hashsalt"] = "perceptive"
        import matplotlib.pyplot as plt

        FOLDER.mkdir(parents=True, exist_ok=True)
        figure = plt.figure(figsize=(7, 4), layout="constrained")
        self.draw(figure)
        figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None}, transparent=True)
        plt.close(figure)
        agreement = Table(
            "What agrees, and what does not",
            ["the paper says", "here", ""],
            [(claim.text, claim.measured, claim.verdict) for claim in self.claims],
        )
        parts = [
            f"# {self.title}",
            f"*{self.source}*",
            " ".join(self.about.split()),
            f"![{self.caption}]({name}.svg)",
            _section(agreement),
            f"## What differs from the paper\n\n{' '.join(self.differs.split())}",
            *map(_section, self.tables),
            f"Made by `make papers PAPERS={name}`. {machine('one core', 'numpy', 'scikit-learn')}",
        ]
        (FOLDER / f"{name}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _section(table: Table) -> str:
    return table.markdown().replace("### ", "## ", 1)


def spread(values: Sequence[float]) -> str:
    """Mean and standard deviation."""
    return f"{mean(values):.2f} ± {stdev(values):.2f}" if len(values) > 1 else f"{values[0]:.2f}"


def larger(a: Sequence[float], b: Sequence[float]) -> bool | None:
    """Whether the mean of the first is larger; None if the two are within two standard errors."""
    difference = mean(a) - mean(b)
    if abs(difference) < 2 * (variance(a) / len(a) + variance(b) / len(b)) ** 0.5:
        return None
    return difference > 0
