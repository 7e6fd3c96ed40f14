"""Training by shards that are mixed: estimators, files, the hold-out, checkpoints; threads never change a result."""

import numpy as np
import pytest

from perceptive import KernelClassifier, LinearClassifier, LinearRanker, Reranker, SequenceTagger
from perceptive.cli import main
from perceptive.errors import ParameterError
from perceptive.parameters import TrainingParameters
from perceptive.training import mixing
from perceptive.training.loop import InMemory, Run, train

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 20))
    return X, (X @ rng.normal(size=(20, 4)) + rng.normal(size=(600, 4))).argmax(axis=1)


@pytest.fixture(scope="module")
def file(tmp_path_factory, rows):
    X, y = rows
    path = tmp_path_factory.mktemp("mixing") / "train.svm"
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{value:.3f}" for j, value in enumerate(x))
        for x, label in zip(X, y, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.once
@pytest.mark.parametrize("multiclass", ["joint", "ovr", "ovo"])
@pytest.mark.parametrize("how", [{}, {"mixing": "mistakes"}, {"validation_fraction": 0.2}, {"rule": "arow"}])
def test_threads_change_nothing(rows, multiclass, how):
    X, y = rows
    models = [
        LinearClassifier(multiclass=multiclass, shards=4, n_jobs=n, epochs=4, certify=True, **how).fit(X, y)
        for n in (None, 3, -1)
    ]
    assert len({model.coef_.tobytes() for model in models}) == 1
    assert models[0].score(X, y) > 0.7
    assert models[0].certificate_.holds
    serial = LinearClassifier(multiclass=multiclass, epochs=4, **how).fit(X, y)
    parallel = LinearClassifier(multiclass=multiclass, epochs=4, n_jobs=3, **how).fit(X, y)
    assert serial.coef_.tobytes() == parallel.coef_.tobytes() != models[0].coef_.tobytes()


def test_history_tells_where_the_time_went(rows):
    X, y = rows
    model = LinearClassifier(shards=2, n_jobs=2, epochs=3, validation_fraction=0.1).fit(X, y)
    assert len(model.history_) == 3
    first = model.history_[0]
    assert first["mistakes"] == model.mistakes_[0]
    assert {"updates", "loss", "held_out", "computing", "waiting", "mixing", "transferring"} <= first.keys()
    assert first["computing"] > 0
    assert "computing" not in LinearClassifier(epochs=1).fit(X, y).history_[0]


def test_mixing_from_one_class_shards_and_more_classes_than_a_shard_has(rows):
    X, _ = rows
    y = np.arange(len(X)) % 4
    model = LinearClassifier(shards=4, epochs=2, shuffle=False).fit(X, y)  # shard i has class i alone
    assert model.mistakes_[0] == 4  # each shard errs once, from v = 0, and never again
    assert model.learner_.vectors[()].run.weighted_updates >= 1


@pytest.mark.parametrize("bad", [0, -2, 1.5, "all", True])
def test_bad_numbers_of_threads_and_shards(rows, bad):
    with pytest.raises(ParameterError, match=r"n_jobs=.*: it must be a whole number ≥ 1, -1 or n_jobs=None"):
        LinearClassifier(n_jobs=bad).fit(*rows)
    with pytest.raises(ParameterError, match=r"shards=.*: it must be a whole number from 1"):
        LinearClassifier(shards=bad).fit(*rows)


def test_what_cannot_be_mixed(rows):
    X, y = rows
    with pytest.raises(ParameterError, match="shards=2 does not go with hypothesis='voted': all v_k of all shards"):
        LinearClassifier(shards=2, hypothesis="voted").fit(X, y)
    with pytest.raises(ParameterError, match="shards=2 does not go with kernel: the theorem bounds the mean"):
        KernelClassifier(shards=2).fit(X[:20], y[:20])
    with pytest.raises(ParameterError, match=r"shards=2 does not go with delta=0.5: possible, but not implemented"):
        LinearClassifier(shards=2, delta=0.5).fit(X, y)


def test_an_error_in_a_shard_leaves_the_learner_as_it_was(rows, monkeypatch):
    X, y = rows
    learner = LinearClassifier().fit(X, y).learner_
    before = {name: array.tobytes() for name, array in learner.state().arrays.items()}
    dataset = learner.dataset(X, y, epochs=1)

    def broken(*_):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(mixing, "order_of", broken)
    with pytest.raises(RuntimeError, match="out of luck"):
        train(Run.of(learner, TrainingParameters(shards=4, epochs=1)), InMemory(dataset, True), threads=2)
    assert {name: array.tobytes() for name, array in learner.state().arrays.items()} == before


def test_ctrl_c_keeps_the_epochs_before(rows):
    X, y = rows
    learner = LinearClassifier(epochs=1, shards=3).fit(X, y).learner_
    rounds, played = learner.rounds, 0

    def report(n):
        nonlocal played
        played += n
        if played > 900:  # in the second epoch
            raise KeyboardInterrupt

    run = Run.of(learner, TrainingParameters(shards=3, epochs=5))
    with pytest.raises(KeyboardInterrupt):
        train(run, InMemory(learner.dataset(X, y, epochs=5), True), report=report, threads=3)
    assert learner.rounds == rounds + 600
    assert run.history.mistakes[-1] == 0  # of the one that was broken off


# ---------------------------------------------------------------- files


def model_of(path, *arguments):
    assert main(["train", *map(str, arguments), "-o", str(path), "--quiet"]) == 0
    return path.read_bytes()


@pytest.mark.parametrize("how", [[], ["--holdout", "0.2"], ["--memory", "24000"], ["--rule", "arow"], ["--no-shuffle"]])
def test_files_on_any_number_of_threads(file, tmp_path, how):
    made = [model_of(tmp_path / f"{n}", file, "--shards", 4, "--epochs", 3, "--threads", n, *how) for n in (1, 2, 5)]
    assert len(set(made)) == 1
    assert model_of(tmp_path / "serial", file, "--epochs", 3, *how) != made[0]


def test_a_run_over_windows_is_resumed(file, tmp_path):
    from perceptive.training.checkpoint import Checkpoint

    lines = file.read_text().splitlines(keepends=True)
    files = [tmp_path / f"{i}.svm" for i in range(4)]
    for i, part in enumerate(files):  # several windows
        part.write_text("".join(lines[i::4]))
    arguments = [*files, "--shards", 3, "--epochs", 3, "--memory", 24000]
    whole = model_of(tmp_path / "whole", *arguments)
    saved = []

    class Enough(Exception):
        pass

    def after_chunk(self, run, dataset):
        self.save(run, dataset)
        saved.append((run.epoch, run.block))
        if saved[-1] == (1, 2):
            raise Enough

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Checkpoint, "after_chunk", after_chunk)
        with pytest.raises(Enough):
            model_of(tmp_path / "m", *arguments, "--checkpoint", tmp_path / "c")
    assert saved[-1] == (1, 2)
    assert model_of(tmp_path / "m", *arguments, "--checkpoint", tmp_path / "c") == whole


