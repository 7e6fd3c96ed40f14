"""The hash kernel: published vectors, its twin, Lemma 2 of Shi et al., and the scikit-learn contract."""

import copy
import itertools
import math
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import murmurhash3_32
from sklearn.utils.estimator_checks import parametrize_with_checks

from perceptive import HashedFeatures, LinearClassifier, _core
from perceptive.features.hashing import HashKernel
from perceptive.features.vocabulary import Vocabulary, encode
from perceptive.reference.hashing import bucket_and_sign, hash_kernel, murmur3

pytestmark = pytest.mark.core

SEEDS = st.integers(0, 2**32 - 1)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
VALUES = st.one_of(
    st.floats(-1e300, 1e300), st.integers(-3, 3), st.booleans(), NAMES, st.sampled_from([np.float32(0.5), np.int64(2)])
)
DICTS = st.lists(st.dictionaries(NAMES | st.integers(0, 9), VALUES, max_size=8), max_size=5)


def rows_of(indptr, indices, data):
    assert (indptr.dtype, indices.dtype, data.dtype) == (np.int32, np.int32, np.float64)
    pairs = list(zip(indices.tolist(), data.tolist(), strict=True))
    return [pairs[a:b] for a, b in itertools.pairwise(indptr)]


def named(features):
    """One dict as names and numbers."""
    pairs = [
        (f"{name}={value}", 1.0) if isinstance(value, str) else (str(name), float(value))
        for name, value in features.items()
    ]
    return [(name, value) for name, value in pairs if value]


# ---------------------------------------------------------------- the hash


@pytest.mark.parametrize("hash32", [murmur3, _core.murmur3])
def test_published_vectors(hash32):
    for data, seed, expected in [
        (b"", 0, 0x00000000),
        (b"", 1, 0x514E28B7),
        (b"", 0xFFFFFFFF, 0x81F16F39),
        (b"\xff\xff\xff\xff", 0, 0x76293B50),
        (b"\x21\x43\x65\x87", 0, 0xF55B516B),
        (b"\x21\x43\x65\x87", 0x5082EDEE, 0x2362F9DE),
        (b"\x21\x43\x65", 0, 0x7E4A8634),
        (b"\x21\x43", 0, 0xA0F7B07A),
        (b"\x21", 0, 0x72661CF4),
        (b"\x00\x00\x00\x00", 0, 0x2362F9DE),
        (b"\x00\x00\x00", 0, 0x85F0B427),
        (b"\x00\x00", 0, 0x30F4C306),
        (b"\x00", 0, 0x514E28B7),
        (b"Hello, world!", 0x9747B28C, 0x24884CBA),
        (b"The quick brown fox jumps over the lazy dog", 0x9747B28C, 0x2FA826CD),
    ]:
        assert hash32(data, seed) == expected
    # SMHasher's verification value: the hash of the hashes of (), (0), (0, 1), … under the seeds 256, 255, …
    hashes = b"".join(hash32(bytes(range(n)), 256 - n).to_bytes(4, "little") for n in range(256))
    assert hash32(hashes, 0) == 0xB0F57EE3


@given(st.binary(max_size=40), SEEDS)
def test_the_hash_equals_its_twin_and_scikit_learns(data, seed):
    assert _core.murmur3(data, seed) == murmur3(data, seed) == murmurhash3_32(data, seed=seed, positive=True)


# ---------------------------------------------------------------- the kernel


@given(st.lists(NAMES, max_size=12), st.integers(1, 30), SEEDS, st.booleans())
def test_names_equal_their_twin(names, bits, seed, signed):
    kernel = HashKernel(bits, seed, signed, remember_names=True)
    buckets, signs = kernel.hash(names)
    expected = [bucket_and_sign(name, bits, seed, signed) for name in names]
    assert list(zip(buckets.tolist(), signs.tolist(), strict=True)) == expected
    for bucket, _ in expected:
        alike = [name for name, (other, _) in zip(names, expected, strict=True) if other == bucket]
        assert kernel.names(bucket) == list(dict.fromkeys(alike))


