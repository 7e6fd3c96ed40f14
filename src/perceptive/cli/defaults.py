"""What ``train`` gives where its user says nothing: a classifier by the kind of file, a tagger by its preset.

``make bench-defaults`` and ``make bench-tagger`` measured the choice; docs/decisions/0038-defaults.md has the tables.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from perceptive.cli.options import as_option, given
from perceptive.cli.tasks import Entry, Task
from perceptive.cli.tasks.rows import check_text
from perceptive.parameters import SequenceParameters, TrainingParameters
from perceptive.streams.blocks import expand
from perceptive.streams.file_format import ALIASES, FileFormat
from perceptive.streams.guessing import guess
from perceptive.streams.tables import names_in

DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "texts": {"rule": "arow", "r": 0.1, "words": (1, 2), "idf": True},
    "tables": {"rule": "perceptron", "bias": "auto"},
    "numbered": {"rule": "arow", "bias": "auto"},
}
OF_RULES = {"r": "arow"}
KINDS = {
    "text": "texts",
    "csv": "tables",
    "json": "tables",
    "arrow": "tables",
    "svmlight": "numbered",
    "vw": "numbered",
}


def fill(options: argparse.Namespace, entry: Entry, task: Task, opened: ExitStack) -> None:
    """Set the options that were not given; other learners, and those that continue, have defaults of their own.

    ``opened`` closes the cluster, if the sentences that choose a preset are read there.
    """
    if options.model or entry.kernel:
        return
    if entry.name == "classify":
        found = DEFAULTS[kind_of(options)]
    elif entry.name == "tag":
        found = of_preset(options, task, opened)
    elif entry.name == "rerank":
        from perceptive.learners.reranking import RANKER  # other tasks need none of it

        found = {"rule": RANKER["rule"]}  # the rest is the reranker's own, with this rule
    else:
        return
    for name, value in found.items():
        if getattr(options, name) is None and (name not in OF_RULES or options.rule == OF_RULES[name]):
            setattr(options, name, value)


def of_preset(options: argparse.Namespace, task: Any, opened: ExitStack) -> Mapping[str, Any]:
    """What the preset of a tagger brings; where none is named, the one that fits the sentences.

    Where they come one by one, the first chooses the preset, and the learner takes what it brings.
    """
    from perceptive.features.presets import brought  # other tasks need none of these
    from perceptive.learners.sequence_model import guess_preset, told_of_rule

    name = options.template
    if name in (None, "auto"):
        if options.follow:
            return {}
        X, y = task.labels(options, opened)
        name = guess_preset(X, y) if X else None  # to read them says what is wrong
    said = {**given(options, SequenceParameters), **given(options, TrainingParameters)}
    if note := told_of_rule(name, said, as_option):
        print(f"note: {note}", file=sys.stderr)
    found = {"template": name, **brought(name, said)}
    return {one: value for one, value in found.items() if not options.follow or one in SequenceParameters.defaults}


def kind_of(options: argparse.Namespace) -> str:
    """The kind of the files: texts, tables, or features that have numbers or names.

    JSON lines are texts where the first of them have the key of the text.
    """
    check_text(options)
    if options.text or options.text_column:
        return "texts"
    files = expand(options.data)
    told = options.format or guess(files)
    kind = KINDS.get(ALIASES.get(told, told), "numbered")  # opening the files says what is wrong with others
    if kind == "tables" and ALIASES.get(told, told) == "json":
        keys = (names_in(path, FileFormat(name="json")) for path in files)
        return "texts" if any("text" in found for found in keys if found) else kind
    return kind
