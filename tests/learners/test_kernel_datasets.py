"""Datasets of kernel learners: they can be left between two chunks and taken up again, to the bit."""

import numpy as np
import pytest
import scipy.sparse as sp

from perceptive import model_file
from perceptive.certificates import certify, certify_datasets
from perceptive.kernels import Custom, Gaussian, Linear, Polynomial, Spectrum, SubsetTree
from perceptive.learners import KernelLearner, KernelRankingLearner, dual_epochs, kernel_lists
from perceptive.parameters import TrainingParameters
from perceptive.state import State
from perceptive.training.checkpoint import Checkpoint
from perceptive.training.loop import InMemory, Run, train

pytestmark = pytest.mark.core

rng = np.random.default_rng(3)
N = 100
VECTORS = rng.normal(size=(N, 4))
LABELS = ((VECTORS**2).sum(axis=1) > 3).astype(int) + (VECTORS[:, 0] > 0.5)
TEXTS = ["".join(rng.choice(list("abcd"), size=7)) for _ in range(N)]
PAIRS = [(f"(S (A {t[0]}) (B {t[1]}))", row.tolist()) for t, row in zip(TEXTS, VECTORS, strict=True)]
WEIGHTS = rng.choice([0.0, 0.5, 1.0, 2.0], size=N)
GAUSSIAN, MIXED = Gaussian(gamma=0.3), SubsetTree(0.5).on(0) + Linear().on(1)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(dual_epochs, "BLOCK", 32)
    monkeypatch.setattr(dual_epochs, "CACHED_BLOCK", 20)
    monkeypatch.setattr(kernel_lists, "ROWS", 24)


def overlap(a, b):
    return float(len(set(a) & set(b)))


def on_disk(state, path):
    """What a checkpoint file gives back of a state."""
    model_file.write(path, "KernelLearner", *state)
    _, meta, arrays = model_file.read(path)
    return State(meta, arrays)


def orders(n, epochs):
    return [np.random.default_rng(epoch).permutation(n) for epoch in range(epochs)]


def stopped(learner, dataset_of, epochs, stop, path):
    """A run that stops after so many chunks; all that is left of it goes through files."""
    functions, played = {"overlap": overlap}, 0
    dataset = dataset_of(learner)
    for order in orders(len(dataset), epochs):
        chunks, at, resumed = iter(dataset.chunks(order)), 0, False
        while (chunk := next(chunks, None)) is not None:
            if resumed and at > 0:  # those that were played before
                at -= 1
                continue
            dataset.play(chunk)
            played += 1
            if not resumed:
                at += 1
            if played == stop:
                whole = on_disk(learner.state(), path), on_disk(dataset.snapshot(), path)
                learner = type(learner).from_state(whole[0], functions)
                dataset = dataset_of(learner)
                chunks, resumed = iter(dataset.chunks(order)), True
                for _ in range(at):
                    next(chunks)
                at = 0
                dataset.restore(whole[1])
        dataset.record()
    return learner


def run(learner, dataset_of, epochs):
    dataset = dataset_of(learner)
    for order in orders(len(dataset), epochs):
        assert sum(dataset.epoch(order)) == len(dataset)
    return learner


def same(a, b):
    for name in ("rounds", "mistakes", "updates", "loss", "seen", "played", "fingerprint"):
        assert getattr(a, name) == getattr(b, name), name
    mine, theirs = a.state(), b.state()
    mine.meta.pop("ids"), theirs.meta.pop("ids")
    assert mine.meta["dual"] == theirs.meta["dual"]
    assert mine.arrays.keys() == theirs.arrays.keys()
    for name, array in mine.arrays.items():
        assert np.array_equal(array, theirs.arrays[name]), name


