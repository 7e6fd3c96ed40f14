"""What the fuzzers of trees and of taggers' columns keep, replayed: the core and what it is held to say the same."""

import pathlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptive.kernels.trees import parse_trees
from test_templates import features
from twins.brackets import read_brackets

pytestmark = pytest.mark.core

CORPUS = pathlib.Path(__file__).parents[2] / "fuzz" / "corpus"


def lines(fuzzer):
    """The lines of all inputs, as far as Python can hold them: without the byte that chooses options."""
    files = sorted((CORPUS / fuzzer).iterdir())
    assert files
    return [line for file in files for line in file.read_bytes()[1:].decode("utf-8", "replace").split("\n")]


def told(read, text):
    try:
        return parse_trees([read(text)]).parsed.contents()
    except ValueError as error:
        return str(error).removeprefix("tree 0: ").partition("; write it as")[0]


def held_to_the_twin(text):
    assert told(str, text) == told(read_brackets, text)


def test_the_corpus_of_trees():
    for line in lines("trees"):
        held_to_the_twin(line)


@given(st.lists(st.sampled_from(["(", ")", " ", "a", "b", "\t", "é", "(A b)", "\0"]), max_size=14).map("".join))
def test_brackets_equal_the_twin(text):
    held_to_the_twin(text)


def mark(c):
    kind = unicodedata.category(c)
    return "X" if kind in ("Lu", "Lt") else "d" if kind == "Nd" else "x" if kind[0] in "LM" else c


def shape(word):
    """Runs of a mark as one, with + behind it; 32 marks at most."""
    found, last, count = "", None, 0
    for c in word:
        if count == 32:
            break
        if mark(c) != last:
            found, count = found + mark(c), count + 1
        elif not found.endswith("+"):
            found += "+"
        last = mark(c)
    return found


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the core's tables are of Unicode 14")
def test_the_corpus_of_columns():
    words = dict.fromkeys(cell for line in lines("columns") for cell in line.split("\t") if cell)
    for word in words:
        found = features("shape\npattern\nprefix(2)\nsuffix(2)\nlength", [word], 0)
        wanted = {f"shape[0] = {shape(word)}", f"pattern[0] = {''.join(map(mark, word[:32]))}"}
        wanted |= {f"length[0] = {min(len(word), 20)}"}
        if len(word) > 1:
            wanted |= {f"prefix(2)[0] = {word[:2]}", f"suffix(2)[0] = {word[-2:]}"}
        assert found == wanted, word


def test_a_word_that_begins_with_nothing():
    """Found by fuzzing: its first mark is 0, which was taken for the mark before it."""
    assert "shape[0] = \0+x" in features("shape", ["\0\0a"], 0)
