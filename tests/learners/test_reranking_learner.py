"""RerankingLearner as a Learner: one by one as many, cross-fitting, counters of the ranker, files."""

import numpy as np
import pytest

import perceptive
from perceptive import Reranker, SequenceTagger
from perceptive.errors import ExampleError
from perceptive.evaluation.conlleval import segments
from perceptive.kernels import Spectrum
from perceptive.learners import KernelRankingLearner, RankingLearner, SequenceLearner
from perceptive.learners.candidates import grade, kernel_of
from perceptive.learners.description import View, clusters_of, describe
from perceptive.learners.reranking import BITS, RANKER, RerankingLearner, ranked_dataset
from perceptive.parameters import TrainingParameters
from perceptive.training import InMemory, Run, train
from perceptive.training.reranking import train_like
from tagger_data import sentences

X, Y = sentences(60)
COUNTS = ("rounds", "mistakes", "updates", "loss", "played", "fingerprint", "ids")


WEIGHTS = np.array([0.5, 1.0, 0.0, 2.5, 3.0] * 12)


def fit(X, y, weights=None):
    tagger = SequenceLearner(template=["word", "@label[-1]"])
    tagger.learn_many(X, y, weights)
    return tagger


def linear(**options):
    return RerankingLearner(fit(X, Y), RankingLearner(bits=12, hypothesis="averaged"), k=4, folds=2, **options)


def kernel(**options):
    ranker = KernelRankingLearner(kernel=kernel_of(Spectrum(2)))
    return RerankingLearner(fit(X, Y), ranker, k=4, folds=2, structure="tags", **options)


def counts(learner):
    return [getattr(learner, name) for name in COUNTS]


@pytest.mark.parametrize("make", [linear, kernel])
@pytest.mark.parametrize("target", ["f1", "exact"])
def test_many_are_learned_as_one_by_one(make, target):
    many, single = make(target=target), make(target=target)
    many.learn_many(X[:30], Y[:30])
    assert sum(single.learn(x, y) for x, y in zip(X[:30], Y[:30], strict=True)) == many.mistakes > 0
    assert counts(single)[:3] == counts(many)[:3] == counts(many.ranker)[:3]
    assert single.predict_many(X) == many.predict_many(X) == [many.predict(x) for x in X]


