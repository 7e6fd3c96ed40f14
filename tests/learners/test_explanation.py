"""Explanations add up to the scores that they explain."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

import perceptive
from command_line import perceptive as run
from command_line import write_rows, write_sentences
from perceptive import KernelClassifier, KernelRanker, LinearClassifier, LinearRanker, Reranker, SequenceTagger
from perceptive.kernels import SubsetTree
from perceptive.learners import probing

X, Y = load_iris(return_X_y=True)
NAMES = ["setosa", "versicolor", "virginica"]


def total(told):
    return told.bias + sum(part.contribution for part in told.parts) + told.rest


def score_of(clf, x, k):
    scores = clf.decision_function(x)[0]
    return scores[k] if np.ndim(scores) else (scores if k else -scores)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"bias": "auto"},
        {"multiclass": "ovr"},
        {"rule": "arow"},
        {"hypothesis": "last", "bias": 2.0},
        {"normalize": True},
    ],
    ids=str,
)
def test_linear(classes, parameters):
    keep = classes > Y
    clf = LinearClassifier(**parameters).fit(X[keep], np.array(NAMES)[Y[keep]])
    for x in X[keep][::17]:
        told = clf.explain(x)
        assert told.label == clf.predict(x[None])[0]
        for k, label in enumerate(clf.classes_.tolist()):
            told = clf.explain(x, label=label, top=2)
            assert told.label == label
            assert len(told.parts) == 2
            assert total(told) == pytest.approx(told.score)
            assert told.score == pytest.approx(score_of(clf, x[None], k), rel=1e-5, abs=1e-5)
            sizes = [abs(part.contribution) for part in told.parts]
            assert sizes == sorted(sizes, reverse=True)
    with pytest.raises(ValueError, match="no class 'rose'; there are setosa"):
        clf.explain(X[0], label="rose")


def test_one_against_one_and_votes():
    clf = LinearClassifier(multiclass="ovo", keep="all").fit(X, Y)
    told = clf.explain(X[70])
    assert told.label == clf.predict(X[70:71])[0]
    assert told.score > 0
    with pytest.raises(ValueError, match="a vote has no single vector"):
        clf.explain(X[0], hypothesis="voted")


@pytest.mark.parametrize("parameters", [{}, {"bits": 12}])
def test_names_of_dicts(parameters):
    dicts = [{"word": "win", "money": 2.0}, {"word": "see", "you": 1.0}] * 5
    clf = LinearClassifier(**parameters).fit(dicts, ["spam", "ham"] * 5)
    told = clf.explain({"word": "win", "money": 1.0, "unknown": 5})
    assert {part.name for part in told.parts} == {"word=win", "money"}
    assert all(part.value == 1.0 for part in told.parts)
    assert total(told) == pytest.approx(abs(clf.decision_function([{"word": "win", "money": 1.0}])[0]))
    assert {"column", "value", "weight", "contribution", "name"} == told.to_dict()["parts"][0].keys()


def test_names_of_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    clf = LinearClassifier().fit(frame, Y)
    assert {part.name for part in clf.explain(X[0]).parts} <= {"a", "b", "c", "d"}
    frame["kind"] = np.array(NAMES)[Y]
    clf = LinearClassifier().fit(frame, Y)
    told = clf.explain(frame[:1])
    assert "kind=setosa" in {part.name for part in told.parts}
    assert clf.explain(frame.iloc[0]) == told == clf.explain(frame.to_dict("records")[0])


@pytest.mark.parametrize("parameters", [{}, {"kernel": "poly(2)", "bias": 1.0}, {"kernel": "gaussian(sigma=2)"}])
@pytest.mark.parametrize("classes", [2, 3])
def test_kernel(parameters, classes):
    keep = classes > Y
    clf = KernelClassifier(**parameters).fit(X[keep], Y[keep])
    told = clf.explain(X[60], top=3)
    assert told.label == clf.predict(X[60:61])[0]
    assert total(told) == pytest.approx(told.score)
    assert told.score == pytest.approx(score_of(clf, X[60:61], told.label), rel=1e-4)
    assert all(part.name.startswith("support ") for part in told.parts)


def test_tokens(tmp_path):
    x = [("the", "DT"), ("dog", "NN"), ("barks", "VBZ")]
    template = ["word", "pos", "word[-1]", "@label[-1]"]
    tagger = SequenceTagger(template=template, epochs=5).fit([x, x[:2]] * 4, [["B", "I", "O"], ["B", "I"]] * 4)
    told = tagger.explain(x)
    assert [one.label for one in told] == tagger.predict([x])[0]
    [(_, best)] = tagger.predict_kbest([x], 1)[0]
    assert sum(one.score for one in told) == pytest.approx(best)
    names = {part.name for one in told for part in one.parts}
    assert "word[0] = dog" in names
    assert any(name.startswith("@label[-1] = ") for name in names)


PEOPLE = [s.split() for s in ("Ann Lee met Bob", "we saw Eve Fox today", "Bob Fox left", "the Fox met us")]
TAGS = [["B-P", "I-P", "O", "B-P"], ["O", "O", "B-P", "I-P", "O"], ["B-P", "I-P", "O"], ["O", "O", "O", "O"]]


@pytest.mark.parametrize("how", [{"encoding": "bioes"}, {"segments": True}, {"beam": 2}])
def test_tokens_of_segments(how):
    tagger = SequenceTagger(template=["word", "shape", "word[-1]", "@label[-1]"], epochs=3, **how).fit(PEOPLE, TAGS)
    for x in PEOPLE:
        told = tagger.explain(x)
        assert [one.label for one in told] == tagger.predict([x])[0]
        [(_, best)] = tagger.predict_kbest([x], 1)[0]
        assert sum(one.score for one in told) == pytest.approx(best, abs=1e-4)
    names = {part.name for one in tagger.explain(PEOPLE[0]) for part in one.parts}
    assert "segments" not in how or any(name.startswith("segment ") for name in names)
    with pytest.raises(ValueError, match="no single vector"):
        tagger.explain(PEOPLE[0], hypothesis="voted")


@pytest.mark.parametrize("kernel", [None, SubsetTree(0.5)])
def test_the_choice_of_a_reranker(kernel):
    tagger = SequenceTagger(template=["shape", "@label[-1]"])
    reranker = Reranker(tagger, k=4, folds=2, kernel=kernel).fit(PEOPLE * 3, TAGS * 3)
    for x in PEOPLE:
        told = reranker.explain(x)
        assert told.label == reranker.predict([x])[0]
        assert told.score == pytest.approx(reranker.learner_.score(x), abs=1e-4)
    for model in (reranker, tagger.fit(PEOPLE, TAGS)):
        with pytest.raises(ValueError, match="a sentence is explained by the labels that it gets"):
            model.explain(PEOPLE[0], label="B-PER")


def test_candidates_of_a_ranker():
    lists = [[[3.0, 1], [1, 2], [2, 2]], [[0, 4], [5, 5]]]
    ranker = LinearRanker().fit(lists, [0, 1])
    told = ranker.explain([2.0, 3.0])
    assert told.label is None
    assert told.score == pytest.approx(ranker.decision_function([[[2.0, 3.0]]])[0])
    ranker = KernelRanker(kernel="poly(2)").fit(lists, [0, 1])
    told = ranker.explain([2.0, 3.0])
    assert told.score == pytest.approx(ranker.decision_function([[[2.0, 3.0]]])[0])
    assert all(part.name.startswith("support ") for part in told.parts)
    with pytest.raises(ValueError, match="candidates have a score and no label"):
        ranker.explain([2.0, 3.0], label="best")


def test_command(tmp_path):
    write_rows(tmp_path / "t.svm", n=40, classes=3)
    run("train", tmp_path / "t.svm", "-o", tmp_path / "m", "--quiet")
    clf = perceptive.load(tmp_path / "m")
    rows, y = perceptive.streams.load(tmp_path / "t.svm")
    lines = run("explain", tmp_path / "m", tmp_path / "t.svm", "--json", "--top", 3).stdout.splitlines()
    assert len(lines) == len(y)
    for told, scores in zip(map(json.loads, lines[:20]), clf.decision_function(rows[:20]), strict=True):
        assert told.keys() == {"label", "score", "bias", "parts", "rest"}
        assert told["score"] == pytest.approx(scores.max(), rel=1e-4)
        parts = sum(part["contribution"] for part in told["parts"])
        assert told["bias"] + told["rest"] + parts == pytest.approx(told["score"])
    told = run("explain", tmp_path / "m", tmp_path / "t.svm", "--class", "1").stdout
    assert told.startswith("1  score ")
    assert "no class" in run("explain", tmp_path / "m", tmp_path / "t.svm", "--class", "x", code=2).stderr
    (tmp_path / "mail.txt").write_text("spam\twin money\nham\tsee you\n" * 5)
    run("train", tmp_path / "mail.txt", "--text", "-o", tmp_path / "m", "--quiet")
    told = run("explain", tmp_path / "m", "-", "--unlabelled", input="money for you\n").stdout
    assert "money" in told
    assert "you" in told
    assert {part.name for part in perceptive.load(tmp_path / "m").explain("money for you").parts} == {"money", "you"}
    run("train", tmp_path / "mail.txt", "--text", "--kernel", "linear", "-o", tmp_path / "m", "--quiet")
    assert "support 0" in run("explain", tmp_path / "m", tmp_path / "mail.txt").stdout
    (tmp_path / "o.jsonl").write_text('{"text": "abab", "label": 0}\n{"text": "cdcd", "label": 1}\n' * 3)
    run("train", tmp_path / "o.jsonl", "--kernel", "spectrum(2)@text", "-o", tmp_path / "m", "--quiet")
    assert "support 1" in run("explain", tmp_path / "m", tmp_path / "o.jsonl").stdout
    write_sentences(tmp_path / "s.conll", n=20)
    run("train", tmp_path / "s.conll", "--task", "tag", "-o", tmp_path / "m", "--quiet", "--epochs", 3)
    first = json.loads(run("explain", tmp_path / "m", tmp_path / "s.conll", "--json").stdout.splitlines()[0])
    assert first.keys() == {"tokens", "labels", "explanations"}
    assert len(first["tokens"]) == len(first["explanations"])
    assert [one["label"] for one in first["explanations"]] == first["labels"]
    assert "score" in run("explain", tmp_path / "m", tmp_path / "s.conll").stdout


def parts_of(told):
    return told["bias"] + told["rest"] + sum(part["contribution"] for part in told["parts"])


WORDS = [
    {"candidates": [{"shop": "a", "price": 3.0}, {"shop": "b", "price": 1.0}], "best": 1, "qid": "bread"},
    {"candidates": [{"shop": "b", "price": 4.0}, {"shop": "a", "price": 2.0}, {"shop": "c"}], "best": 1},
]


@pytest.mark.parametrize("options", [(), ("--kernel", "poly(2)")], ids=str)
@pytest.mark.parametrize("format", ["svm", "jsonl"])
def test_command_of_rankers(tmp_path, options, format):
    data, model = tmp_path / f"lists.{format}", tmp_path / "m"
    if format == "svm":
        data.write_text("1 qid:4 1:3 2:1\n0 qid:4 1:1\n0 qid:9 2:2\n1 qid:9 1:2 3:1\n0 qid:9 2:3\n")
    else:
        data.write_text("".join(json.dumps(one) + "\n" for one in WORDS))
    run("train", data, "--task", "rank", *options, "-o", model, "--quiet")
    ranked = [json.loads(line) for line in run("rank", model, data, "--json").stdout.splitlines()]
    lines = run("explain", model, data, "--json", "--top", 1).stdout.splitlines()
    for told, order in zip(map(json.loads, lines), ranked, strict=True):
        assert told["order"] == order["order"]
        assert told.get("qid") == order.get("qid")
        for one, score in zip(told["explanations"], order["scores"], strict=True):
            assert one["score"] == pytest.approx(score, rel=1e-4, abs=1e-5) == parts_of(one)
    text = run("explain", model, data).stdout
    best = ranked[0]["order"][0]
    assert text.startswith(f"query {'4' if format == 'svm' else 'bread'}, candidate {best}: score ")
    assert ("list 2, candidate " if format == "jsonl" else "query 9, candidate ") in text
    assert ("support " if options else "shop=b" if format == "jsonl" else "\n  1 ") in text


def test_command_of_rankers_of_strings(tmp_path):
    lines = [{"candidates": ["recieve", "receive"], "best": 1}, {"candidates": ["weird", "wierd"], "best": 0}]
    data, model = tmp_path / "lists.jsonl", tmp_path / "m"
    data.write_text("".join(json.dumps(one) + "\n" for one in lines))
    run("train", data, "--task", "rank", "--kernel", "spectrum(2)", "-o", model, "--quiet")
    ranked = [json.loads(line) for line in run("rank", model, data, "--json").stdout.splitlines()]
    told = [json.loads(line) for line in run("explain", model, data, "--json").stdout.splitlines()]
    assert [one["order"] for one in told] == [one["order"] for one in ranked]
    assert told[0]["explanations"][0]["score"] == pytest.approx(ranked[0]["scores"][0])


def test_command_of_rerankers(tmp_path):
    write_sentences(tmp_path / "s.conll", n=20)
    run("train", tmp_path / "s.conll", "--task", "tag", "-o", tmp_path / "t", "--quiet", "--epochs", 2)
    how = ("--task", "rerank", "--base", tmp_path / "t", "--folds", 2, "--candidates", 3)
    run("train", tmp_path / "s.conll", *how, "-o", tmp_path / "m", "--quiet")
    tagged = [
        json.loads(line) for line in run("tag", tmp_path / "m", tmp_path / "s.conll", "--json").stdout.splitlines()
    ]
    told = run("explain", tmp_path / "m", tmp_path / "s.conll", "--json").stdout.splitlines()
    for one, truth in zip(map(json.loads, told), tagged, strict=True):
        assert (one["tokens"], one["label"]) == (truth["tokens"], truth["labels"])
        assert parts_of(one) == pytest.approx(one["score"])
    text = run("explain", tmp_path / "m", tmp_path / "s.conll").stdout
    assert text.startswith(" ".join(tagged[0]["labels"]) + "  score ")


def test_command_draws_bars(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setattr("perceptive.cli.tasks.explained.MOST_BARS", 3)
    write_rows(tmp_path / "t.svm", n=30)
    run("train", tmp_path / "t.svm", "-o", tmp_path / "m", "--quiet")
    told = run("explain", tmp_path / "m", tmp_path / "t.svm", "--plot", tmp_path / "why.svg", "--top", 2)
    assert "shows the first 3 explanations" in told.stderr
    assert told.stdout == ""
    assert (tmp_path / "why.svg").read_text().startswith("<?xml")
    wrong = run("explain", tmp_path / "m", tmp_path / "t.svm", "--plot", tmp_path / "why.svg", "--json", code=2)
    assert "leave out --json" in wrong.stderr
    wrong = run("explain", tmp_path / "m", tmp_path / "t.svm", "--plot", tmp_path / "why.txt", code=2)
    assert "why.txt: no kind of picture; name it .pdf, .png, .svg" in wrong.stderr


def test_command_of_votes(tmp_path):
    write_rows(tmp_path / "t.svm")
    run("train", tmp_path / "t.svm", "--hypothesis", "voted", "-o", tmp_path / "m", "--quiet")
    assert "choose --hypothesis last" in run("explain", tmp_path / "m", tmp_path / "t.svm", code=2).stderr
    assert run("explain", tmp_path / "m", tmp_path / "t.svm", "--hypothesis", "last").stdout


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from perceptive.plots import plot_explanation

    ax = plot_explanation(LinearClassifier().fit(X, Y).explain(X[0]), top=2)
    assert len(ax.patches) == 4
    assert ax.get_title().startswith("0: score")


@pytest.mark.parametrize("how", [{}, {"segments": True}, {"template": lambda x, t: {"w": x[t], "before": x[t - 1]}}])
def test_long_sentences_are_read_in_parts(how, monkeypatch):
    """A probe has a label for each token that it is shown, and tables of all pairs of labels."""
    tagger = SequenceTagger(**{"template": ["word[-2:2]", "shape[3]", "@label[-1]"], **how}, epochs=3).fit(PEOPLE, TAGS)
    x = [word for sentence in PEOPLE for word in sentence]
    whole = [(one.label, sorted(one.parts)) for one in tagger.explain(x)]
    monkeypatch.setattr(probing, "WINDOW", 2)
    assert [(one.label, sorted(one.parts)) for one in tagger.explain(x)] == whole


def test_a_string_is_no_sentence():
    tagger = SequenceTagger().fit(PEOPLE, TAGS)
    with pytest.raises(TypeError, match="got a value of type 'str'; give a list of sentences, each a list with one"):
        tagger.explain("Ann Lee")
