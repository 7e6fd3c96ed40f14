"""The contract of a learner, over every learner: what one keeps, all keep."""

import copy
import pickle

import numpy as np
import pytest

from perceptive import certify, load_learner, save
from perceptive.explanation import explain
from perceptive.parameters import TrainingParameters
from perceptive.training.loop import InMemory, Run, train
from zoo import CASES

pytestmark = [pytest.mark.core, pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)]
HALF = len(CASES[0].X) // 2


def learned(case, begin=0, end=None):
    learner = case.make()
    learner.learn_many(*case.part(begin, end or len(case.X)))
    return learner


def everything(learner):
    """All that a learner is: plain values, and the bytes of its arrays."""
    meta, arrays = learner.state()
    return meta, {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in sorted(arrays.items())}


def answers(learner, case):
    return [str(answer) for answer in learner.predict_many(case.X)]


def test_many_is_one_by_one(case):
    many, single = learned(case), case.make()
    mistakes = [single.learn(x, y) for x, y in zip(case.X, case.y, strict=True)]
    counters = ("rounds", "mistakes", "updates", "played", "fingerprint", "ids")
    assert [getattr(many, name) for name in counters] == [getattr(single, name) for name in counters]
    assert many.loss == pytest.approx(single.loss)
    assert answers(many, case) == answers(single, case)
    if many.rounds == len(case.X):  # one problem: each example is one round
        assert sum(mistakes) == many.mistakes


def test_prediction_changes_nothing(case):
    learner = learned(case)
    before = everything(learner)
    first = answers(learner, case)
    assert answers(learner, case) == first
    reader = learner.reader() if hasattr(learner, "lookback") else learner  # of one text
    assert [str(reader.predict(x)) for x in case.X] == first
    assert everything(learner) == before


def test_scores_and_facts_change_nothing(case):
    learner = learned(case)
    before = everything(learner)
    hypothesis = "last" if learner.parameters.hypothesis == "voted" else None
    assert all(np.isfinite(learner.score(x, hypothesis)).all() for x in case.X)
    assert learner.facts()["rule"] == learner.parameters.rule
    assert everything(learner) == before


def test_a_snapshot_is_gone_back_to(case):
    learner = learned(case, 0, HALF)
    before, kept = everything(learner), learner.snapshot()
    learner.learn_many(*case.part(HALF, HALF + 6))
    if learner.rounds > before[0].get("rounds", 0):
        assert everything(learner) != before
    if getattr(learner, "classes", None) is None or len(learner.classes) == len(learned(case, 0, HALF).classes):
        learner.restore(kept)
        assert everything(learner) == before


@pytest.mark.parametrize("way", ["state", "file", "pickle", "deepcopy"])
def test_a_copy_goes_on_as_the_original(case, way, tmp_path):
    whole, half = learned(case, 0, HALF), learned(case, 0, HALF)
    if way == "state":
        half = type(half).from_state(half.state())
    elif way == "file":
        save(half, tmp_path / "model")
        half = load_learner(tmp_path / "model")
    else:
        half = pickle.loads(pickle.dumps(half)) if way == "pickle" else copy.deepcopy(half)
    assert everything(half) == everything(whole)
    for learner in (half, whole):
        learner.learn_many(*case.part(HALF, len(case.X)))
    assert everything(half) == everything(whole)
    assert answers(half, case) == answers(whole, case)


@pytest.mark.once
@pytest.mark.parametrize("n", [1, 2, 5, 50])
def test_shards_partition(case, n):
    dataset = case.make().dataset(case.X, case.y)
    shards = [dataset.shard(i, n) for i in range(n)]
    assert sum(map(len, shards)) == len(dataset) == len(case.X)
    assert sum(shard.n_played for shard in shards) == dataset.n_played
    assert sum(shard.fingerprint() for shard in shards) % 2**64 == dataset.fingerprint()
    again = case.make().dataset(case.X, case.y)
    assert [again.shard(i, n).fingerprint() for i in range(n)] == [shard.fingerprint() for shard in shards]
    with pytest.raises(ValueError, match=f"there is no shard {n} of {n}"):
        dataset.shard(n, n)


def test_a_shard_is_learned_like_its_examples(case):
    alone, sharded = case.make(), case.make()
    dataset = alone.dataset(case.X[::2], case.y[::2])
    shard = sharded.dataset(case.X, case.y).shard(0, 2)
    for learner, data in ((alone, dataset), (sharded, shard)):
        for _ in data.epoch():
            pass
        learner.finish()
    assert (alone.rounds, alone.mistakes, alone.updates) == (sharded.rounds, sharded.mistakes, sharded.updates)
    assert (alone.played, alone.fingerprint) == (sharded.played, sharded.fingerprint)


def test_the_fingerprint_is_free_of_order(case):
    order = np.random.default_rng(1).permutation(len(case.X))
    learner = learned(case)
    dataset = learner.dataset(case.X, case.y, grow=False)
    shuffled = learner.dataset([case.X[i] for i in order], [case.y[i] for i in order], grow=False)
    assert learner.fingerprint == dataset.fingerprint() == shuffled.fingerprint()
    assert learner.dataset(case.X[1:], case.y[1:], grow=False).fingerprint() != dataset.fingerprint()


def test_the_certificate_holds(case):
    learner = case.make()
    dataset = learner.dataset(case.X, case.y, epochs=3)
    train(Run.of(learner, TrainingParameters(epochs=3)), InMemory(dataset, shuffle=True))
    certificate = certify(learner, case.X, case.y)
    assert certificate.holds
    assert not certificate.hypothetical
    assert certificate.mistakes == learner.mistakes
    assert bool(certificate.theorem) == case.theorem
    assert certify(learner, case.X[1:], case.y[1:]).hypothetical


