"""Rerankers on the command line."""

import json
import subprocess
import sys

import pytest

import perceptive
import perceptive.model_file
from perceptive import LinearRanker, Reranker
from perceptive.evaluation.conlleval import evaluate
from perceptive.learners.reranking import RerankingLearner
from tagger_data import ambiguous_names
from test_reranker import BASE, run, write_conll


@pytest.fixture(scope="module")
def sentences():
    return ambiguous_names(120)


@pytest.fixture
def files(sentences, tmp_path, capsys):
    X, y = sentences
    write_conll(tmp_path / "train.conll", X[:90], y[:90])
    write_conll(tmp_path / "test.conll", X[90:], y[90:])
    (tmp_path / "template").write_text("word\n@label[-1]\n")
    code, _, err = run(
        capsys, "train", tmp_path / "train.conll", "--task", "tag", "--template", tmp_path / "template", "--epochs", 5,
        "-o", tmp_path / "ner.model", "--quiet",
    )  # fmt: skip
    assert code == 0, err
    return tmp_path


def test_parameters_of_the_default_rule_are_taken(files, sentences, capsys):
    """``--C`` alone was refused, as if the rule were the perceptron; the warning about few sentences names it."""
    model = files / "c.model"
    how = ("--task", "rerank", "--base", files / "ner.model", "--candidates", 10, "--folds", 3, "-o", model)
    code, _, err = run(capsys, "train", files / "train.conll", *how, "--C", 0.1, "--quiet")
    assert code == 0, err
    ranker = LinearRanker(rule="pa1", C=0.1, pairs="best", cost="grade", bits=20)
    expected = Reranker(BASE, k=10, folds=3, ranker=ranker).fit(sentences[0][:90], sentences[1][:90])
    loaded = perceptive.load_learner(model)
    assert (loaded.ranker.parameters.rule, loaded.ranker.parameters.C) == ("pa1", 0.1)
    assert loaded.predict_many([[(word,) for word in x] for x in sentences[0][90:]]) == expected.predict(
        sentences[0][90:]
    )
    code, _, err = run(capsys, "train", files / "train.conll", *how, "--rule", "perceptron", "--C", 0.1)
    assert code == 2
    assert "--C has no effect with --rule perceptron" in err


def test_train_tag_and_eval(files, sentences, capsys):
    X, y = [[[(word,) for word in x] for x in sentences[0]], sentences[1]]
    base, model = files / "ner.model", files / "rerank.model"
    options = ("--task", "rerank", "--base", base, "--candidates", 10, "--folds", 3, "-o", model)
    code, out, err = run(capsys, "train", files / "train.conll", *options, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["data"]["examples"] == 90
    in_python = Reranker(BASE, k=10, folds=3).fit(X[:90], y[:90])
    assert told["learner"]["oracle"] == in_python.oracle_
    assert told["training"]["mistakes"] == in_python.ranker_.mistakes_.tolist()
    expected = in_python.predict(X[90:])
    code, out, err = run(capsys, "tag", model, files / "test.conll", "--label-column", -1)
    assert code == 0, err
    tagged = [[line.split()[-1] for line in block.splitlines()] for block in out.strip().split("\n\n")]
    assert tagged == expected
    code, out, err = run(capsys, "eval", model, files / "test.conll", "--json")
    assert code == 0, err
    assert json.loads(out)["metrics"]["f1"] == pytest.approx(evaluate(y[90:], expected).f1)
    better = json.loads(out)["metrics"]["f1"]
    assert better > json.loads(run(capsys, "eval", base, files / "test.conll", "--json")[1])["metrics"]["f1"] + 10
    code, out, err = run(capsys, "tag", model, files / "test.conll", "--label-column", -1, "--kbest", 2, "--json")
    assert code == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert lines[0]["labels"] == expected[0]
    assert lines[0]["score"] >= lines[1]["score"]
    code, out, err = run(capsys, "tag", model, "--text", "so N1 N2 together", "--spans")
    assert code == 0, err
    assert "N1 N2" in out
    code, out, err = run(capsys, "inspect", model, "--json")
    assert code == 0, err
    assert json.loads(out)["learner"]["k"] == 10
    code, out, err = run(capsys, "train", files / "train.conll", *options, "--base-epochs", 2, "--rule", "perceptron")
    assert code == 0, err
    assert "oracle" in out
    loaded = perceptive.load_learner(model)
    assert isinstance(loaded, RerankingLearner)
    assert loaded.ranker.parameters.rule == "perceptron"


def test_names_of_features_and_the_certificate(files, capsys):
    train, options = files / "train.conll", ("--task", "rerank", "--base", files / "ner.model", "--folds", 3)
    told = {}
    for name, more in (("plain", ()), ("named", ("--invert-hash", "--certify"))):
        assert run(capsys, "train", train, *options, *more, "-o", files / name, "--quiet")[0] == 0
        told[name] = json.loads(run(capsys, "inspect", files / name, "--json")[1])["weights"][0]["features"]
        assert run(capsys, "tag", files / name, train, "--label-column", -1)[0] == 0
    assert [one["column"] for one in told["plain"]][:3] == [one["column"] for one in told["named"]][:3]
    assert not any(one["name"] for one in told["plain"])
    assert "P 0 around so together" in [one["name"] for one in told["named"]]
    assert "P 0 " in run(capsys, "inspect", files / "named")[1]
    certificate = json.loads(run(capsys, "certify", files / "named", train, "--json")[1])["certificate"]
    assert certificate["holds"]
    assert not certificate["hypothetical"]
    other = json.loads(run(capsys, "certify", files / "named", files / "test.conll", "--json")[1])
    assert other["certificate"]["hypothetical"]


def test_taggers_of_folds_make_the_epochs_of_the_base_or_those_asked_for(files, sentences, capsys):
    """Also where the base has learned from more sentences."""
    base, part, model = files / "ner.model", files / "part.conll", files / "rerank.model"
    write_conll(part, *(some[:30] for some in sentences))
    told = {}
    for given in ((), ("--base-epochs", 5), ("--base-epochs", 1)):
        how = ("--task", "rerank", "--base", base, "--folds", 3, "-o", model, *given)
        code, out, err = run(capsys, "train", part, *how, "--json")
        assert code == 0, err
        told[given] = json.loads(out)["training"]["mistakes"]
        certificate = json.loads(run(capsys, "certify", model, part, "--json")[1])["certificate"]
        assert not certificate["hypothetical"]
    assert told[()] == told["--base-epochs", 5] != told["--base-epochs", 1]
    loaded = perceptive.load(model)
    assert not loaded.certificate([[(word,) for word in x] for x in sentences[0][:30]], sentences[1][:30]).hypothetical
    perceptive.save(loaded, model)
    assert perceptive.load_learner(model).fold_epochs == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "needs --base MODEL"),
        (("--base", "ner.model", "--template", "ner"), "--template does not go with --task rerank"),
        (("--base", "ner.model", "--multiclass", "ovr"), "--multiclass does not go"),
        (("--base", "ner.model", "--bits", "3"), "--bits does not go"),
        (("--base", "ner.model", "--kernel", "linear"), "--kernel does not go"),
        (("--base", "ner.model", "--holdout", "0.1"), "--holdout does not go"),
        (("--base", "ner.model", "--folds", "1000"), "too few for 1000 folds; give more, or choose fewer folds ("),
        (("--base", "train.conll"), "train.conll"),
    ],
)
def test_bad_commands(files, capsys, monkeypatch, options, message):
    monkeypatch.chdir(files)
    code, _, err = run(capsys, "train", "train.conll", "--task", "rerank", "-o", "m", *options)
    assert code == (2 if "--" in message else 1)
    assert message in err
    assert not (files / "m").exists()


