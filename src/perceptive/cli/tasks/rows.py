"""Files of rows and of lists: opened as options say, or as a model has learned to read them."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import Any

from perceptive import _core, streams
from perceptive.cli import groups as g
from perceptive.cli.options import given, option_of
from perceptive.streams import FileFormat, Stream
from perceptive.streams.examples import Examples
from perceptive.streams.parsing import Log

# The options of how features become columns that are not called as `FileFormat` calls them.
TEXT = {name: "normalize" if name == "normalize_text" else name for name in g.TEXT.without("text").options}
FORMAT = [*g.FEATURES.without("invert_hash").options, *g.TABLES.options]
NOTHING = "{}: this model has learned nothing; train it first"
FROM_DICTS = "{}: learned from dicts in Python, and cannot read files; use it from Python"


def size_of(path: str) -> int:
    """Bytes of a file; 0 where that is not known."""
    return os.path.getsize(path) if os.path.isfile(path) else 0


# ---------------------------------------------------------------- streams


def open_stream(options: argparse.Namespace, learner: Any, parameters: type) -> Stream:
    """The files of a training run; a learner that goes on reads as it has begun.

    Parameters
    ----------
    options : argparse.Namespace
    learner : learner or None
    parameters : type
        What a new learner would be given.
    """
    common: dict[str, Any] = {
        "threads": options.threads,
        "on_error": options.on_error,
        "remember_names": options.invert_hash,
    }
    if learner is not None:
        return streams.open(
            options.data,
            format=format_of(learner, options, fixed=True),
            idf=learner.space.idf,
            dtype=learner.parameters.dtype,
            **common,
        )
    if options.text and options.format not in (None, "text", "fasttext"):
        raise ValueError(f"--text and --format {options.format} do not go together; for a table, give --text-column")
    format = "text" if options.text else options.format
    dtype = options.dtype or parameters.dtype  # type: ignore[attr-defined]
    try:
        return streams.open(options.data, format=format, dtype=dtype, **common, **_format_options(options))
    except streams.Meaningless as error:
        raise ValueError(f"{', '.join(map(_format_option, error.names))}: {error.why}") from None


def _format_options(options: argparse.Namespace) -> dict[str, Any]:
    """What was given of how features become columns."""
    format = {name: value for name in FORMAT if (value := getattr(options, name)) is not None}
    text = {name: value for option, name in TEXT.items() if (value := getattr(options, option)) is not None}
    for name in ("words", "chars"):
        if text.get(name) == (0, 0):
            text[name] = None
    return {**format, "text": text} if text else format


def _format_option(name: str) -> str:
    """The option that gives this part of a format."""
    return option_of({known: option for option, known in TEXT.items()}.get(name, name))


def stream_for(learner: Any, options: argparse.Namespace, fixed: bool = False) -> Stream:
    """The files of a command that uses a model."""
    return streams.open(
        options.data,
        format=format_of(learner, options, fixed),
        dtype=learner.parameters.dtype if hasattr(learner, "kernel") else "float32",
        threads=options.threads,
        on_error=options.on_error,
        idf=learner.space.idf,
    )


def format_of(learner: Any, options: argparse.Namespace, fixed: bool) -> FileFormat:
    """How a model reads files.

    One that learned from arrays reads svmlight: with ``fixed`` no more columns than it has, else those beyond are left
    out later.
    """
    told: str | None = options.format
    known: FileFormat | None = learner.space.format
    if known is None:
        bits = getattr(learner.parameters, "bits", None)
        if bits is None and told not in (None, "svmlight", "libsvm"):
            raise ValueError(f"the model has learned from columns, which {told} files do not number; give svmlight")
        if bits is not None and told is None:
            raise ValueError(
                "the model has learned from dicts in Python; say by --format which files hold such examples"
            )
        return FileFormat(name=told or "svmlight", bits=bits, n_features=learner.n_features if fixed else None)
    if told is not None and FileFormat(name=told).name != known.name:
        raise ValueError(f"the model has learned from {known.name} files; it cannot read {told}")
    return replace(known, labelled=False) if getattr(options, "unlabelled", False) else known


# ---------------------------------------------------------------- going on


def refuse_changes(
    options: argparse.Namespace, learner: Any, parameters: type, leave_out: set[str], *more: str
) -> None:
    """Raise where options would make another learner of one that goes on.

    Parameters
    ----------
    options : argparse.Namespace
    learner : learner
    parameters : type
        Of the learner.
    leave_out : set of str
        Those of them that are no options.
    *more : str
        Options that no learner that goes on takes.
    """
    chosen = given(options, parameters, leave_out)
    changed = [option_of(name) for name, value in chosen.items() if value != getattr(learner.parameters, name)]
    format = learner.space.format
    known = {} if format is None else {**vars(format), **format.text}
    asked = _format_options(options)
    asked |= asked.pop("text", {})
    changed += [_format_option(name) for name, value in asked.items() if value != known.get(name)]
    changed += [option_of(name) for name in more if getattr(options, name) is not None]
    if changed:
        raise ValueError(f"{options.model}: goes on learning as it has begun; leave out {', '.join(changed)}")


def known_rows(examples: Examples, width: int) -> _core.Rows:
    """Rows of as many columns as a model has; others were never met and have no weight."""
    examples = examples.narrow(width)
    rows = _core.csr_rows(examples.indptr, examples.indices, examples.data, width, False)
    assert rows is not None  # parsers sort
    return rows


def count(examples: int, log: Log, unanswered: int, **more: int) -> dict[str, int]:
    """The counts of a report."""
    return {"examples": examples, "skipped": log.skipped, "unanswered": unanswered, **more}
