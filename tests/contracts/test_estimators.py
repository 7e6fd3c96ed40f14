"""The contract of an estimator, over every estimator: fitting, files, copies, certificates, early stopping."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import perceptive
from perceptive import (
    KernelClassifier,
    KernelRanker,
    LinearClassifier,
    LinearRanker,
    Reranker,
    SequenceTagger,
)
from perceptive.errors import ParameterError
from perceptive.kernels import Spectrum
from zoo import BEST, LISTS, ROWS, SENTENCES, TAGS, THREE, TWO, WORD_LISTS, WORDS

pytestmark = pytest.mark.core
TEMPLATE = ["word[-1:1]", "@label[-1]"]
ESTIMATORS = {
    "linear": (LinearClassifier(), ROWS, TWO),
    "linear-joint": (LinearClassifier(rule="pa1"), ROWS, THREE),
    "linear-voted": (LinearClassifier(hypothesis="voted"), ROWS, THREE),
    "kernel": (KernelClassifier(kernel="poly(2)"), ROWS, TWO),
    "kernel-strings": (KernelClassifier(kernel=Spectrum(2), rule="pa"), WORDS, THREE),
    "ranker": (LinearRanker(), LISTS, BEST),
    "kernel-ranker": (KernelRanker(kernel="poly(2)"), LISTS, BEST),
    "kernel-ranker-strings": (KernelRanker(kernel=Spectrum(1), epochs=3), WORD_LISTS, [0, 1, 2] * (len(LISTS) // 3)),
    "tagger": (SequenceTagger(template=TEMPLATE), SENTENCES, TAGS),
    "tagger-mira": (SequenceTagger(template=TEMPLATE, rule="mira"), SENTENCES, TAGS),
    "reranker": (
        Reranker(SequenceTagger(template=TEMPLATE, epochs=3), k=3, folds=2, ranker=LinearRanker(rule="pa1", bits=12)),
        SENTENCES,
        TAGS,
    ),
}
ONLINE = [name for name in ESTIMATORS if name != "reranker"]  # whose candidates come from taggers of parts of the data


def fitted(name, **parameters):
    """Trained with these parameters; of rerankers, those of the ranker."""
    model, X, y = ESTIMATORS[name]
    known = model.get_params()
    own = {key if key in known else f"ranker__{key}": value for key, value in parameters.items()}
    return clone(model).set_params(**own).fit(X, y)


def bits(model):
    return {name: array.tobytes() for name, array in model.learner_.state().arrays.items()}


def answers(name, model):
    return [str(answer) for answer in model.predict(ESTIMATORS[name][1])]


@pytest.mark.once
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_same_data_and_seed_give_the_same_model(name):
    one, other = fitted(name), fitted(name)
    for first, second in zip(one.state(), other.state(), strict=True):
        assert str(first) == str(second)


@pytest.mark.once
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("way", ["file", "pickle", "deepcopy"])
def test_a_copy_is_the_same(name, way, tmp_path):
    model = fitted(name)
    if way == "file":
        perceptive.save(model, tmp_path / "model")
        again = perceptive.load(tmp_path / "model")
    else:
        again = pickle.loads(pickle.dumps(model)) if way == "pickle" else copy.deepcopy(model)
    assert type(again) is type(model)
    assert answers(name, again) == answers(name, model)
    assert str(again.state()) == str(model.state())
    assert answers(name, clone(again).fit(*ESTIMATORS[name][1:])) == answers(name, model)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_shards_give_the_same_bits_on_any_number_of_threads(name):
    if "kernel" in name or "voted" in name:
        with pytest.raises(ParameterError, match=r"shards=2 does not go with .*: .+"):
            fitted(name, shards=2)
        return
    one, many = (fitted(name, shards=3, epochs=3, n_jobs=n, certify=True) for n in (1, 3))
    assert bits(one) == bits(many)
    assert answers(name, one) == answers(name, many)
    assert one.certificate_ == many.certificate_
    assert one.certificate_.holds
    assert len(one.history_) == len(one.mistakes_)
    assert bits(one) != bits(fitted(name, epochs=3))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_threads_change_no_prediction(name):
    one, many = fitted(name), fitted(name, n_jobs=3)
    assert bits(one) == bits(many)
    assert answers(name, one) == answers(name, many)


def test_cross_fitting_in_threads():
    tagger = SequenceTagger(template=TEMPLATE, epochs=2)
    one, many = (fitted("reranker", tagger=clone(tagger).set_params(n_jobs=n)) for n in (1, 2))
    assert one.oracle_ == many.oracle_
    assert bits(one.ranker_) == bits(many.ranker_)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_nothing_is_predicted_or_saved_before_fit(name, tmp_path):
    model = clone(ESTIMATORS[name][0])
    with pytest.raises(NotFittedError):
        model.predict(ESTIMATORS[name][1])
    with pytest.raises(ValueError, match="has not learned anything; fit it before it is saved"):
        perceptive.save(model, tmp_path / "model")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fit_that_raises_changes_nothing(name):
    model = fitted(name)
    before, said = str(model.state()), answers(name, model)
    _, X, y = ESTIMATORS[name]
    with pytest.raises((ValueError, TypeError)):
        model.fit(X, y[:-1])
    with pytest.raises((ValueError, TypeError)):
        model.fit([], [])
    assert str(model.state()) == before
    assert answers(name, model) == said


@pytest.mark.parametrize("name", ESTIMATORS)
def test_weights_are_taken_or_refused(name):
    model, X, y = ESTIMATORS[name]
    weights = [0.01, 1.0, 2.5] * (len(X) // 3)
    plain = bits(fitted(name))
    assert bits(clone(model).fit(X, y, sample_weight=np.ones(len(X)))) == plain
    if getattr(model, "rule", None) in ("mira", "pa"):
        with pytest.raises(ParameterError, match="weights other than 0 and 1 do not go with rule="):
            clone(model).fit(X, y, sample_weight=weights)
        return
    weighed = clone(model).fit(X, y, sample_weight=weights)
    assert bits(weighed) != plain
    assert not weighed.certificate(X, y, sample_weight=weights).hypothetical
    assert weighed.certificate(X, y).hypothetical
    with pytest.raises(ValueError, match=r"sample_weight|Sample weights"):
        weighed.fit(X, y, sample_weight=weights[:-1])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_run_is_told_epoch_by_epoch(name):
    model = fitted(name, epochs=4)
    assert model.n_iter_ == len(model.mistakes_) == len(model.updates_) == len(model.loss_) <= 4
    assert model.converged_ == (model.mistakes_[-1] == model.updates_[-1] == 0)
    assert model.rounds_ == model.learner_.rounds
    assert model.mistakes_.sum() == model.learner_.mistakes
    assert model.updates_.sum() == model.learner_.updates
    assert len(model.held_out_) == 0
    assert len(fitted(name, epochs=1).mistakes_) == 1


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_certificate_is_made_in_fit_or_after(name):
    model, (_, X, y) = fitted(name, certify=True), ESTIMATORS[name]
    assert model.certificate_.holds
    assert not model.certificate_.hypothetical
    assert str(model.certificate(X, y)) == str(perceptive.certify(model, X, y)) == str(model.certificate_)
    assert not hasattr(fitted(name), "certificate_")
    with pytest.raises(AttributeError, match=r"there is no certificate: call certificate\(X, y\)"):
        fitted(name).certificate_  # noqa: B018


@pytest.mark.parametrize("name", ESTIMATORS)
def test_early_stopping_goes_back_to_the_best_epoch(name):
    stopped = fitted(name, validation_fraction=0.4, patience=1, epochs=30)
    scores = stopped.held_out_
    assert len(scores) == stopped.n_iter_
    assert ((scores >= 0) & (scores <= 1)).all()
    best = len(scores) - 1 - int(np.argmax(scores[::-1]))  # the last of equals
    if not stopped.converged_ and stopped.updates_[-1]:
        again = fitted(name, validation_fraction=0.4, patience=1, epochs=best + 1)
        assert answers(name, again) == answers(name, stopped)
    with pytest.raises(ValueError, match=r"validation_fraction=1e-06 holds out none of"):
        fitted(name, validation_fraction=1e-6)


@pytest.mark.parametrize("name", ONLINE)
def test_partial_fit_learns_as_the_learner_does(name):
    model, X, y = ESTIMATORS[name]
    model = clone(model)
    for begin in range(0, len(X), 8):
        model.partial_fit(X[begin : begin + 8], y[begin : begin + 8])
    assert len(model.mistakes_) == len(range(0, len(X), 8))
    assert model.mistakes_.sum() == model.learner_.mistakes
    rounds = model.learner_.rounds
    model.learn_one(X[0], y[0])
    assert model.learner_.rounds > rounds


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_hypothesis_is_at_hand_or_refused_with_the_cure(name):
    model = fitted(name, **({} if "kernel" in name else {"keep": "all"}))
    for hypothesis in ("last", "averaged", "best", "voted", "random"):
        found = model.predict(ESTIMATORS[name][1], hypothesis=hypothesis)
        assert len(found) == len(ESTIMATORS[name][1])
    with pytest.raises(ValueError, match="hypothesis='mode'"):
        model.predict(ESTIMATORS[name][1], hypothesis="mode")
