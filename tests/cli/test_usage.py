"""Wrong usage: one line that says what is wrong, in options, and exit code 2; bad data and files exit with 1."""

import json
import os
import subprocess

import numpy as np
import pytest
from sklearn.metrics import f1_score, log_loss

from command_line import PERCEPTIVE, perceptive


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "perceptive: error: the following arguments are required: COMMAND"),
        (["fly"], "perceptive: error: argument COMMAND: invalid choice: 'fly'"),
        (["train", "a.svm"], "perceptive train: error: the following arguments are required: -o/--output"),
        (["train", "a.svm", "-o", "m", "--fast"], "perceptive train: error: unrecognized arguments: --fast"),
        (["train", "a.svm", "-o", "m", "--rule", "sgd"], "perceptive train: error: argument --rule: invalid choice"),
        (["train", "a.svm", "-o", "m", "--classes", "-a,b"], "a value that begins with a dash as --option=value"),
        (["train", "a.svm", "-o", "m", "--kernel", "gaussian(sigma=-1)"], "train: error: --kernel"),
        (["train", "a.svm", "-o", "m", "--kernel", "poly("], "train: error: --kernel 'poly(', position 6"),
        (["eval", "m"], "perceptive eval: error: the following arguments are required: DATA"),
    ],
)
def test_usage_errors_are_two_lines(arguments, told, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n")
    done = perceptive(*arguments, code=2, cwd=tmp_path)
    first, second = done.stderr.splitlines()
    assert told in first
    assert second == f"try '{first.split(': error:')[0]} --help'"
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--bits", "31"], "--bits 31: it must be from 1 to 30"),
        (["--classes", "1"], "--classes 1: give at least two classes, each once"),
        (["--format", "xml"], "--format xml: it must be one of svmlight, vw"),
        (["--words", "1-2"], "--words: this means nothing in svmlight files; leave it out"),
        (["--no-unit-length"], "--unit-length: this means nothing in svmlight files; leave it out"),
        (["--hash-seed", "3"], "--hash-seed is about hashed features; give --bits too"),
        (["--interactions", "all"], "--interactions needs hashed features; give --bits"),
        (["--text", "--words", "3-1"], "--words: 3 to 1 is no range of n-grams; give 1 ≤ shortest ≤ longest ≤ 32"),
        (["--text", "--chars", "1-33"], "--chars: 1 to 33 is no range of n-grams"),
        (["--text", "--words", "0"], "there are neither --words nor --chars; give one of them"),
        (["--task", "tag", "--kernel", "poly(2)"], "not go with --task tag; it is for --task classify, --task rank"),
        (["--task", "tag", "--budget", "2"], "not go with --task tag; it is for --task classify --kernel"),
    ],
)
def test_messages_name_options(options, told, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n")
    assert told in perceptive("train", "a.svm", "-o", "m", *options, code=2, cwd=tmp_path).stderr


def test_formats_that_cannot_be_told_are_asked_for_by_the_option(tmp_path):
    (tmp_path / "a.txt").write_text("to be or not to be\n")
    done = perceptive("train", tmp_path / "a.txt", "-o", tmp_path / "m", code=2)
    assert "a.txt: the format cannot be told from the first lines; give --format" in done.stderr


def test_bad_data_exits_with_1(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\nbroken\n")
    assert "perceptive: " in perceptive("train", tmp_path / "a.svm", "-o", tmp_path / "m", code=1).stderr
    perceptive("train", tmp_path / "nothing.svm", "-o", tmp_path / "m", code=1)


def test_classes_may_begin_with_a_minus(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n")
    perceptive("train", tmp_path / "a.svm", "-o", tmp_path / "m", "--classes", "-1,1", "--quiet")
    told = json.loads(perceptive("inspect", tmp_path / "m", "--json").stdout)
    assert told["learner"]["classes"] == [-1, 1]


def test_a_column_of_interactions_must_be_there(tmp_path):
    (tmp_path / "a.csv").write_text("label,a,b\nx,1,2\ny,2,1\n")
    train = ("train", tmp_path / "a.csv", "-o", tmp_path / "m", "--quiet")
    done = perceptive(*train, "--interactions", "a:c", code=2)
    assert "a.csv:1: --interactions: there is no column 'c' for it; there are 'a', 'b'" in done.stderr
    perceptive(*train, "--interactions", "a:b")


def test_texts_in_a_table_without_a_header(tmp_path):
    (tmp_path / "a.tsv").write_text("spam\twin a prize {now}\nham\tsee you at five, or at six if the train is late\n")
    done = perceptive("train", tmp_path / "a.tsv", "-o", tmp_path / "m", code=2)
    assert "there is no column 'label' for the label; there are 'spam', 'win a prize {now}'; say which" in done.stderr
    assert "--label, or give --format text where lines are label TAB text" in done.stderr


@pytest.mark.parametrize("options", [[], ["--task", "rank"], ["--kernel", "spectrum(2)@text"]])
@pytest.mark.parametrize("form", ["json", "plain", "mark"])
def test_a_json_array_is_answered_with_the_cure(tmp_path, options, form):
    rows = [{"label": "a", "text": "x"}, {"label": "b", "text": "y"}]
    text = json.dumps(rows, indent=None if form == "plain" else 1)
    (tmp_path / "a.json").write_text(("\ufeff" if form == "mark" else "") + text)
    done = perceptive("train", tmp_path / "a.json", "-o", tmp_path / "m", *options, code=1)
    assert "a.json: is one JSON array; write a record a line, as jq -c '.[]' does" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_no_space_left_names_what_is_full(data, model):
    done = perceptive("predict", model, data / "test.svm", "-o", "/dev/full", code=1)
    assert "/dev/full: cannot be written (No space left on device); make room" in done.stderr
    with open("/dev/full", "w") as full:
        program = subprocess.run([*PERCEPTIVE, "eval", model, data / "test.svm"], stdout=full, stderr=subprocess.PIPE)
    assert b"standard output: cannot be written (No space left on device); make room" in program.stderr
    assert program.returncode == 1


# ---------------------------------------------------------------- eval


def test_eval_has_macro_f1_and_log_loss(data, model):
    told = json.loads(perceptive("eval", model, data / "test.svm", "--json").stdout)
    lines = perceptive("predict", model, data / "test.svm", "--proba").stdout.splitlines()
    truth = [int(float(line.split()[0])) for line in (data / "test.svm").read_text().splitlines() if line[0] != "#"]
    said = [int(line.split("\t")[0]) for line in lines]
    proba = np.array([[float(p) for p in line.split("\t")[1:]] for line in lines])
    proba /= proba.sum(axis=1, keepdims=True)  # six digits each
    assert told["metrics"]["macro_f1"] == pytest.approx(f1_score(truth, said, average="macro"))
    assert told["metrics"]["log_loss"] == pytest.approx(log_loss(truth, proba), rel=1e-4)
    shown = perceptive("eval", model, data / "test.svm").stdout
    assert f"macro F1  {told['metrics']['macro_f1']:.4f}" in shown
    assert f"log loss  {told['metrics']['log_loss']:.4f}" in shown


def test_log_loss_needs_probabilities(data):
    perceptive("train", data / "train.svm", "-o", data / "u.model", "--quiet")
    told = json.loads(perceptive("eval", data / "u.model", data / "test.svm", "--json").stdout)
    assert told["metrics"]["log_loss"] is None
    assert "log loss" not in perceptive("eval", data / "u.model", data / "test.svm").stdout
    perceptive("train", data / "train.svm", "-o", data / "v.model", "--quiet", "--hypothesis", "voted")
    told = json.loads(perceptive("eval", data / "v.model", data / "test.svm", "--json").stdout)
    assert 0 < told["metrics"]["log_loss"] < 5


def test_eval_says_when_no_label_is_known(data, model):
    (data / "other.svm").write_text("7 1:1\n8 2:1\n")
    done = perceptive("eval", model, data / "other.svm", "--json")
    assert "note: the model knows none of the labels: the data has 7, 8, the model 0, 1" in done.stderr
    told = json.loads(done.stdout)
    assert told["metrics"] == {"accuracy": 0.0, "macro_f1": 0.0, "auc": None, "log_loss": None}
    assert "knows none of the labels" not in perceptive("eval", model, data / "test.svm").stderr


def test_files_of_another_task_are_answered_with_the_task(tmp_path):
    (tmp_path / "tokens.txt").write_text("Ada B-PER\nleft O\n\nBob B-PER\nsat O\n\n")
    assert "--task tag" in perceptive("train", "tokens.txt", "-o", "m", code=2, cwd=tmp_path).stderr
    (tmp_path / "lists.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    done = perceptive("train", "lists.svm", "-o", "m", "--quiet", cwd=tmp_path)
    assert "note: there are queries (qid:)" in done.stderr
