"""Training from files: the same whatever the threads, the cache, and where it was broken off."""

import os
import random
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from perceptive import LinearClassifier, _core, load, model_file, save, streams
from perceptive.certificates import certify
from perceptive.data.labels import Labels
from perceptive.learners import LinearLearner
from perceptive.parameters import TrainingParameters
from perceptive.streams import blocks
from perceptive.streams.blocks import file_signature
from perceptive.streams.cache import Cache, signature
from perceptive.training.blocks import RowBlocks
from perceptive.training.checkpoint import Checkpoint
from perceptive.training.loop import Run, hash_seed, train
from perceptive.training.source import FileSource, classifier_for

pytestmark = pytest.mark.core


def made(path, n=400, classes=2, seed=0, d=40):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.2, "csr", random_state=seed)
    y = (X @ rng.normal(size=(d, classes))).argmax(axis=1)
    flip = rng.random(n) < 0.1
    y[flip] = rng.integers(classes, size=flip.sum())
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return path


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 4000)


@pytest.fixture
def file(tmp_path, small_blocks):
    return made(tmp_path / "made.svm")


def trained(
    path, *, epochs=3, threads=1, cache=None, holdout=0.0, classes=None, skip="stop", shuffle=True, **parameters
):
    stream = streams.open(path, dtype="float32", threads=threads, on_error=skip)
    training = TrainingParameters(epochs=epochs, validation_fraction=holdout, shuffle=shuffle)
    with FileSource(stream, RowBlocks(), epochs=epochs, cache=cache, holdout=holdout, shuffle=shuffle) as source:
        run = started(source, training, classes, **parameters)
        train(run, source)
    return run, source


def started(source, training, classes=None, **parameters):
    return Run.of(classifier_for(source, classes, **parameters), training)


def state(learner):
    parts = []
    for pair, vector in learner.vectors.items():
        snapshot = vector.snapshot()
        parts.append((pair, snapshot["run"], [a[: vector.n_features].tobytes() for a in snapshot["arrays"].values()]))
    return learner.classes, learner.fingerprint, learner.played, learner.first_epoch, parts


# ---------------------------------------------------------------- what it computes


def by_hand(path, epochs, random_state=0):
    """Block by block, in the order that is promised."""
    texts = [bytes(block.text) for block in blocks.blocks(str(path))]
    learner = LinearLearner(classes=[0, 1], n_features=40, random_state=random_state)
    for epoch in range(epochs):
        order = np.arange(len(texts))
        if epoch:
            _core.shuffle(order, hash_seed(random_state, epoch))
        for number in order.tolist():
            labels, which, _, _, indptr, indices, data, *_ = _core.Svmlight(False, None, None).parse(
                texts[number], True, False
            )
            X = sp.csr_array((data, indices, indptr), shape=(len(which), 40))
            within = np.arange(len(which))
            _core.shuffle(within, hash_seed(hash_seed(random_state, epoch), number))
            y = np.array(labels)[which]
            learner.learn_many(X[within], y[within])
    return learner


@pytest.mark.parametrize("epochs", [1, 3])
def test_it_plays_the_blocks_in_the_promised_order(file, epochs):
    run, source = trained(file, epochs=epochs)
    expected = by_hand(file, epochs)
    assert source.examples == 400
    assert run.history.epochs == epochs
    assert sum(run.history.mistakes) == expected.mistakes
    mine, theirs = run.learner.vectors[()].snapshot(), expected.vectors[()].snapshot()
    assert mine["arrays"]["z"][:40].tobytes() == theirs["arrays"]["z"][:40].tobytes()
    assert mine["run"] == theirs["run"]


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("holdout", [0.0, 0.2])
@pytest.mark.parametrize("classes", [2, 3])
def test_threads_change_nothing(tmp_path, small_blocks, threads, holdout, classes):
    path = made(tmp_path / "a.svm", classes=classes)
    alone, _ = trained(path, holdout=holdout)
    together, _ = trained(path, holdout=holdout, threads=threads)
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
    with pytest.raises(ValueError, match="label 7 is none of the classes"):
        trained(path, classes=[0, 1])


def test_held_out_examples_are_not_learned_from(file):
    run, source = trained(file, holdout=0.25, epochs=2)
    held = sum(block[1] for block in source.held_out.blocks)
    assert 60 < held < 140
    assert run.learner.played == 2 * (400 - held)
    assert all(0.5 < a <= 1 for a in run.history.held_out)


