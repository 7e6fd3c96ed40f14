"""Datasets of sentences: what an epoch plays, shards, fingerprints, and errors that carry which token is wrong."""

import numpy as np
import pytest

from perceptive.data.sentences import check_tokens
from perceptive.errors import ExampleError, ExampleTypeError, ExampleWarning, renumbered
from perceptive.learners import SequenceLearner
from perceptive.learners.learner import learn_all
from tagger_data import sentences

X, Y = sentences(60)
TEMPLATE = "word[-1:1]\n@label[-1]"


def learner_of(**parameters):
    return SequenceLearner(template=TEMPLATE, **parameters)


def test_an_epoch_plays_every_sentence_once():
    learner = learner_of()
    dataset = learner.dataset(X * 100, Y * 100, epochs=2)
    order = np.random.default_rng(0).permutation(len(dataset))
    chunks = list(dataset.chunks(order))
    assert len(chunks) > 1
    assert np.array_equal(np.concatenate(chunks), order)
    assert sum(dataset.epoch(order)) == learner.rounds == learner.played == len(dataset) == dataset.n_played
    assert learner.fingerprint == dataset.fingerprint()
    learn_all(dataset)
    assert learner.fingerprint == 2 * dataset.fingerprint() % 2**64


def test_what_was_played_counts_where_an_epoch_is_broken_off():
    learner = learner_of()
    epoch = learner.dataset(X * 100, Y * 100, epochs=1).epoch()
    played = next(epoch)
    epoch.close()
    assert learner.played == learner.rounds == played


@pytest.mark.parametrize(
    "options",
    [{}, {"encoding": "bioes"}, {"min_count": 2}, {"segments": True}],
    ids=["", "encoding", "count", "segments"],
)
def test_shards_are_a_partition(options):
    learner = learner_of(**options)
    dataset = learner.dataset(X, Y, epochs=1)
    assert int(dataset.hashes.sum(dtype=np.uint64)) == dataset.fingerprint()
    shards = [dataset.shard(i, 3) for i in range(3)]
    assert sorted(np.concatenate([shard.members for shard in shards]).tolist()) == list(range(len(X)))
    assert sum(shard.fingerprint() for shard in shards) % 2**64 == dataset.fingerprint()
    alone = learner_of(**options)
    alone.dataset(X, Y, epochs=1)  # the same labels and features
    for shard in shards:
        learn_all(shard)
        learn_all(alone.dataset([X[i] for i in shard.members], [Y[i] for i in shard.members]))
    assert learner.fingerprint == dataset.fingerprint() == alone.fingerprint
    if not options:
        assert (learner.mistakes, learner.loss) == (alone.mistakes, alone.loss)
    problems = learner.problems()
    for name, margins in next(dataset.margins(problems)).margins.items():
        parts = [next(shard.margins(problems)).margins[name] for shard in shards]
        assert sorted(np.concatenate(parts)) == sorted(margins)
    with pytest.raises(ValueError, match="no shard 3 of 3"):
        dataset.shard(3, 3)


def test_margins_are_those_of_the_witnesses():
    learner = learner_of(keep="all")
    learner.learn_many(X, Y)
    (problem,) = learner.problems()
    assert set(problem.witnesses) == {"last", "averaged", "best"}
    assert problem.certified
    (found,) = learner.dataset(X, Y, grow=False).margins([problem])
    for name, margins in found.margins.items():
        length = problem.witnesses[name].length
        for x, y, margin in zip(X, Y, margins, strict=True):
            scores = {tuple(labels): score for labels, score in learner.k_best([x], 2, name)[0]}
            rival = max(score for labels, score in scores.items() if list(labels) != y)
            mine = scores.get(tuple(y))
            assert margin < 0 if mine is None else margin * length == pytest.approx(mine - rival, abs=1e-3)
    partial = [[None, *labels[1:]] for labels in Y]
    assert not next(learner.dataset(X, partial, grow=False).margins([problem])).certified


def test_datasets_change_nothing_where_they_are_refused():
    learner = learner_of()
    learner.learn_many(X[:5], Y[:5])
    before = list(learner.labels), learner.scheme, learner.rounds
    for grow in (True, False):
        with pytest.raises(ExampleTypeError) as caught:
            learner.dataset([["a"], ["b", 3]], [["O"], ["O", "O"]], grow=grow)
        assert (caught.value.example, caught.value.token) == (1, 1)
    with pytest.raises(ExampleError, match="sentence 0, token 0: the learner has never seen the label 'Q'"):
        learner.dataset([["a"]], [["Q"]], grow=False)
    with pytest.raises(ValueError, match="weight"):
        learner.dataset(X, Y, [-1.0] * len(X))
    assert (list(learner.labels), learner.scheme, learner.rounds) == before


# ---------------------------------------------------------------- errors that carry what they are about


