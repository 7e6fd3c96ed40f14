"""What kernels refuse, bound, and say plainly: endless examples, wrong labels, numbers that are none."""

import numpy as np
import pytest

from perceptive import KernelClassifier
from perceptive.kernels import Custom, Linear, SubsetTree
from perceptive.kernels.content import digest, shown
from perceptive.learners.fingerprint import hash_examples

pytestmark = pytest.mark.core


def endless():
    itself = [1]
    itself.append(itself)
    shared = ("a", [1])
    for _ in range(60):
        shared = (shared, shared)
    return itself, shared


@pytest.mark.parametrize("example", endless(), ids=["cycle", "shared"])
def test_examples_without_an_end_are_learned_from(example):
    assert digest(example) is None
    assert len(shown(example)) <= 60
    model = KernelClassifier(kernel=Custom(lambda a, b: float(a is b), name="same"))
    other = ["x"]
    assert model.fit([example, other], [0, 1]).predict([example, other]).tolist() == [0, 1]
    assert hash_examples([example])[0] == hash_examples([example])[0]


def test_what_holds_itself_is_not_what_holds_another():
    one, two = [1], [1, [1]]
    one.append(one)
    assert digest(one, strict=False) != digest(two, strict=False)
    twice = ["a", [2]]
    assert digest((twice, twice)) == digest((["a", [2]], ["a", [2]])) is not None  # sharing alone is no cycle


def test_trees_that_contain_themselves_are_refused(monkeypatch):
    monkeypatch.setattr("perceptive.kernels.trees.MOST_PARTS", 1000)
    tree = ["S"]
    tree.append(tree)
    with pytest.raises(ValueError, match="tree 1 has more than .* or contains itself"):
        SubsetTree().prepare(["(S a)", tree])


def test_long_integers_are_contents_and_are_shown():
    long = 10**5000
    assert digest(long) == digest(10**5000) != digest(long + 1)
    assert digest([long, 1]) == digest([10**5000, 1]) != digest([long + 1, 1])
    assert "bits" in shown([long])
    model = KernelClassifier(kernel=Custom(lambda a, b: float(a == b), name="same"))
    assert model.fit([long, 1], [0, 1]).predict([long]).tolist() == [0]


@pytest.mark.parametrize("budget", [None, 2])
def test_counts_times_labels_are_coefficients_where_equal_examples_disagree(budget):
    X = np.array([[1.0], [1.0], [1.0], [-2.0], [1.0]])
    y = np.array([1, -1, -1, -1, -1])
    model = KernelClassifier(
        kernel=Linear(), shuffle=False, epochs=3, hypothesis="last", budget=budget, forget="oldest"
    ).fit(X, y)
    assert (model.alpha_counts_ * y[model.support_]).tolist() == model.alpha_.tolist()
    assert (model.alpha_counts_ < 0).any()
    going_on = KernelClassifier(kernel=Linear()).partial_fit(X, y, classes=[-1, 1])
    assert (going_on.alpha_counts_ * y[going_on.support_]).tolist() == going_on.alpha_.tolist()


def test_labels_of_mixed_kinds_stay_what_they_are():
    model = KernelClassifier(kernel=Linear())
    for label in (1, "a"):
        model.learn_one([1.0 if label == 1 else -1.0], label)
    assert model.classes_.tolist() == [1, "a"]


def in_order(a, b):
    return float(a) if a < b else float(b) + 1.0


@pytest.mark.parametrize("learn", ["epochs", "partial_fit", "learn_one", "predict"])
def test_asymmetry_is_noticed_however_one_learns(learn):
    numbers, labels = [1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1]
    model = KernelClassifier(kernel=Custom(in_order), epochs=1)
    with pytest.raises(ValueError, match=r"in_order is not symmetric: .* for the pair \d, \d, but"):
        if learn == "epochs":
            model.fit(numbers, labels)
        elif learn == "partial_fit":
            model.partial_fit(numbers, labels)
        elif learn == "learn_one":
            for x, y in zip(numbers, labels, strict=True):
                model.learn_one(x, y)
        else:
            Custom(in_order)(numbers[:3], numbers[3:])


def test_symmetry_is_checked_on_few_pairs_of_many():
    calls = []
    kernel = Custom(lambda a, b: float(calls.append(1) or a * b))
    kernel(list(range(100)), list(range(100, 200)))
    assert 100 * 100 < len(calls) <= 100 * 103
