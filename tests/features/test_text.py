"""Text features: the tokeniser, its twin, names and hashes, weights, idf, and the scikit-learn contract."""

import itertools
import math
import os
import subprocess
import sys
import threading
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer

from examples import examples
from perceptive import HashedText, _core
from perceptive.features.hashing import HashKernel
from perceptive.features.text import TextFeatures
from twins.text import decode, hashed, names, runs, smooth_idf

pytestmark = pytest.mark.core

SAME_UNICODE = unicodedata.unidata_version == _core.UNICODE_VERSION
needs_same_unicode = pytest.mark.skipif(not SAME_UNICODE, reason=f"the tables are of Unicode {_core.UNICODE_VERSION}")

# Of another version, only what has not changed for long: Latin, Greek, Cyrillic, Thai, kana, the first ideographs.
UNICODE = st.characters(exclude_categories=["Cs"], max_codepoint=None if SAME_UNICODE else 0x024F)
# Joins and borders: accents that stand alone, letters that are words, those whose lower case is longer, shorter, two.
CORNERS = st.sampled_from(
    "aZ9_ -'’.\n\0éÉ\u0301\u0e01\u0e34ๆあゝーア日々𠀀İΣςȺⱥKſẞ١²Ⅷ‿👍🏽\ufe0f\u200d\ufffd\U0010ffff"
)
TEXTS = st.text(CORNERS | UNICODE | st.sampled_from("aab  "), max_size=40)
BYTES = st.lists(st.binary(max_size=6) | TEXTS.map(str.encode) | TEXTS.map(lambda t: t.encode()[1:-1])).map(b"".join)
NGRAMS = st.tuples(st.integers(1, 5), st.integers(0, 4)).map(lambda p: (p[0], p[0] + p[1]))
OPTIONS = st.fixed_dictionaries(
    {
        "words": st.none() | NGRAMS,
        "chars": st.none() | NGRAMS,
        "lowercase": st.booleans(),
        "weighting": st.sampled_from(["binary", "tf", "log-tf"]),
        "normalize": st.booleans(),
        "bits": st.integers(1, 30),
        "seed": st.integers(0, 2**32 - 1),
        "signed": st.booleans(),
    }
).filter(lambda options: options["words"] or options["chars"])
KERNEL = ("bits", "seed", "signed", "weighting", "normalize")


def rows_of(indptr, indices, data):
    assert (indptr.dtype, indices.dtype, data.dtype) == (np.int32, np.int32, np.float64)
    pairs = list(zip(indices.tolist(), data.tolist(), strict=True))
    return [pairs[a:b] for a, b in itertools.pairwise(indptr)]


def names_of(text, options):
    return names(text, options["words"], options["chars"], options["lowercase"])


def twin(text, options, idf=None):
    return hashed(names_of(text, options), idf=idf, **{key: options[key] for key in KERNEL})


def words_of(text, **options):
    """The core's words, in order: with bits enough the inverted index holds each."""
    features = TextFeatures(bits=30, remember_names=True, **options)
    features.encode([text])
    return {name for found in features._core.index.inverted(1).values() for name in found}


# ---------------------------------------------------------------- the tokeniser


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("To be, or NOT", [["to"], ["be"], ["or"], ["not"]]),
        ("don't re-do snake_case x²", [["don"], ["t"], ["re"], ["do"], ["snake_case"], ["x²"]]),
        ("3.14 1,000", [["3"], ["14"], ["1"], ["000"]]),
        ("Ünïcode ЖУК ΣΟΦΟΣ", [["ünïcode"], ["жук"], ["σοφοσ"]]),  # simple: no final sigma
        ("e\u0301a \u0301a", [["e\u0301a"], ["a"]]),  # a mark does not begin a word
        ("❤\ufe0f ok 👍🏽", [["ok"]]),
        ("东京tower塔", [["东", "京", "tower", "塔"]]),
        ("らーめん カメラ", [["ら", "ー", "め", "ん"], ["カメラ"]]),
        ("ที่นี่", [["ที่", "นี่"]]),  # Thai letters with their vowel signs and tones
        ("한국어 말", [["한국어"], ["말"]]),
        ("हिन्दी में", [["हिन्दी"], ["में"]]),
        ("İstanbul", [["istanbul"]]),
        ("a\0b\ufffdc", [["a"], ["b"], ["c"]]),
    ],
)
def test_words(text, expected):
    assert runs(text) == expected
    assert words_of(text) == {word for run in expected for word in run}


def test_names():
    assert names("To be, or", words=(2, 3)) == ["to be", "to be or", "be or"]
    assert names("日本a", words=None, chars=(2, 3)) == [
        "c:<日",
        "c:<日本",
        "c:日本",
        "c:日本a",
        "c:本a",
        "c:本a>",
        "c:a>",
    ]
    assert names("a bcd", words=None, chars=(4, 4)) == ["c:<a>", "c:<bcd", "c:bcd>"]  # <a> is short
    for text in ("To be, or", "日本a", "a bcd"):
        options = {"words": (2, 3), "chars": (2, 4)}
        assert words_of(text, **options) == set(names(text, **options))