@pytest.mark.parametrize(
    ("X", "example", "token", "message"),
    [
        ([["a"], ["b", 3]], 1, 1, "got a value of type 'int'"),
        ([["a", ("b", "c")]], 0, 1, "it has 2 columns, but those before it have 1"),
        ([["a"], [()]], 1, 0, "it has 0 columns, but the templates read 1"),
    ],
)
def test_tokens_that_cannot_be_read_are_found(X, example, token, message):
    learner = learner_of()
    learner.learn_many([["a", "b"]], [["O", "B-X"]])
    for ask in (learner.predict_many, learner.margins, lambda X: learner.k_best(X, 2)):
        with pytest.raises(ExampleError, match=message) as caught:
            ask(X)
        assert (caught.value.example, caught.value.token) == (example, token)
    with pytest.raises(ExampleError, match=message):
        check_tokens(X, 1, alike=False)


@pytest.mark.parametrize(
    ("sentence", "token", "message"),
    [
        ([{"f": 1.0}, "b"], 1, "it is not a dict, but those before it are"),
        ([{"f": float("inf")}], 0, "neither a finite number nor a string"),
        ([{"f\ud800": 1.0}], 0, "no UTF-8 form"),
        ([{3: 1.0}], 0, "a column is of type 'int'"),
    ],
)
def test_features_that_cannot_be_read_are_found(sentence, token, message):
    learner = SequenceLearner()
    learner.learn_many([[{"a": 1.0}, {"b": 1.0}]], [["O", "B-X"]])
    X = [[{"a": 1.0}], sentence]
    for ask in (learner.predict_many, learner.margins, lambda X: learner.k_best(X, 2)):
        with pytest.raises(ExampleError, match=message) as caught:
            ask(X)
        assert (caught.value.example, caught.value.token) == (1, token)
    with pytest.raises(ExampleError, match=message):
        check_tokens(X, 1, alike=False)


def test_tokens_of_another_kind_than_learned_are_refused():
    learner = learner_of()
    learner.learn_many([["a", "b"]], [["O", "B-X"]])
    with pytest.raises(ExampleError, match="sentence 1: its tokens have features, but the tagger learned from columns"):
        learner.predict_many([["a"], [{"f": 1.0}]])


def test_forced_labels_that_do_not_fit_are_found():
    learner = learner_of(constraints="bio")
    learner.learn_many([["a", "b"]], [["B-X", "I-X"]])
    good, bad = [None, None], [None, "I-X"]
    assert learner.predict_many([["a", "b"]] * 2, forced=[good, ["B-X", "I-X"]])
    learner.learn_many([["a"]], [["O"]])
    for forced, token, message in (
        ([good, ["O", "I-X"]], None, "^forced, sentence 1: no labels of the scheme"),
        ([good, ["B-X"]], None, "^forced, sentence 1: it has 2 tokens, but 1 label; "),
        ([good, [None, "Q"]], 1, "^forced, sentence 1, token 1: 'Q' is not one of the labels"),
    ):
        with pytest.raises(ExampleError, match=message) as caught:
            learner.predict_many([["a", "b"]] * 2, forced=forced)
        assert (caught.value.example, caught.value.token) == (1, token)
    with pytest.raises(ValueError, match="X has 2 sentences, but forced has 1"):
        learner.predict_many([["a", "b"]] * 2, forced=[bad])


def test_examples_are_renumbered():
    with pytest.raises(ExampleTypeError, match=r"^sentence 7, token 1: got"), renumbered([3, 7]):
        check_tokens([["a"], ["b", 3]], 1, alike=False)


def test_labels_that_break_a_scheme_are_warned_of_by_number():
    with pytest.warns(ExampleWarning) as caught:
        learner_of().dataset([["a", "b"], ["a", "b"]], [["B-X", "I-X"], ["O", "I-X"]], epochs=1)
    assert (caught[0].message.example, caught[0].message.token) == (1, 1)
    assert caught[0].message.worded(lambda i, t: f"f:{i}:{t}").startswith("f:1:1: label 'I-X' is not allowed here")


def test_braces_in_labels_are_text():
    for labels in (["O", "I-{x}"], ["B-{0}", "I-{}"]):
        with pytest.raises(ExampleError, match="is not allowed here") as caught:
            learner_of(constraints="bio").dataset([["a", "b"]], [labels])
        assert repr(labels[1]) in str(caught.value)
        assert caught.value.worded(lambda i, t: "f:1", lambda one: f"--{one.name} none").endswith(
            "(--constraints none)"
        )
    segments = learner_of(segments=True, max_segment=2)
    with pytest.raises(ExampleError, match=r"the segment '\{x\}' of tokens 0 to 2 .* set max_segment=3"):
        segments.dataset([["a", "b", "c"]], [["B-{x}", "I-{x}", "I-{x}"]])
