"""Tables for the terminal and for README.md, and the targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable


@dataclass
class Table:
    """Rows of text under a title; the first column is left-aligned, the others right."""

    title: str
    header: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def rich(self) -> RichTable:
        """For the terminal."""
        table = RichTable(title=self.title, title_justify="left", title_style="bold")
        for i, name in enumerate(self.header):
            table.add_column(name, justify="right" if i else "left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """For README.md."""
        rule = ["---", *["---:"] * (len(self.header) - 1)]
        lines = ["| " + " | ".join(cells) + " |" for cells in (self.header, rule, *self.rows)]
        return "\n".join([f"### {self.title}", "", *lines])


@dataclass(frozen=True)
class Target:
    """What was to be reached, what was measured."""

    text: str
    measured: str
    met: bool

    @property
    def verdict(self) -> str:
        """In words."""
        return "met" if self.met else "NOT met"


def show(tables: Sequence[Table], targets: Sequence[Target]) -> None:
    """Print all, one line per target at the end."""
    console = Console(width=150, highlight=False)
    for table in tables:
        console.print(table.rich())
    for target in targets:
        print(f"{target.verdict:>7}  {target.text}: {target.measured}")


def write(name: str, tables: Sequence[Table], targets: Sequence[Target], machine: str) -> None:
    """Replace what stands between the markers of a benchmark in README.md."""
    path, (begin, end) = (
        Path(__file__).with_name("README.md"),
        (f"<!-- {name}: {edge} -->" for edge in ("begin", "end")),
    )
    before, rest = path.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    summary = Table("Targets", ["target", "measured", ""], [(t.text, t.measured, t.verdict) for t in targets])
    shown = (summary, *tables) if targets else tables
    body = "\n\n".join([machine, *(table.markdown() for table in shown)])
    path.write_text(f"{before}{begin}\n\n{body}\n\n{end}{after}", encoding="utf-8")