def test_a_reranker_continues_with_its_own_tagger_and_parameters(files, capsys):
    model, train = files / "rerank.model", files / "train.conll"
    how = ("--base", files / "ner.model", "--folds", 2, "--candidates", 5)
    assert run(capsys, "train", train, "--task", "rerank", *how, "-o", model, "--quiet")[0] == 0
    first = perceptive.load_learner(model)
    going_on = ("train", train, "--task", "rerank", "--continue", model, "-o", files / "m")
    code, _, err = run(capsys, *going_on, "--candidates", 5, "--rule", "pa1", "--epochs", 2, "--quiet")
    assert code == 0, err
    second = perceptive.load_learner(files / "m")
    assert second.rounds > first.rounds
    assert second.tagger.rounds == first.tagger.rounds
    changed = ("--candidates", 7, "--folds", 3, "--target", "exact", "--rule", "pa", "--pair-cost", "position")
    code, _, err = run(capsys, *going_on, *changed)
    assert code == 2
    assert "leave out --candidates, --folds, --target, --rule, --pair-cost" in err
    code, _, err = run(capsys, *going_on, "--base", files / "ner.model")
    assert code == 2
    assert "proposes with the tagger that it was trained with; leave out --base" in err


def test_rerankers_are_not_mixed_up(files, capsys):
    base, model, train = files / "ner.model", files / "rerank.model", files / "train.conll"
    assert run(capsys, "train", train, "--task", "rerank", "--base", base, "--folds", 2, "-o", model, "--quiet")[0] == 0
    assert "is a reranker" in run(capsys, "predict", model, train)[2]
    assert "is not a tagger" in run(capsys, "train", train, "--task", "rerank", "--base", model, "-o", files / "x")[2]
    assert "is a reranker; use perceptive tag" in run(capsys, "rank", model, train)[2]
    for option, what in (("--margin", "margins of tokens"), ("--proba", "probabilities")):
        code, _, err = run(capsys, "tag", model, train, option, "--label-column", -1)
        assert (code, f"{option}: a reranker has no {what}; ask its tagger, or for --kbest" in err) == (2, True)
    assert "20 at most" in run(capsys, "tag", model, train, "--kbest", 21, "--label-column", -1)[2]
    told = run(capsys, "train", train, "--task", "tag", "--folds", 2, "-o", files / "x")[2]
    assert "--folds does not go with --task tag; it is for --task rerank" in told
    assert "would be lost" in run(capsys, "train", train, "--task", "rerank", "--base", base, "-o", base)[2]


def test_the_command_goes_without_scikit_learn(files):
    code = (
        "import sys; from perceptive.cli import main; "
        "main(['train', 'train.conll', '--task', 'rerank', '--base', 'ner.model', '-o', 'm', '--quiet']); "
        "main(['tag', 'm', 'test.conll', '--label-column', '-1', '-o', 'out']); "
        "print({'sklearn', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=files)
    assert done.stdout == "set()\n", done.stderr
