"""``--prune`` and ``--precision``: small models, and what they cost."""

import json
import re

import pytest

from command_line import perceptive, write_lists, write_rows, write_sentences
from perceptive import load_learner


@pytest.fixture
def files(tmp_path):
    write_rows(tmp_path / "a.svm")
    write_lists(tmp_path / "l.svm")
    write_sentences(tmp_path / "s.conll")
    return tmp_path


TASKS = {
    "classify": ["a.svm"],
    "rank": ["l.svm", "--task", "rank"],
    "tag": ["s.conll", "--task", "tag", "--template", "word"],
}


@pytest.mark.parametrize("task", TASKS)
def test_what_it_costs_is_told(files, task):
    def told(*options):
        return json.loads(perceptive("train", *TASKS[task], "-o", "m", "--json", *options, cwd=files).stdout)

    whole = told("--holdout", 0.2)
    assert whole["pruning"] is None
    pruned = told("--holdout", 0.2, "--prune", 0.05)
    assert pruned["pruning"].keys() == {"threshold", "precision", "before", "after"}
    assert pruned["pruning"]["threshold"] == 0.05
    assert pruned["pruning"]["before"] == pytest.approx(max(whole["training"]["held_out"]))
    assert pruned["training"]["held_out"] == whole["training"]["held_out"]
    empty = told("--holdout", 0.2, "--prune", 1e9)
    assert task == "rank" or empty["bytes"] < whole["bytes"]  # rankers of five weights are all header
    lost = empty["pruning"]
    assert lost["after"] < lost["before"]
    unknown = told("--prune", 0.05)["pruning"]
    assert unknown["before"] is unknown["after"] is None
    said = perceptive("train", *TASKS[task], "-o", "m", "--prune", 0.05, cwd=files).stdout
    assert "weights above 0.05; its cost is not known: hold examples out with --holdout" in said
    said = perceptive("train", *TASKS[task], "-o", "m", "--prune", 0.05, "--holdout", 0.2, cwd=files).stdout
    assert "now" in next(line for line in said.splitlines() if line.startswith("pruned"))
    assert not re.search(r"^(played|rounds) +0$", said, re.MULTILINE)


@pytest.mark.parametrize("task", ["classify", "rank"])
@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_weights_are_rounded(files, task, precision):
    train = ("train", *TASKS[task], "--holdout", 0.2, "--json")
    whole = json.loads(perceptive(*train, "-o", "m", cwd=files).stdout)
    small = json.loads(perceptive(*train, "-o", "n", "--precision", precision, cwd=files).stdout)
    assert (small["pruning"]["threshold"], small["pruning"]["precision"]) == (0.0, precision)
    assert small["pruning"]["after"] == pytest.approx(whole["training"]["held_out"][-1], abs=0.2)
    command = "predict" if task == "classify" else "rank"
    assert len(perceptive(command, "n", TASKS[task][0], cwd=files).stdout.splitlines()) > 10


def test_probabilities_are_those_of_the_pruned_model(files):
    perceptive("train", "a.svm", "-o", "m", "--holdout", 0.2, "--prune", 1e9, "--quiet", cwd=files)
    told = json.loads(perceptive("eval", "m", "a.svm", "--json", cwd=files).stdout)
    assert told["metrics"]["log_loss"] < 0.75  # a model that knows nothing says so


def test_the_certificate_is_about_what_was_learned(files):
    train = ("train", "a.svm", "--certify", "--json")
    whole = json.loads(perceptive(*train, "-o", "m", cwd=files).stdout)["certificate"]
    assert json.loads(perceptive(*train, "-o", "n", "--prune", 0.3, cwd=files).stdout)["certificate"] == whole
    assert load_learner(files / "n").rounds == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.svm", "--prune", "-1"], "'-1' is not a number ≥ 0"),
        (["a.svm", "--prune", "nan"], "'nan' is not a number ≥ 0"),
        (["a.svm", "--precision", "int4"], "invalid choice"),
        (["a.svm", "--prune", "1", "--hypothesis", "voted"], "cannot be pruned"),
        (["s.conll", "--task", "tag", "--prune", "1", "--keep", "all"], "cannot be pruned"),
        (
            ["s.conll", "--task", "tag", "--precision", "int8"],
            "--precision does not go with --task tag; it is for --task classify, --task rank",
        ),
        (["a.svm", "--kernel", "linear", "--prune", "1"], "--prune does not go with --task classify --kernel"),
        (["a.svm", "--follow", "--precision", "int8"], "--precision"),
    ],
)
def test_refused(files, arguments, said):
    done = perceptive("train", *arguments, "-o", "m", cwd=files, code=2)
    assert said in done.stderr
    assert not (files / "m").exists()