def test_a_sentence_without_a_better_candidate_is_no_round():
    learner = linear(target="exact")
    strange = ["O"] * len(X[0])
    assert strange not in [labels for labels, _ in learner.tagger.k_best([X[0]], 4)[0]]
    assert not learner.learn(X[0], strange)
    assert learner.rounds == 0


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_training_is_that_of_the_estimator(weights):
    base = SequenceTagger(template=["word", "@label[-1]"], epochs=3)
    reranker = Reranker(base, k=4, folds=3).fit(X, Y, sample_weight=weights)
    tagger = reranker.tagger_.learner_
    ranker = RankingLearner(bits=BITS, hypothesis="averaged", **RANKER)
    learner = RerankingLearner(tagger, ranker, k=4, folds=3, fit_tagger=train_like(tagger, 3))
    training = TrainingParameters()
    dataset = learner.dataset(X, Y, weights, epochs=training.epochs)
    history = train(Run.of(learner, training), InMemory(dataset, training.shuffle))
    assert learner.oracle == reranker.oracle_
    assert history.mistakes == reranker.ranker_.mistakes_.tolist()
    assert learner.k_best(X, 4) == reranker.learner_.k_best(X, 4)
    played = learner.dataset(X, Y, weights, epochs=1, grow=False).fingerprint()
    assert played * history.epochs % 2**64 == learner.fingerprint
    assert learner.first_epoch == (learner.rounds // history.epochs, history.mistakes[0])


@pytest.mark.parametrize("make", [linear, kernel])
def test_taggers_of_every_fold_and_the_ranker_are_weighed(make):
    learner, fold = make(), np.arange(len(X)) % 2
    found = [
        fit(*([some[i] for i in np.flatnonzero(fold != f)] for some in (X, Y, WEIGHTS))).k_best(X[f::2], 4)
        for f in (0, 1)
    ]
    proposed = [found[i % 2][i // 2] for i in range(len(X))]
    lists = learner.graded(X, Y, proposed, learner.recalled(X, proposed), True, learner.in_segments(Y))
    expected = ranked_dataset(learner.ranker, lists, WEIGHTS[lists.sentences])
    dataset = learner.dataset(X, Y, WEIGHTS, epochs=1)
    assert dataset.fingerprint() == expected.fingerprint()
    assert learner.oracle == lists.oracle
    for other in (None, WEIGHTS * 2):
        assert make().dataset(X, Y, other, epochs=1).fingerprint() != dataset.fingerprint()


def test_weights_that_the_tagger_cannot_take():
    tagger = SequenceLearner(template=["word", "@label[-1]"], rule="mira")
    tagger.learn_many(X, Y)
    learner = RerankingLearner(tagger, RankingLearner(bits=12), k=4, folds=2)
    with pytest.raises(
        ValueError, match="the tagger learns by mira, which takes only the weights 0 and 1; give another"
    ):
        learner.dataset(X, Y, WEIGHTS, epochs=1)
    learner.dataset(X, Y, WEIGHTS > 0, epochs=1)
    learner.learn_many(X, Y, WEIGHTS)  # the tagger does not learn


def test_without_another_way_taggers_learn_once():
    once, given = linear(), linear(fit_tagger=fit)
    assert once.dataset(X, Y, epochs=1).fingerprint() == given.dataset(X, Y, epochs=1).fingerprint()
    assert once.oracle == given.oracle


def test_snapshots_are_the_rankers():
    learner = linear()
    learner.learn_many(X[:20], Y[:20])
    before, found = learner.snapshot(), learner.k_best(X, 2)
    learner.learn_many(X[20:], Y[20:])
    assert learner.k_best(X, 2) != found
    learner.restore(before)
    learner.finish()
    assert learner.k_best(X, 2) == found


@pytest.mark.parametrize("make", [linear, kernel])
def test_going_on_after_a_file_equals_not_having_stopped(make, tmp_path):
    learner = make(target="exact")
    learner.learn_many(X[:20], Y[:20])
    perceptive.save(learner, tmp_path / "m")
    loaded = perceptive.load_learner(tmp_path / "m")
    assert (loaded.k, loaded.folds, loaded.target) == (4, 2, "exact")
    for one in (learner, loaded):
        one.learn_many(X[20:], Y[20:])
    assert counts(loaded) == counts(learner)
    assert loaded.k_best(X, 3) == learner.k_best(X, 3)


def test_what_cannot_be_is_refused():
    learner = linear()
    with pytest.raises(ValueError, match="one weight for each of the 60 sentences"):
        learner.learn_many(X, Y, np.ones(3))
    with pytest.raises(ValueError, match="give one list of labels per sentence"):
        learner.learn_many(X, Y[:3])
    with pytest.raises(ValueError, match="too few for 2 folds"):
        learner.dataset(X[:1], Y[:1], epochs=2)
    with pytest.raises(ValueError, match="does not know the labels 'B-Q'"):
        learner.dataset(X[:3], [*Y[:2], ["B-Q"] * len(X[2])], epochs=2)
    with pytest.raises(ExampleError, match="sentence 3, token 0: got a value of type 'int'") as caught:
        learner.dataset([*X[:3], [1], *X[4:9]], [*Y[:3], ["O"], *Y[4:9]], epochs=2)
    assert (caught.value.example, caught.value.token) == (3, 0)
    assert counts(learner) == [0] * 7
    for wrong in ({"k": 1}, {"folds": 1.5}, {"target": "bleu"}, {"structure": "graph"}, {"lookback": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            RerankingLearner(learner.tagger, learner.ranker, **wrong)


def test_the_ranker_sees_the_clusters_of_the_tagger():
    tagger = SequenceTagger(template=["word", "cluster(3)", "@label[-1]"]).fit(X, Y).learner_
    [(column, of)] = clusters_of(tagger.templates)
    assert column == 0
    assert 1 < len(set(of.values())) <= 3
    learner = RerankingLearner(tagger, RankingLearner(bits=12), k=4, folds=2)
    proposed = tagger.k_best(X, 4)
    i = next(i for i, found in enumerate(proposed) if segments(found[0][0]) != segments(found[1][0]))
    row, _ = learner.chosen(X[i])
    assert row == describe(X[i], proposed[i], View(clusters=[(0, of)]), {})[0]
    words = {name for name in row if " 0 first " in name}
    assert {of.get(name.split()[-1], "?") for name in words} == {
        name.split()[-1] for name in row if " 1 first " in name
    }
    assert "place" not in row


def test_rankers_of_the_first_builds_see_what_they_learned_from():
    learner = linear()
    learner.learn_many(X[:30], Y[:30])
    state = learner.state()
    assert RerankingLearner.from_state(state).description == 4
    del state.meta["description"], state.meta["lookback"]
    old = RerankingLearner.from_state(state)
    row, _ = old.chosen(X[0])
    assert row["place"] == 0.0
    assert old.lookback == 0
    assert RerankingLearner.from_state(old.state()).description == 1
    assert Reranker.from_learner(old).learner_.description == 1


def test_candidates_are_graded_by_the_segments_that_are_wrong():
    truth = ["B-A", "I-A", "O", "B-B"]
    assert grade(truth, truth, "f1") == 0.0
    assert grade(truth, ["B-A", "B-A", "O", "B-B"], "f1") == -3.0  # one is missed, two are wrong
    assert grade(["X", None, "Z"], ["Y", "Y", "Z"], "accuracy") == -1.0
    assert grade(truth, truth, "exact") == 1.0
