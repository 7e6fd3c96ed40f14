"""Shards on a Dask cluster of real processes: the bits of threads, whoever is killed, late, slow or gone."""

import gzip
import json
import os
import threading
import time

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from broken_runs import broken_off
from perceptive import LinearClassifier
from perceptive.cli import main
from perceptive.errors import ClusterError, ParameterError, UsageError
from perceptive.learners import LinearLearner
from perceptive.learners.mixture import VectorMixture
from perceptive.parameters import TrainingParameters
from perceptive.streams import open as open_stream
from perceptive.training import dask as on_dask
from perceptive.training.blocks import RowBlocks
from perceptive.training.classifiers import classifier_for
from perceptive.training.cluster import Cluster
from perceptive.training.cluster_source import ClusterSource
from perceptive.training.loop import Run, train
from perceptive.training.source import FileSource

KILLS = int(os.environ.get("PERCEPTIVE_CLUSTER_KILLS", "5"))  # 100: the long run
SHARDS, EPOCHS, LIMIT = 3, 24 + 5 * (KILLS - 5), 60.0


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    rng = np.random.default_rng(0)
    folder, u = tmp_path_factory.mktemp("cluster"), rng.normal(size=60)
    for number in range(3):
        lines = []
        for _ in range(300):
            columns = np.sort(rng.choice(60, 8, replace=False))
            label = 1 if u[columns].sum() + rng.normal() > 0 else -1
            lines.append(f"{label} | " + " ".join(f"f{j}:1" for j in columns))
        (folder / f"{number}.vw.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return f"{folder}/*.vw.gz"


def stream(files):
    return open_stream(files, bits=8, dtype="float32").to_learn_from()


def trained(source, epochs=EPOCHS, **how):
    learner = classifier_for(source, None, hypothesis="averaged", bias="auto")
    run = Run.of(learner, TrainingParameters(epochs=epochs, shards=SHARDS))
    train(run, source, **how)
    return run.learner


def bits(learner):
    meta, arrays = learner.state()
    return meta, {name: array.tobytes() for name, array in arrays.items()}


@pytest.fixture(scope="module")
def expected(files):
    with FileSource(stream(files), RowBlocks(), epochs=EPOCHS) as source:
        return bits(trained(source))


def on_cluster(processes, files, limit=LIMIT, **how):
    with Cluster(processes.address, limit) as cluster, source_on(cluster, files) as source:
        return bits(trained(source, **how))


def source_on(cluster, files):
    return ClusterSource(stream(files), RowBlocks(), cluster, SHARDS)


# ---------------------------------------------------------------- faults


def test_killed_workers_and_late_ones(processes, files, expected):
    """Some are killed, each in the midst of some epoch, and others join; one is slow."""
    over = threading.Event()
    kills = []

    def disturb():
        rng = np.random.default_rng(len(kills))
        while not over.is_set() and len(kills) < KILLS:
            time.sleep(float(rng.uniform(0.1, 0.6)))
            processes.start_worker()
            processes.kill_worker()
            kills.append(time.monotonic())
        if not over.is_set():
            processes.pause_worker(0.5)

    def after_epoch(history):
        while len(kills) < KILLS and history.epochs == EPOCHS - 1:  # all of them before the last
            time.sleep(0.05)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        assert on_cluster(processes, files, after_epoch=after_epoch) == expected
    finally:
        over.set()
        thread.join()
    assert len(kills) == KILLS


def test_a_scheduler_that_is_started_again(processes, files, expected):
    def after_epoch(history):
        if history.epochs == 3:
            processes.kill_scheduler()
            for _ in range(len(processes.workers)):  # they end with it
                processes.kill_worker()
            processes.start_scheduler()
            processes.start_worker()
            processes.start_worker()

    assert on_cluster(processes, files, after_epoch=after_epoch) == expected


def test_all_workers_gone(processes, files):
    def after_epoch(history):
        if history.epochs == 2:
            while processes.workers:
                processes.kill_worker()
            processes.wait_until_gone()

    began = time.monotonic()
    with pytest.raises(ClusterError, match=r"has not answered within 5 s, and no worker is there; start workers, or"):
        on_cluster(processes, files, limit=5.0, after_epoch=after_epoch)
    assert time.monotonic() - began < 60
    processes.start_worker()
    processes.start_worker()


def test_no_scheduler():
    with pytest.raises(
        ClusterError, match=r"no scheduler answers at tcp://127.0.0.1:1 within 0.5 s; check the address"
    ):
        Cluster("tcp://127.0.0.1:1", 0.5)
    for wrong in ("here", "nowhere://here:1"):
        with pytest.raises(UsageError, match=rf"^{wrong}: is not the address of .*; give tcp://HOST:PORT, or local$"):
            Cluster(wrong)


def test_another_version(processes, files, monkeypatch):
    with Cluster(processes.address, LIMIT) as cluster, source_on(cluster, files) as source:
        source.prepare()
        monkeypatch.setattr(on_dask, "version", lambda name: "0.0.1")
        with pytest.raises(ClusterError, match=r"a worker runs perceptive \S+, and the client 0.0.1; install the same"):
            trained(source)


# ---------------------------------------------------------------- the command line


def model_of(path, *arguments):
    assert main(["train", *map(str, arguments), "-o", str(path), "--quiet"]) == 0
    return path.read_bytes()


@pytest.mark.parametrize("how", [[], ["--rule", "arow", "--holdout", "0.2", "--class-weight", "balanced"]])
def test_files_as_on_threads(processes, files, tmp_path, how):
    arguments = [files, "--bits", 8, "--shards", SHARDS, "--epochs", 3, *how]
    assert model_of(tmp_path / "a", *arguments, "--cluster", processes.address) == model_of(tmp_path / "b", *arguments)


def test_urls_many_classes_and_one_that_one_file_has(processes, tmp_path):
    rng = np.random.default_rng(1)
    for number in range(3):
        labels = rng.integers(0, 3, 60) if number else np.full(60, 7)  # sorted files: the first has a class of its own
        lines = [
            f"{label} " + " ".join(f"{j}:1" for j in sorted(rng.choice(40, 4, replace=False) + 1 + 40 * number))
            for label in labels
        ]
        (tmp_path / f"{number}.svm").write_text("\n".join(lines) + "\n")
    arguments = ["--shards", 2, "--epochs", 3, "--rule", "pa1"]
    found = model_of(tmp_path / "a", f"file://{tmp_path}/?.svm", *arguments, "--cluster", processes.address)
    assert found == model_of(tmp_path / "b", f"{tmp_path}/?.svm", *arguments)


@pytest.mark.parametrize("how", [[], ["--invert-hash"]])
def test_parquet_by_url(processes, tmp_path, how):
    rng = np.random.default_rng(3)
    for number in range(2):
        frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
        frame["click"] = (frame.a > frame.b).astype(int)
        frame.to_parquet(tmp_path / f"{number}.parquet")
    arguments = ["--label", "click", "--shards", 2, "--epochs", 3, *how]
    found = model_of(tmp_path / "m", f"file://{tmp_path}/*.parquet", *arguments, "--cluster", processes.address)
    assert found == model_of(tmp_path / "n", f"file://{tmp_path}/*.parquet", *arguments)
    assert found == model_of(tmp_path / "o", f"{tmp_path}/*.parquet", *arguments)


def test_what_is_odd_is_told_as_by_threads(processes, tmp_path, capsys):
    """Lines that are left out, and notes: in the order of the files, counted over all of them."""
    for number, header in enumerate(("y,a,b", "y,a,c")):
        rows = [f"{'0' * number}{i % 2},{i},{i * i % 7}" for i in range(20)]
        (tmp_path / f"{number}.csv").write_text("\n".join([header, *rows, "1,2", *rows, "0,1,2,3"]) + "\n")
    arguments = [f"{tmp_path}/?.csv", "--label", "y", "--on-error", "skip", "--shards", "2", "--epochs", "2", "--json"]
    arguments += ["--no-shuffle"]  # else threads meet the lines of both files in turn
    told = []
    for more in ([], ["--cluster", processes.address]):
        assert main(["train", *arguments, "-o", str(tmp_path / f"{len(more)}.model"), *more]) == 0
        done = capsys.readouterr()
        data = json.loads(done.out)
        told.append((sorted(done.err.splitlines()), data["data"], sorted(data["notes"])))
    assert told[0] == told[1]
    assert sum(line.startswith("skipped: ") for line in told[0][0]) == told[0][1]["skipped"] == 4
    assert any("unlike the files before" in line for line in told[0][0])
    assert any("42 lines have a label that is written differently" in line for line in told[0][0])
    assert (tmp_path / "0.model").read_bytes() == (tmp_path / "2.model").read_bytes()


def test_lists(processes, tmp_path):
    rng = np.random.default_rng(2)
    lines = [
        f"{grade} qid:{q} " + " ".join(f"{j}:{rng.normal():.3f}" for j in range(1, 5))
        for q in range(30)
        for grade in ((2, 1, 0) if q else (1, 0, 0))  # all lists say which pairs are learned from, not the first alone
    ]
    (tmp_path / "a.svm").write_text("\n".join(lines) + "\n")
    arguments = [tmp_path / "a.svm", "--task", "rank", "--shards", 2, "--epochs", 3]
    assert model_of(tmp_path / "m", *arguments, "--cluster", processes.address) == model_of(tmp_path / "n", *arguments)


def test_weights_of_lists(processes, tmp_path):
    rng = np.random.default_rng(3)
    lists = [
        {"candidates": [{"a": float(x), "b": float(y)} for x, y in rng.integers(1, 9, (3, 2))], "best": 0, "w": w}
        for w in rng.choice([0.0, 0.5, 1.0, 3.0], 40).tolist()
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lists))
    arguments = [tmp_path / "a.jsonl", "--task", "rank", "--bits", 8, "--shards", 2, "--epochs", 3]
    found = model_of(tmp_path / "m", *arguments, "--weight", "w", "--cluster", processes.address)
    assert found == model_of(tmp_path / "n", *arguments, "--weight", "w") != model_of(tmp_path / "o", *arguments)


def test_a_run_is_resumed_elsewhere(processes, files, tmp_path):

    arguments = [files, "--bits", 8, "--shards", SHARDS, "--epochs", 4]
    with broken_off(after=2):
        model_of(tmp_path / "m", *arguments, "--cluster", processes.address, "--checkpoint", tmp_path / "c")
    found = model_of(tmp_path / "m", *arguments, "--checkpoint", tmp_path / "c")  # by threads, without the cluster
    assert found == model_of(tmp_path / "whole", *arguments)


def test_bad_input(processes, tmp_path, capsys):
    (tmp_path / "good.svm").write_text("1 1:1\n-1 2:1\n" * 5)
    (tmp_path / "bad.svm").write_text("1 1:1\n-1 2:x\n")
    cluster = ["--shards", "2", "--cluster", processes.address, "-o", str(tmp_path / "m")]

    def told(*arguments):
        assert main(["train", *map(str, arguments), *cluster]) != 0
        return capsys.readouterr().err

    assert f"{tmp_path}/bad.svm:2:6: " in told(tmp_path / "good.svm", tmp_path / "bad.svm")
    assert "there are no labelled examples" in told(_written(tmp_path / "none.svm", "\n"))
    assert "--cache does not go with --cluster" in told(tmp_path / "good.svm", "--cache", tmp_path / "c")
    assert "standard input is here; write it to a file" in told("-", "--format", "svmlight")
    cluster[1] = "11"
    assert "--shards 11 is more than there are examples: 10" in told(tmp_path / "good.svm")
    cluster[1] = "1"
    assert "--cluster needs --shards" in told(tmp_path / "good.svm")
    cluster[1], cluster[3] = "2", "tcp://127.0.0.1:1"
    assert "no scheduler answers at tcp://127.0.0.1:1" in told(tmp_path / "good.svm", "--time-limit", "1s")


def _written(path, text):
    path.write_text(text)
    return path


# ---------------------------------------------------------------- collections


def test_arrays_frames_and_bags(client):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X @ rng.normal(size=(5, 3))).argmax(axis=1)
    for how in ({}, {"class_weight": "balanced", "hypothesis": "last", "bias": 1.0}):
        given = LinearClassifier(shards=3, epochs=3, **how).fit(X, y)
        array = LinearClassifier(shards=3, epochs=3, **how).fit(da.from_array(X, (60, 2)), da.from_array(y, 60))
        assert given.coef_.tobytes() == array.coef_.tobytes()
        assert (array.predict(X) == given.predict(X)).all()
    wide = rng.normal(size=(40, 90))  # shards defer their averages to the end
    label = np.arange(40) % 3
    for how in ({}, {"multiclass": "ovr", "rule": "pa1"}):
        given = LinearClassifier(shards=3, epochs=3, **how).fit(wide, label)
        array = LinearClassifier(shards=3, epochs=3, **how).fit(da.from_array(wide, (15, 90)), da.from_array(label, 15))
        assert str(given.learner_.state()) == str(array.learner_.state())
        assert given.coef_.tobytes() == array.coef_.tobytes()
    weights = np.arange(200) % 3 / 2  # one shard has the weights that are 1
    given = LinearClassifier(shards=3, epochs=3).fit(X, y, weights)
    array = LinearClassifier(shards=3, epochs=3).fit(
        da.from_array(X, (60, 5)), da.from_array(y, 60), da.from_array(weights, 60)
    )
    assert given.learner_.fingerprint == array.learner_.fingerprint
    assert given.coef_.tobytes() == array.coef_.tobytes()
    given = LinearClassifier(shards=3, epochs=3).fit(X, y)
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    assert (
        LinearClassifier(shards=3, epochs=3).fit(frame, dd.from_pandas(pd.Series(y), npartitions=3)).coef_.tobytes()
        == given.coef_.tobytes()
    )
    dicts = [{f"f{j}": float(v) for j, v in enumerate(row) if abs(v) > 0.5} for row in X]
    bag = LinearClassifier(shards=3, epochs=3).fit(
        db.from_sequence(dicts, npartitions=3), db.from_sequence(y.tolist(), npartitions=3)
    )
    assert bag.coef_.tobytes() == LinearClassifier(shards=3, epochs=3).fit(dicts, y).coef_.tobytes()


def test_collections_that_cannot_be_learned_from(client):
    X, y = da.zeros((10, 2), chunks=5), da.from_array(np.arange(10) % 2, 5)
    with pytest.raises(ParameterError, match="shards=1: Dask collections are learned from by shards"):
        LinearClassifier().fit(X, y)
    for how in ({"certify": True}, {"probability": True}, {"validation_fraction": 0.2}, {"warm_start": True}):
        [(name, value)] = how.items()
        with pytest.raises(ParameterError, match=rf"{name}={value} does not go with Dask collections; leave"):
            LinearClassifier(shards=2, **how).fit(X, y)
    with pytest.raises(ValueError, match="X, y and sample_weight have 2 and 1 partitions; give all in the same"):
        LinearClassifier(shards=2).fit(X, y.rechunk(10))
    with pytest.raises(TypeError, match="X is on the cluster, and y is not; give it in the same partitions as X"):
        LinearClassifier(shards=2).fit(X, np.arange(10) % 2)
    with pytest.raises(ValueError, match="y has one class only, 0"):
        LinearClassifier(shards=2).fit(X, y * 0)
    with pytest.raises(ValueError, match="column 'a' does not hold numbers"):
        LinearClassifier(shards=2).fit(dd.from_pandas(pd.DataFrame({"a": list("ab") * 5}), npartitions=2), y)


@pytest.mark.parametrize("bias", ["auto", 1.0])
def test_wrong_numbers_are_found_by_partition_and_row(client, bias):
    X, y, weights = np.eye(60, 3), np.arange(60) % 2, np.ones(60)
    X[41, 2], weights[30] = np.nan, -1
    dicts = [{f"f{j}": float(v) for j, v in enumerate(row)} for row in X]
    labels, bag = da.from_array(y, 25), db.from_sequence(y.tolist(), partition_size=25)
    learner = LinearClassifier(shards=2, bias=bias)
    with pytest.raises(ValueError, match=r"^partition 1, row 16, feature 2: X contains NaN; drop or impute"):
        learner.fit(da.from_array(X, (25, 3)), labels)
    with pytest.raises(ValueError, match=r"^partition 1, row 16: .*f2"):
        learner.fit(db.from_sequence(dicts, partition_size=25), bag)
    with pytest.raises(ValueError, match=r"^partition 1, sample_weight\[5\] is -1.0; weights must be finite"):
        learner.fit(da.ones((60, 3), chunks=(25, 3)), labels, da.from_array(weights, 25))
    with pytest.raises(ParameterError, match=r"^shards=61 is more than there are examples: 60; give at most so many"):
        LinearClassifier(shards=61, bias=bias).fit(da.ones((60, 3), chunks=(25, 3)), labels)


def test_no_client():
    with pytest.raises(ClusterError, match=r"there is no Dask client; make one first: distributed.Client\(address\)"):
        LinearClassifier(shards=2).fit(da.zeros((10, 2), chunks=5), da.zeros(10, chunks=5))


# ---------------------------------------------------------------- what travels


def test_mixtures_travel_without_what_nobody_touched():
    import pickle

    learner = LinearLearner([0, 1], n_features=2**16, hypothesis="averaged")
    dataset = learner.dataset(np.eye(3, 2**16), [0, 1, 0], epochs=1)
    replica = learner.replica()
    for chunk in dataset.replica(replica).chunks(np.arange(3)):
        dataset.replica(replica).play(chunk)
    mixture = VectorMixture(learner.vectors[()], replica.vectors[()], False)
    packed = pickle.dumps(mixture)
    assert len(packed) < 2000
    back = pickle.loads(packed)
    for mine, theirs in zip(mixture.parts, back.parts, strict=True):
        assert all(mine[name].tobytes() == theirs[name].tobytes() for name in mine)
    assert back.run.updates == mixture.run.updates > 0
