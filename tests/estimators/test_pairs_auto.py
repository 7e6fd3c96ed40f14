"""``pairs="auto"``: the first lists say which pairs are learned from, and the model keeps it."""

import json
from functools import partial

import numpy as np
import pytest

import perceptive
from command_line import perceptive as run
from perceptive import KernelRanker, LinearRanker
from perceptive.learners import KernelRankingLearner, RankingLearner

X = np.random.default_rng(0).normal(size=(40, 3))
QID = np.repeat(np.arange(8), 5)
BEST = (X[:, 0] == np.repeat(X[:, 0].reshape(8, 5).max(1), 5)).astype(float)
CASES = [
    (BEST, "best", None),
    (BEST * (1 + QID % 3), "best", None),  # one best of a list, whatever its grade is called
    ((X[:, 0] > 0).astype(float), "all", None),
    (np.clip(np.floor(X[:, 0] + 2), 0, 4), "all", "grade"),
]


@pytest.mark.parametrize("ranker", [LinearRanker(), KernelRanker(kernel="poly(2)")], ids=["linear", "kernel"])
@pytest.mark.parametrize(("grades", "pairs", "cost"), CASES)
def test_the_first_lists_decide(tmp_path, ranker, grades, pairs, cost):
    ranker.fit(X, grades, qid=QID)
    named = type(ranker)(**{**ranker.get_params(), "pairs": pairs, "cost": cost}).fit(X, grades, qid=QID)
    assert (ranker.learner_.parameters.pairs, ranker.learner_.parameters.cost) == (pairs, cost)
    assert ranker.rank(X[:5]) == named.rank(X[:5])
    assert ranker.pairs == "auto"
    ranker.partial_fit(X, grades, qid=QID)
    perceptive.save(ranker, tmp_path / "m")
    again = perceptive.load(tmp_path / "m")
    again.partial_fit(X, BEST, qid=QID)  # what is learned later changes nothing
    assert again.learner_.parameters.pairs == pairs


def test_a_cost_that_is_given_is_kept_and_delta_has_none():
    grades = CASES[-1][0]
    assert LinearRanker(cost="position").fit(X, grades, qid=QID).learner_.parameters.cost == "position"
    delta = LinearRanker(delta=1.0).fit(X, grades, qid=QID).learner_.parameters
    assert (delta.pairs, delta.cost) == ("all", None)


def test_lists_without_a_preference_wait():
    ranker = LinearRanker()
    ranker.partial_fit(X[:5], np.zeros(5), qid=QID[:5])
    assert ranker.learner_.parameters.pairs == "auto"
    ranker.partial_fit(X, CASES[-1][0], qid=QID)
    assert ranker.learner_.parameters.pairs == "all"
    assert not ranker.learner_.problems()[0].certified  # no theorem speaks of the cost, which has come later


@pytest.mark.parametrize("kind", [RankingLearner, partial(KernelRankingLearner, kernel="poly(2)")])
def test_lists_to_look_at_decide_nothing(kind):
    learner = kind(pairs="auto")
    learner.learn_many(X[:5], np.zeros(5), sizes=[5])
    learner.dataset(X, BEST, sizes=[5] * 8, grow=False)
    assert learner.parameters.pairs == "auto"


def test_bad_lists_change_nothing():
    learner = RankingLearner(pairs="auto")
    with pytest.raises(ValueError, match="weights"):
        learner.learn_many(X, CASES[-1][0], [-1.0] * 8, sizes=[5] * 8)
    assert learner.parameters.pairs == "auto"
    assert RankingLearner().parameters.pairs == "best"


def test_the_command_line_tells(tmp_path):
    lines = [f"{int(g)} qid:{q} 1:{x[0]} 2:{x[1]}\n" for x, g, q in zip(X, CASES[-1][0], QID, strict=True)]
    (tmp_path / "letor.svm").write_text("".join(lines))
    done = run("train", tmp_path / "letor.svm", "--task", "rank", "-o", tmp_path / "m", "--json")
    told = json.loads(done.stdout)["learner"]
    assert (told["pairs"], told["cost"]) == ("all", "grade")