def test_bad_input_changes_nothing(case):
    learner = learned(case, 0, HALF)
    before = everything(learner)
    for x, y in case.bad:
        with pytest.raises((ValueError, TypeError)):
            learner.learn(x, y)
        assert everything(learner) == before, (x, y)
        with pytest.raises((ValueError, TypeError)):
            learner.learn_many([*case.X[HALF:], x], [*case.y[HALF:], y])
        assert everything(learner) == before, (x, y)
    with pytest.raises((ValueError, TypeError)):
        learner.learn_many(case.X, case.y[:-1])
    with pytest.raises((ValueError, TypeError)):
        learner.learn_many(case.X, case.y, [1.0])
    with pytest.raises((ValueError, TypeError)):
        learner.learn_many(case.X, case.y, [-1.0] * len(case.X))
    assert everything(learner) == before


def test_before_the_first_example_it_predicts_with_v0(case):
    """Where v₀ = 0 all scores are equal: the first class, the first of a list, what the tagger proposes first."""
    learner = case.make()
    if "unannounced" in case.name or case.name.startswith("sequence"):
        with pytest.raises(ValueError, match=r"no (classes|labels) are known yet; announce them"):
            learner.predict_many(case.X)
        return
    if case.name.startswith("reranking"):
        expected = learner.tagger.predict_many(case.X)
    else:
        expected = [learner.classes[0] if hasattr(learner, "classes") else 0] * len(case.X)
    assert learner.predict_many(case.X) == expected
    assert [learner.predict(x) for x in case.X] == expected
    assert not any(np.any(learner.score(x)) for x in case.X if hasattr(learner, "score"))
    assert (learner.rounds, learner.played) == (0, 0)
    learner.learn(case.X[0], case.y[0])  # examples of any kind may still come


def test_weights_are_taken_or_refused(case):
    weights = [0.0, 1.0] * (len(case.X) // 2)
    learner = case.make()
    if not case.name.startswith("sequence") and "unannounced" not in case.name:  # where a weight of 0 brings a class
        learner.learn_many(case.X, case.y, weights)
        half = case.make()
        half.learn_many(case.X[1::2], case.y[1::2])
        assert (learner.rounds, learner.mistakes, learner.updates) == (half.rounds, half.mistakes, half.updates)
    weights[1] = 2.5
    learner = case.make()
    if case.takes_weights:
        learner.learn_many(case.X, case.y, weights)
    else:
        with pytest.raises(ValueError, match="weight"):
            learner.learn_many(case.X, case.y, weights)


def explained(learner, x, hypothesis):
    """An explanation, the score that it must add up to, and whether it is about the prediction."""
    if hasattr(learner, "decide"):
        told = explain(learner, x, hypothesis=hypothesis)
        scores, k = np.atleast_1d(learner.score(x, hypothesis)), learner.index[told.label]
        score = scores[k] if len(scores) > 1 else scores[0] * (1 if k else -1)
        return [told], score, told.label == learner.predict(x, hypothesis)
    if hasattr(learner, "tagger"):
        told = explain(learner, x, hypothesis=hypothesis)
        return [told], learner.score(x, hypothesis), told.label == learner.predict(x, hypothesis)
    if hasattr(learner, "labelling"):
        told = explain(learner, x, hypothesis=hypothesis)
        labels = [one.label for one in told]
        return told, learner.score(x, hypothesis), labels == learner.predict(x, hypothesis)
    told = explain(learner, x[0], hypothesis=hypothesis)
    return [told], learner.score([x[0]], hypothesis), told.label is None


def test_explanations_add_up(case):
    learner = learned(case)
    before = everything(learner)
    votes = learner.parameters.hypothesis == "voted"
    if votes:
        with pytest.raises(ValueError, match="a vote has no single vector"):
            explained(learner, case.X[0], None)
    if getattr(learner.parameters, "multiclass", "") == "ovo":
        return  # its scores are votes of the pairs
    for x in case.X[:6]:
        told, score, right = explained(learner, x, "last" if votes else None)
        assert right
        assert sum(one.score for one in told) == pytest.approx(float(np.sum(score)), rel=1e-4, abs=1e-4)
        for one in told:
            assert one.bias + sum(part.contribution for part in one.parts) + one.rest == pytest.approx(one.score)
    assert everything(learner) == before


def test_pruning_keeps_what_predicts(case, tmp_path):
    learner = learned(case)
    if not hasattr(learner, "prune"):
        assert hasattr(learner, "dual") or hasattr(learner, "tagger")  # supports, and who has two models
        return
    before, said = everything(learner), answers(learner, case)
    if learner.parameters.keeps_journal:
        with pytest.raises(ValueError, match="cannot be pruned"):
            learner.prune()
        assert everything(learner) == before
        return
    for bad in (-1.0, float("nan"), "much", True):
        with pytest.raises(ValueError, match="threshold"):
            learner.prune(bad)
    assert everything(learner) == before
    learner.prune()
    assert answers(learner, case) == said
    save(learner, tmp_path / "m")
    assert answers(load_learner(tmp_path / "m"), case) == said
    learner.learn_many(*case.part(0, HALF))
    learner.prune(1e30)
    assert np.abs(np.nan_to_num([np.max(np.abs(learner.score(x))) for x in case.X])).max() <= abs(
        float(np.max([np.max(np.abs(v.biases["z_bias"])) * abs(v.bias) for v in vectors_of(learner)], initial=0.0))
    )


def vectors_of(learner):
    """The weight vectors of a linear learner: their biases are never pruned."""
    return getattr(learner, "vectors", {}).values()
