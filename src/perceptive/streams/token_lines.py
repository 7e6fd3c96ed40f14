r"""Sentences that are cut into tokens, a JSON record to a line, as Hugging Face datasets are written.

``{"tokens": ["Ada", "left"], "ner_tags": ["B-PER", "O"]}``: the labels stand under the first of `KEYS` that is there,
unless another key is named. A record without labels, or with null, waits for them.

>>> parse('{"tokens": ["Ada", "left"], "tags": ["B-PER", "O"]}', "notes.jsonl", 1).labels
['B-PER', 'O']
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from perceptive.errors import plural
from perceptive.streams.sentence import Place, Sentence
from perceptive.streams.text_lines import first_record, records

KEYS = ("ner_tags", "tags", "labels", "pos_tags", "chunk_tags", "upos")
WRITE = 'write {"tokens": ["Ada", "left"], "tags": ["B-PER", "O"]}'


def is_token_lines(path: str) -> bool:
    """Whether a file begins with a record of tokens."""
    first, record = first_record(path)
    if record is None:
        return first[:1] == b"{" and b'"tokens"' in first and b'"text"' not in first  # the reader says what is wrong
    return is_tokens(record)


def is_tokens(record: Any) -> bool:
    """Whether a record has tokens, and no text."""
    tokens = record.get("tokens") if isinstance(record, dict) and "text" not in record else None
    return isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)


def read_token_lines(path: str, encoding: str, live: bool, key: str | None, labels: bool) -> Iterator[list[Sentence]]:
    """The sentences of a file, block by block; ``key`` is that of the labels where it is not to be guessed.

    ``labels``: whether they are asked for.
    """

    def read(line: str, path: str, number: int) -> Sentence | None:
        sentence = parse(line, path, number, key, labels)
        return sentence if sentence.rows else None

    return records(path, encoding, live, read)


def parse(line: str, path: str, number: int, key: str | None = None, labels: bool = True) -> Sentence:
    """The sentence of a line; raises ValueError with the place where it is none."""
    place = f"{path}:{number}"
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: not JSON ({error}); write a record a line") from None
    if not is_tokens(record):
        raise ValueError(f"{place}: there is no list of tokens, all strings; {WRITE}")
    tokens = record["tokens"]
    key = key_of(record) if key is None else key
    found = _labels(record, key, place) if labels else None
    if found is not None and len(found) != len(tokens):
        there = f"{len(tokens)} {plural(len(tokens), 'token')}"
        raise ValueError(f"{place}: the record has {there}, but {key} has {len(found)}; give a label for each")
    if "" in tokens:
        raise ValueError(f"{place}: token {tokens.index('')} is empty; leave it out, and its label")
    where = Place(path, [number] * len(tokens))
    return Sentence([(token,) for token in tokens], where, "\t", labels=found or [None] * len(tokens), record=record)


def key_of(record: Mapping[str, Any]) -> str | None:
    """The key of a record's labels, where none is named; None if it has none."""
    return next((name for name in KEYS if name in record), None)


def _labels(record: dict[str, Any], key: str | None, place: str) -> list[str | None] | None:
    """The labels of a record; None where it has none."""
    labels = None if key is None else record.get(key)
    if labels is None:
        return None
    if not isinstance(labels, list):
        raise ValueError(f"{place}: {key} is no list; {WRITE}")
    for label in labels:
        if isinstance(label, int) and not isinstance(label, bool):
            raise ValueError(
                f"{place}: {key} has the number {label} for a label; write its name: in a dataset of Hugging Face, "
                f"names = dataset.features[{key!r}].feature.names, and then names[{label}]"
            )
        if label is not None and (not isinstance(label, str) or not label or any(c.isspace() for c in label)):
            raise ValueError(f"{place}: {key} has {json.dumps(label)[:40]} for a label; write a word for each token")
    return labels
