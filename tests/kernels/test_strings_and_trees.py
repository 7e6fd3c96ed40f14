"""Kernels of strings and trees, against brute force."""

import copy
import pickle
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from examples import examples
from perceptive import KernelClassifier
from perceptive.kernels import (
    AllSubsequences,
    Custom,
    Linear,
    Spectrum,
    Subsequence,
    SubsetTree,
    Subtree,
    is_psd,
)
from perceptive.learners import KernelLearner
from perceptive.reference import strings as brute_strings
from perceptive.reference import trees as brute_trees

pytestmark = pytest.mark.core


checked = examples(60, suppress_health_check=[HealthCheck.too_slow])


# ---------------------------------------------------------------- strings

symbols = st.lists(st.sampled_from("abc"), max_size=9).map("".join)


@examples(40)
@given(st.lists(symbols, min_size=1, max_size=9), st.integers(1, 5), st.sampled_from([1.0, 0.5, 0.9]))
def test_strings_equal_brute_force(texts, n, decay):
    lists = [list(text) for text in texts]
    for k, brute in (
        (Subsequence(n, decay), lambda x, y: brute_strings.subsequence(x, y, n, decay)),
        (Spectrum(n), lambda x, y: brute_strings.spectrum(x, y, n)),
        (Spectrum(n, distinct=True), lambda x, y: brute_strings.spectrum(x, y, n, distinct=True)),
        (AllSubsequences(), brute_strings.all_subsequences),
    ):
        wanted = np.array([[brute(x, y) for y in texts] for x in texts], dtype=float)
        assert np.allclose(k.gram(texts), wanted)
        assert np.allclose(k.gram(lists), wanted)
        assert np.allclose(k(texts, lists[:3]), wanted[:, :3])
        assert np.allclose(k.diag(texts), np.diag(wanted))
        assert np.allclose(k.gram(texts, dtype=np.float32), wanted, rtol=1e-5)
        assert is_psd(k.gram(texts))
    recursion = [[brute_strings.subsequence_by_recursion(x, y, n, decay) for y in texts[:3]] for x in texts[:3]]
    assert np.allclose(Subsequence(n, decay).gram(texts[:3]), recursion)


@pytest.mark.parametrize("n", range(1, 9))
def test_every_length_of_subsequence(n):
    """Sources of odd and even lengths: two symbols are played at once where registers allow."""
    rng = random.Random(n)
    texts = ["".join(rng.choice("ab") for _ in range(rng.randint(8, 14))) for _ in range(5)]
    wanted = [[brute_strings.subsequence_by_recursion(x, y, n, 0.6) for y in texts] for x in texts]
    assert np.allclose(Subsequence(n, 0.6).gram(texts), wanted)


def test_the_notes_strings():
    assert Spectrum(2, distinct=True)("aab", "aaab") == 2
    assert Spectrum(2)("aab", "aaab") == 3
    assert Subsequence(2, decay=1.0)("aab", "aaab") == 9


def test_symbols_may_be_anything():
    texts = [[(1, 2), None, "x"], [None, "x", 3.5], ("x",), "äx😀", b"ab"]
    K = Spectrum(1).gram(texts)
    assert K[0, 1] == 2
    assert K[0, 2] == K[1, 2] == K[3, 2] == 1
    assert K[3, 3] == 3
    assert Subsequence(2).gram(["😀ä", "😀ä"])[0, 1] == 0.5**4


# ---------------------------------------------------------------- trees

words = st.sampled_from(["the", "dog", "cat"])


trees = st.recursive(
    st.tuples(st.sampled_from(["D", "N"]), words),
    lambda children: st.one_of(
        st.tuples(st.sampled_from(["S", "NP"]), children, children),
        st.tuples(st.just("NP"), children),
        st.tuples(st.just("X"), words, children),
        st.tuples(st.just("E")),
    ),
    max_leaves=8,
)


def brackets(tree):
    return tree if isinstance(tree, str) else "(" + " ".join([tree[0], *map(brackets, tree[1:])]) + ")"


class NLTK(list):
    """As nltk.Tree is: a list of children with a label."""

    def __init__(self, tree):
        super().__init__(child if isinstance(child, str) else NLTK(child) for child in tree[1:])
        self._label = tree[0]

    def label(self):
        return self._label


@checked
@given(st.lists(trees, min_size=1, max_size=8), st.sampled_from([1.0, 0.4]))
def test_trees_equal_brute_force(forest, decay):
    for k, brute in ((SubsetTree(decay), brute_trees.subset_tree), (Subtree(decay), brute_trees.subtree)):
        wanted = np.array([[brute(a, b, decay) for b in forest] for a in forest])
        assert np.allclose(k.gram(forest), wanted)
        assert np.allclose(k.gram([brackets(tree) for tree in forest]), wanted)
        assert np.allclose(k([NLTK(tree) for tree in forest], forest[:3]), wanted[:, :3])
        assert np.allclose(k.diag(forest), np.diag(wanted))
        assert is_psd(k.gram(forest))
        store = k.prepare(forest[:1])
        store.extend(k.prepare(forest))
        store.put(0, k.prepare(forest[-1:]))
        assert np.allclose(k.compare(k.prepare(forest), store), wanted[:, [-1, *range(len(forest))]])