def test_patience_goes_back_to_the_best_epoch(tmp_path, small_blocks):
    path = made(tmp_path / "noisy.svm", n=300, d=200, seed=4)
    run, _ = trained(path, holdout=0.3, epochs=40, hypothesis="last")
    scores = run.history.held_out
    assert len(scores) < 40
    best = int(np.argmax(scores))
    assert len(scores) - 1 - best == 3 or run.history.converged
    assert run.learner.played == (best + 1) * run.learner.played // (best + 1)
    again, _ = trained(path, holdout=0.3, epochs=best + 1, hypothesis="last")
    assert state(run.learner) == state(again.learner)


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
    with pytest.raises(ValueError, match="beyond n_features=16777216; raise it, or hash with bits"):
        trained(path)


def test_delta_is_for_one_epoch(file):
    assert trained(file, epochs=1, delta=0.5)[0].history.epochs == 1
    with pytest.raises(ValueError, match="delta needs the examples in memory"):
        trained(file, epochs=2, delta=0.5)


# ---------------------------------------------------------------- the cache


def test_a_kept_cache_gives_the_same_model(file, tmp_path):
    cache = str(tmp_path / "kept.cache")
    fresh, _ = trained(file)
    first, source = trained(file, cache=cache)
    assert os.listdir(tmp_path).count("kept.cache") == 1
    second, again = trained(file, cache=cache, threads=3, holdout=0.0)
    assert state(fresh.learner) == state(first.learner) == state(second.learner)
    assert source.stream.log.bytes == file.stat().st_size
    assert again.stream.log.bytes == 0  # it was not parsed
    assert again.examples == 400
    held, _ = trained(file, cache=cache, holdout=0.2)
    parsed, _ = trained(file, holdout=0.2)
    assert state(held.learner) == state(parsed.learner)


def test_a_stale_cache_is_never_used(file, tmp_path):
    cache = str(tmp_path / "kept.cache")
    trained(file, cache=cache)
    stamp = file.stat().st_mtime_ns
    with file.open("a") as more:
        more.write("1 3:1\n")
    os.utime(file, ns=(stamp, stamp))
    assert trained(file, cache=cache)[1].examples == 401  # another size
    os.utime(file, ns=(stamp, stamp + 1))
    run, source = trained(file, cache=cache)  # another time
    assert source.stream.log.bytes == file.stat().st_size
    stream = streams.open(file, dtype="float32", bits=10)
    assert Cache.open(cache, signature(stream.files, stream.format, stream.dtype, skip=False)) is None
    assert run.learner.played == 3 * 401


@pytest.mark.parametrize("copies", [1, 60])
def test_a_cache_of_other_content_is_stale_whatever_size_and_time_say(tmp_path, copies):
    """Of small files all is signed; large ones (2 MB) are looked at in places, and the system knows of the change."""
    file, cache = made(tmp_path / "made.svm"), str(tmp_path / "kept.cache")
    file.write_bytes(file.read_bytes() * copies)
    trained(file, cache=cache, epochs=1)
    text, status = file.read_bytes(), file.stat()
    at = text.index(b"\n", len(text) // 2 + 40_000 * (copies > 1)) + 1
    with open(file, "r+b") as changed:
        changed.seek(at)
        changed.write(b"1" if text[at : at + 1] == b"0" else b"0")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    run, _ = trained(file, cache=cache, epochs=1)
    assert state(run.learner) == state(trained(file, epochs=1)[0].learner)
    if copies == 1:
        before = file_signature(str(file))
        file.write_bytes(text)
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert file_signature(str(file)) != before


def test_a_damaged_cache_is_made_anew_or_refused(file, tmp_path):
    cache = tmp_path / "kept.cache"
    fresh, _ = trained(file, cache=str(cache))
    whole = cache.read_bytes()
    rng = random.Random(0)
    refused = 0
    for _ in range(60):
        broken = bytearray(whole)
        kind = rng.randrange(3)
        if kind == 0:
            del broken[rng.randrange(len(broken)) :]
        elif kind == 1:
            broken[rng.randrange(len(broken) - 400, len(broken))] ^= 1 << rng.randrange(8)
        else:
            at = rng.randrange(8, len(broken) - 2000)
            broken[at : at + 4] = bytes(rng.choices(range(256), k=4))
        cache.write_bytes(broken)
        try:
            run, _ = trained(file, cache=str(cache))
        except ValueError:
            refused += 1
        else:
            assert state(run.learner) == state(fresh.learner)
    assert 0 < refused < 40
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_nothing_is_left_behind_when_parsing_fails(file, tmp_path):
    with file.open("a") as more:
        more.write("1 5:x\n")
    with pytest.raises(ValueError, match="value 'x'"):
        trained(file, cache=str(tmp_path / "kept.cache"))
    assert sorted(os.listdir(tmp_path)) == ["made.svm"]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from([0, 1, 2.5, "a"]), st.sets(st.integers(0, 99), max_size=5)), max_size=20))