@given(DICTS, st.integers(1, 30), SEEDS, st.booleans())
def test_dicts_equal_their_twin(dicts, bits, seed, signed):
    """With few buckets most features collide: sums, their order and the zeros are all seen."""
    kernel = HashKernel(bits, seed, signed, remember_names=True)
    assert rows_of(*kernel.encode(iter(dicts))) == [hash_kernel(named(row), bits, seed, signed) for row in dicts]
    names = dict.fromkeys(name for row in dicts for name, _ in named(row))
    inverted = {}
    for name in names:
        inverted.setdefault(bucket_and_sign(name, bits, seed)[0], []).append(name)
    assert all(kernel.names(bucket) == names for bucket, names in inverted.items())
    assert kernel.collisions() == {b: names for b, names in sorted(inverted.items()) if len(names) > 1}
    assert list(kernel.collisions()) == sorted(kernel.collisions())
    for twin in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert repr(twin) == repr(kernel)
        assert twin.collisions() == kernel.collisions()
        assert all(np.array_equal(a, b) for a, b in zip(twin.encode(dicts), kernel.encode(dicts), strict=True))


def test_entries_mean_what_they_mean_to_a_vocabulary():
    row = {"f": "a", "g": 2, 3: 0.5, "on": True, "off": False, "zero": 0.0, "n": np.float32(1.5), "é": "ü", "e": ""}
    vocabulary, kernel = Vocabulary(), HashKernel(30, remember_names=True)
    _, indices, data = encode([row], vocabulary, grow=True)
    expected = {vocabulary.name(j): value for j, value in zip(indices.tolist(), data.tolist(), strict=True)}
    buckets, signs = kernel.hash(expected)
    hashed = dict(rows_of(*kernel.encode([row]))[0])
    assert hashed == {b: s * v for b, s, v in zip(buckets.tolist(), signs, expected.values(), strict=True)}
    assert rows_of(*kernel.encode([])) == []


@pytest.mark.once
def test_the_kernel_never_changes():
    """It is part of every model that hashes."""
    buckets, signs = HashKernel(20).hash(["", "a", "colour=red", "é", "日本語"])
    assert buckets.tolist() == [murmurhash3_32(n.encode()) % 2**20 for n in ("", "a", "colour=red", "é", "日本語")]
    assert signs.tolist() == [
        1 if murmurhash3_32(n.encode()) >= 0 else -1 for n in ("", "a", "colour=red", "é", "日本語")
    ]
    code = (
        "from perceptive.features.hashing import HashKernel; print(*HashKernel(20, 7).encode([{'a': 'b', 'c': 2}])[1])"
    )
    runs = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}
    assert runs == {f"{' '.join(map(str, HashKernel(20, 7).encode([{'a': 'b', 'c': 2}])[1]))}\n".encode()}


def test_names_are_kept_only_on_demand():
    kernel = HashKernel(1, remember_names=True)
    kernel.encode([{"a": 1.0, "b": "x", "c": 2.0}])
    met = kernel.collisions()
    kernel.encode([{"d": 1.0}], grow=False)
    kernel.hash(["e"], grow=False)
    assert kernel.collisions() == met
    assert sorted(kernel.names(0) + kernel.names(1)) == ["a", "b=x", "c"]
    forgetful = HashKernel(1)
    forgetful.encode([{"a": 1.0}])
    for ask in (lambda: forgetful.names(0), forgetful.collisions):
        with pytest.raises(ValueError, match="remember_names=True"):
            ask()
    with pytest.raises(ValueError, match="bucket must be an integer from 0 to 1, not 2"):
        kernel.names(2)


# ---------------------------------------------------------------- bad input


BAD_ROWS = [
    {"newer": "x", "bad": math.nan},
    {"newer": "x", "bad": -math.inf},
    {"newer": "x", "bad": np.float32("nan")},
    {"newer": "x", "bad": 10**400},
    {"newer": "x", "bad": None},
    {"newer": "x", "bad": [1.0]},
    {"newer": "x", "bad": 1j},
    {"newer": "x", "bad": b"x"},
    {"newer": "x", "\ud800": 1.0},
    {"newer": "x", "bad": "\ud800"},
    [1.0],
    "text",
    None,
]


@pytest.mark.parametrize("bad", BAD_ROWS, ids=repr)
def test_bad_rows_are_refused_as_a_vocabulary_refuses_them(bad):
    dicts = [{"new": 1.0}, bad]
    with pytest.raises(ValueError, match="row 1") as expected:
        encode(dicts, Vocabulary(), grow=True)
    kernel = HashKernel(1, remember_names=True)
    kernel.encode([{"old": 1.0, "older": "x"}])
    before = [kernel.names(0), kernel.names(1)]
    with pytest.raises(ValueError, match="row 1") as error:
        kernel.encode(dicts)
    assert str(error.value) == str(expected.value)
    assert [kernel.names(0), kernel.names(1)] == before  # nothing was learned


