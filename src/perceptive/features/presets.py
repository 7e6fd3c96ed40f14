"""Templates that are ready to use. Chosen on held-out parts of training data, see benchmarks/README.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def _lines(text: str) -> str:
    """A template a line: those of one kind stand side by side here."""
    return text.replace(" ; ", "\n")


CRFPP = _lines("""\
# the template that CRF++ ships for chunking
word[-2:2] ; word[-1..0] ; word[0..1]
pos[-2:2] ; pos[-2..-1] ; pos[-1..0] ; pos[0..1] ; pos[1..2] ; pos[-2..0] ; pos[-1..1] ; pos[0..2]
@label[-1]
""")

CHUNKING = _lines("""\
# words with tags, chunks out
columns word pos
norm[-3:3] ; norm[-2..-1] ; norm[-1..0] ; norm[0..1] ; norm[1..2] ; norm[-1..1] ; norm[-2..0] ; norm[0..2]
norm[-1] & norm[1]
pos[-3:3] ; pos[-2..-1] ; pos[-1..0] ; pos[0..1] ; pos[1..2] ; pos[-2..0] ; pos[-1..1] ; pos[0..2]
pos[-2..1] ; pos[-1..2] ; pos[-2..2]
norm[0] & pos[0] ; norm[-1] & pos[0] ; norm[1] & pos[0] ; norm[0] & pos[-1] ; norm[0] & pos[1]
norm[0] & pos[-1..0] ; norm[0] & pos[0..1] ; norm[0] & pos[-1..1] ; norm[-1] & pos[-1] ; norm[1] & pos[1]
norm[-1] & pos[0..1] ; norm[1] & pos[-1..0] ; norm[-2] & pos[0] ; norm[2] & pos[0]
word[0]
prefix(1..4)
suffix(1..4) ; suffix(2..3)[-1] ; suffix(2..3)[1]
shape[-1:1]
has(digit|hyphen|dot)
is(capitalised|upper|number)
cluster(100)[-1:1] ; cluster(100)[-1..0] ; cluster(100)[0..1] ; cluster(100)[-1..1]
@label[-1]
""")

NER = _lines("""\
# words in, names out
norm[-2:2]
word[-1:1]
norm[-2..-1] ; norm[-1..0] ; norm[0..1] ; norm[1..2] ; norm[-1..1]
shape[-2:2] ; shape[-1..0] ; shape[0..1] ; shape[-1..1]
prefix(1..5)
suffix(1..5) ; suffix(2..3)[-1] ; suffix(2..3)[1]
norm[0] & shape[-1] ; norm[0] & shape[1] ; norm[-1] & shape[0] ; norm[1] & shape[0]
has(digit|hyphen|dot)
is(capitalised|upper|number)
length
bag(norm[-6:6])
@label[-1]
is(capitalised) & @label[-1]
""")

POS = _lines("""\
# words in, parts of speech out; affixes in lower case, so that endings count in headlines too
lower[-3:3]
word[0]
lower[-2..-1] ; lower[-1..0] ; lower[0..1] ; lower[1..2] ; lower[-1..1]
lower[-2] & lower[0] ; lower[-1] & lower[1] ; lower[0] & lower[2] ; lower[-2] & lower[1] ; lower[-1] & lower[2]
norm[0]
prefix(1..7, norm)
suffix(1..7, norm) ; suffix(1..3, norm)[-1] ; suffix(1..3, norm)[1] ; suffix(3, norm)[-2]
suffix(3, norm)[2] ; suffix(3, norm)[-1..0] ; suffix(3, norm)[0..1] ; suffix(2, norm)[-1..1]
suffix(2, norm) & shape
lower[-1] & suffix(3, norm) ; lower[1] & suffix(3, norm)
lower[-1] & shape ; lower[1] & shape
shape[-1:1] ; shape[-1..0] ; shape[0..1] ; shape[-1..1]
has(digit|hyphen|upper|dot)
is(capitalised|upper|number|punctuation)
@label[-1]
is(capitalised) & @label[-1]
""")

RECORDS = _lines("""\
# fields of addresses and bibliographies
norm[-2:2] ; norm[-1..0] ; norm[0..1]
shape[-2:2] ; shape[-1..0] ; shape[0..1]
prefix(1..3)
suffix(1..3)
has(digit|hyphen|dot)
is(capitalised|upper|number|punctuation)
length
@label[-1]
""")

HMM = _lines("""\
# the perceptron-trained hidden Markov model: words and label pairs only
word[0]
@label[-1]
""")

# What is read of a further column, such as a tag, where tokens have some: of those from that number on.
FURTHER = {
    "chunking": (2, "col({0})[-1:1]\ncol({0})[-1..0]\ncol({0})[0..1]\n"),
    "ner": (1, "col({0})[-1:1]\ncol({0})[-1..0]\ncol({0})[0..1]\n"),
    "pos": (1, "col({0})[-2:2]\ncol({0})[-1..0]\ncol({0})[0..1]\ncol({0})[-1..1]\nnorm[0] & col({0})[0]\n"),
}

# What is read of two labels together with a word, where there are so few labels that tables of all pairs stay small.
PAIRS = {"pos": "lower[-1] & @label[-1]\n"}
FEW_LABELS = 64

# What does best with each, where nothing else is said.
PARAMETERS: dict[str, dict[str, Any]] = {
    "chunking": {"rule": "pa1", "C": 0.03, "min_count": "auto", "encoding": "bioes"},
    "ner": {"rule": "pa1", "C": 0.03, "encoding": "bioes"},
    "pos": {"rule": "pa1", "C": 0.03, "min_count": "auto"},
}
LONGER = {"epochs": 40, "tol": 0.005}  # of rules that take small steps, and never cease to
OF_THE_PERCEPTRON = {"learning_rate": 1.0, "margin": 0.0, "batch": 1}

PRESETS = {
    "chunking": CHUNKING,
    "ner": NER,
    "pos": POS,
    "records": RECORDS,
    "hmm": HMM,
    "crf++": CRFPP,
}


def lines_for(preset: str, n_columns: int, n_labels: int) -> str:
    """The templates of a preset for tokens of so many columns, and so many labels.

    Examples
    --------
    >>> lines_for("ner", n_columns=2, n_labels=9).splitlines()[-3:]
    ['col(1)[-1:1]', 'col(1)[-1..0]', 'col(1)[0..1]']
    >>> [lines_for("pos", 1, n).splitlines()[-1] for n in (50, 500)]
    ['lower[-1] & @label[-1]', 'is(capitalised) & @label[-1]']
    """
    first, lines = FURTHER.get(preset, (n_columns, ""))
    further = "".join(map(lines.format, range(first, n_columns)))
    return PRESETS[preset] + further + (PAIRS.get(preset, "") if n_labels <= FEW_LABELS else "")


def brought(template: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a preset brings to a tagger beside the parameters that are given, which stay as they are.

    Rules other than the perceptron get more epochs, whatever the templates are.

    Examples
    --------
    >>> brought("pos", {"C": 0.1})
    {'epochs': 40, 'tol': 0.005, 'rule': 'pa1', 'min_count': 'auto'}
    >>> brought("ner", {"rule": "perceptron"})
    {'encoding': 'bioes'}
    """
    found = dict(PARAMETERS.get(template, {})) if isinstance(template, str) else {}
    if any(given.get(name, usual) != usual for name, usual in OF_THE_PERCEPTRON.items()):
        found.pop("rule", None)  # which would not heed them
    if given.get("segments") or given.get("constraints", "auto") in (None, "none"):
        found.pop("encoding", None)  # labels are written as they are given
    rule = given.get("rule", found.get("rule", "perceptron"))
    if rule != "pa1":
        found.pop("C", None)
    found = found if rule == "perceptron" else {**LONGER, **found}
    return {name: value for name, value in found.items() if name not in given}
