"""Rankers take a list of data frames, one for each list of candidates, as they take one frame with queries."""

import numpy as np
import pytest
from sklearn.base import clone

from perceptive import KernelRanker, LinearRanker, load, save
from perceptive.learners import RankingLearner

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

N = 40
RNG = np.random.default_rng(5)
NUMBERS = pd.DataFrame({"size": RNG.normal(size=N), "red": RNG.integers(0, 2, N), "other": RNG.normal(size=N)})
WORDS = NUMBERS.assign(colour=RNG.choice(["red", "blue"], N), mass=RNG.normal(5000, 200, N))
GRADES, QUERIES = (NUMBERS["size"] > 0).astype(int).to_numpy(), np.repeat(np.arange(N // 4), 4)
RANKERS = [LinearRanker(), LinearRanker(bits=12), KernelRanker(kernel="gaussian(gamma=0.5)")]
MADE = {"pandas": lambda frame: frame, "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False)}


def parts(rows, made):
    return [made(rows.iloc[i : i + 4]) for i in range(0, N, 4)]


def kinds():
    made = dict(MADE)
    try:
        import polars
    except ImportError:
        return made
    return made | {"polars": polars.from_pandas}


@pytest.mark.parametrize("made", kinds().values(), ids=kinds())
@pytest.mark.parametrize("frame", [NUMBERS, WORDS], ids=["numbers", "words"])
@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_a_list_of_frames_is_a_frame_with_queries(ranker, frame, made, tmp_path):
    lists, answers = parts(frame, made), [GRADES[i : i + 4].tolist() for i in range(0, N, 4)]
    expected = ranker.fit(made(frame), GRADES, qid=QUERIES).decision_function(made(frame), QUERIES)
    ranker.fit(lists, answers)
    assert ranker.feature_names_in_.tolist() == list(frame.columns)
    save(ranker, tmp_path / "m")
    turned = parts(frame[frame.columns[::-1]].assign(more=1.0), made)
    for one in (ranker, load(tmp_path / "m")):
        for X in (lists, turned):
            assert np.concatenate(one.decision_function(X)) == pytest.approx(expected, rel=1e-6)
        assert [one.find_best(x) for x in turned] == one.predict(lists).tolist()
        assert [one.rank(x)[0][0] for x in turned] == one.predict(lists).tolist()
    again = ranker.partial_fit(turned, answers)
    assert again.score(lists, answers) == again.score(made(frame), GRADES, QUERIES)


@pytest.mark.parametrize("frame", [NUMBERS, WORDS], ids=["numbers", "words"])
@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_one_list_is_matched_by_name(ranker, frame):
    lists, answers = parts(frame, lambda one: one), [GRADES[i : i + 4].tolist() for i in range(0, N, 4)]
    expected = clone(ranker).fit(lists, answers).partial_fit(lists, answers).decision_function(lists)
    turned = parts(frame[frame.columns[::-1]].assign(more=1.0), lambda one: one)
    for ones in (lists, turned, [one.to_dict("records") for one in turned]):
        model = clone(ranker).fit(lists, answers)
        for one, answer in zip(ones, answers, strict=True):
            model.learn(one, answer)
        assert np.concatenate(model.decision_function(lists)) == pytest.approx(np.concatenate(expected), rel=1e-4)
        assert [model.find_best(one) for one in ones] == model.predict(lists).tolist()


@pytest.mark.parametrize("made", kinds().values(), ids=kinds())
def test_columns_of_grades_are_grades(made):
    """Not sets of indices, which their numbers might be as well."""
    lists = parts(NUMBERS, made)
    columns = [made(NUMBERS.assign(grade=GRADES).iloc[i : i + 4])["grade"] for i in range(0, N, 4)]
    one, other = LinearRanker().fit(lists, columns), LinearRanker().fit(lists, [list(column) for column in columns])
    assert (one.coef_ == other.coef_).all()


def test_a_learner_takes_grades_as_its_estimator_does():
    ranker, learner = LinearRanker(hypothesis="last", pairs="all"), RankingLearner(pairs="all")
    for lists, grades in zip(np.split(NUMBERS.to_numpy(), N // 4), np.split(GRADES, N // 4), strict=True):
        ranker.learn(lists, grades.tolist())
        learner.learn(lists, grades.tolist())
    assert (ranker.coef_ == learner.vector.vector("last")[0][:, 0]).all()


def test_frames_that_do_not_fit_together_are_refused():
    with pytest.raises(ValueError, match="do not fit together"):
        LinearRanker().fit([pa.table({"a": [1, 2]}), pa.table({"a": ["x", "y"]})], [0, 1])