def test_a_cache_gives_back_what_was_put_in(rows):
    from perceptive.streams.examples import Examples

    labels = sorted({label for label, _ in rows}, key=str)
    indptr = np.cumsum([0, *(len(r) for _, r in rows)]).astype(np.int32)
    indices = np.array([j for _, r in rows for j in sorted(r)], np.int32)
    data = np.arange(len(indices), dtype=np.float32)
    which = np.array([labels.index(label) for label, _ in rows], np.int32)
    cache = Cache(None, {})
    examples = Examples(labels, which, np.arange(len(rows)) + 0.5, None, indptr, indices, data)
    cache.append(examples)
    cache.append(examples)
    back, _ = cache.read(1, np.dtype(np.float32))
    assert [back.labels[i] for i in back.which] == [label for label, _ in rows]
    for name in ("weight", "indptr", "indices", "data"):
        assert np.array_equal(getattr(back, name), getattr(examples, name))
    cache.close()


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
        train(started(source, training, **parameters), source, keeper=KilledAfter(path, stop))
    run = Checkpoint(path, {"n": 1}).resume()
    with source_of() as source:
        train(run, source)
    return run


@pytest.mark.parametrize("holdout", [0.0, 0.2])
@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize(
    "parameters", [{}, {"rule": "pa1", "hypothesis": "voted"}, {"rule": "arow", "dtype": "float64"}]
)
def test_a_run_can_be_resumed_anywhere(file, tmp_path, holdout, parameters, warm):
    training = TrainingParameters(epochs=3, validation_fraction=holdout)

    def source_of():
        stream = streams.open(file, dtype=parameters.get("dtype", "float32"), threads=1)
        cache = str(tmp_path / "kept.cache") if warm else None
        return FileSource(stream, RowBlocks(), epochs=3, holdout=holdout, cache=cache)

    with source_of() as source:
        whole = started(source, training, **parameters)
        train(whole, source)
    total = 3 * sum(1 for _ in blocks.blocks(str(file)))
    for stop in [1, 2, total // 3, total // 3 + 1, total // 2, total - 1]:
        run = killed_and_resumed(tmp_path / "run.checkpoint", stop, source_of, training, **parameters)
        assert state(run.learner) == state(whole.learner)
        assert run.history == whole.history


def test_a_checkpoint_of_something_else_is_refused(file, tmp_path):
    run, _ = trained(file)
    path = tmp_path / "a.checkpoint"
    assert Checkpoint(path, {"n": 1}).resume() is None
    Checkpoint(path, {"n": 1}).save(run)
    with pytest.raises(ValueError, match="was made from other data or with other options"):
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
    whole, _ = trained(paths, epochs=4, holdout=0.4, cache=cache)
    training = TrainingParameters(epochs=4, validation_fraction=0.4)

    def source_of():
        stream = streams.open(paths, dtype="float32", threads=1)
        return FileSource(stream, RowBlocks(), epochs=4, cache=cache, holdout=0.4)

    for stop in (3, 12, 15, 25, 38):
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
    wrong = r"validation_fraction=0.01 holds out none of 2 examples; give more examples, or hold out more"
    with pytest.raises(ValueError, match=wrong):
        trained(path, holdout=0.01)
    with pytest.raises(ValueError, match=wrong):
        LinearClassifier(validation_fraction=0.01).fit([[1, 0], [0, 1]], [1, 0])


def test_a_file_that_is_no_cache_is_not_lost(file):
    before = file.read_bytes()
    with pytest.raises(ValueError, match="is no cache, and would be lost"):
        trained(file, cache=str(file))
    assert file.read_bytes() == before


def test_what_was_left_out_is_known_also_from_the_cache(tmp_path):
    path = tmp_path / "a.vw"
    path.write_text("1 | a\n| b\n-1 | c\nx y | z\n" * 3)
    cache = str(tmp_path / "c")
    for _ in range(2):
        _, source = trained(path, cache=cache, skip="skip")
        assert (source.examples, source.unanswered, source.skipped) == (6, 3, 3)


def test_a_stream_must_be_what_the_estimator_says(file):
    with pytest.raises(ValueError, match="but the stream hashes otherwise"):
        LinearClassifier(bits=10).fit_stream(streams.open(file, bits=10, hash_seed=7))
    with pytest.raises(ValueError, match="n_features=50, but the stream has any number of columns"):
        LinearClassifier(n_features=50).fit_stream(streams.open(file))
    assert LinearClassifier(n_features=50).fit_stream(file).n_features_in_ == 50


# ---------------------------------------------------------------- the estimator


def test_fit_stream(file, tmp_path):
    clf = LinearClassifier(epochs=3, probability=True, keep="all").fit_stream(file, cache=str(tmp_path / "c"))
    X, y = streams.load(file)
    assert clf.score(X, y) > 0.8
    assert clf.predict_proba(X).shape == (400, 2)
    assert clf.n_iter_ == 3
    assert clf.n_features_in_ == 40
    save(clf, tmp_path / "m")
    again = load(tmp_path / "m")
    assert np.array_equal(again.predict(X), clf.predict(X))
    assert again.learner_.space.format == streams.FileFormat(scale=None)
    with pytest.raises(ValueError, match="warm_start is for examples in memory"):
        LinearClassifier(warm_start=True).fit_stream(file)


def test_hashed_svmlight_is_the_hash_kernel_of_its_indices(file):
    from perceptive.features.hashing import HashKernel

    X, y = streams.load(file, bits=8)
    plain, _ = streams.load(file)
    kernel = HashKernel(8)
    buckets, signs = kernel.hash([str(j + 1) for j in range(40)])
    M = sp.csr_array((signs, buckets, np.arange(41)), shape=(40, 256))
    assert abs(X - plain @ M).max() < 1e-12
    assert X.shape == (400, 256)
    clf = LinearClassifier(bits=8, epochs=2).fit_stream(file)
    assert clf.score(X, y) > 0.7


def test_interactions_are_products(tmp_path):
    from perceptive.features.hashing import HashKernel

    path = tmp_path / "a.svm"
    path.write_text("1 1:2 3:5 10:7\n")
    X, _ = streams.load(path, bits=20, interactions=("all",))
    kernel = HashKernel(20)
    expected = {"1": 2, "3": 5, "10": 7, "1*3": 10, "1*10": 14, "10*3": 35}
    buckets, signs = kernel.hash(list(expected))
    assert dict(zip(X.indices.tolist(), X.data.tolist(), strict=True)) == {
        b: s * v for b, s, v in zip(buckets.tolist(), signs.tolist(), expected.values(), strict=True)
    }
    with pytest.raises(ValueError, match="interactions need hashed features; give bits"):
        streams.open(path, interactions=("all",))


def test_names_are_remembered_in_the_same_pass(file):
    stream = streams.open(file, bits=4, remember_names=True, threads=3)
    for _ in stream:
        pass
    found = {name for bucket in stream.log.names.buckets(1) for name in stream.log.names.names(bucket)}
    assert found == {str(j + 1) for j in range(40)}
    assert stream.log.names.buckets(2)  # 40 names in 16 buckets collide


def test_learners_hash_dicts_by_themselves(tmp_path):
    dicts = [{"a": 1.0, "b": "x"}, {"a": -1.0, "c": 2}, {"d": 1}] * 5
    y = ["p", "q", "q"] * 5
    clf = LinearClassifier(bits=12).fit(dicts, y)
    assert clf.predict(dicts).tolist() == y
    assert clf.learner_.n_features == 4096
    clf.learn_one({"unheard": 1.0}, "p")
    save(clf, tmp_path / "m")
    assert load(tmp_path / "m").predict(dicts).tolist() == clf.predict(dicts).tolist()
    learner = LinearLearner(classes=["p", "q"], bits=12)
    assert learner.learn({"a": 1.0}, "q")
    with pytest.raises(ValueError, match="n_features=7 does not go with bits=3"):
        LinearLearner(bits=3, n_features=7)


def test_labels_of_a_stream_are_plain(file):
    labels = next(streams.open(file).blocks()).labels
    assert all(type(label) is int for label in labels)
    assert Labels.of([1, 2]).values == [1, 2]


@pytest.mark.skipif("sanitize" in _core.__file__, reason="speed means nothing there")
def test_the_cache_is_faster_than_parsing(tmp_path):
    path = made(tmp_path / "big.svm", n=20000, d=300)
    stream = streams.open(path, dtype="float32", threads=1)
    with FileSource(stream, RowBlocks(), epochs=2) as source:
        run = started(source, TrainingParameters(epochs=2))
        seconds = []
        for run.epoch in range(2):
            began = time.process_time()
            for _ in source.blocks(run):
                pass
            seconds.append(time.process_time() - began)
        assert seconds[1] < seconds[0]