def test_character_ngrams_are_those_of_scikit_learn():
    """Its char_wb, with brackets for spaces."""
    text = "the quick brown fox jumps over a lazy dog x"
    for pair in [(1, 1), (2, 4), (3, 5), (5, 6)]:
        found = CountVectorizer(analyzer="char_wb", ngram_range=pair).build_analyzer()(text)
        ours = names(text, words=None, chars=pair)
        bare = [name[2:].replace("<", " ").replace(">", " ") for name in ours]
        assert sorted(bare) == sorted(found)


@needs_same_unicode
@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.once), 61])
def test_every_character(step):
    """Between letters, alone, and in lower case: each of the first two planes, and some of the rest."""
    codes = itertools.chain(range(0, 0xD800, step), range(0xE000, 0x20000, step), range(0x20000, 0x110000, 251 * step))
    characters = [chr(code) for code in codes]
    for text in ("".join(f"a{c}b " for c in characters), " ".join(characters)):
        found = TextFeatures(bits=30, normalize=False).encode([text])
        expected = HashKernel(bits=30).encode([Counter(names(text))])
        assert all(map(np.array_equal, found, expected))


@needs_same_unicode
@pytest.mark.once
def test_the_tables_are_those_of_their_maker():
    core = Path(__file__).parents[2] / "core" / "text"
    paths = [str(Path(__file__).parents[1] / "support"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    maker = [sys.executable, core / "make_unicode_tables.py"]
    made = subprocess.run(maker, capture_output=True, check=True, env=environment).stdout
    assert made.decode() == (core / "unicode_tables.hpp").read_text(encoding="utf-8")


# ---------------------------------------------------------------- the twin


@given(st.lists(TEXTS, max_size=4), OPTIONS)
@example(["Ⱥ日Ⱥ日" * 9, "a日" * 9, "Ⱥ " * 9, "a " * 9, "日" * 9], {"words": (1, 2), "chars": (1, 2), "lowercase": True,
         "weighting": "tf", "normalize": False, "bits": 9, "seed": 0, "signed": True})  # fmt: skip
def test_texts_equal_their_twin(texts, options):
    features = TextFeatures(**options, remember_names=True)
    assert rows_of(*features.encode(iter(texts))) == [twin(text, options) for text in texts]
    kernel = HashKernel(options["bits"], options["seed"], options["signed"], remember_names=True)
    kernel.hash([name for text in texts for name in names_of(text, options)])
    assert features._core.index.inverted(1) == kernel._core.index.inverted(1)
    assert features.collisions() == kernel.collisions()
    assert features.broken == 0


@given(st.lists(BYTES, max_size=3), OPTIONS)
def test_bytes_that_are_not_utf8_separate(texts, options):
    if not SAME_UNICODE:
        texts = [text.decode("ascii", "ignore").encode() for text in texts]
    features = TextFeatures(**options)
    decoded = [decode(text) for text in texts]
    assert rows_of(*features.encode(texts)) == [twin(text, options) for text, _ in decoded]
    assert features.broken == sum(broken for _, broken in decoded)


@pytest.mark.parametrize(
    ("data", "expected", "broken"),
    [
        (b"a\xffb", {"a", "b"}, 1),
        (b"a\xe6\x97", {"a"}, 1),  # cut off: one sequence
        (b"a\xe6\x97b", {"a", "b"}, 1),
        (b"\xc0\x80x", {"x"}, 2),  # overlong
        (b"\xed\xa0\x80x", {"x"}, 3),  # a surrogate
        (b"\xf4\x90\x80\x80x", {"x"}, 4),  # past the last character
        (b"\xf0\x9f\x91", set(), 1),
        ("日".encode() + b"\x80" + "本".encode(), {"日", "本"}, 1),
    ],
)
def test_broken_sequences(data, expected, broken):
    features = TextFeatures(bits=30, remember_names=True)
    features.encode([data])
    assert {name for found in features._core.index.inverted(1).values() for name in found} == expected
    assert features.broken == broken


def test_names_and_hashes_agree():
    """What the inverted index says is in a bucket hashes to it, and the row is those names through `HashKernel`."""
    text = "It was the best of times, it was the worst of times; 最良の時代"
    features = TextFeatures(words=(1, 3), chars=(2, 4), normalize=False, bits=30, remember_names=True)
    ((*row,),) = rows_of(*features.encode([text]))
    kernel = HashKernel(30)
    found = names(text, words=(1, 3), chars=(2, 4))
    for bucket, value in row:
        (name,) = features.names(bucket)
        buckets, signs = kernel.hash([name])
        assert (bucket, value) == (buckets[0], signs[0] * found.count(name))
    assert len(row) == len(set(found))


@examples(30)
@given(st.lists(st.sampled_from(["the", "of", "and", "to", "a", "in"]) | st.text(max_size=4), max_size=400), OPTIONS)
def test_long_texts_with_many_repeats(parts, options):
    text = " ".join(parts) * 3
    if not SAME_UNICODE:
        text = text.encode("ascii", "ignore").decode()
    assert rows_of(*TextFeatures(**options).encode([text])) == [twin(text, options)]


@pytest.mark.once
def test_batches_do_not_show():
    """Buffers are kept from text to text, and the lock is taken between batches."""
    texts = [f"text {i} " * (i % 7) + "é" * (i % 3) for i in range(10_000)] + ["word " * 1_000_000, "after"]
    features = TextFeatures(words=(1, 2), bits=12)
    together = rows_of(*features.encode(texts))
    assert together == [rows_of(*features.encode([text]))[0] for text in texts]


def test_threads_share_features():
    texts = [f"one {i} two {i * i}" for i in range(5000)]
    features = TextFeatures(words=(1, 2), bits=16, remember_names=True)
    alone = TextFeatures(words=(1, 2), bits=16, remember_names=True)
    expected = rows_of(*alone.encode(texts))
    found = []
    threads = [threading.Thread(target=lambda: found.append(rows_of(*features.encode(texts)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(rows == expected for rows in found)
    assert len(found) == 4
    assert features.collisions() == alone.collisions()


# ---------------------------------------------------------------- weights


def test_weighting():
    text = "a a a b"
    for weighting, (a, b) in {"binary": (1, 1), "tf": (3, 1), "log-tf": (1 + math.log(3), 1)}.items():
        features = TextFeatures(weighting=weighting, normalize=False, signed=False, bits=20)
        assert sorted(features.encode([text])[2]) == [b, a]


@given(st.lists(TEXTS, max_size=5), OPTIONS)
def test_rows_have_length_one(texts, options):
    rows = rows_of(*TextFeatures(**{**options, "normalize": True}).encode(texts))
    for row in rows:
        assert not row or math.hypot(*(value for _, value in row)) == pytest.approx(1.0)


@given(st.lists(TEXTS, min_size=1, max_size=6), st.integers(0, 6), OPTIONS, st.integers(1, 6))
def test_idf_equals_its_twin(texts, cut, options, bits):
    options = {**options, "bits": bits}
    features = TextFeatures(**options, idf=True)
    features.learn_idf(iter(texts[:cut]))
    features.learn_idf(texts[cut:])  # counts on
    expected = np.array(smooth_idf([twin(text, options) for text in texts], bits), np.float32)
    assert np.array_equal(features.idf_, expected)
    assert features.idf_.dtype == np.float32
    factors = expected.tolist()
    assert rows_of(*features.encode(texts)) == [twin(text, options, factors) for text in texts]


def test_idf_is_that_of_scikit_learn():
    texts = ["the cat sat on the mat", "the dog sat", "a cat and a dog", "", "nothing else matters to the cat"]
    pattern = {"token_pattern": r"(?u)\w+", "ngram_range": (1, 2), "n_features": 2**20}
    for weighting, theirs in [("tf", {}), ("log-tf", {"sublinear_tf": True}), ("binary", {})]:
        vectorizer = HashingVectorizer(norm=None, alternate_sign=False, binary=weighting == "binary", **pattern)
        counts = vectorizer.transform(texts)
        transformer = TfidfTransformer(**theirs)
        expected = transformer.fit_transform(counts)
        ours = HashedText(words=(1, 2), weighting=weighting, idf=True, signed=False)
        found = ours.fit_transform(texts)
        # The bucket of scikit-learn is |hash| mod 2^20, ours its low bits: the same features in another order.
        np.testing.assert_allclose(ours.features_.idf_.max(), transformer.idf_.max(), rtol=1e-6)
        np.testing.assert_allclose((found @ found.T).toarray(), (expected @ expected.T).toarray(), rtol=1e-6)


def test_a_refused_text_leaves_nothing_behind():
    features = TextFeatures(idf=True, bits=4, remember_names=True)
    features.learn_idf(["a b", "a"])
    features.encode(["a"])
    idf, met = features.idf_.copy(), features._core.index.inverted(1)
    with pytest.raises(ValueError, match="row 5000 is a int; give texts as str, or as UTF-8 bytes"):
        features.learn_idf(["c d"] * 5000 + [3])
    with pytest.raises(ValueError, match=r"row 5000 is a NoneType; give texts .*, and '' where one is missing"):
        features.encode(["c d"] * 5000 + [None])
    with pytest.raises(ValueError, match="row 1 has no UTF-8 form"):
        features.encode(["c", "\ud800"])
    features._factors = None  # counted anew
    assert np.array_equal(features.idf_, idf)
    assert features._core.index.inverted(1) == met