def test_what_cannot_be():
    kernel = HashKernel(1, signed=False)
    with pytest.raises(ValueError, match="row 0: features of one bucket do not add up to a finite number"):
        kernel.encode([{str(i): 1.7e308 for i in range(5)}])
    assert rows_of(*kernel.encode([{"\ud800": 0.0}])) == [[]]
    with pytest.raises(ValueError, match="UTF-8"):
        kernel.hash(["\ud800"])
    with pytest.raises(TypeError):
        kernel.encode(3)
    for bits in (0, 31, 2.5, True, "20", None):
        with pytest.raises(ValueError, match="bits must be an integer from 1 to 30"):
            HashKernel(bits)
    for seed in (-1, 2**32, None):
        with pytest.raises(ValueError, match="seed must be an integer from 0 to 4294967295"):
            HashKernel(4, seed)
    assert HashKernel(np.int64(4), np.uint32(2**32 - 1)).width == 16


# ---------------------------------------------------------------- Lemma 2, and Theorem 3's witness


def inner_products(x, z, bits, n_seeds, signed=True):
    """⟨φ(x), φ(z)⟩ for many seeds."""
    names = [f"w{i}" for i in range(len(x))]
    products = np.empty(n_seeds)
    for seed in range(n_seeds):
        buckets, signs = HashKernel(bits, seed, signed).hash(names)
        phi = [np.bincount(buckets, signs * v, 1 << bits) for v in (x, z)]
        products[seed] = phi[0] @ phi[1]
    return products


def lemma_2(x, z, bits):
    """The two terms of the variance: Σ_{i≠j} x_i² z_j² / m and Σ_{i≠j} x_i z_i x_j z_j / m."""
    first = (x**2).sum() * (z**2).sum() - (x**2 * z**2).sum()
    second = (x * z).sum() ** 2 - (x**2 * z**2).sum()
    return first / 2**bits, second / 2**bits


rng = np.random.default_rng(0)
DENSE = rng.normal(size=40)
POSITIVE = rng.uniform(0.5, 1.5, size=40)
HALVES = np.where(np.arange(40) < 20, 1.0, 0.0)


@pytest.mark.parametrize(
    ("x", "z", "second"),
    [
        (POSITIVE, POSITIVE, 1.0),  # both terms alike
        (HALVES, 1.0 - HALVES, 0.0),  # the first alone
        (DENSE, POSITIVE, None),
        (POSITIVE, np.where(np.arange(40) % 2, 1.0, -1.0) * POSITIVE, None),  # the second negative
    ],
)
@pytest.mark.once
def test_lemma_2(x, z, second):
    bits, n_seeds = 5, 6000
    terms = lemma_2(x, z, bits)
    assert second is None or terms[1] == pytest.approx(second * terms[0])
    products = inner_products(x, z, bits, n_seeds)
    assert abs(products.mean() - x @ z) < 4 * products.std() / math.sqrt(n_seeds)
    assert products.var() == pytest.approx(sum(terms), rel=0.1)


def test_without_signs_it_is_biased():
    """Then E⟨φ(x), φ(z)⟩ = ⟨x, z⟩ + Σ_{i≠j} x_i z_j / m, which is far off."""
    products = inner_products(POSITIVE, POSITIVE, 5, 2000, signed=False)
    error = products.std() / math.sqrt(2000)
    excess = (POSITIVE.sum() ** 2 - (POSITIVE**2).sum()) / 2**5
    assert abs(products.mean() - POSITIVE @ POSITIVE - excess) < 4 * error
    assert products.mean() - POSITIVE @ POSITIVE > 40 * error


@pytest.mark.once
def test_theorem_3_does_not_hold_for_few_buckets():
    """For x = (1, …, 1)/√n, ‖φ(x)‖² tends to χ²_m/m: no exponential concentration as ‖x‖∞/‖x‖₂ goes to 0.

    P(|‖φ(x)‖² − 1| ≥ √2σ + ε) would have to be at most exp(−√ε/4η); with m = 4 and ε = 0.05 it is about 0.08.
    """
    n, bits, epsilon, n_seeds = 20_000, 2, 0.05, 150
    sigma, eta = math.sqrt(2 * (1 - 1 / n) / 2**bits), 1 / math.sqrt(n)
    names = [f"w{i}" for i in range(n)]
    hashes = (HashKernel(bits, seed).hash(names) for seed in range(n_seeds))
    norms = np.array([(np.bincount(buckets, signs, 4) ** 2).sum() / n for buckets, signs in hashes])
    share = np.mean(abs(norms - 1) >= math.sqrt(2) * sigma + epsilon)
    assert share > 0.04
    assert share > 50 * math.exp(-math.sqrt(epsilon) / (4 * eta))


