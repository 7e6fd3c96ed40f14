"""What ``train`` gives a new classifier where its user says nothing, by the kind of file.

``make bench-defaults`` measured the choice; docs/decisions/0038-defaults.md has its table.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from perceptive.cli.tasks import Entry
from perceptive.cli.tasks.rows import check_text
from perceptive.streams.blocks import expand
from perceptive.streams.file_format import ALIASES, FileFormat
from perceptive.streams.guessing import guess
from perceptive.streams.tables import names_in

DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "texts": {"rule": "arow", "r": 0.1, "words": (1, 2), "idf": True},
    "tables": {"rule": "perceptron", "bias": "auto"},
    "numbered": {"rule": "arow", "bias": "auto"},
}
KINDS = {
    "text": "texts",
    "csv": "tables",
    "json": "tables",
    "arrow": "tables",
    "svmlight": "numbered",
    "vw": "numbered",
}


def fill(options: argparse.Namespace, entry: Entry) -> None:
    """Set those options that were not given; other learners, and those that go on, have defaults of their own."""
    if options.model or (entry.name, entry.kernel) != ("classify", False):
        return
    for name, value in DEFAULTS[kind_of(options)].items():
        if getattr(options, name) is None and (name != "r" or options.rule == "arow"):
            setattr(options, name, value)


def kind_of(options: argparse.Namespace) -> str:
    """The kind of the files: texts, tables, or features that have numbers or names.

    JSON lines are texts where the first of them have the key of the text.
    """
    check_text(options)
    if options.text or options.text_column:
        return "texts"
    files = expand(options.data)
    told = options.format or guess(files)
    kind = KINDS.get(ALIASES.get(told, told), "numbered")  # whoever opens the files says what is wrong with others
    if kind == "tables" and ALIASES.get(told, told) == "json":
        keys = (names_in(path, FileFormat(name="json")) for path in files)
        return "texts" if any("text" in found for found in keys if found) else kind
    return kind
