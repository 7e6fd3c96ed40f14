"""``perceptive eval``."""

import json

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, f1_score, roc_auc_score

from command_line import perceptive, write_rows
from perceptive import load_learner
from perceptive.evaluation.metrics import Confusion


def test_eval_is_as_scikit_learn_counts(data, model):
    X, y = write_rows(data / "test.svm", seed=1)
    learner = load_learner(model)
    predicted = learner.predict_many(X)
    told = json.loads(perceptive("eval", model, data / "test.svm", "--json").stdout)
    assert told["metrics"]["accuracy"] == pytest.approx(np.mean(predicted == y))
    assert told["metrics"]["auc"] == pytest.approx(roc_auc_score(y, learner.scores(X)), abs=1e-5)
    assert [one["f1"] for one in told["classes"]] == pytest.approx(f1_score(y, predicted, average=None).tolist())
    assert np.sum(told["confusion"]) == 300
    shown = perceptive("eval", model, data / "test.svm").stdout
    assert f"{told['metrics']['accuracy']:.2%}" in shown
    assert "true \\ predicted" in shown


def test_eval_takes_a_label_column_of_taggers_only(data, model):
    assert "--label-column does not go with classifiers; it is for taggers, rerankers" in perceptive(
        "eval", model, data / "test.svm", "--label-column", 1, code=2
    ).stderr  # fmt: skip


def test_a_label_not_seen_in_training(data, model):
    (data / "new.svm").write_text("5 1:1\n0 1:1\n1 2:1\n")
    told = json.loads(perceptive("eval", model, data / "new.svm", "--json").stdout)
    assert [one["label"] for one in told["classes"]] == [0, 1, "(never met)"]
    assert told["classes"][2]["recall"] == 0
    assert told["data"]["examples"] == 3
    assert "(never met)" in perceptive("eval", model, data / "new.svm").stdout
    (data / "many.svm").write_text("".join(f"{i * 1.37} 1:1\n" for i in range(6000)))
    assert json.loads(perceptive("eval", model, data / "many.svm", "--json").stdout)["data"]["examples"] == 6000


def test_labels_that_break_lines_are_quoted_in_tables(tmp_path):
    lines = [json.dumps({"label": label, "features": {label[:3]: 1}}) for label in ("one\nline", "two")] * 10
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    perceptive("train", "a.jsonl", "-o", "m", "--quiet", cwd=tmp_path)
    for command in (["eval", "m", "a.jsonl"], ["inspect", "m"]):
        said = perceptive(*command, cwd=tmp_path).stdout
        assert '"one\\nline"' in said
        assert "\nline" not in said


def test_many_classes_take_no_matrix(tmp_path):
    path, model = tmp_path / "a.csv", tmp_path / "m"
    path.write_text("x,label\n" + "".join(f"{i % 7},name{i}\n" for i in range(1200)) * 2)
    perceptive("train", path, "-o", model, "--epochs", "1", "--quiet")
    told = json.loads(perceptive("eval", model, path, "--json").stdout)
    assert len(told["classes"]) == 1200
    assert sum(pair["examples"] for pair in told["confusion"]) == 2400
    right = sum(pair["examples"] for pair in told["confusion"] if pair["label"] == pair["predicted"])
    assert right / 2400 == pytest.approx(told["metrics"]["accuracy"])


def test_a_confusion_holds_the_pairs_that_occur():
    rng, k = np.random.default_rng(0), 5
    truth, said = rng.integers(k, size=(2, 300))
    confusion = Confusion(list("abcd"))
    confusion.add(truth[truth + said < 4] // 4, said[truth + said < 4] // 4)  # all of them (0, 0)
    confusion.widen("e")
    for part in np.array_split(np.arange(300), 7):
        confusion.add(truth[part], said[part])
    expected = confusion_matrix(truth, said)
    expected[0, 0] += np.count_nonzero(truth + said < 4)
    assert (confusion.counts == expected).all()
    assert [n for *_, n in confusion.pairs()] == sorted(expected[expected > 0], reverse=True)
    assert confusion.accuracy == np.trace(expected) / expected.sum()
    assert Confusion([*range(10**6)]).total == 0  # a matrix would not fit in memory


@pytest.mark.parametrize("option", ["--label", "--epochs", "--text"])
def test_options_of_train_are_no_abbreviations(option, model, data):
    done = perceptive("eval", model, data / "train.svm", f"{option}=3", code=2)
    cure = "give it to perceptive train: the model keeps what it was trained with"
    assert f"unrecognized arguments: {option}=3; {cure}" in done.stderr
    assert "unrecognized arguments: --fast\n" in perceptive("eval", model, data / "train.svm", "--fast", code=2).stderr
    assert (
        f"unrecognized arguments: {option}=3\n" in perceptive("demo", f"{option}=3", code=2).stderr
    )  # without a model


def test_labels_in_another_scheme_are_told_of(tmp_path):
    bio, iob1, model = tmp_path / "bio", tmp_path / "iob1", tmp_path / "m"
    bio.write_text("Ada B-PER\nKing I-PER\nmet O\nRome B-LOC\n\n" * 5)
    iob1.write_text(bio.read_text().replace("B-", "I-"))
    perceptive("train", bio, "--task", "tag", "--quiet", "-o", model)
    assert "note" not in perceptive("eval", model, bio).stderr
    done = perceptive("eval", model, iob1)
    assert "FB1: 100.00" in done.stdout
    assert "note: the labels follow the scheme 'iob1', those of the model 'bio': compare segments (F1)" in done.stderr
