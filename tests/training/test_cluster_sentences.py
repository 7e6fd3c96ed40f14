"""Taggers on a Dask cluster of real processes: the bits of threads, whatever the sentences and whoever is killed."""

import gzip
import json
import shutil

import dask.array as da
import dask.bag as db
import numpy as np
import pytest
from sklearn.base import clone

from broken_runs import broken_off
from perceptive import LinearRanker, Reranker, SequenceTagger
from perceptive.cli import main
from perceptive.errors import ParameterError
from perceptive.models.registry import load_learner
from perceptive.training.cluster import Cluster

SHARDS = 3


def sentences(n, seed=0, prefix="w"):
    """Sentences of words of which some are chunks; a few labels are wrong."""
    rng, X, y = np.random.default_rng(seed), [], []
    for _ in range(n):
        words, labels = rng.zipf(1.5, int(rng.integers(2, 9))) % 40, []
        for word in (words * 7 + (rng.random(len(words)) < 0.05)) % 9:
            inside = bool(labels) and labels[-1] != "O"
            labels.append("B-X" if word < 3 else "I-X" if word < 5 and inside else "O")
        X.append([(f"{prefix}{word}", f"t{word % 3}") for word in words.tolist()])
        y.append(labels)
    return X, y


def written(path, X, y):
    lines = [
        "".join(f"{' '.join(token)} {label}\n" for token, label in zip(*pair, strict=True))
        for pair in zip(X, y, strict=True)
    ]
    packed = gzip.compress("\n".join(lines).encode()) if path.suffix == ".gz" else "\n".join(lines).encode()
    path.write_bytes(packed)
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Three files; the last has words and a type of chunks that no other has."""
    folder = tmp_path_factory.mktemp("sentences")
    for number in range(2):
        written(folder / f"{number}.txt", *sentences(40, number))
    X, y = sentences(20, 2, "z")
    written(folder / "2.txt.gz", X, [[label.replace("X", "Y") for label in labels] for labels in y])
    return f"{folder}/?.txt*"


def model_of(path, *arguments):
    assert main(["train", *map(str, arguments), "--task", "tag", "-o", str(path), "--quiet"]) == 0
    return path.read_bytes()


def bits(tagger):
    meta, arrays = tagger.learner_.state()
    return meta, {name: array.tobytes() for name, array in arrays.items()}


def bag(values, parts=4):
    return db.from_sequence(values, npartitions=parts)


# ---------------------------------------------------------------- the command line


@pytest.mark.parametrize(
    "how",
    [
        ["--template", "chunking"],  # leaves out rare features, and writes labels as BIOES
        ["--template", "pos", "--rule", "perceptron", "--batch", 4, "--holdout", 0.2, "--mixing", "mistakes"],
        ["--template", "ner", "--segments", "--rule", "mira", "--encoding", "none"],
    ],
)
def test_files_as_on_threads(processes, files, tmp_path, how):
    arguments = [files, "--shards", SHARDS, "--epochs", 3, *how]
    assert model_of(tmp_path / "a", *arguments, "--cluster", processes.address) == model_of(tmp_path / "b", *arguments)


def test_templates_that_share_features(processes, files, tmp_path):
    """Each feature stands with the first of them, whichever saw it first in the sentences of a shard."""
    (tmp_path / "bag.template").write_text("word\nbag(word[-3:3])\n@label[-1]\n")
    arguments = [files, "--shards", SHARDS, "--epochs", 3, "--template", tmp_path / "bag.template"]
    assert model_of(tmp_path / "a", *arguments, "--cluster", processes.address) == model_of(tmp_path / "b", *arguments)
    arrays = load_learner(tmp_path / "a").state().arrays
    assert np.unique(arrays["model.state.template"]).tolist() == [0, 1]


def test_all_labels_choose_the_preset(processes, tmp_path):
    """More than a thousand sentences of O come first: as on threads, those behind them count."""
    X = [[("a", "x")]] * 1001 + [[("b", "x"), ("c", "y")] * 3] * 200
    path = written(tmp_path / "late.txt", X, [["O"]] * 1001 + [["B-X", "I-X"] * 3] * 200)
    arguments = [path, "--shards", SHARDS, "--epochs", 1]
    found = model_of(tmp_path / "a", *arguments, "--cluster", processes.address)
    assert found == model_of(tmp_path / "b", *arguments)
    assert "pos[-2..2]" in load_learner(tmp_path / "a").templates.text  # chunking


def test_documents_by_url(processes, tmp_path):
    text = "Ada met Bob in Rome."
    for number in range(2):
        record = {"text": text, "label": [[0, 3, "PER"], [8, 11, "PER"], [15, 19, "LOC"]][: 3 - number]}
        (tmp_path / f"{number}.jsonl").write_text((json.dumps(record) + "\n") * 3)
    arguments = ["--shards", 2, "--epochs", 2]
    found = model_of(tmp_path / "a", f"file://{tmp_path}/?.jsonl", *arguments, "--cluster", processes.address)
    assert found == model_of(tmp_path / "b", f"{tmp_path}/?.jsonl", *arguments)


def test_files_that_nobody_has_labelled(processes, tmp_path, capsys):
    for name, label in (("a", None), ("b", [[0, 3, "PER"]]), ("c", None)):
        (tmp_path / f"{name}.jsonl").write_text((json.dumps({"text": "Ada met Bob.", "label": label}) + "\n") * 3)
    arguments, cluster = ["--shards", 2, "--epochs", 2], ["--cluster", processes.address]
    found = model_of(tmp_path / "m", f"{tmp_path}/?.jsonl", *arguments, *cluster, "--json")
    assert json.loads(capsys.readouterr().out)["data"]["unanswered"] == 6
    assert found == model_of(tmp_path / "n", f"{tmp_path}/b.jsonl", *arguments)
    for bad, name in ((f"{tmp_path}/[ac].jsonl", "the texts have no labels"), (tmp_path / "d.conllu", "upos has")):
        (tmp_path / "d.conllu").write_text("1\tYes\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
        assert main(["train", str(bad), "--task", "tag", "-o", str(tmp_path / "o"), "--shards", "2", *cluster]) != 0
        assert name in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "met"),
    [(["--epochs", "0"], False), (["--dev", "x", "--holdout", "0.1"], True), (["--C", "-1"], True)],
)
def test_no_cluster_stays_open_if_options_are_wrong(processes, files, tmp_path, monkeypatch, wrong, met):
    clusters, connect = [], Cluster.__init__
    monkeypatch.setattr(Cluster, "__init__", lambda self, *how: (clusters.append(self), connect(self, *how))[1])
    arguments = ["train", files, "--task", "tag", "-o", str(tmp_path / "m"), "--cluster", processes.address]
    assert main([*arguments, "--shards", "2", *wrong]) == 2
    assert bool(clusters) == met
    assert all(one.client.status == "closed" for one in clusters)


def test_a_run_is_resumed_elsewhere_and_a_model_goes_on(processes, files, tmp_path):
    arguments = [files, "--shards", SHARDS, "--epochs", 4, "--template", "chunking"]
    cluster = ["--cluster", processes.address]
    with broken_off(after=2):
        model_of(tmp_path / "m", *arguments, *cluster, "--checkpoint", tmp_path / "c")
    shutil.copy(tmp_path / "c", tmp_path / "d")
    whole = model_of(tmp_path / "whole", *arguments)
    assert model_of(tmp_path / "m", *arguments, *cluster, "--checkpoint", tmp_path / "c") == whole
    assert model_of(tmp_path / "m", *arguments, "--checkpoint", tmp_path / "d") == whole  # without the cluster
    more = [written(tmp_path / "more.txt", *sentences(20, 5, "q")), "--continue", tmp_path / "m", "--shards", 2]
    assert model_of(tmp_path / "n", *more, *cluster) == model_of(tmp_path / "o", *more)


def test_a_killed_worker(processes, files, tmp_path, monkeypatch):
    """One is killed in the midst of an epoch, as soon as one of the shards has been played."""
    from perceptive.training.dask import ClusterDataset

    plain, kills = ClusterDataset.play_block, []

    def play_block(self, shards, block, threads, report=None):
        def told(n):
            if not kills:
                processes.start_worker()
                processes.kill_worker()
                kills.append(n)

        return plain(self, shards, block, threads, told)

    monkeypatch.setattr(ClusterDataset, "play_block", play_block)
    arguments = [files, "--shards", 6, "--epochs", 3, "--template", "chunking"]
    assert model_of(tmp_path / "a", *arguments, "--cluster", processes.address) == model_of(tmp_path / "b", *arguments)
    assert kills


def test_bad_input(processes, tmp_path, capsys):
    good = written(tmp_path / "good.txt", [[("a", "x"), ("b", "x")]] * 4, [["B-X", "I-X"]] * 4)

    def told(*arguments, shards=2):
        how = ["--shards", str(shards), "--cluster", processes.address, "-o", str(tmp_path / "m"), "--task", "tag"]
        assert main(["train", *map(str, arguments), *how]) != 0
        return capsys.readouterr().err

    ragged = tmp_path / "ragged.txt"
    ragged.write_text("a x B-X\nb x I-X\n\na x B-X\nb I-X\n")
    assert f"{ragged}:5: " in told(good, ragged)
    narrow = written(tmp_path / "narrow.txt", [[("a",)]], [["O"]])
    assert f"{narrow}:1: it has 1 columns, but those before it have 2; give every token" in told(good, narrow)
    packed = tmp_path / "broken.txt.gz"
    packed.write_bytes(gzip.compress(good.read_bytes() * 99)[:-20])
    assert str(packed) in told(good, packed)
    broken = written(tmp_path / "broken.txt", [[("a", "x"), ("b", "x")]] * 4, [["B-X", "E-X"]] * 4)
    assert f"{broken}:2: label 'E-X' is not allowed here in the scheme 'bio'" in told(
        good, broken, "--constraints", "bio"
    )
    (tmp_path / "none.txt").write_text("\n")
    assert "there are no sentences" in told(tmp_path / "none.txt")
    assert "--shards 5 is more than there are examples: 4" in told(good, shards=5)
    assert "--cluster needs --shards" in told(good, shards=1)
    assert "--tune does not go with --cluster; tune first" in told(good, "--tune")
    assert f"{tmp_path / 'missing.txt'}: No such file" in told(good, tmp_path / "missing.txt")


def test_an_empty_file_and_labels_that_are_mended(processes, tmp_path, capsys):
    X, y = sentences(20)
    y[0] = ["I-X", *y[0][1:]]  # a shard of its own would find most of its labels broken
    files = [
        written(tmp_path / "a.txt", X[:1], y[:1]),
        tmp_path / "none.txt",
        written(tmp_path / "b.txt", X[1:], y[1:]),
    ]
    files[1].write_text("\n")
    arguments = [*files, "--shards", 19, "--epochs", 2]
    found = model_of(tmp_path / "m", *arguments, "--cluster", processes.address)
    assert f"{files[0]}:1: label 'I-X' is not allowed here" in capsys.readouterr().err
    assert found == model_of(tmp_path / "n", *arguments)


# ---------------------------------------------------------------- collections


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"template": lambda x, t: {"word": x[t][0], "long": float(len(x))}, "rule": "perceptron"},
        {"hypothesis": "last", "template": ["word[-1:1]", "@label[-1]"]},
    ],
)
def test_bags(client, how):
    X, y = sentences(50)
    how = {"shards": SHARDS, "epochs": 3, **how}
    expected = bits(SequenceTagger(**how).fit(X, y))
    assert bits(SequenceTagger(**how).fit(bag(X), bag(y))) == expected
    assert bits(SequenceTagger(**how).fit(bag(list(zip(X, y, strict=True)), 7))) == expected


def test_partly_labelled_sentences_weights_and_empty_partitions(client):
    X, y = sentences(40)
    y = [[None if i % 4 == 0 and t == 1 else label for t, label in enumerate(labels)] for i, labels in enumerate(y)]
    weights = np.arange(40) % 3 / 2
    how = {"shards": SHARDS, "epochs": 3, "template": "chunking"}
    pairs = list(zip(X, y, strict=True))
    parts = [bag(pairs[:13], 1), bag([pairs[0]], 1).filter(lambda pair: False), bag(pairs[13:], 1)]
    found = SequenceTagger(**how).fit(db.concat(parts))
    assert bits(found) == bits(SequenceTagger(**how).fit(X, y))
    weighed = SequenceTagger(**how).fit(bag(X, 2), bag(y, 2), da.from_array(weights, 20))
    assert bits(weighed) == bits(SequenceTagger(**how).fit(X, y, weights))


def test_bags_that_cannot_be_learned_from(client):
    X, y = sentences(10)
    with pytest.raises(ParameterError, match="shards=1: Dask collections are learned from by shards"):
        SequenceTagger().fit(bag(X), bag(y))
    for how in ({"certify": True}, {"probability": True}, {"validation_fraction": 0.2}):
        [(name, value)] = how.items()
        with pytest.raises(ParameterError, match=rf"{name}={value} does not go with Dask collections; leave"):
            SequenceTagger(shards=2, **how).fit(bag(X), bag(y))
    tagger = SequenceTagger(shards=2)
    with pytest.raises(ValueError, match="X, y and sample_weight have 4 and 3 partitions; give all in the same"):
        tagger.fit(bag(X), bag(y, 3))
    with pytest.raises(TypeError, match="X is on the cluster, and y is not; give it in the same partitions as X"):
        tagger.fit(bag(X), y)
    with pytest.raises(TypeError, match="partition 0: give pairs of a sentence and its labels, or another bag"):
        tagger.fit(bag(X))
    with pytest.raises(ValueError, match=r"partition 1, sentence 0: it has \d tokens, but 1 label; give one per"):
        tagger.fit(bag(X[:2], 2), bag([y[0], ["O"]], 2))
    with pytest.raises(TypeError, match="partition 1, sentence 0, token 0: "):
        tagger.fit(bag([X[0], [3.5]], 2), bag([y[0], ["O"]], 2))
    with pytest.raises(ParameterError, match="shards=11 is more than there are examples: 10"):
        SequenceTagger(shards=11).fit(bag(X), bag(y))
    assert not hasattr(tagger, "learner_")


# ---------------------------------------------------------------- rerankers


def test_a_reranker_of_files(processes, files, tmp_path):
    model_of(tmp_path / "base", files, "--template", "word", "--rule", "perceptron", "--epochs", 2)

    def reranker_of(path, *more):
        how = ["--task", "rerank", "--base", tmp_path / "base", "--folds", 3, "--shards", 2, "--epochs", 3]
        assert main(["train", files, *map(str, how), *more, "-o", str(path), "--quiet"]) == 0
        return path.read_bytes()

    found = reranker_of(tmp_path / "a", "--cluster", processes.address)
    assert found == reranker_of(tmp_path / "b")


def test_a_reranker_of_bags(client):
    X, y = sentences(60)
    tagger = SequenceTagger(template="word", rule="perceptron", epochs=2, shards=2)
    reranker = Reranker(tagger, ranker=LinearRanker(bits=12, shards=2, epochs=3), folds=2, k=5)
    expected = clone(reranker).fit(X, y)
    found = clone(reranker).fit(bag(list(zip(X, y, strict=True))))
    assert bits(found.tagger_) == bits(expected.tagger_)
    assert bits(found.ranker_) == bits(expected.ranker_)
    assert (found.oracle_, found.predict(X)) == (expected.oracle_, expected.predict(X))
    assert found.ranker_.n_features_in_ == expected.ranker_.n_features_in_
    weights = np.arange(60) % 4 / 2
    weighed = clone(reranker).fit(bag(X, 3), bag(y, 3), sample_weight=da.from_array(weights, 20))
    expected = clone(reranker).fit(X, y, sample_weight=weights)
    assert bits(weighed.tagger_) == bits(expected.tagger_)
    assert bits(weighed.ranker_) == bits(expected.ranker_) != bits(found.ranker_)
    assert weighed.learner_.fingerprint == expected.learner_.fingerprint
    with pytest.raises(ParameterError, match="a ranker on a cluster hashes the features of candidates; give it bits"):
        Reranker(tagger, ranker=LinearRanker(shards=2)).fit(bag(X), bag(y))
    with pytest.raises(ParameterError, match="shards=1: Dask collections are learned from by shards"):
        Reranker(tagger).fit(bag(X), bag(y), expected.tagger_)
    with pytest.raises(ValueError, match="60 sentences are too few for 61 folds; give more"):
        Reranker(tagger, ranker=LinearRanker(bits=12, shards=2), folds=61).fit(bag(X), bag(y), expected.tagger_)