# ---------------------------------------------------------------- the transformer


@parametrize_with_checks([HashedFeatures(bits=8), HashedFeatures(bits=3, signed=False, remember_names=True)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def dense(hashed):
    return hashed.toarray()


def test_dicts_columns_and_frames_fall_alike():
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(5, 7))
    numbers[1, 2] = 0.0
    hashed = HashedFeatures(bits=2)  # most columns collide
    expected = dense(hashed.fit_transform([dict(enumerate(row)) for row in numbers.tolist()]))
    for X in (numbers, sp.csr_matrix(numbers), sp.csc_array(numbers), numbers.tolist(), pd.DataFrame(numbers)):
        assert np.array_equal(dense(clone(hashed).fit(X).transform(X)), expected)
        assert np.array_equal(dense(hashed.fit_transform(X)), expected)
    single = hashed.fit_transform(numbers.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(dense(single), expected, rtol=1e-5)
    frame = pd.DataFrame(numbers, columns=list("abcdefg"))
    expected = dense(clone(hashed).fit_transform(frame.to_dict("records")))
    assert np.array_equal(dense(hashed.fit(frame).transform(frame)), expected)
    hashed.fit(frame.to_dict("records"))  # by name no more
    assert not hasattr(hashed, "feature_names_in_")


def test_zero_sums_are_left_out():
    names = [f"w{i}" for i in range(50)]
    buckets, signs = HashKernel(1).hash(names)
    there = np.flatnonzero(buckets == 0)
    plus, minus = there[signs[there] > 0][0], there[signs[there] < 0][0]
    for X in ([{names[plus]: 1.0, names[minus]: 1.0}], pd.DataFrame([[1.0, 1.0]], columns=[names[plus], names[minus]])):
        assert HashedFeatures(bits=1).fit_transform(X).nnz == 0


def test_sums_beyond_the_largest_number_are_refused():
    for X in (np.full((1, 4), 1.7e308), [dict.fromkeys("0123", 1.7e308)]):
        with pytest.raises(ValueError, match="of one bucket do not add up to a finite number; scale"):
            HashedFeatures(bits=1, signed=False).fit(X)


def test_it_remembers_what_it_was_fitted_on():
    hashed = HashedFeatures(bits=1, remember_names=True).fit([{"a": "x", "b": 1}])
    hashed.transform([{"c": 1}])
    assert sorted(hashed.kernel_.names(0) + hashed.kernel_.names(1)) == ["a=x", "b"]
    again = pickle.loads(pickle.dumps(hashed))
    assert again.kernel_.collisions() == hashed.kernel_.collisions()
    assert len(hashed.get_feature_names_out()) == 2


def test_it_feeds_a_classifier():
    dicts = [{"word": w, "last": w[-1]} for w in ("red", "green", "one", "two", "blue", "three")]
    model = make_pipeline(HashedFeatures(bits=12), LinearClassifier(hypothesis="last", epochs=100))
    colours = [True, True, False, False, True, False]
    assert model.fit(dicts, colours).predict(dicts).tolist() == colours


def test_the_kernel_needs_neither_scipy_nor_scikit_learn():
    code = "import sys, perceptive.features.hashing; sys.exit(bool({'scipy', 'sklearn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_columns_are_called_by_the_names_remembered():
    dicts = [{"colour": "red", "size": 2.5}, {"size": 1}]
    named = HashedFeatures(bits=10, remember_names=True).fit(dicts).get_feature_names_out()
    plain = HashedFeatures(bits=10).fit(dicts).get_feature_names_out()
    assert named[[641, 1018]].tolist() == ["colour=red", "size"]
    assert plain[641] == "hashedfeatures641"
    assert (np.delete(named, [641, 1018]) == np.delete(plain, [641, 1018])).all()
    few = HashedFeatures(bits=1, remember_names=True).fit([{"a": 1, "b": 1, "c": 1}])
    assert sorted(few.get_feature_names_out()) == ["a", "b | c"]
