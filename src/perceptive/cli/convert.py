"""``perceptive convert``: sentences and their labels in another format or scheme, and repaired."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from perceptive.cli import groups as g
from perceptive.cli.options import add_json, as_json
from perceptive.errors import UsageError, plural

if TYPE_CHECKING:
    from perceptive.data.conversion import Repair
    from perceptive.data.sentence_files import SentenceFiles
    from perceptive.streams.columns import Columns
    from perceptive.streams.documents import Document
    from perceptive.streams.sentence import Sentence

EXAMPLE = """\
examples:
  perceptive convert eng.train repaired.conll
  perceptive convert eng.train bioes.conll --scheme bioes --input-encoding latin-1
  perceptive convert ned.train ned.jsonl
  perceptive convert notes.jsonl notes.conll
  perceptive convert notes.jsonl notes.spacy.jsonl --to spacy
  perceptive convert train.conllu upos.conll --columns form,lemma --label-column upos
  perceptive convert notes.ann notes.jsonl --to prodigy
"""
ENDINGS = {"conllu": "conllu", "json": "doccano"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write the sentences of files in another format, or in another scheme of labels. Labels that break their "
        "scheme are repaired: they are read as conlleval does, and the command reports how many and where. "
        "Columns become texts with a space between two tokens (unless CoNLL-U says SpaceAfter=No), one text per "
        "sentence; texts are split into tokens, unless they have their own (Prodigy). Spans that do not match "
        "tokens are widened, refused or left out, as --repair says."
    )
    parser.add_argument("data", metavar="IN", help="a file, a glob, or - for standard input")
    parser.add_argument("output", metavar="OUT", help="a file, or - for standard output")
    parser.add_argument("--to", metavar="FORMAT", help="format of OUT: conll, conllu, doccano, prodigy, spacy or brat "
                        "(default: by its name)")  # fmt: skip
    parser.add_argument("--scheme", metavar="SCHEME", help="label scheme: iob2 (bio), iob1, bioes, bilou, bmes, bmewo, "
                        "ioe1, ioe2 (default: as they are)")  # fmt: skip
    parser.add_argument("--repair", choices=["warn", "error", "off"], default="warn", help="labels that break their "
                        "scheme, and spans that do not match tokens: repaired (default), refused, or left")  # fmt: skip
    g.add_groups(parser, [g.OptionGroup("files", {**g.FILES.only("format").options, **g.SENTENCES.options})])
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    from perceptive.cli.paths import check_paths
    from perceptive.cli.tasks.sentences import files_of, located
    from perceptive.data.sentence_files import COLUMNS, TOKENS
    from perceptive.features import schemes
    from perceptive.streams.blocks import STDIN, expand

    if options.json and options.output == STDIN:
        raise UsageError("--json reports on standard output, where the sentences go; name a file")
    to = _format(options.to, options.output)
    check_paths(_outputs(options.output, to), [options.data], devices=to != "brat")
    try:
        scheme = None if options.scheme is None else schemes.named(options.scheme)
    except ValueError as error:
        raise UsageError(f"--scheme: {error}") from None
    files, paths = files_of(options, None), expand(options.data)
    of_columns = {files.format_of(path) in (*COLUMNS, TOKENS) for path in paths}
    with located([]):
        if of_columns == {False} and to not in COLUMNS:
            if scheme is not None:
                raise UsageError("--scheme is about labels of tokens, and spans have none; leave it out")
            documents = files.accepted(paths)
            documents = _answered(documents, documents) if to == "brat" else documents
            told = {"documents": len(documents), "spans": sum(len(one.spans or ()) for one in documents)}
            _write_documents(options, to, documents, own=options.to is None)
        else:
            sentences = [one for some in files.blocks(paths) for one in some]
            sentences = _answered(sentences, [one.document for one in sentences])
            told = _convert(options, files, to, scheme, sentences)
    if options.json:
        print(as_json({"command": "convert", "data": told, "format": to}))
    else:
        numbers = [(n, what) for what, n in told.items() if isinstance(n, int) and what != "repaired"]
        counted = ", ".join(f"{n:,} {plural(n, what.removesuffix('s'))}" for n, what in numbers)
        print(f"{'<stdout>' if options.output == STDIN else options.output}: {counted}", file=sys.stderr)


def _answered(found: list[Any], documents: Sequence[Document | None]) -> list[Any]:
    """Those whose spans are told, for a format that cannot say that they are not; all, where that is so of all."""
    answered = [one for one, of in zip(found, documents, strict=True) if of is None or of.answered]
    if answered and len(answered) < len(found):
        left = f"{len(found) - len(answered):,} of {len(found):,}"
        warnings.warn(f"left out, since they have no labels: {left}; label them first", stacklevel=2)
    return answered or found


def _format(wanted: str | None, path: str) -> str:
    """The format of what is written: as told, else by the name."""
    from perceptive.data.sentence_files import FORMATS, TOKENS
    from perceptive.streams.brat import SPANS
    from perceptive.streams.guessing import by_name

    known = [format for format in FORMATS if format not in ("raw", TOKENS)]
    if wanted is not None and wanted not in known:
        raise UsageError(f"--to {wanted}: it must be one of {', '.join(known)}")
    return wanted or ("brat" if path.endswith(SPANS) else ENDINGS.get(by_name(path) or "", "conll"))


def _outputs(path: str, to: str) -> Sequence[str]:
    """The files that are written: none for standard output, two for brat."""
    from perceptive.streams.blocks import STDIN
    from perceptive.streams.brat import paths_of

    if path != STDIN:
        return paths_of(path) if to == "brat" else [path]
    if to == "brat":
        raise UsageError("brat needs two files, for text and spans; name one of them")
    return []


def _convert(
    options: argparse.Namespace, files: SentenceFiles, to: str, scheme: str | None, sentences: Sequence[Sentence]
) -> dict[str, Any]:
    """Repair the labels of sentences, and write them in a scheme; says what was done."""
    from perceptive.data.conversion import ENTITY, as_document, column_lines, repair, universal_lines
    from perceptive.data.sentence_files import is_answered
    from perceptive.features import schemes
    from perceptive.features.label_repair import FIRST, strangers, styled
    from perceptive.streams.columns import LAST

    columns, found = files.columns, [files.columns.split(sentence)[1] for sentence in sentences]
    if columns.label == LAST and all(one.universal for one in sentences) and not any(map(is_answered, found)):
        entities = replace(columns, universal=ENTITY)  # where segments are written
        marked = [entities.split(sentence)[1] for sentence in sentences]
        if any(label not in (None, "_") for labels in marked for label in labels):
            columns, found = entities, marked
    y = [[label or "_" for label in labels] for labels in found]
    done = repair(y)
    if scheme is not None and done.scheme is None and (read := styled(y)) is not None:
        y = [[read[label] for label in mine] for mine in y]  # as B-PER, where all are B_PER or PER-B
        done = repair(y)
    _tell(options, sentences, done)
    labels, after = (y if options.repair == "off" else done.labels), scheme or done.scheme
    if scheme is not None and done.scheme is None:
        strange = strangers(y)
        if strange is not None:
            of, label, better = strange
            said = f"most labels follow the scheme {of!r}, but {label!r} does not; rename it, such as to {better!r}"
            raise UsageError(f"--scheme: {said}")
        some = next((label for mine in y for label in mine if label != "O"), "O")
        raise UsageError(f"--scheme: the labels, such as {some!r}, mark no segments in any scheme; leave it out")
    if scheme is not None:
        labels = [schemes.convert(mine, str(done.scheme), scheme) for mine in done.labels]
    pairs = zip(sentences, labels, strict=True)
    if to != "conll":
        _tell_left_out(sentences, columns, to)
    if to == "conll":
        _write(options, ([*column_lines(one, mine, columns), ""] for one, mine in pairs))
    elif to == "conllu":
        own = {columns.of(one).label for one in sentences if one.universal}
        named = [name for name in (*own, columns.label) if name != LAST]
        column = str(named[0]) if named else "upos" if done.scheme is None else ENTITY
        _write(options, ([*universal_lines(one, mine, columns, column), ""] for one, mine in pairs))
    elif after is None:
        raise UsageError("the labels mark no segments, so there are no spans to write; choose --to conll or conllu")
    else:
        _write_documents(options, to, [as_document(one, mine, after, columns) for one, mine in pairs])
    told: dict[str, Any] = {"sentences": len(sentences), "tokens": sum(map(len, y))}
    places = [{"place": sentences[i].place.of(t), "was": old, "is": new} for i, t, old, new in done.changed[:FIRST]]
    return {**told, "read_as": done.scheme, "scheme": after, "repaired": len(done.changed), "places": places}


def _tell(options: argparse.Namespace, sentences: Sequence[Sentence], done: Repair) -> None:
    """Say what is repaired, or refuse it."""
    from perceptive.features.label_repair import counted, first

    if not done.changed:
        return
    i, t, old, new = done.changed[0]
    if options.repair == "error":
        raise ValueError(
            f"{sentences[i].place.of(t)}: label {old!r} is not allowed here in the scheme {done.scheme!r}; repair it "
            f"(it reads as {new!r}), or choose --repair warn"
        )
    verb = "left as they are" if options.repair == "off" and options.scheme is None else "repaired"
    places = first(done.changed, lambda i, t: sentences[i].place.of(t))
    print(
        f"labels that break the scheme {done.scheme!r}, {verb}: {counted(done.changed)}; first: {places}",
        file=sys.stderr,
    )


def _tell_left_out(sentences: Sequence[Sentence], columns: Columns, to: str) -> None:
    """Note columns of tokens that a format has no place for."""
    for one in sentences:
        if one.in_columns and not one.universal and (more := len(columns.split(one)[0][0]) - 1):
            left = f"{more} other {plural(more, 'column')} of {one.place.path} {'are' if more > 1 else 'is'} left out"
            print(f"note: {to} gets the words and the labels; {left}", file=sys.stderr)
            return


def _write(options: argparse.Namespace, sentences: Iterator[list[str]]) -> None:
    from perceptive.cli.paths import output
    from perceptive.streams.blocks import STDIN

    path = None if options.output == STDIN else options.output
    with output(path, [options.data], sys.stdout.buffer) as file:
        for lines in sentences:
            file.write("".join(line + "\n" for line in lines).encode())


def _write_documents(options: argparse.Namespace, to: str, documents: list[Document], own: bool = False) -> None:
    """Texts, each a line; for brat all as one, in two files. ``own``: JSON lines stay in the format that they have."""
    from perceptive.cli.paths import output
    from perceptive.data.conversion import joined
    from perceptive.streams.brat import as_lines
    from perceptive.streams.documents import JSON_FORMATS, as_line

    if to != "brat":
        kinds = [(one.format, one.key) if own and one.format in JSON_FORMATS else (to, None) for one in documents]
        _write(options, ([as_line(one, *kind)] for one, kind in zip(documents, kinds, strict=True)))
        return
    whole = joined(documents)
    spans = as_lines(whole)
    for path, text in zip(_outputs(options.output, to), (whole.text, spans), strict=True):
        with output(path, [options.data], sys.stdout.buffer) as file:
            file.write(text.encode())
