"""Whether tables have the columns that their examples are answered and weighted by."""

from __future__ import annotations

from perceptive.errors import Parameter, ParameterError, literal
from perceptive.streams import Stream

WIDE = 40  # characters of a column's name that are told


def check_answers(stream: Stream, examples: int) -> None:
    """Raise where a table lacks the column of the weights, or of the labels and so had no examples."""
    format, columns = stream.format, stream.log.columns
    asked = {"label": format.label if examples == 0 else None, "weight": format.weight}
    for what, name in asked.items():
        if not columns or name is None or name in columns:
            continue
        there = ", ".join(repr(column if len(column) < WIDE else f"{column[:WIDE]}…") for column in columns)
        said = f"there is no column {name!r} for the {what} but {there}; say which with "
        texts = ", or give {} where lines are label TAB text" if what == "label" and len(columns) == 2 else ""
        formats = [Parameter("format", "text")] * bool(texts)
        raise ParameterError(literal(said) + "{}" + texts, what, *formats)
