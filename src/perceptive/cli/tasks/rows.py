"""Files of rows and of lists: opened as options say, or as a model has learned to read them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from perceptive import _core, streams
from perceptive.cli import groups as g
from perceptive.cli.console import tell_log
from perceptive.cli.options import given, option_of, options_for
from perceptive.cli.paths import expand_there
from perceptive.cli.tasks import of_learner
from perceptive.data.feature_space import FeatureSpace
from perceptive.errors import UsageError
from perceptive.streams import FileFormat, Stream
from perceptive.streams.blocks import STDIN, comes_live, expand, shown
from perceptive.streams.examples import Examples
from perceptive.streams.file_format import ALIASES, NAMED_FEATURES, NO_KEY
from perceptive.streams.guessing import by_name, told_by
from perceptive.streams.label_reading import reading_for, reading_of_words
from perceptive.streams.meaning import check_meaning
from perceptive.streams.parsing import Log
from perceptive.streams.tables import names_in
from perceptive.streams.values import some_names

# The options of how features become columns that are not called as `FileFormat` calls them.
TEXT = {name: "normalize" if name == "normalize_text" else name for name in g.TEXT.without("text").options}
FORMAT = [*g.FEATURES.without("invert_hash").options, *g.TABLES.options]
NO_NAMES = ("svmlight", "text")  # formats whose features have no names, or only those of words
KEEPS = "keeps the parameters that it was trained with"
MOST_NAMES = 10  # of columns in a message
NOTHING = "{}: this model has learned nothing; train it first"


class OfRows:
    """What the adapters of models over rows share."""

    def check(self, learner: Any, path: str) -> None:
        if not learner.vectors:
            raise ValueError(NOTHING.format(path))
        learner.finish()


def size_of(path: str) -> int:
    """Bytes of a file; 0 where that is not known."""
    return os.path.getsize(path) if os.path.isfile(path) else 0


# ---------------------------------------------------------------- streams


def open_stream(options: argparse.Namespace, learner: Any, parameters: type) -> Stream:
    """The files of a training run, as they are learned from; a learner that goes on reads them as before.

    A new one takes ``parameters``.
    """
    if learner is None:
        check_text(options)
        how = {"format": "text" if options.text else options.format, "dtype": options.dtype or parameters.dtype}  # type: ignore[attr-defined]
        how |= {**_format_options(options), "lists": options.task == "rank", "labels": labels_told(options)}
    else:
        format = format_of(learner, options, fixed=True)
        if format.columns is not None:
            raise UsageError(f"{options.model}: was trained on dicts or a data frame in Python; go on by partial_fit")
        how = {"format": format, "idf": learner.space.idf, "dtype": learner.parameters.dtype}
    if options.cluster:
        refuse_standard_input(options.data)  # before it is looked at
    how |= {"threads": options.threads, "on_error": options.on_error, "remember_names": options.invert_hash or None}
    stream = streams.open(options.data, **how).to_learn_from(options.follow, bool(options.cache))
    if options.follow:
        tell_log(stream.log)  # what is said of a run that ends is said then
    return stream


def labels_told(options: argparse.Namespace) -> str:
    """How labels are read, by those that options name."""
    weights = getattr(options, "class_weight", None)
    weighted = weights if isinstance(weights, dict) else ()
    return reading_of_words([*(options.classes or ()), *weighted, *filter(None, [options.reference])])


def refuse_standard_input(files: Sequence[str]) -> None:
    """Raise where a cluster is to read what only this process has."""
    if STDIN in files:
        raise UsageError("--cluster reads files on the workers, and standard input is here; write it to a file")


def check_text(options: argparse.Namespace) -> None:
    """Raise where texts are asked for in files of another format."""
    if options.text and options.format not in (None, "text", "fasttext"):
        raise UsageError(f"--text and --format {options.format} do not go together; for a table, give --text-column")


def _format_options(options: argparse.Namespace) -> dict[str, Any]:
    """What was given of how features become columns."""
    format = {name: value for name in FORMAT if (value := getattr(options, name)) is not None}
    text = {name: value for option, name in TEXT.items() if (value := getattr(options, option)) is not None}
    for name in ("words", "chars"):
        if text.get(name) == (0, 0):
            text[name] = None
    return {**format, "text": text} if text else format


def _of_text(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"text.{name}": value for name, value in values.items()}


def stream_for(learner: Any, options: argparse.Namespace, fixed: bool = False, names: bool = False) -> Stream:
    """The files of a command that uses a model; ``names`` is whether the log takes those of hashed features."""
    format = _with_columns(learner, format_of(learner, options, fixed), expand(options.data))
    check_meaning(format, {"quote": getattr(options, "quote", None)})
    if getattr(options, "unlabelled", False) and format.name != "text":
        raise UsageError(f"--unlabelled is about lines of text, and these are {format.name} files; leave it out")
    read = "float32" if format.columns is None else "float64"  # as files, and as frames
    stream = streams.open(
        options.data,
        format=format,
        dtype=learner.parameters.dtype if of_learner(learner).kernel else read,
        threads=options.threads,
        on_error=options.on_error,
        remember_names=names,
        idf=learner.space.idf,
    )
    answers = options.command in ("predict", "rank", "explain")
    return replace(stream, live=answers and comes_live(stream.files))


def _with_columns(learner: Any, format: FileFormat, files: list[str]) -> FileFormat:
    """How tables are read that may lack columns; raises where they have none that the model knows, and says which."""
    if format.name not in NAMED_FEATURES:
        return format
    format = replace(format, known=learner.space.learned)
    for path in files:
        columns = names_in(path, format)
        if columns is None:  # it comes but once
            return format
        try:
            lost = learner.space.missing(columns) if columns else []
        except ValueError as error:
            raise ValueError(f"{shown(path)}: {error}") from None
        if lost:
            some = ", ".join(name or "''" for name in lost[:MOST_NAMES]) + (", …" if len(lost) > MOST_NAMES else "")
            print(f"warning: {shown(path)} lacks columns that the model has learned from: {some}", file=sys.stderr)
        learned = learner.space.format
        if learned is not None and learned.name == "text" and columns and format.text_column not in columns:
            raise ValueError(
                f"{shown(path)}: the model has learned from texts; call the column or key of the text 'text'"
            )
    return format


def format_of(learner: Any, options: argparse.Namespace, fixed: bool) -> FileFormat:
    """How a model reads files: what their names and first bytes say stands above what it remembers.

    If it learned in Python, `format_of_memory` says how, and what ``fixed`` means.
    """
    known: FileFormat | None = learner.space.format
    elsewhere = getattr(options, "cluster", None)  # the workers have the files
    told = options.format or _told(expand(options.data) if elsewhere else expand_there(options.data), known)
    quote = getattr(options, "quote", None)
    written = {} if quote is None else {"quote": quote}  # how files are written is no matter of the model
    if known is None:
        lists = of_learner(learner).name == "rank"
        return format_of_memory(learner, told, fixed, lists=lists, **written)
    try:
        format = replace(known if told is None else known.read_as(told), **written)
    except ValueError as error:
        raise (UsageError if options.format else ValueError)(str(error)) from None
    if format.labels is not None or format.name != known.name:  # those from before read their own files as they did
        format = replace(format, labels=reading_for(getattr(learner, "classes", ())))
    if format.name == "json" != known.name:
        check_keys(learner.space.header, format.weight or "weight")
    return replace(format, labelled=False) if getattr(options, "unlabelled", False) else format


def _told(files: list[str], known: FileFormat | None) -> str | None:
    """The format that files say they have; None where that is left to the model."""
    labelled_text = known is not None and known.name in ("text", "vw")  # which may look like anything
    found = {by_name(path) if labelled_text else told_by(path): path for path in files}
    if labelled_text and known is not None and known.name == "text":
        found.pop("tsv", None)  # label TAB text
    if len(found) > 1:
        (one, path), (other, another), *_ = found.items()
        what = [f"{shown(p)} looks like {f or 'something else'}" for f, p in ((one, path), (other, another))]
        raise ValueError(f"{', '.join(what)}; read them separately, or name one with --format")
    return next(iter(found), None)


# ---------------------------------------------------------------- models that learned in Python


def format_of_memory(learner: Any, told: str | None, fixed: bool, **how: Any) -> FileFormat:
    """Return how such a model reads files of a format; raise if it cannot.

    A model of dicts or of a data frame reads columns by name, one of an array svmlight. If ``fixed``, there are no
    more columns than the model has; else further ones are left out later.
    """
    space: FeatureSpace = learner.space
    name = None if told is None else ALIASES.get(told, told)
    bits = None if space.hasher is None else space.hasher.bits
    numbered = bits is None and space.vocabulary is None
    how["labels"] = reading_for(getattr(learner, "classes", ()))
    if numbered and name in (None, "svmlight"):
        return FileFormat(name="svmlight", n_features=learner.n_features if fixed else None, **how)
    columns = None if bits is not None else _columns(space)
    if bits is None and columns is None:
        raise UsageError(f"the model was trained on numbered columns, which {told} files lack; give svmlight")
    if name is None:
        raise UsageError(
            "the model was trained on dicts or a data frame in Python; name the format of the files with --format"
        )
    if columns is not None:
        if name in NO_NAMES:
            raise UsageError(
                f"the model was trained on named columns, which {told} files lack; give csv, json or arrow"
            )
        n = learner.n_features or 0
        bits, how = n.bit_length() or 1, {**how, "columns": columns, "n_features": n if fixed else None}
    how |= {"bits": bits, "scale": None}
    if name == "json":
        check_keys(space.framed)
        how["text_column"] = ""  # a text is a word, as it was in Python
    if "label" in space.framed:
        how["label"] = NO_KEY  # a feature, as it was in Python
    table = space.table
    if table is None:  # in dicts that are no rows of a table, True is 1
        return FileFormat(name=told or "", words=() if numbered else None, numerals=numbered, **how)
    words = (*table.words, *_only_words(space))
    how |= {"ignore": table.ignore, "numerals": True, "scaling": table.scaling}
    return FileFormat(name=told or "", words=words, **how)


def check_keys(names: tuple[str, ...], weight: str = "weight") -> None:
    """Raise if a model has learned from columns whose names mean something else in JSON lines."""
    if {weight, "features"} & {*names}:
        raise ValueError(
            "the model has learned from columns 'weight' or 'features', which mean something else in JSON lines; give "
            "csv or arrow files"
        )


def _columns(space: FeatureSpace) -> dict[str, int] | None:
    """The column of each feature by name; None if only their numbers are known. In a frame of numbers, True is 1."""
    if space.vocabulary is not None:
        return {name: i for i, name in enumerate(space.vocabulary.names())}
    if not space.framed or len(space.framed) != space.n_features:
        return None
    columns = {f"{name}=True": i for i, name in enumerate(space.framed)}
    return columns | {name: i for i, name in enumerate(space.framed)}


def _only_words(space: FeatureSpace) -> list[str]:
    """The columns of a frame in which no number was a feature, so that digits are words."""
    return [] if space.vocabulary is None else [name for name in space.framed if name not in space.vocabulary]


# ---------------------------------------------------------------- going on


def changed_options(options: argparse.Namespace, parameters: Any) -> list[str]:
    """The options that are given, and differ from the parameters of a learner that goes on."""
    chosen, called = given(options, type(parameters)), options_for(type(parameters))
    return [option_of(called[name]) for name, value in chosen.items() if value != getattr(parameters, name)]


def refuse_changed(options: argparse.Namespace, changed: Sequence[str]) -> None:
    """Raise if there are options that would make another learner of one that goes on."""
    if changed:
        raise UsageError(f"{options.model}: {KEEPS}; leave out {', '.join(changed)}")


def refuse_changes(options: argparse.Namespace, learner: Any, *more: str) -> None:
    """Raise where options would make another learner of one that goes on, which takes none of ``more``."""
    changed = changed_options(options, learner.parameters)
    format = learner.space.format
    known = {} if format is None else {**vars(format), **_of_text(format.text)}
    asked = _format_options(options)
    asked |= _of_text(asked.pop("text", {}))
    asked.pop("quote", None)
    changed += ["--text"] if options.text and known.get("name") != "text" else []
    asked |= {"scale": None} if options.scale == "none" else {}  # as the format has it
    changed += [option_of(name) for name, value in asked.items() if value != known.get(name)]
    changed += [option_of(name) for name in more if getattr(options, name) is not None]
    refuse_changed(options, changed)


def known_rows(examples: Examples, width: int) -> _core.Rows:
    """Rows of as many columns as a model has; others were never met and have no weight."""
    examples = examples.narrow(width)
    rows = _core.csr_rows(examples.indptr, examples.indices, examples.data, width, False)
    assert rows is not None  # parsers sort
    return rows


def count(examples: int, log: Log, unanswered: int, **more: int) -> dict[str, int]:
    return {"examples": examples, "skipped": log.skipped, "unanswered": unanswered, **more}


def note_strange(log: Log, met: Iterable[Any], known: Iterable[Any]) -> None:
    """Note that no label of the data is one of the model's."""
    here, there = some_names(list(met)), some_names(list(known))
    log.remark("labels", f"the model knows none of the labels: the data has {here}, the model {there}")
