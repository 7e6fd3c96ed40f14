"""Lists are scaled as tables are, by what their candidates hold; what is not scaled and differs much is told of."""

import io
import json
import sys
import types

import numpy as np
import pytest
from sklearn.datasets import load_wine

from perceptive import LinearClassifier, _core
from perceptive.cli import main
from perceptive.errors import ScaleWarning
from perceptive.models.registry import load_learner

pytestmark = pytest.mark.core


def write_lists(folder, name="l", seed=0, n=80):
    """Lists of wines, as JSON lines and as svmlight with queries; the columns differ by thousands."""
    wine, some = load_wine(), np.random.default_rng(seed)
    jsonl, svm = folder / f"{name}.jsonl", folder / f"{name}.svm"
    with jsonl.open("w") as lines, svm.open("w") as rows:
        for q in range(n):
            chosen = some.choice(len(wine.target), 5, replace=False)
            xs = [dict(zip(wine.feature_names, wine.data[i].tolist(), strict=True)) for i in chosen]
            lines.write(json.dumps({"candidates": xs, "grades": wine.target[chosen].tolist()}) + "\n")
            for i in chosen:
                entries = " ".join(f"{j}:{x}" for j, x in enumerate(wine.data[i], 1))
                rows.write(f"{wine.target[i]} qid:{q} {entries}\n")
    return jsonl, svm


def rank(data, model, *options):
    assert main(["train", str(data), "--task", "rank", "--pairs", "all", "-o", str(model), "--quiet", *options]) == 0
    return load_learner(str(model))


def ndcg(capsys, model, data):
    capsys.readouterr()
    assert main(["eval", str(model), str(data), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["metrics"]["ndcg"]


@pytest.mark.parametrize("options", [[], ["--kernel", "gaussian(sigma=2)"]])
def test_lists_are_scaled_as_tables_are(tmp_path, capsys, options):
    (jsonl, svm), (new_jsonl, new_svm) = write_lists(tmp_path), write_lists(tmp_path, "new", 1)
    learner = rank(jsonl, tmp_path / "m", *options)
    scaling = learner.space.format.scaling
    assert learner.space.format.scale == "standard"
    candidates = [x["alcohol"] for line in jsonl.read_text().splitlines() for x in json.loads(line)["candidates"]]
    at = scaling.names.index("alcohol")
    assert scaling.shift[at] == pytest.approx(np.mean(candidates))
    assert scaling.factor[at] == pytest.approx(1 / np.std(candidates))
    rank(jsonl, tmp_path / "raw", "--scale", "none", *options)
    assert ndcg(capsys, tmp_path / "m", new_jsonl) > 0.99 > ndcg(capsys, tmp_path / "raw", new_jsonl)
    assert rank(svm, tmp_path / "s", *options).space.format.scale is None
    said = "note: column 13 is 2,066 times as large as column 8 and drowns it; scale the columns"
    assert said in capsys.readouterr().err
    assert rank(svm, tmp_path / "s", "--scale", "standard", *options).space.format.scaling.shift == scaling.shift
    assert said not in capsys.readouterr().err
    assert ndcg(capsys, tmp_path / "s", new_svm) == pytest.approx(ndcg(capsys, tmp_path / "m", new_jsonl))
    on = ["--continue", str(tmp_path / "m"), "-o", str(tmp_path / "n"), "--task", "rank", "--quiet"]
    assert main(["train", str(new_jsonl), *on]) == 0
    assert load_learner(str(tmp_path / "n")).space.format == learner.space.format


def test_lists_of_standard_input_are_measured_by_the_first_block(tmp_path, monkeypatch):
    jsonl, _ = write_lists(tmp_path)
    expected = rank(jsonl, tmp_path / "m")
    stdin = types.SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(jsonl.read_bytes())))
    monkeypatch.setattr(sys, "stdin", stdin)
    found = rank("-", tmp_path / "n", "--format", "json")
    assert found.space.format == expected.space.format
    assert (found.rounds, found.mistakes) == (expected.rounds, expected.mistakes)


def test_texts_of_lists_are_counted(tmp_path):
    lines = [{"candidates": [{"text": "red wine"}, {"text": "red beer"}], "best": 0}] * 3
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    factors = rank(tmp_path / "a.jsonl", tmp_path / "m", "--idf").space.idf
    n, of = 6, {"red": 6, "wine": 3, "ale": 0}
    for word, df in of.items():
        assert factors[_core.murmur3(word.encode(), 0) % 2**20] == pytest.approx(np.log((1 + n) / (1 + df)) + 1)


def test_candidates_have_neither_labels_nor_weights(tmp_path):
    """They have grades; the weight of a car is a feature, where it was left out before."""
    lines = [{"candidates": [{"weight": 2, "label": 1}, {"weight": 1, "label": 1}], "best": 0}] * 3
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    learner = rank(tmp_path / "a.jsonl", tmp_path / "m", "--scale", "none")
    assert learner.space.header == ("weight", "label")
    assert learner.scores([{"weight": 3}, {"weight": 1}]).argmax() == 0
    assert np.count_nonzero(learner.vector.vector("last")[0]) == 1


def test_columns_that_differ_are_told_of_before_the_first_round(tmp_path, capsys):
    rows = "".join(f"{i % 2} 1:{1000 + i} 2:0.{i % 7 + 1}\n" for i in range(50))
    (tmp_path / "a.svm").write_text(rows)
    said = "column 1 is 2,"
    for options in ([], ["--kernel", "linear"]):
        common = ["train", str(tmp_path / "a.svm"), "-o", str(tmp_path / "m"), "--quiet", *options]
        for how, told in ([], True), (["--scale", "none"], False), (["--scale", "max"], False):
            assert main([*common, *how]) == 0
            assert (said in capsys.readouterr().err) == told
    with pytest.warns(ScaleWarning, match=said):
        LinearClassifier().fit_stream(tmp_path / "a.svm")
    (tmp_path / "b.svm").write_text("".join(f"{i % 2} 1:{i} 2:0.{i % 7 + 1}\n" for i in range(50)))
    assert main(["train", str(tmp_path / "b.svm"), "-o", str(tmp_path / "m"), "--quiet"]) == 0
    assert "drowns" not in capsys.readouterr().err
