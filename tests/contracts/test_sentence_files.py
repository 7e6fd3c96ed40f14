"""The contract of files: the same sentences give the same model and the same report, whatever their format."""

import json

import pytest

from command_line import perceptive
from perceptive import load_learner
from zoo import SENTENCES, TAGS

LABELS = [["O" if label == "O" else f"{label}-X" for label in y] for y in TAGS]
NAMES = {"doccano": "d.jsonl", "prodigy": "p.jsonl", "spacy": "s.jsonl", "brat": "b.ann", "conllu": "u.conllu"}
TRAIN = ("--task", "tag", "--template", "word[-1:1]\n@label[-1]", "--epochs", "3", "--quiet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The sentences in columns, each ended by a full stop, and in every other format."""
    folder = tmp_path_factory.mktemp("sentences")
    sentences = zip(SENTENCES, LABELS, strict=True)
    blocks = ["".join(f"{w.upper()} {label}\n" for w, label in zip(x, y, strict=True)) for x, y in sentences]
    (folder / "c.conll").write_text("\n".join(block + ". O\n" for block in blocks))
    perceptive("train", "c.conll", *TRAIN, "-o", "c.model", cwd=folder)
    for format, name in NAMES.items():
        perceptive("convert", "c.conll", name, "--to", format, cwd=folder)
    return folder


@pytest.mark.parametrize("format", NAMES)
def test_the_same_sentences_are_the_same(folder, format):
    name = NAMES[format]
    label = ("--label-column", "misc.NER") if format == "conllu" else ()
    perceptive("train", name, *TRAIN, *label, "-o", "m", cwd=folder)
    learner, columns = load_learner(folder / "m"), load_learner(folder / "c.model")
    assert {name: array.tobytes() for name, array in learner.state().arrays.items()} == {
        name: array.tobytes() for name, array in columns.state().arrays.items()
    }
    told, expected = (
        json.loads(perceptive("eval", "c.model", path, *more, "--json", cwd=folder).stdout)
        for path, more in ((name, label), ("c.conll", ()))
    )
    assert told["metrics"] == expected["metrics"]
    certificate = json.loads(perceptive("certify", "m", name, "--json", cwd=folder).stdout)["certificate"]
    assert certificate["holds"]
    assert not certificate["hypothetical"]


@pytest.mark.parametrize("format", ["doccano", "prodigy", "spacy", "brat"])
def test_what_is_tagged_is_written_in_the_format_it_came_in(folder, format):
    name = NAMES[format]
    (folder / "tagged-b.txt").write_bytes((folder / "b.txt").read_bytes())  # brat's spans go with a text
    perceptive("tag", "c.model", name, "-o", f"tagged-{name}", cwd=folder)
    report = perceptive("eval", "c.model", f"tagged-{name}", "--json", cwd=folder).stdout
    assert json.loads(report)["metrics"]["f1"] == 100
