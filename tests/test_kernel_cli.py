"""``perceptive train --kernel`` and what can be done with such models, as processes."""

import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from perceptive import load
from perceptive.kernels import Gaussian, Polynomial


def perceptive(*arguments, code=0):
    command = [sys.executable, "-m", "perceptive", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


@pytest.fixture
def circle(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = ((X**2).sum(axis=1) > 1.4).astype(int)
    dump_svmlight_file(sp.csr_array(X), y, str(tmp_path / "circle.svm"), zero_based=False)
    return tmp_path / "circle.svm"


def test_train_predict_eval_inspect(circle, tmp_path):
    model = tmp_path / "a.model"
    told = json.loads(
        perceptive("train", circle, "-o", model, "--kernel", "poly(2)", "--epochs", 20, "--certify", "--json").stdout
    )
    assert told["kernel"] == "Polynomial(degree=2)"
    assert "the theorem allows" in told["certificate"]
    learner = load(model)
    assert learner.kernel == Polynomial(2)
    labels = [int(line) for line in perceptive("predict", model, circle).stdout.split()]
    report = json.loads(perceptive("eval", model, circle, "--json").stdout)
    truth = [int(line[0]) for line in circle.read_text().splitlines()]
    assert report["accuracy"] == pytest.approx(np.mean(np.array(labels) == truth))
    assert report["accuracy"] > 0.95
    assert "Polynomial(degree=2)" in perceptive("inspect", model).stdout
    scores = perceptive("predict", model, circle, "--scores", "--hypothesis", "voted").stdout.splitlines()
    assert all(-1 <= float(line.split("\t")[1]) <= 1 for line in scores)


def test_budget(circle, tmp_path):
    model = tmp_path / "a.model"
    perceptive("train", circle, "-o", model, "--kernel", "gaussian(gamma=1)", "--budget", 30, "--forget", "projectron")
    learner = load(model)
    assert len(learner.dual) <= 30
    assert learner.kernel == Gaussian(gamma=1)


def test_strings_come_as_json_lines(tmp_path):
    train, model = tmp_path / "a.jsonl", tmp_path / "a.model"
    rows = [{"text": "abab", "size": [4], "label": "x"}, {"text": "cdcd", "size": [4], "label": "y"}] * 5
    train.write_text("".join(json.dumps(row) + "\n" for row in rows))
    perceptive("train", train, "-o", model, "--kernel", "0.5*spectrum(2)@text+0.01*linear@size", "--quiet")
    assert perceptive("predict", model, train).stdout.split() == ["x", "y"] * 5
    told = perceptive("predict", model, train, "--json").stdout.splitlines()
    assert json.loads(told[0])["label"] == "x"
    assert "JSON lines" in perceptive("eval", model, train, code=1).stderr
    train.write_text('{"text": "ab", "label": "x"}\nnonsense\n')
    assert "no JSON" in perceptive("train", train, "-o", model, "--kernel", "spectrum(2)@text", code=1).stderr
    train.write_text('{"text": 7, "label": "x"}\n{"text": 8, "label": "y"}\n')
    assert "takes strings" in perceptive("train", train, "-o", model, "--kernel", "spectrum(2)@text", code=1).stderr
    train.write_text('{"text": "ab"}\n')
    assert "without 'label'" in perceptive("train", train, "-o", model, "--kernel", "spectrum(2)@text", code=1).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kernel", "nonsense"], "no kernel is called 'nonsense'"),
        (["--kernel", "poly(2)", "--max-voters", "3"], "--max-voters does not go with --kernel"),
        (["--kernel", "poly(2)", "--rule", "arow"], "rule must be"),
        (["--kernel", "poly(2)", "--holdout", "0.1"], "--holdout"),
        (["--budget", "5"], "give --kernel too"),
    ],
)
def test_bad_usage_is_told(circle, tmp_path, arguments, message):
    done = perceptive("train", circle, "-o", tmp_path / "a.model", *arguments, code=1)
    assert message in done.stderr