def test_deep_trees_do_not_overflow_the_stack():
    deep = "(A " * 30_000 + "x" + ")" * 30_000
    assert Subtree()([deep], ["(A x)"])[0, 0] == 1
    assert Subtree()([nested(3000)], ["(A x)"])[0, 0] == 1


def nested(depth, leaf="x"):
    tree = ("A", leaf)
    for _ in range(depth):
        tree = ("A", tree)
    return tree


def nltk(depth):
    tree = NLTK(("A", "x"))
    for _ in range(depth):
        outer = NLTK(("A",))
        outer.append(tree)
        tree = outer
    return tree


@pytest.mark.parametrize("depth", [600, 20_000])
@pytest.mark.parametrize("form", ["brackets", "tuples", "nltk"])
@pytest.mark.slow
def test_models_of_deep_trees(form, depth, tmp_path):
    """Learned, compared, saved, loaded, pickled, copied: nothing calls itself for each level."""
    from perceptive import load, load_learner, save

    deep = {
        "brackets": lambda: "(A " * (depth + 1) + "x" + ")" * (depth + 1),
        "tuples": lambda: nested(depth),
        "nltk": lambda: nltk(depth),
    }[form]()
    # The deep tree is never held against itself: all its nodes look alike, and their pairs are many.
    shallow = ["(B y)", "(A x)", "(B z)"]
    learner = KernelLearner(classes=[0, 1], kernel=Subtree(), bias=1.0)
    store = Subtree().prepare([deep, *shallow])
    assert Subtree().compare(store, Subtree().prepare(shallow))[0].tolist() == [0, 1, 0]
    again = pickle.loads(pickle.dumps(store))
    assert again.contents() == copy.deepcopy(store).contents() == store.contents()
    assert repr(Subtree().centered([deep])).startswith("Subtree().centered(")
    assert Linear().centered([deep]) == Linear().centered([deep])
    if depth > 600:
        return
    learner.learn_many([deep, *shallow], [0, 1, 0, 1])
    for _ in range(2):
        save(learner, tmp_path / "a.model")
        loaded = load_learner(tmp_path / "a.model")
        assert loaded.scores([deep, *shallow]).tolist() == learner.scores([deep, *shallow]).tolist()
        learner = pickle.loads(pickle.dumps(loaded))
    clf = KernelClassifier(kernel=Subtree(), bias=1.0).fit([deep, *shallow], [0, 1, 0, 1])
    assert len(clf.support_vectors_) == len(clf.support_)
    save(clf, tmp_path / "a.model")
    for other in (load(tmp_path / "a.model"), pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        assert other.predict([deep]).tolist() == clf.predict([deep]).tolist()


def test_what_is_deep_and_no_tree():
    deep = []
    for _ in range(30_000):
        deep = [deep]
    with pytest.raises(TypeError, match="is not a tree"):
        SubsetTree().prepare([("A", deep)])
    learner = KernelLearner(classes=[0, 1], kernel=Custom(lambda a, b: 1.0, name="one"))
    learner.learn_many([deep, 1], [0, 1])
    from perceptive import save

    with pytest.raises(ValueError, match="nested too deeply"):
        save(learner, "nowhere.model")


@pytest.mark.slow
def test_trees_whose_nodes_all_look_alike_are_refused():
    """Their pairs would fill the memory."""
    wide = "(S" + " (A x)" * 11_600 + ")"
    with pytest.raises(ValueError, match="too many nodes that look alike"):
        Subtree().gram([wide])


def test_productions_are_told_apart():
    assert SubsetTree()("(A b)", "(A (b))") == 0
    assert SubsetTree()("(A (B c))", "(A (B d))") == 1
    assert SubsetTree().value(("A", "n1:b"), ("A", "b")) == 0


def test_forgetting_trees_frees_their_productions():
    store = SubsetTree().prepare(["(A b)", "(A c)"])
    for i in range(1500):
        store.put(i % 2, SubsetTree().prepare([f"(A w{i})"]))
    assert np.allclose(SubsetTree().compare(store, SubsetTree().prepare(["(A w1499)"])), [[0], [1]])


@pytest.mark.parametrize("tree", [None, ("A", None)])
def test_what_is_no_tree_is_named_with_the_cure(tree):
    with pytest.raises(TypeError, match=r"tree 1: .*None.* is not a tree; give brackets as in '\(NP"):
        SubsetTree().prepare(["(A x)", tree])


def test_rows_of_numbers_are_no_strings():
    with pytest.raises(TypeError, match=r"example 0: it is a row of numbers; Spectrum\(n=2\) takes strings"):
        Spectrum(2).prepare(np.random.default_rng(0).random((4, 2)))
    assert len(Spectrum(2).prepare(np.array([[1, 2], [2, 1]]))) == 2  # symbols