def test_more_shards_than_examples_in_a_file(file, tmp_path, capsys):
    assert main(["train", str(file), "--shards", "601", "-o", str(tmp_path / "m")]) == 2
    assert "--shards 601 is more than there are examples: 600; give at most so many" in capsys.readouterr().err


# ---------------------------------------------------------------- other tasks

SENTENCES = [s.split() for s in ("Ann met Bob", "we saw Eve", "Dan left", "they met Ann", "Bob saw Dan", "we left")] * 4
TAGS = [["B", "O", "B"], ["O", "O", "B"], ["B", "O"], ["O", "O", "B"], ["B", "O", "B"], ["O", "O"]] * 4


@pytest.mark.parametrize("how", [{"shards": 3}, {"batch": 4}, {"shards": 2, "batch": 3}])
def test_taggers(how):
    template = "word\nshape\n@label[-1]"
    models = [SequenceTagger(template=template, n_jobs=n, certify=True, **how).fit(SENTENCES, TAGS) for n in (1, 2)]
    assert (
        len({array.tobytes() for m in models for name, array in m.state().arrays.items() if name == "model.state.sum"})
        == 1
    )
    assert models[0].score(SENTENCES, TAGS) == 1.0
    assert models[0].certificate_.holds
    source = models[0].certificate_.theorem
    assert ("McDonald" in source) == ("shards" in how)
    assert ("Zhao" in source) == ("batch" in how)


def test_rankers_and_rerankers():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(90, 4)), np.repeat(np.arange(30), 3)
    grades = X @ [1.0, -1.0, 0.5, 0.0]
    ranker = LinearRanker(shards=3, n_jobs=2, epochs=20).fit(X, grades, qid=qid)
    assert ranker.score(X, grades, qid=qid) > 0.9
    tagger = SequenceTagger(template=["shape", "@label[-1]"], shards=2)
    reranker = Reranker(tagger, ranker=LinearRanker(bits=12, shards=2), k=3, folds=2).fit(SENTENCES, TAGS)
    assert reranker.predict([["we", "met", "Eve"]]) == [["O", "O", "B"]]
