"""What is prepared once and compared many times: the same numbers as from scratch, nothing kept alive in vain."""

import copy
import gc
import pickle
import random
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive import KernelRanker
from perceptive.kernels import Linear, Spectrum, SubsetTree, Subtree
from perceptive.kernels.examples import Sparse
from perceptive.learners import KernelRankingLearner
from perceptive.reference import strings as brute_strings
from perceptive.reference import trees as brute_trees

pytestmark = pytest.mark.core

checked = examples(60)
texts = st.one_of(
    st.text("abc", max_size=7),
    st.lists(st.sampled_from(["a", "b", 1, (2,)]), max_size=7).map(tuple),
)


def held_to_the_twin(k, A, B):
    wanted = [[brute_strings.spectrum(x, y, k.n, distinct=k.distinct) for y in B.items] for x in A.items]
    assert k.compare(A, B).tolist() == np.reshape(wanted, (len(A), len(B))).tolist()
    assert k.norms(A).tolist() == [brute_strings.spectrum(x, x, k.n, distinct=k.distinct) for x in A.items]


@checked
@given(st.lists(texts, min_size=2, max_size=8), st.lists(texts, min_size=1, max_size=4), st.data())
def test_substrings_are_those_of_the_sequences(many, others, data):
    """Whatever is taken, added and replaced, of the same sequences or of others."""
    k = Spectrum(data.draw(st.integers(1, 4)), distinct=data.draw(st.booleans()))
    X, Y = k.prepare(many), k.prepare(others)
    places = st.lists(st.integers(0, len(many) - 1), min_size=1, max_size=5)
    supports = X.take(np.array(data.draw(places)))
    for change in data.draw(st.lists(st.sampled_from(["same", "other", "put", "copy", "gone"]), max_size=5)):
        one = X.take(np.array(data.draw(places)))
        if change == "same":
            supports.extend(one.take([0]))
        elif change == "other":
            supports.extend(Y)
        elif change == "put":
            supports.put(data.draw(st.integers(0, len(supports) - 1)), one.take([0]))
        elif change == "copy":
            supports = data.draw(st.sampled_from([copy.deepcopy, lambda S: pickle.loads(pickle.dumps(S))]))(supports)
        else:
            X = k.prepare(many)  # what the supports were taken of is gone
        held_to_the_twin(k, supports, X)
        held_to_the_twin(k, one, supports)
        held_to_the_twin(k, supports.take(slice(1)), Y)
    held_to_the_twin(k, X, X)
    held_to_the_twin(k, Y, X)


def test_sequences_are_counted_once(monkeypatch):
    from perceptive.kernels import substrings

    made = []
    new = substrings.Substrings.__init__

    def counting(self, items, n):
        made.append(len(items))
        new(self, items, n)

    monkeypatch.setattr(substrings.Substrings, "__init__", counting)
    rng = random.Random(0)
    lists = [["".join(rng.choice("abcd") for _ in range(12)) for _ in range(5)] for _ in range(40)]
    best = [max(range(5), key=lambda j: xs[j].count("ab")) for xs in lists]
    ranker = KernelRanker(kernel=Spectrum(2)).fit(lists, best)
    assert made == [200]
    made.clear()
    for xs in lists:
        ranker.find_best(xs)
    assert made == [len(ranker.support_)]  # new ones are counted in the numbering of the supports


def test_supports_do_not_keep_what_they_were_taken_of():
    learner = KernelRankingLearner(kernel=Spectrum(2))
    lesson = learner.dataset(["ab", "ba", "aab", "bba"], [1, 0, 1, 0], sizes=[2, 2])
    assert sum(lesson.epoch()) == 2
    home = weakref.ref(lesson.X.counted()[0])
    assert home() is not None
    before = learner.scores(["abab", "baba"])
    del lesson
    gc.collect()
    assert home() is None
    assert (learner.scores(["abab", "baba"]) == before).all()


leaves = st.tuples(st.sampled_from(["D", "N"]), st.sampled_from(["the", "dog"]))
trees = st.recursive(
    leaves,
    lambda below: st.one_of(
        st.tuples(st.sampled_from(["S", "NP"]), below, below), st.tuples(st.just("X"), st.just("w"), below)
    ),
    max_leaves=6,
)


@checked
@given(st.lists(trees, min_size=1, max_size=3), st.lists(trees, min_size=1, max_size=2), st.sampled_from([1.0, 0.4]))
def test_many_trees_that_share_subtrees(few, others, decay):
    """Enough of them that subtrees are remembered, in either order, and in the numbering of either."""
    distinct = [("S", one, two) for one in [*few, *others] for two in [*few, ("D", "a"), *others]]
    many = distinct * 3
    assert len(many) >= 16
    for k, brute in ((SubsetTree(decay), brute_trees.subset_tree), (Subtree(decay), brute_trees.subtree)):
        wanted = np.array([[brute(a, b, decay) for b in few] for a in distinct] * 3)
        A, B = k.prepare(many), k.prepare(few)
        grown = k.prepare(many[:1])
        grown.extend(A.take(np.arange(1, len(many))))
        for found in (k.compare(A, B), k.compare(B, A).T, k.compare(grown, B), k.compare(B, grown).T):
            assert np.allclose(found, wanted)
        whole = k.compare(A, A)
        ones = np.hstack([k.compare(A, A.take([i])) for i in range(len(distinct))])
        assert np.allclose(whole, np.tile(ones, 3))
        assert (np.diag(whole) == k.norms(A)).all()  # the same bits, remembered or not


def test_forgetting_trees_frees_their_subtrees():
    """Few productions make many trees."""
    store = SubsetTree().prepare(["(A x)"])
    rng = random.Random(0)

    def tree(depth):
        return f"({rng.choice('AB')} x)" if depth == 0 else f"({rng.choice('AB')} {tree(depth - 1)} {tree(depth - 1)})"

    for _ in range(300):
        store.put(0, SubsetTree().prepare([tree(5)]))
    assert store.parsed.subtrees() < 2 * 63 + 1024 + 63


@checked
@given(st.integers(1, 5), st.integers(0, 12), st.sampled_from([3, 40, 5000]), st.integers(0, 9))
def test_dots_of_sparse_rows(few, many, width, seed):
    """However few there are, and however many columns are empty."""
    rng = np.random.default_rng(seed)
    A, B = (
        sp.csr_array(rng.integers(-3, 4, size=(n, width)) * (rng.random((n, width)) < 4 / width)) for n in (few, many)
    )
    wanted = (A.toarray() @ B.toarray().T).astype(float)
    left, right = (Sparse(M.astype(float)) for M in (A, B))
    assert (Linear().compare(left, right) == wanted).all()
    assert (Linear().compare(right, left) == wanted.T).all()