CASES = {
    "vectors": (GAUSSIAN, VECTORS, {}),
    "float64": (Polynomial(2), VECTORS, {"dtype": "float64", "bias": 1.0}),
    "sparse": (Polynomial(2), sp.csr_array(VECTORS * (VECTORS > 0)), {}),
    "ovr": (GAUSSIAN, VECTORS, {"multiclass": "ovr", "rule": "pa1"}),
    "delta": (GAUSSIAN, VECTORS, {"delta": 0.7}),
    "strings": (Spectrum(2).normalized(), TEXTS, {}),
    "strings, delta": (Spectrum(2).normalized(), TEXTS, {"delta": 0.7, "multiclass": "ovr"}),
    "few columns": (Spectrum(2), TEXTS, {"cache_size": 0.003}),
    "strings, no cache": (Spectrum(2), TEXTS, {"cache_size": 0.0, "delta": 0.5}),
    "functions": (Custom(overlap), TEXTS, {}),
    "trees and vectors": (MIXED, PAIRS, {"rule": "pa2"}),
    "budget": (GAUSSIAN, VECTORS, {"budget": 25}),
    "forget": (Spectrum(2), TEXTS, {"budget": 25, "forget": "random", "hypothesis": "last"}),
}


@pytest.mark.once
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("epochs", "stop", "weights"), [(1, 2, None), (3, 1, WEIGHTS), (3, 6, None), (3, 11, WEIGHTS)],
    ids=["once", "early", "half-way", "late"],
)  # fmt: skip
def test_a_run_goes_on_between_two_chunks(case, epochs, stop, weights, tmp_path):
    kernel, X, options = CASES[case]

    def dataset_of(learner):
        return learner.dataset(X, LABELS, weights, epochs=epochs)

    once, again = (KernelLearner(classes=[0, 1, 2], kernel=kernel, **options) for _ in range(2))
    same(run(once, dataset_of, epochs), stopped(again, dataset_of, epochs, stop, tmp_path / "state"))


class Interrupted(Exception):
    """A run is broken off."""


class Keeper:
    """Saves a run when it is asked for the n-th time, and breaks it off."""

    def __init__(self, checkpoint, n):
        self.checkpoint, self.n, self.new_best = checkpoint, n, checkpoint.new_best

    def after_chunk(self, run, dataset):
        self.n -= 1
        if self.n == 0:
            self.checkpoint.save(run, dataset)
            self.checkpoint.close()
            raise Interrupted


@pytest.mark.once
@pytest.mark.parametrize("case", ["vectors", "delta", "strings, delta", "functions", "forget"])
def test_a_training_run_is_resumed_from_any_checkpoint(case, tmp_path):
    kernel, X, options = CASES[case]
    training, kept = TrainingParameters(epochs=3, patience=9), rng.permutation(N)[:30]

    def train_on(run, keeper=None):
        learner = run.learner
        dataset = learner.dataset(X, LABELS, epochs=3)
        some = [X[i] for i in kept]
        source = InMemory(dataset, True, lambda: float(np.mean(np.array(learner.predict_many(some)) == LABELS[kept])))
        return train(run, source, checkpoint=keeper)

    whole = KernelLearner(classes=[0, 1, 2], kernel=kernel, **options)
    history = train_on(Run.of(whole, training))
    for n in range(1, 99, 7):
        path, learner = tmp_path / "checkpoint", KernelLearner(classes=[0, 1, 2], kernel=kernel, **options)
        try:
            train_on(Run.of(learner, training), Keeper(Checkpoint(path, {}), n))
            break
        except Interrupted:
            run = Checkpoint(path, {}).resume({"overlap": overlap})
        assert train_on(run) == history
        same(whole, run.learner)
        assert run.learner.ids == whole.ids
    assert n > 10


def test_changes_without_the_scores_that_changed_are_refused():
    kernel, X, options = CASES["vectors"]
    learner = KernelLearner(classes=[0, 1, 2], kernel=kernel, **options)
    dataset = learner.dataset(X, LABELS, epochs=3)
    for _ in range(2):
        for chunk in dataset.chunks(np.arange(N)):
            dataset.play(chunk)
    state = dataset.snapshot()
    assert "blocks.changed" in state.arrays
    del state.arrays["blocks.scores"]
    with pytest.raises(ValueError, match="scores that changed are missing"):
        dataset.restore(state)


@pytest.mark.parametrize("cache_size", [1e300, 1.7e308])
def test_a_cache_of_any_size(cache_size):
    learner = KernelLearner(classes=[0, 1, 2], kernel=Spectrum(2), cache_size=cache_size)
    dataset = learner.dataset(TEXTS, LABELS, epochs=2)
    assert dataset.play(np.arange(N)) is None
    assert learner.rounds == N


