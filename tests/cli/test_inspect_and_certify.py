"""``perceptive inspect`` and ``perceptive certify``."""

import json

import numpy as np
import pytest

from command_line import perceptive
from perceptive import load_learner
from perceptive.streams import blocks, parsing


def test_inspect(data, model):
    shown = perceptive("inspect", model, "--top", 3).stdout
    assert "rule" in shown
    told = json.loads(perceptive("inspect", model, "--top", 3, "--json").stdout)
    [one] = told["weights"]
    w = load_learner(model).vectors[()].vector("averaged")[0][:, 0]
    heaviest = np.argsort(-abs(w))[:3]
    assert [feature["column"] for feature in one["features"]] == heaviest.tolist()
    assert [feature["name"] for feature in one["features"]] == [str(j + 1) for j in heaviest]
    perceptive("inspect", model, "--class", "7", code=2)
    perceptive("train", data / "train.svm", "-o", data / "h.model", "--bits", 3, "--invert-hash", "--quiet")
    told = json.loads(perceptive("inspect", data / "h.model", "--json").stdout)
    assert told["learner"]["names"] == 30
    assert told["learner"]["collisions"] > 0
    features = told["weights"][0]["features"]
    assert sorted(int(feature["name"]) for feature in features) == list(range(1, 31))
    learner = load_learner(data / "h.model")
    for feature in features:  # a name's own weight: what one unit of it adds to the score
        (data / "one.svm").write_text(f"0 {feature['name']}:1\n0\n")
        rows = perceptive("predict", data / "h.model", data / "one.svm", "--scores").stdout.splitlines()
        with_it, without = (float(row.split("\t")[1]) for row in rows)
        assert with_it - without == pytest.approx(feature["weight"], abs=2e-3 * max(1, abs(with_it)))
        if feature["column"] > 2:
            break
    assert learner.space.names is not None


def test_certify(data):
    perceptive("train", data / "train.svm", "-o", data / "a.model", "--quiet", "--epochs", 3)
    told = json.loads(perceptive("certify", data / "a.model", data / "train.svm", "--json").stdout)["certificate"]
    assert told["holds"]
    assert not told["hypothetical"]
    told = json.loads(perceptive("certify", data / "a.model", data / "test.svm", "--json").stdout)["certificate"]
    assert told["hypothetical"]
    assert "On data other than the run's" in perceptive("certify", data / "a.model", data / "test.svm").stdout


@pytest.mark.parametrize(
    ("options", "known"), [([], True), (["--cache", "c"], False), (["--cache", "c", "--invert-hash"], True)]
)
def test_features_of_tables_have_names(tmp_path, options, known):
    rows = [f"{i % 3},{'red' if i % 2 else 'blue'},{i % 2}\n" for i in range(40)]
    (tmp_path / "t.csv").write_text("size,colour,label\n" + "".join(rows))
    for _ in range(2):  # the second time from the cache
        perceptive("train", "t.csv", "-o", "m", "--quiet", *options, cwd=tmp_path)
        shown = perceptive("inspect", "m", cwd=tmp_path).stdout
        assert ("colour=red" in shown) == known
        assert ("train with --invert-hash to see their names" in shown) != known


def test_memory_of_names_of_tables_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(parsing, "FEW_NAMES", 100)
    monkeypatch.setattr(blocks, "BLOCK", 1000)
    (tmp_path / "t.csv").write_text("id,label\n" + "".join(f"a{i},{i % 2}\n" for i in range(3000)))
    perceptive("train", "t.csv", "-o", "m", "--quiet", cwd=tmp_path)
    assert 100 <= load_learner(tmp_path / "m").facts()["names"] < 1000
