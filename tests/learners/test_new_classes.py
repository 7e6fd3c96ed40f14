"""A class that comes after those which the first data had: two of them, one problem so far, become competitors."""

import numpy as np
import pytest

from perceptive import KernelClassifier, LinearClassifier, load, save
from perceptive.learners import KernelLearner, LinearLearner
from perceptive.models.registry import load_learner

pytestmark = pytest.mark.core

RNG = np.random.default_rng(0)
X = RNG.integers(-4, 5, (60, 3)).astype(float)
TWO = np.where(X[:, 0] + X[:, 1] > 0, "b", "a")
THREE = np.where(X[:, 2] > 1, "c", TWO)
HYPOTHESES = ["last", "averaged", "best", "voted"]


def learners(kind, multiclass, rule, **more):
    """One to which the data announced two classes, and one that was told of none."""
    parameters = {"rule": rule, "multiclass": multiclass, **more}
    if kind is LinearLearner:
        parameters |= {"keep": "all"}
    else:
        parameters |= {"kernel": "linear"}
    told = kind(["a", "b"], fixed=False, **parameters)
    if kind is KernelLearner and multiclass == "ovr":
        return told, None
    untold = kind(**parameters)
    for label in "ab":
        untold.meet_class(label)
    return told, untold


@pytest.mark.parametrize("rule", ["perceptron", "pa", "mira"])
@pytest.mark.parametrize("multiclass", ["joint", "ovr", "ovo"])
def test_a_third_class_finds_what_competitors_would_have(multiclass, rule):
    if (multiclass, rule) == ("ovo", "mira"):
        rule = "perceptron"
    told, open_ = learners(LinearLearner, multiclass, rule, dtype="float64")
    for learner in (told, open_):
        learner.learn_many(X, TWO)
    assert told.binary
    assert not open_.binary
    for learner in (told, open_):
        learner.learn_many(X, THREE)
        learner.finish()
    assert told.classes == open_.classes == ["a", "b", "c"]
    assert (told.rounds, told.mistakes, told.updates) == (open_.rounds, open_.mistakes, open_.updates)
    for hypothesis in HYPOTHESES:
        a, b = told.scores(X, hypothesis), open_.scores(X, hypothesis)
        assert np.allclose(a, b, rtol=1e-9, atol=1e-9), hypothesis
    for mine, other in zip(told.vectors.values(), open_.vectors.values(), strict=True):
        assert mine.run.norm2 == pytest.approx(other.run.norm2)
        assert mine.run.radius2 == pytest.approx(other.run.radius2)
        assert mine.run.criterion == pytest.approx(other.run.criterion)


@pytest.mark.parametrize("rule", ["perceptron", "pa"])
def test_a_third_class_finds_what_competitors_would_have_in_the_dual(rule):
    told, open_ = learners(KernelLearner, "joint", rule, dtype="float64")
    for learner in (told, open_):
        learner.learn_many(X, TWO)
        learner.learn_many(X, THREE)
        learner.finish()
    assert told.classes == open_.classes
    assert (told.rounds, told.mistakes, told.updates) == (open_.rounds, open_.mistakes, open_.updates)
    for hypothesis in HYPOTHESES:
        assert np.allclose(told.scores(X, hypothesis), open_.scores(X, hypothesis)), hypothesis
    for normalized in (False, True):
        assert np.allclose(
            told.scores(X, "averaged", normalized=normalized), open_.scores(X, "averaged", normalized=normalized)
        )
    assert told.dual.radius2[0] == pytest.approx(open_.dual.radius2[0])


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        *((LinearLearner, rule) for rule in ("pa1", "pa2", "arow", "romma", "perceptron")),
        *((KernelLearner, rule) for rule in ("pa1", "pa2", "perceptron")),
    ],
)
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_the_scores_of_the_two_stay(kind, rule, multiclass, tmp_path):
    told, _ = learners(kind, multiclass, rule)
    told.learn_many(X, TWO)
    before = told.scores(X, "averaged")
    save(told, tmp_path / "m")
    again = load_learner(tmp_path / "m")
    for learner in (told, again):
        learner.meet_class("c")
        scores = learner.scores(X, "averaged")
        assert np.array_equal(np.sign(scores[:, 1] - scores[:, 0]), np.sign(before))
        learner.learn_many(X, THREE)
        learner.finish()
    assert np.array_equal(told.scores(X), again.scores(X))
    save(told, tmp_path / "n")
    assert np.array_equal(load_learner(tmp_path / "n").scores(X), told.scores(X))


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_a_certificate_holds_or_is_hypothetical(rule):
    from perceptive.certificates import certify

    learner = LinearLearner(["a", "b"], fixed=False, rule=rule)
    learner.learn_many(X, TWO)
    learner.learn_many(X, THREE)
    certificate = certify(learner, np.vstack([X, X]), [*TWO, *THREE])
    assert certificate.hypothetical == (rule == "pa1")
    assert certificate.hypothetical or certificate.holds


@pytest.mark.parametrize("estimator", [LinearClassifier(), KernelClassifier(kernel="linear")])
@pytest.mark.parametrize("n", [2, 3])
def test_estimators_accept_it(estimator, n, tmp_path):
    y = TWO if n == 2 else THREE
    model = estimator.fit(X, y)
    model.partial_fit(X[:1], ["z"])
    assert model.classes_.tolist() == [*sorted(set(y)), "z"]
    assert model.decision_function(X).shape == (60, n + 1)
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").learn_one(X[0], "zz").predict_one(X[0]) is not None


def test_one_by_one():
    dicts = [{name: value for name, value in zip("xyz", row, strict=True)} for row in X.tolist()]
    model = LinearClassifier().fit(dicts, TWO)
    for x, label in zip(dicts, THREE, strict=True):
        model.learn_one(x, label)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict(dicts).tolist() == [model.predict_one(x) for x in dicts]


@pytest.mark.parametrize("kind", [LinearLearner, KernelLearner])
def test_announced_classes_are_fixed(kind, tmp_path):
    learner = kind(["a", "b"], **({"kernel": "linear"} if kind is KernelLearner else {}))
    learner.learn_many(X, TWO)
    save(learner, tmp_path / "m")
    for one in (learner, load_learner(tmp_path / "m")):
        with pytest.raises(ValueError, match=r"'c' is not one of the classes .*, which were announced as all"):
            one.learn_many(X, THREE)
        assert one.classes == ["a", "b"]


def test_what_is_about_two_classes_is_said():
    learner = LinearLearner(["a", "b"], fixed=False, ties="positive")
    with pytest.raises(ValueError, match="ties"):
        learner.learn_many(X, THREE)
    model = LinearClassifier(rule="mira", cost=[[0, 1], [2, 0]]).fit(X, TWO)
    with pytest.raises(ValueError, match="cost has no row for it"):
        model.partial_fit(X, THREE)


def test_probabilities_stay_those_of_two_classes():
    model = LinearClassifier(probability=True).fit(X, TWO)
    before = model.predict_proba(X)
    model.learner_.meet_class("c")
    after = model.learner_.scores(X) * model.learner_.temperature
    assert np.allclose(1 / (1 + np.exp(after[:, 0] - after[:, 1])), before[:, 1])
