"""``--weight`` of files of sentences: a comment before the tokens, or a key of the record."""

import json

import numpy as np
import pytest

from command_line import perceptive
from perceptive import Reranker, SequenceTagger, load_learner
from perceptive.learners import SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.training import InMemory, Run, train

TEXTS = ["ANN MET BOB", "WE SAW EVE", "DAN LEFT", "THEY MET ANN", "BOB SAW DAN", "WE LEFT", "BOB MET"]
LABELS = ["B-P O B-P", "O O B-P", "B-P O", "O O B-P", "B-P O B-P", "O O", "O B-P"]
WEIGHTS = [2.0, 1.0, 0.5, 1.0, 3.0, 1.0, 0.0]
OPTIONS = ("--template", "word\n@label[-1]", "--epochs", "3")


def columns():
    blocks = []
    for text, labels, weight in zip(TEXTS, LABELS, WEIGHTS, strict=True):
        rows = [f"{word} {label}" for word, label in zip(text.split(), labels.split(), strict=True)]
        blocks.append("\n".join([*([f"# weight = {weight}"] if weight != 1 else []), *rows]) + "\n")
    return "\n".join(blocks)


def universal():
    blocks = []
    for text, labels, weight in zip(TEXTS, LABELS, WEIGHTS, strict=True):
        pairs = zip(text.split(), labels.split(), strict=True)
        rows = [f"{i}\t{w}\t_\t{label}\t_\t_\t_\t_\t_\t_" for i, (w, label) in enumerate(pairs, 1)]
        blocks.append("\n".join([f"# text = {text}", f"# weight = {weight}", *rows]) + "\n")
    return "\n".join(blocks)


def records():
    lines = []
    for text, labels, weight in zip(TEXTS, LABELS, WEIGHTS, strict=True):
        spans, at = [], 0
        for word, label in zip(text.split(), labels.split(), strict=True):
            spans += [[at, at + len(word), "P"]] if label == "B-P" else []
            at += len(word) + 1
        lines.append(json.dumps({"text": text, "label": spans, "weight": weight}))
    return "\n".join(lines) + "\n"


FILES = {
    "a.conll": columns(),
    "a.conllu": universal(),
    "a.jsonl": records(),
}


def bits(learner):
    return {name: array.tobytes() for name, array in learner.state().arrays.items()}


@pytest.mark.parametrize("name", FILES)
def test_weights_are_those_of_sample_weight(name, tmp_path):
    (tmp_path / name).write_text(FILES[name])
    perceptive("train", name, "--task", "tag", *OPTIONS, "--weight", "weight", "-o", "m", "--quiet", cwd=tmp_path)
    learner = SequenceLearner(template="word\n@label[-1]", hypothesis="averaged")
    X = [[(word,) for word in text.split()] for text in TEXTS]
    dataset = learner.dataset(X, [labels.split() for labels in LABELS], np.array(WEIGHTS), epochs=3)
    train(Run.of(learner, TrainingParameters(epochs=3)), InMemory(dataset, True))
    assert bits(load_learner(tmp_path / "m")) == bits(learner)
    certificate = perceptive("certify", "m", name, "--weight", "weight", "--json", cwd=tmp_path).stdout
    assert not json.loads(certificate)["certificate"]["hypothetical"]
    assert json.loads(perceptive("certify", "m", name, "--json", cwd=tmp_path).stdout)["certificate"]["hypothetical"]


def test_streams_and_rerankers_take_them(tmp_path):
    (tmp_path / "a.conll").write_text(3 * (FILES["a.conll"] + "\n"))
    models = {}
    for name, weight in (("plain", ()), ("weighted", ("--weight", "weight"))):
        perceptive("train", "a.conll", "--task", "tag", *OPTIONS[:2], "--follow", *weight, "-o", "t", "--quiet",
                   cwd=tmp_path)  # fmt: skip
        perceptive("train", "a.conll", "--task", "rerank", "--base", "t", "--folds", "2", *weight, "-o", "r", "--quiet",
                   cwd=tmp_path)  # fmt: skip
        models[name] = load_learner(tmp_path / "r")
    assert bits(models["plain"].tagger) != bits(models["weighted"].tagger)
    assert bits(models["plain"].ranker) != bits(models["weighted"].ranker)


def test_a_reranker_learns_as_with_sample_weight(tmp_path):
    (tmp_path / "a.conll").write_text(3 * (FILES["a.conll"] + "\n"))
    weight = ("--weight", "weight", "--quiet")
    perceptive("train", "a.conll", "--task", "tag", *OPTIONS, *weight, "-o", "t", cwd=tmp_path)
    how = ("--task", "rerank", "--base", "t", "--folds", "2", "--base-epochs", "3")
    perceptive("train", "a.conll", *how, *weight, "-o", "r", cwd=tmp_path)
    X = 3 * [[(word,) for word in text.split()] for text in TEXTS]
    y = 3 * [labels.split() for labels in LABELS]
    reranker = Reranker(SequenceTagger(template="word\n@label[-1]", epochs=3), folds=2)
    reranker.fit(X, y, sample_weight=3 * WEIGHTS)
    found = load_learner(tmp_path / "r")
    assert bits(found.tagger) == bits(reranker.tagger_.learner_)
    assert bits(found.ranker) == bits(reranker.ranker_.learner_)
    assert found.oracle == reranker.oracle_


@pytest.mark.parametrize(
    ("text", "message", "code"),
    [
        ("a O\n", "--weight w: no sentence has it; write a comment # NAME = 2 before its tokens", 2),
        ("# w = x\na O\n", "a.conll:1: w is 'x'; a weight is a finite number, not negative", 1),
        ("# w = -1\na O\n", "a.conll:1: w is '-1'; a weight is a finite number, not negative", 1),
        ("# w = inf\na O\n", "a.conll:1: w is 'inf'; a weight is a finite number, not negative", 1),
    ],
)
def test_what_is_no_weight_is_refused(text, message, code, tmp_path):
    (tmp_path / "a.conll").write_text(text)
    done = perceptive("train", "a.conll", "--task", "tag", "--weight", "w", "-o", "m", cwd=tmp_path, code=None)
    assert message in done.stderr
    assert done.returncode == code
    assert not (tmp_path / "m").exists()


def test_rules_with_hard_constraints_take_none(tmp_path):
    (tmp_path / "a.conll").write_text(FILES["a.conll"])
    done = perceptive("train", "a.conll", "--task", "tag", "--rule", "mira", "--weight", "weight", "-o", "m",
                      cwd=tmp_path, code=2)  # fmt: skip
    assert "weights other than 0 and 1 do not go with --rule mira" in done.stderr


def test_workers_do_not_know_them(tmp_path):
    (tmp_path / "a.conll").write_text(FILES["a.conll"])
    done = perceptive("train", "a.conll", "--task", "tag", "--weight", "weight", "--cluster", "local", "--shards", "2",
                      "-o", "m", cwd=tmp_path, code=2)  # fmt: skip
    assert "--weight does not go with --cluster; leave it out, or train here" in done.stderr


def test_a_wrong_weight_is_told_with_its_line(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("# weight = abc\n# text = Hi Ann\nHi O\nAnn B-P\n")
    done = perceptive("train", path, "--task", "tag", "--weight", "weight", "-o", tmp_path / "m", code=1)
    assert f"{path}:1: weight is 'abc'" in done.stderr
