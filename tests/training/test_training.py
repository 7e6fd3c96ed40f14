"""Training from files: the same whatever the threads, the cache, and where it was broken off."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from perceptive import LinearClassifier, _core, model_file, save, streams
from perceptive.certificates import certify
from perceptive.learners import LinearLearner
from perceptive.parameters import TrainingParameters
from perceptive.streams import blocks
from perceptive.training.blocks import RowBlocks
from perceptive.training.checkpoint import Checkpoint
from perceptive.training.classifiers import classifier_for
from perceptive.training.loop import InMemory, Run, hash_seed, train
from perceptive.training.source import FileSource
from perceptive.training.windows import block_sizes, windows

pytestmark = pytest.mark.core


def made(path, n=400, classes=2, seed=0, d=40):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.2, "csr", random_state=seed)
    y = (X @ rng.normal(size=(d, classes))).argmax(axis=1)
    flip = rng.random(n) < 0.1
    y[flip] = rng.integers(classes, size=flip.sum())
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return path


MEMORY, WINDOWS = 32 << 20, 20_000  # bytes: of the second `file` fills several windows


def trained(
    path,
    *,
    epochs=3,
    threads=1,
    cache=None,
    holdout=0.0,
    classes=None,
    skip="stop",
    shuffle=True,
    memory=MEMORY,
    **parameters,
):
    stream = streams.open(path, dtype="float32", threads=threads, on_error=skip)
    training = TrainingParameters(epochs=epochs, validation_fraction=holdout, shuffle=shuffle)
    how = {"epochs": epochs, "cache": cache, "holdout": holdout, "shuffle": shuffle, "memory": memory}
    with FileSource(stream, RowBlocks(), **how) as source:
        run = started(source, training, classes, **parameters)
        train(run, source)
    return run, source


def started(source, training, classes=None, **parameters):
    return Run.of(classifier_for(source, classes, **{"hypothesis": "averaged", **parameters}), training)


def state(learner):
    parts = []
    for pair, vector in learner.vectors.items():
        snapshot = vector.snapshot()
        parts.append((pair, snapshot["run"], [a[: vector.n_features].tobytes() for a in snapshot["arrays"].values()]))
    return learner.classes, learner.fingerprint, learner.played, learner.first_epoch, parts


# ---------------------------------------------------------------- what it computes


def examples_of(path, memory):
    """The rows and labels of each block."""
    found = []
    for block in blocks.blocks(str(path), size=block_sizes(memory, 0)[0]):
        labels, which, _, _, indptr, indices, data, *_ = _core.Svmlight(False, None, None).parse(
            bytes(block.text), True, False
        )
        X, y = sp.csr_array((data, indices, indptr), shape=(len(which), 40)), np.array(labels)[which]
        size, n = size_of_rows(X) + 32 * len(y), len(y)
        count = min(n, -(-size // block_sizes(memory, path.stat().st_size)[1]))
        cuts = [n * i // count for i in range(count + 1)]
        found += [(X[i:j], y[i:j]) for i, j in pairwise(cuts)]
    return found


def size_of_rows(X):
    return X.indices.nbytes + X.data.nbytes + X.indptr.nbytes + 4 * X.shape[0]


def by_hand(path, epochs, memory, random_state=0):
    """Window by window, in the order that is promised."""
    parts = examples_of(path, memory)
    sizes = [8 * X.nnz + 8 * len(y) + 4 + 32 * len(y) for X, y in parts]
    learner = LinearLearner(classes=[0, 1], n_features=40, random_state=random_state, hypothesis="averaged")
    for epoch in range(epochs):
        seed = hash_seed(random_state, epoch)
        for number, window in enumerate(windows(sizes, memory // 2, seed)):
            X, y = sp.vstack([parts[i][0] for i in window], "csr"), np.concatenate([parts[i][1] for i in window])
            within = _core.random_order(len(y), hash_seed(seed, number) if number else seed)
            learner.learn_many(X[within], y[within])
    return learner


def same_weights(run, expected):
    mine, theirs = run.learner.vectors[()].snapshot(), expected.vectors[()].snapshot()
    assert mine["arrays"]["z"][:40].tobytes() == theirs["arrays"]["z"][:40].tobytes()
    assert mine["run"] | {"open": True} == theirs["run"]  # training closes what learning by hand leaves open


def test_it_plays_windows_in_the_promised_order(file):
    run, source = trained(file, memory=WINDOWS)
    assert source.examples == 400
    assert run.history.epochs == 3
    expected = by_hand(file, 3, WINDOWS)
    assert sum(run.history.mistakes) == expected.mistakes
    same_weights(run, expected)


@pytest.mark.parametrize("epochs", [1, 3])
def test_what_fits_in_memory_is_learned_as_arrays_are(file, epochs):
    X, y = streams.load(file, dtype="float32")
    for holdout in (0.0, 0.2):
        run, _ = trained(file, epochs=epochs, holdout=holdout, bias=1.0)
        fitted = LinearClassifier(epochs=epochs, validation_fraction=holdout, bias=1.0).fit(X, y)
        for hypothesis, rounding in (("last", 0), ("averaged", 1e-6)):
            mine, theirs = (one.vectors[()].vector(hypothesis) for one in (run.learner, fitted.learner_))
            assert np.allclose(mine[0], theirs[0], rtol=rounding, atol=rounding)
            assert np.allclose(mine[1], theirs[1], rtol=rounding, atol=rounding)
        assert run.history == fitted._history


@pytest.mark.parametrize("holdout", [0.0, 0.2])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("epochs", "memory"), [(3, MEMORY), (3, WINDOWS), (1, WINDOWS)])
def test_threads_change_nothing(tmp_path, small_blocks, holdout, classes, epochs, memory):
    path = made(tmp_path / "a.svm", classes=classes)
    alone, _ = trained(path, holdout=holdout, epochs=epochs, memory=memory)
    for threads in (2, 4):
        together, _ = trained(path, holdout=holdout, threads=threads, epochs=epochs, memory=memory)
        assert state(alone.learner) == state(together.learner)
        assert alone.history == together.history
    assert len(alone.history.held_out) == (alone.history.epochs if holdout else 0)


def test_two_classes_are_one_problem_until_a_third_is_met(tmp_path, small_blocks):
    path = made(tmp_path / "a.svm")
    assert trained(path)[0].learner.binary
    with path.open("a") as more:
        more.write("7 3:1\n")
    run, source = trained(path)
    assert run.learner.classes == [0, 1, 7]
    assert run.learner.joint
    assert source.examples == 401
    assert run.learner.played == 3 * 401
    with pytest.raises(ValueError, match="label 7 is not one of the classes"):
        trained(path, classes=[0, 1])


def test_held_out_examples_are_not_learned_from(file):
    run, source = trained(file, holdout=0.25, epochs=2)
    held = source.split.holdout.held
    assert 60 < held < 140
    assert run.learner.played == 2 * (400 - held)
    assert all(0.5 < a <= 1 for a in run.history.held_out)


def test_patience_goes_back_to_the_best_epoch(tmp_path, small_blocks):
    path = made(tmp_path / "noisy.svm", n=300, d=200, seed=4)
    run, _ = trained(path, holdout=0.3, epochs=40, hypothesis="last")
    scores = run.history.held_out
    assert len(scores) < 40
    best = int(np.flatnonzero(np.array(scores) == max(scores))[-1])
    assert len(scores) - 1 - best == 3 or run.history.converged
    assert run.learner.played == (best + 1) * run.learner.played // (best + 1)
    again, _ = trained(path, holdout=0.3, epochs=best + 1, hypothesis="last")
    assert state(run.learner) == state(again.learner)


def test_a_tie_of_the_held_out_score_goes_to_the_later_epoch():
    learner = LinearLearner(classes=[0, 1], hypothesis="averaged")
    rng = np.random.default_rng(3)
    dataset = learner.dataset(rng.normal(size=(40, 3)), rng.integers(0, 2, 40), epochs=9)
    scores = iter([0.35, 0.45, 0.55, 0.55, 0.55, 0.55, 0.5, 0.5, 0.5])
    run = Run.of(learner, TrainingParameters(epochs=20, patience=3))
    train(run, InMemory(dataset, True, lambda: next(scores)))
    assert (run.best_epoch, run.history.epochs, learner.rounds) == (5, 9, 6 * 40)


def test_it_converges(tmp_path):
    path = tmp_path / "and.svm"
    path.write_text("0\n0 1:1\n0 2:1\n1 1:1 2:1\n")
    run, _ = trained(path, epochs=50)
    assert run.history.converged
    assert run.history.epochs < 50
    assert run.learner.predict_many(np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])) == [0, 0, 0, 1]


def test_the_certificate_in_parts_is_that_of_the_whole(file):
    for multiclass in ("joint", "ovr"):
        clf = LinearClassifier(epochs=2, certify=True, multiclass=multiclass)
        clf.fit_stream(streams.open(file, dtype="float32"))
        X, y = streams.load(file, dtype="float32")
        whole = certify(clf.learner_, X, y)
        assert not whole.hypothetical
        assert clf.certificate_.bound == pytest.approx(whole.bound, rel=1e-12)
        assert clf.certificate_.updates == whole.updates
        assert clf.certificate_.holds


def test_nothing_to_learn_from(tmp_path):
    path = tmp_path / "empty.svm"
    path.write_text("# nothing\n\n")
    with pytest.raises(ValueError, match="there are no labelled examples"):
        trained(path)


def test_a_broken_line_stops_or_is_skipped(file):
    with file.open("a") as more:
        more.write("1 5:x\n0 1:1\n")
    with pytest.raises(ValueError, match=r"made\.svm:4\d\d:5: value 'x' is not a number"):
        trained(file)
    run, source = trained(file, skip="skip")
    assert source.stream.log.skipped == 1
    assert source.examples == 401
    assert "value 'x'" in source.stream.log.complaints[0]
    assert run.learner.played == 3 * 401


def test_too_many_features_name_the_cure(tmp_path):
    path = tmp_path / "wide.svm"
    path.write_text("1 99999999:1\n0 1:1\n")
    with pytest.raises(ValueError, match="beyond the 16777216 features; allow more, or hash them"):
        trained(path)


def test_delta_is_for_one_epoch(file):
    assert trained(file, epochs=1, delta=0.5)[0].history.epochs == 1
    with pytest.raises(ValueError, match="delta needs the examples in memory"):
        trained(file, epochs=2, delta=0.5)


# ---------------------------------------------------------------- checkpoints


class Killed(Exception):
    pass


class KilledAfter(Checkpoint):
    """A checkpoint that is written after so many blocks; then the run is killed."""

    def __init__(self, path, stop):
        super().__init__(path, {"n": 1})
        self.left = stop

    def after_chunk(self, run, dataset):
        self.left -= dataset is None
        if self.left == 0:
            self.save(run, dataset)
            self.close()
            raise Killed


def killed_and_resumed(path, stop, source_of, training, **parameters):
    with source_of() as source, pytest.raises(Killed):
        train(started(source, training, **parameters), source, checkpoint=KilledAfter(path, stop))
    run = Checkpoint(path, {"n": 1}).resume()
    with source_of() as source:
        train(run, source)
    return run


@pytest.mark.once
@pytest.mark.parametrize("holdout", [0.0, 0.2])
@pytest.mark.parametrize(
    ("parameters", "warm"),
    [
        ({}, False),
        ({}, True),
        ({"rule": "pa1", "hypothesis": "voted"}, True),
        ({"rule": "arow", "dtype": "float64"}, False),
    ],
)
def test_a_run_can_be_resumed_anywhere(file, tmp_path, holdout, parameters, warm):
    training = TrainingParameters(epochs=3, validation_fraction=holdout)

    def source_of():
        stream = streams.open(file, dtype=parameters.get("dtype", "float32"), threads=1)
        cache = str(tmp_path / "kept.cache") if warm else None
        return FileSource(stream, RowBlocks(), epochs=3, holdout=holdout, cache=cache, memory=WINDOWS)

    with source_of() as source:
        whole = started(source, training, **parameters)
        counted = KilledAfter(tmp_path / "none", 0)
        train(whole, source, checkpoint=counted)
    total = -counted.left
    assert total > 9
    for stop in [1, total // 3, total // 3 + 1, total - 1]:
        run = killed_and_resumed(tmp_path / "run.checkpoint", stop, source_of, training, **parameters)
        assert state(run.learner) == state(whole.learner)
        assert run.history == whole.history


def test_a_checkpoint_of_something_else_is_refused(file, tmp_path):
    run, _ = trained(file)
    path = tmp_path / "a.checkpoint"
    assert Checkpoint(path, {"n": 1}).resume() is None
    Checkpoint(path, {"n": 1}).save(run)
    with pytest.raises(ValueError, match="was made with different n; give the same as then, or delete it"):
        Checkpoint(path, {"n": 2}).resume()
    kind, meta, arrays = model_file.read(path)
    model_file.write(path, kind, {**meta, "version": 1}, arrays)
    with pytest.raises(ValueError, match="a checkpoint of another version of perceptive; delete it"):
        Checkpoint(path, {"n": 1}).resume()
    save(run.learner, path)
    with pytest.raises(ValueError, match="not a checkpoint"):
        Checkpoint(path, {"n": 1}).resume()


@pytest.mark.parametrize("warm", [False, True])
def test_a_run_is_resumed_also_where_files_have_one_example(tmp_path, warm):
    paths = []
    for i in range(10):
        paths.append(made(tmp_path / f"{i}.svm", n=1 if i % 2 else 60, seed=i))
        if i % 2:
            paths[-1].write_text(f"{i % 4 // 2} 1:1 2:{i}\n")
    cache = str(tmp_path / "kept.cache") if warm else None
    whole, _ = trained(paths, epochs=4, holdout=0.4, cache=cache, memory=8000)
    training = TrainingParameters(epochs=4, validation_fraction=0.4)

    def source_of():
        stream = streams.open(paths, dtype="float32", threads=1)
        return FileSource(stream, RowBlocks(), epochs=4, cache=cache, holdout=0.4, memory=8000)

    for stop in (3, 12, 15, 25):
        run = killed_and_resumed(tmp_path / "c", stop, source_of, training)
        assert state(run.learner) == state(whole.learner)
        assert run.history == whole.history


def test_lines_longer_than_a_block_do_not_make_results_depend_on_threads(tmp_path, small_blocks):
    path = made(tmp_path / "long.svm", n=300)
    lines = path.read_text().splitlines(keepends=True)
    lines[3] = "1 " + " ".join(f"{j}:1" for j in range(1, 3000)) + "\n"
    path.write_text("".join(lines))
    first, _ = trained(path)
    for threads in (1, 2, 3, 4):
        assert state(trained(path, threads=threads)[0].learner) == state(first.learner)


def test_a_hold_out_of_nothing_is_refused(tmp_path):
    path = tmp_path / "two.svm"
    path.write_text("1 1:1\n0 2:1\n")
    wrong = r"validation_fraction=0.01 holds out none of 2 examples: the first of each class is always learned from"
    with pytest.raises(ValueError, match=wrong):
        trained(path, holdout=0.01)
    with pytest.raises(ValueError, match=wrong):
        LinearClassifier(validation_fraction=0.01).fit([[1, 0], [0, 1]], [1, 0])


def test_a_file_that_is_no_cache_is_not_lost(file):
    before = file.read_bytes()
    with pytest.raises(ValueError, match="is not a cache, and would be lost"):
        trained(file, cache=str(file))
    assert file.read_bytes() == before


def test_what_was_left_out_is_known_also_from_the_cache(tmp_path):
    path = tmp_path / "a.vw"
    path.write_text("1 | a\n| b\n-1 | c\nx y | z\n" * 3)
    cache = str(tmp_path / "c")
    for _ in range(2):
        _, source = trained(path, cache=cache, skip="skip")
        assert (source.examples, source.split.unanswered, source.skipped) == (6, 3, 3)


def test_a_stream_must_be_what_the_estimator_says(file):
    with pytest.raises(ValueError, match="but the stream hashes differently"):
        LinearClassifier(bits=10).fit_stream(streams.open(file, bits=10, hash_seed=7))
    with pytest.raises(ValueError, match="n_features=50, but the stream has any number of columns"):
        LinearClassifier(n_features=50).fit_stream(streams.open(file))
    assert LinearClassifier(n_features=50).fit_stream(file).n_features_in_ == 50
