"""Scores of many classes are made for some rows at a time: the results are the same, and memory stays small."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from command_line import perceptive
from perceptive import LinearClassifier, _core, certify
from perceptive.data import rows as rows_module
from perceptive.learners import LinearLearner, calibration

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 5)), RNG.integers(4, size=60)
pytestmark = pytest.mark.core


@pytest.fixture(params=[1, 12, 10**6])  # rows × classes at a time: a row, three of them, all
def at_once(request, monkeypatch):
    monkeypatch.setattr(rows_module, "SCORES", request.param)


@pytest.mark.parametrize("how", [{}, {"multiclass": "ovr"}, {"multiclass": "ovo"}, {"hypothesis": "voted"}], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_decisions_are_those_of_all_scores(at_once, how, form):
    learner = LinearLearner(**how, bias=1.0)
    for _ in range(2):  # as it learns, and when it has
        learner.learn_many(form(X), Y)
        scores = learner.scores(form(X))
        expected = [learner.classes[k] for k in learner.decide(scores)]
        assert learner.predict_many(form(X)) == expected
        assert learner.predict_many(form(X[:0])) == []
        learner.finish()
    truth = np.array([learner.index[y] for y in Y])
    own = scores[np.arange(60), truth]
    scores[np.arange(60), truth] = -np.inf
    assert learner.criterion(form(X), Y) == pytest.approx(np.maximum(0, scores.max(axis=1) - own).sum())


def test_certificates_and_probabilities_are_the_same(at_once, monkeypatch):
    told = []
    for some in (rows_module.SCORES, 10**6):
        monkeypatch.setattr(rows_module, "SCORES", some)
        monkeypatch.setattr(calibration, "AT_ONCE", some)
        model = LinearClassifier(probability=True, certify=True).fit(X, Y)
        told.append((model.predict_proba(X).tolist(), str(model.certificate_), str(certify(model, X, Y))))
    assert told[0] == told[1]


def test_a_part_of_rows_is_these_rows():
    sparse = sp.csr_array(X * (X > 0))
    for form in (sparse, sparse.astype(np.float32)):
        whole = _core.csr_rows(form.indptr, form.indices, form.data, 5, True)
        for some in (slice(0, 60), slice(7, 30), slice(59, 99), slice(4, 4), slice(60, 70)):
            part, alone = whole[some], form[some]
            again = _core.csr_rows(alone.indptr, alone.indices, alone.data, 5, True)
            assert (part.n, part.d, part.stored) == (again.n, again.d, again.stored)
            assert part.hashes.tolist() == again.hashes.tolist()
            moved = [_core.Places(5).meet(one) for one in (part, again)]
            out, w = np.empty((4, part.n, 1)), RNG.normal(size=(5 + moved[0].d, 1))
            for one, scores in zip((part, again, *moved), out, strict=True):
                _core.linear_scores(one, w, False, scores, 1)
            assert (out[0] == out[1]).all()
            assert (out[2] == out[3]).all()
    with pytest.raises(ValueError, match="one after the other"):
        whole[::2]


def test_commands_say_the_same(at_once, tmp_path):
    lines = [f"{y} " + " ".join(f"{j + 1}:{x:.3f}" for j, x in enumerate(row)) for row, y in zip(X, Y, strict=True)]
    lines[20:20] = lines[40:40] = ["", "# nothing"]
    (tmp_path / "rows.svm").write_text("\n" + "\n".join(lines) + "\n\n")
    file, model = tmp_path / "rows.svm", tmp_path / "model"
    perceptive("train", file, "-o", model, "--holdout", 0.2, "--quiet")
    learner_lines = perceptive("predict", model, file, "--proba").stdout.splitlines()
    told = json.loads(perceptive("eval", model, file, "--json").stdout)["metrics"]
    gaps = [i for i, line in enumerate(["", *lines, ""]) if not line or line.startswith("#")]
    assert [i for i, line in enumerate(learner_lines) if not line] == gaps
    found = [line.split("\t") for line in learner_lines if line]
    assert told["accuracy"] == np.mean([int(label) == y for (label, *_), y in zip(found, Y, strict=True)])
    of_truth = [float(one[1 + y]) for one, y in zip(found, Y, strict=True)]
    assert told["log_loss"] == pytest.approx(-np.log(of_truth).mean(), rel=1e-4)


def test_memory_is_not_rows_times_classes():
    tracemalloc = pytest.importorskip("tracemalloc")
    n, classes = 20_000, 1000  # 160 MB of scores
    X, y = RNG.normal(size=(n, 4)), np.arange(n) % classes
    model = LinearClassifier(epochs=1).fit(X, y)
    asked = {
        "predict": lambda: model.predict(X),
        "certify": lambda: certify(model, X, y),
        "criterion": lambda: model.perceptron_criterion(X, y),
        "held out": lambda: LinearClassifier(epochs=1, validation_fraction=0.5).fit(X, y),
        "calibration": lambda: calibration.fit_temperature(many, y[: len(many)]),
    }
    many, peaks = RNG.normal(size=(1000, classes)), {}  # 8 MB
    for name, ask in asked.items():
        tracemalloc.start()
        ask()
        peaks[name] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks.pop("calibration") < 12e6
    assert max(peaks.values()) < 40e6, peaks