@pytest.mark.parametrize("delta", [0.0, 0.5])
@pytest.mark.parametrize("kernel", [GAUSSIAN, Spectrum(2), MIXED], ids=["vectors", "strings", "mixed"])
@pytest.mark.parametrize(("epochs", "stop"), [(1, 2), (3, 1), (3, 9)])
def test_rankers_go_on_between_two_chunks(kernel, delta, epochs, stop, tmp_path):
    X = {GAUSSIAN: VECTORS, MIXED: PAIRS}.get(kernel, TEXTS)
    sizes = [2, 3] * (N // 5)

    def dataset_of(learner):
        return learner.dataset(X, LABELS, WEIGHTS[: len(sizes)], sizes=sizes, epochs=epochs)

    once, again = (KernelRankingLearner(kernel=kernel, delta=delta, rule="pa2") for _ in range(2))
    same(run(once, dataset_of, epochs), stopped(again, dataset_of, epochs, stop, tmp_path / "state"))


@pytest.mark.parametrize("case", ["vectors", "strings", "delta", "strings, delta"])
def test_snapshots_bring_back_learner_and_dataset(case):
    kernel, X, options = CASES[case]
    learner = KernelLearner(classes=[0, 1, 2], kernel=kernel, **options)
    dataset = learner.dataset(X, LABELS, epochs=3)
    order = orders(N, 1)[0]
    sum(dataset.epoch(order))
    before = learner.snapshot(), dataset.snapshot()
    sum(dataset.epoch(order))
    expected = learner.state()
    for _ in range(2):
        learner.restore(before[0])
        with pytest.raises(ValueError, match="has changed since this dataset was made"):
            sum(dataset.epoch(order))
        again = learner.dataset(X, LABELS, epochs=3)
        again.restore(before[1])
        again.revisited = True
        sum(again.epoch(order))
        found = learner.state()
        assert found.meta == expected.meta
        for name, array in expected.arrays.items():
            assert np.array_equal(array, found.arrays[name])


@pytest.mark.parametrize("case", ["float64", "strings", "strings, no cache"])
def test_any_order_is_played_one_after_the_other(case):
    """Shards, single examples and whole epochs by turns, with the scores that are kept between them."""
    kernel, X, options = CASES[case]
    options = {**options, "delta": 0.0, "dtype": "float64"}
    learner, one = (KernelLearner(classes=[0, 1, 2], kernel=kernel, **options) for _ in range(2))
    n = 60
    dataset = learner.dataset(X[:n], LABELS[:n], epochs=9)
    parts = [dataset.shard(i, 3) for i in range(3)]
    assert sorted(np.concatenate([part.members for part in parts]).tolist()) == list(range(n))
    assert sum(part.fingerprint() for part in parts) % 2**64 == dataset.fingerprint()
    played = []
    for part in (parts[0], parts[1], dataset, parts[0], parts[2], dataset):
        sum(part.epoch())
        played += getattr(part, "members", np.arange(n)).tolist()
    for _ in range(2):
        dataset.play(np.arange(5, n))
        played += range(5, n)
    for i in played:
        one.learn(X[i], LABELS[i])
    assert (learner.mistakes, learner.updates, learner.rounds) == (one.mistakes, one.updates, one.rounds)
    assert np.allclose(learner.scores(X), one.scores(X))


def test_an_order_may_be_shuffled_in_place():
    """What the last epoch played is remembered when the next one begins in the same array."""
    X = VECTORS.round()
    many, one = (KernelLearner(classes=[0, 1, 2], kernel=Polynomial(2), dtype="float64") for _ in range(2))
    dataset, order = many.dataset(X, LABELS, epochs=4), np.arange(N)
    for epoch in range(4):
        np.random.default_rng(epoch).shuffle(order)
        sum(dataset.epoch(order))
        for i in order:
            one.learn(X[i], LABELS[i])
    assert (many.mistakes, many.updates) == (one.mistakes, one.updates)
    assert np.array_equal(many.scores(X), one.scores(X))


def test_classes_join_when_they_are_played():
    """In one epoch and in several, at once and one by one."""
    for epochs in (None, 3):
        many, one = (KernelLearner(kernel=Polynomial(2), dtype="float64") for _ in range(2))
        dataset = many.dataset(VECTORS.round(), LABELS, epochs=epochs)
        for _ in range(epochs or 1):
            sum(dataset.epoch())
            for x, label in zip(VECTORS.round(), LABELS.tolist(), strict=True):
                one.learn(x, label)
        assert many.classes == one.classes == [0, 1, 2]
        assert (many.mistakes, many.updates, many.rounds) == (one.mistakes, one.updates, one.rounds)
        assert np.array_equal(many.scores(VECTORS), one.scores(VECTORS))
    before = KernelLearner(kernel=Polynomial(2))
    before.learn_many(VECTORS[:1], [7])
    state = before.snapshot()
    before.learn_many(VECTORS[1:3], [5, 6])
    before.restore(state)
    assert before.classes == [7]
    assert before.rounds == before.seen == 1


def test_what_is_looked_at_is_not_learned_from():
    learner = KernelLearner(classes=[0, 1, 2], kernel=GAUSSIAN)
    with pytest.raises(ValueError, match="has learned nothing yet"):
        learner.dataset(VECTORS, LABELS, grow=False)
    learner.learn_many(VECTORS, LABELS)
    seen = learner.seen
    dataset = learner.dataset(VECTORS, LABELS, grow=False)
    assert dataset.fingerprint() == learner.fingerprint
    with pytest.raises(ValueError, match="grow=False"):
        dataset.play(np.arange(3))
    with pytest.raises(ValueError, match=r"label 9 is not one of the classes .*; leave out its examples"):
        learner.dataset(VECTORS[:1], [9], grow=False)
    with pytest.raises(ValueError, match="expects 4 features"):
        learner.dataset(VECTORS[:, :2], LABELS, grow=False)
    assert learner.seen == seen


def test_a_dataset_that_is_refused_changes_nothing():
    learner = KernelLearner(kernel="gaussian")
    for X, y, options, message in (
        (VECTORS, LABELS[:5], {}, "give one label per row"),
        (VECTORS[:2], [0, 1], {"weights": [1.0, -1.0]}, r"sample_weight\[1\] is -1.0"),
        (VECTORS[:2], [0, 1], {"alpha_init": [1.0]}, "alpha_init"),
        (np.full((2, 2), 1e200), [0, 1], {}, "."),
    ):
        with pytest.raises(ValueError, match=message):
            learner.dataset(X, y, **options)
        assert learner.dual is None
        assert learner.n_features is None
        assert learner.kernel is learner.asked_kernel
    learner.learn_many(VECTORS, LABELS)


def test_margins_of_a_dataset_that_was_played():
    learner = KernelLearner(classes=[0, 1, 2], kernel=GAUSSIAN, dtype="float64")
    dataset = learner.dataset(VECTORS, LABELS, WEIGHTS, epochs=2)
    for _ in range(2):
        sum(dataset.epoch())
    assert certify_datasets(learner, [dataset]) == certify(learner, VECTORS, LABELS, WEIGHTS)
    [problem] = learner.problems()
    [found] = dataset.margins([problem])
    assert len(found.lengths2) == dataset.n_played == np.count_nonzero(WEIGHTS)
    assert set(found.margins) == set(problem.witnesses) == {"last", "averaged", "best"}
    shares = [next(dataset.shard(i, 2).margins([problem])) for i in range(2)]
    assert sorted(np.concatenate([part.margins["last"] for part in shares])) == sorted(found.margins["last"])
    with pytest.raises(ValueError, match="takes no witness"):
        learner.problems(witness=[1.0])


@pytest.mark.parametrize("name", ["played.size", "played.row", "played.slot", "scores", "known", "change"])
def test_snapshots_that_do_not_fit_are_refused(name):
    learner = KernelLearner(classes=[0, 1, 2], kernel=GAUSSIAN)
    dataset = learner.dataset(VECTORS, LABELS, epochs=3)
    sum(dataset.epoch())
    for chunk in list(dataset.chunks(np.arange(N)))[:2]:
        dataset.play(chunk)
    meta, arrays = dataset.snapshot()
    array = arrays[f"blocks.{name}"]
    wrong = array + 10**6 if array.dtype == np.int64 else array[:-1]
    said = rf"{name} has a number below 0 or above \d+$" if name in ("played.row", "played.slot") else name
    with pytest.raises(ValueError, match=said):
        dataset.restore(State(meta, {**arrays, f"blocks.{name}": wrong}))
