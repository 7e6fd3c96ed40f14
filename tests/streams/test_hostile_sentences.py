"""Files of sentences with anything in them are read, or refused with their name; nothing else happens."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive.data import sentence_files

SOUND = {
    "a.conll": "-DOCSTART- -X- O\n\n# a comment, this is\nEU NNP B-ORG\n# # B-NP\n\nHi UH O\n",
    "a.conllu": "# c\n1-2\tHi"
    + "\t_" * 8
    + "\n1\tHi\thi\tINTJ\tUH\tA=b|C=d\t0\troot\t_\tX=y\n1.1\tx"
    + "\t_" * 8
    + "\n\n",
    "a.jsonl": '{"text": "Ada 😀 left.", "label": [[0, 3, "PER"], [4, 5, "X"]]}\n'
    '["Bob.", {"entities": [[0, 3, "PER"]]}]\n'
    '{"text": "a b", "tokens": [{"start": 0, "end": 1}], "spans": [{"start": 0, "end": 1, "label": "X"}]}\n',
    "a.ann": "T1\tPER 0 3\tAda\nT2\tX 4 5;6 10\t😀 left\nR1\tx\n#1\tNote\n",
}
PIECES = [b"", b"\n", b"\r", b"\t", b" ", b"#", b"-DOCSTART-", b"\0", b"\xff", b"\xe2\x80", b"\xef\xbb\xbf", b'"', b"["]
PIECES += [b"]", b"{", b"}", b"1", b"-1", b"9" * 25, b"NaN", b"1e400", b"null", b"true", b"\\ud800", b"\xe2\x80\xa8"]
changes = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 5), st.sampled_from(PIECES)), max_size=4)


@pytest.mark.parametrize("name", SOUND)
@examples(60)
@given(changes, st.sampled_from(["warn", "error", "off"]))
def test_hostile_files(tmp_path_factory, name, changes, repair):
    path = tmp_path_factory.getbasetemp() / name
    raw = bytearray(SOUND[name].encode())
    for at, length, piece in changes:
        raw[at : at + length] = piece
    path.write_bytes(raw)
    path.with_suffix(".txt").write_text("Ada 😀 left.\nBob ran.")
    refused = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            X, y = sentence_files.read(path, columns=("form", "feats.C") if name == "a.conllu" else (), repair=repair)
        except ValueError as error:
            refused = str(error)
    if refused is None:
        assert all(len(x) == len(labels) > 0 for x, labels in zip(X, y, strict=True))
    else:
        assert str(path.with_suffix("")) in refused
        assert changes
