"""``train --tune``: the table, the choice, and what is refused."""

import json

import numpy as np
import pytest

from command_line import perceptive, write_lists, write_rows, write_sentences
from perceptive import KernelClassifier, LinearClassifier, LinearRanker, SequenceTagger, tune


def write_texts(path, n=240):
    """The label is told by pairs of words: single ones say nothing."""
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(n):
        a, b = rng.integers(2, size=2)
        fill = " ".join(f"w{i}" for i in rng.integers(30, size=3))
        lines.append(f"{'same' if a == b else 'other'}\t{fill} {'xy'[a]} {'uv'[b]}")
    path.write_text("\n".join(lines) + "\n")


def test_the_best_features_of_texts_are_found(tmp_path):
    write_texts(tmp_path / "texts.tsv")
    done = perceptive("train", "texts.tsv", "--text", "--tune", "-o", "tuned", "--json", cwd=tmp_path)
    trials = json.loads(done.stdout)["tuning"]
    best = trials[0]["choice"]
    assert best["words"] == [1, 2]
    assert max(trial["epochs"] for trial in trials) == trials[0]["epochs"] == 10
    assert trials[0]["score"] == max(trial["score"] for trial in trials if trial["epochs"] == 10)
    options = ["--words", "1-2", "--rule", best["rule"], "--idf" if best["idf"] else "--no-idf"]
    options += [word for name in ("C", "r") if name in best for word in (f"--{name}", str(best[name]))]
    perceptive("train", "texts.tsv", "--text", "-o", "same", *options, cwd=tmp_path)
    assert (tmp_path / "tuned").read_bytes() == (tmp_path / "same").read_bytes()


def test_what_is_given_is_not_tuned(tmp_path):
    write_rows(tmp_path / "rows.svm")
    done = perceptive("train", "rows.svm", "--rule", "pa1", "--tune", "--epochs", "3", "-o", "m", cwd=tmp_path)
    assert "tuning: 3 choices, epochs 1\n" in done.stderr
    assert "tuning: 1 choice, epochs 3\n" in done.stderr
    assert "--C 0.1" in done.stderr
    assert "arow" not in done.stderr
    quiet = perceptive("train", "rows.svm", "--tune", "--epochs", "3", "--quiet", "-o", "m", cwd=tmp_path)
    assert quiet.stderr == ""
    said = perceptive("train", "rows.svm", "--rule", "romma", "--tune", "-o", "m", cwd=tmp_path, code=None).stderr
    assert "nothing to choose from" in said


@pytest.mark.parametrize("option", [["--continue", "m"], ["--follow"], ["--checkpoint", "c"]])
def test_refused_beside(option, tmp_path):
    write_rows(tmp_path / "rows.svm")
    perceptive("train", "rows.svm", "-o", "m", "--quiet", cwd=tmp_path)
    done = perceptive("train", "rows.svm", "--tune", "-o", "n", *option, cwd=tmp_path, code=None)
    assert done.returncode in (1, 2)
    assert option[0] in done.stderr


def test_a_pipe_is_refused(tmp_path):
    done = perceptive(
        "train", "-", "--format", "svmlight", "--tune", "-o", "m", cwd=tmp_path, input="1 1:1\n", code=None
    )
    assert done.returncode in (1, 2)
    assert "write them to a file" in done.stderr


def test_all_tasks(tmp_path):
    write_lists(tmp_path / "lists.svm")
    write_sentences(tmp_path / "sentences.conll")
    for data, task in (("lists.svm", "rank"), ("sentences.conll", "tag")):
        done = perceptive("train", data, "--task", task, "--tune", "--epochs", "2", "-o", "m", cwd=tmp_path)
        assert "--rule perceptron" in done.stderr


def test_from_python():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    estimator = LinearClassifier(epochs=9)
    tuned = tune(estimator, X, y)
    assert not hasattr(estimator, "learner_")
    assert tuned.epochs == 9
    assert tuned.get_params()["rule"] == tuned.tuning_[0].choice["rule"]
    assert [trial.epochs for trial in tuned.tuning_] == [9, 3, 3, 1, 1, 1, 1]
    given = tune(KernelClassifier(epochs=3), X, y, [{"bias": 1.0}, {"bias": 0.0}])
    assert {trial.choice["bias"] for trial in given.tuning_} == {0.0, 1.0}
    with pytest.raises(ValueError, match="nothing to choose from"):
        tune(estimator, X, y, [])


def test_what_is_taken_without_tuning_is_tried_to_the_end(tmp_path):
    write_sentences(tmp_path / "sentences.conll")
    train = ("train", "sentences.conll", "--task", "tag", "-o", "m", "--tune", "--json")
    trials = json.loads(perceptive(*train, cwd=tmp_path).stdout)["tuning"]
    preset = [trial for trial in trials if trial["choice"] == {"rule": "pa1", "C": 0.03}]
    assert [trial["epochs"] for trial in preset] == [max(trial["epochs"] for trial in trials)] == [40]
    trials = json.loads(perceptive(*train, "--rule", "pa1", "--epochs", "9", cwd=tmp_path).stdout)["tuning"]
    assert {trial["choice"]["C"]: trial["epochs"] for trial in trials}[0.03] == 9
    X, y = [["a", "b"], ["b"], ["c", "a"]] * 10, [["A", "B"], ["B"], ["C", "A"]] * 10
    tuned = tune(SequenceTagger(), X, y)
    assert {"rule": "auto"} in [trial.choice for trial in tuned.tuning_ if trial.epochs == 40]
    estimator = LinearClassifier(rule="pa1", C=0.5, epochs=9)
    X, y = np.array([[1.0], [-1.0]] * 20), [0, 1] * 20
    assert [t.epochs for t in tune(estimator, X, y).tuning_ if t.choice == {"rule": "pa1", "C": 0.5}] == [9]


def test_rankers_are_tuned_by_their_pairs(tmp_path):
    write_lists(tmp_path / "lists.svm")
    done = perceptive("train", "lists.svm", "--task", "rank", "--tune", "-o", "m", "--json", cwd=tmp_path)
    trials = json.loads(done.stdout)["tuning"]
    assert {trial["choice"]["pairs"] for trial in trials} == {"auto", "best", "worst", "all"}
    assert {"rule": "perceptron", "pairs": "auto"} in [trial["choice"] for trial in trials if trial["epochs"] == 10]
    done = perceptive("train", "lists.svm", "--task", "rank", "--pairs", "all", "--tune", "-o", "m", cwd=tmp_path)
    assert "--pairs" not in done.stderr
    tuned = tune(LinearRanker(epochs=3), [[1.0], [0.0]] * 20, [1, 0] * 20, qid=np.repeat(np.arange(20), 2))
    assert {trial.choice["pairs"] for trial in tuned.tuning_} == {"auto", "best", "worst", "all"}
