"""Labels in lines of output: a line has as many fields as it should, whatever a label is."""

from __future__ import annotations

import json
from typing import Any


def breaks_line(label: Any) -> bool:
    """Whether a label has a tab or a line break in it."""
    text = str(label)
    return "\t" in text or "".join(text.splitlines()) != text


def in_line(label: Any) -> str:
    r"""A label as one field of a line.

    One that would break the line, or that begins with a quote, is written as JSON has strings.

    Examples
    --------
    >>> print(in_line("spam"), in_line(-1), in_line("two\nlines"), in_line('"quoted"'))
    spam -1 "two\nlines" "\"quoted\""
    """
    text = str(label)
    return json.dumps(text) if breaks_line(text) or text.startswith('"') else text
