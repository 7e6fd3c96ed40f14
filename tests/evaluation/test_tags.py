"""Labels that mark no segments are counted tag by tag, on the command line and by rerankers too."""

import json

import pytest

from command_line import perceptive
from perceptive import Reranker, SequenceTagger, load_learner
from perceptive.evaluation.conlleval import evaluate
from perceptive.evaluation.tags import TagEvaluation, evaluate_tags
from perceptive.learners import SequenceLearner
from perceptive.learners.candidates import accuracy, grade

TRAIN = "the DT\ndog NN\nbarks VBZ\n( -LRB-\n\na DT\ncat NN\nsleeps VBZ\n( -LRB-\n\n" * 6
TEST = "the DT\nbird NN\nsleeps NN\n( -LRB-\n\n"  # an unknown word, and a label that is not the usual one


@pytest.fixture(scope="module")
def tags(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tags")
    (folder / "train.conll").write_text(TRAIN)
    (folder / "test.conll").write_text(TEST)
    train = ("train", folder / "train.conll", "--task", "tag", "--holdout", 0.25, "-o", folder / "m", "--quiet")
    perceptive(*train)
    return folder


def test_counts_by_hand():
    result = evaluate_tags([["A", "B", None], ["A"]], [["A", "A", "B"], ["B"]], [[True, False, True], [True]])
    assert (result.tokens, result.right_tokens, result.unknown, result.right_unknown) == (3, 1, 2, 1)
    assert result.confusion == {("B", "A"): 1, ("A", "B"): 1}
    assert result.measures("A") == (50.0, 50.0, 50.0)
    assert result.most_confused(1) == [("A", "B", 1)]
    assert evaluate_tags([["A"]], [["A"]]).unknown_accuracy is None
    assert str(evaluate_tags([["A"]], [["A"]])).startswith("processed 1 token; correct: 1.")
    with pytest.raises(ValueError, match="sentence 0 has 1 labels, but 2 were predicted"):
        evaluate_tags([["A"]], [["A", "B"]])


def test_eval_tells_tags_not_segments(tags):
    said = perceptive("eval", tags / "m", tags / "test.conll").stdout
    assert "accuracy:  75.00%; of 1 unknown word: 100.00%" in said
    assert "most confused: NN taken for VBZ (1)" in said
    assert "            -LRB-: precision: 100.00%" in said
    assert "FB1" not in said
    assert "phrases" not in said
    told = json.loads(perceptive("eval", tags / "m", tags / "test.conll", "--json").stdout)
    assert told["metrics"] == {"accuracy": 75.0, "unknown_accuracy": 100.0, "unknown": 1}
    assert told["confusion"] == [{"label": "NN", "predicted": "VBZ", "tokens": 1}]
    assert told["types"]["NN"] == {"precision": 100.0, "recall": 50.0, "f1": pytest.approx(200 / 3)} | {
        "tokens": 2, "found": 1, "correct": 1,
    }  # fmt: skip


def test_labels_of_a_scheme_are_still_counted_in_segments():
    learner = SequenceLearner(template="word", constraints=None)
    learner.learn(["a", "b"], ["B-X", "O"])
    assert not isinstance(learner.compare([["B-X", "O"]], [["B-X", "O"]]), TagEvaluation)
    assert evaluate([["B-X", "E-X", "S-Y"]], [["B-X", "E-X", "S-Y"]]).there.total() == 2  # BIOES


def test_unknown_words():
    learner = SequenceLearner(template="suffix(2)\n@label[-1]")
    learner.learn(["dogs", "bärk"], ["N", "V"])
    assert learner.unknown([["dogs", "cats"], [("bärk", "x")]]) == [[False, True], [False]]


# ---------------------------------------------------------------- probabilities


def test_tag_tells_how_likely_labels_are(tags):
    lines = perceptive("tag", tags / "m", tags / "test.conll", "--proba").stdout.split("\n")
    label, likely = lines[0].split()[-2:]
    assert label == "DT"
    assert 0.25 < float(likely) <= 1.0
    told = json.loads(perceptive("tag", tags / "m", "--text", "the dog", "--proba", "--json").stdout)
    assert len(told["probability"]) == 2
    perceptive("train", tags / "train.conll", "--task", "tag", "-o", tags / "n", "--quiet")
    said = perceptive("tag", tags / "n", "--text", "the dog", "--proba", code=2).stderr
    assert "--proba needs a tagger that was trained with --holdout or --dev" in said


def test_a_span_is_as_likely_as_its_least_likely_token(tmp_path):
    (tmp_path / "t").write_text("we O\nsaw O\nNew B-LOC\nYork I-LOC\n\nAnn B-PER\nleft O\n\n" * 8)
    train = ("train", tmp_path / "t", "--task", "tag", "--holdout", 0.25, "-o", tmp_path / "m", "--quiet")
    perceptive(*train)
    assert load_learner(tmp_path / "m").temperature > 0
    told = json.loads(
        perceptive("tag", tmp_path / "m", "--text", "we saw New York", "--proba", "--spans", "--json").stdout
    )
    [span] = told["spans"]
    assert span["probability"] == min(told["probability"][2:4])
    line = perceptive("tag", tmp_path / "m", "--text", "we saw New York", "--proba", "--spans").stdout.strip()
    assert line.split("\t")[:4] == ["7", "15", "LOC", "New York"]
    assert float(line.split("\t")[4]) == pytest.approx(span["probability"])


# ---------------------------------------------------------------- weights of triples, and rerankers


def test_heaviest_tells_of_triples_of_labels():
    learner = SequenceLearner(template="word\n@label[-1]\n@label[-2]", hypothesis="last")
    for _ in range(3):
        learner.learn(["a", "a", "a", "b"], ["X", "Y", "X", "Z"])
    found = learner.heaviest(-1)
    triples = {labels: weight for name, labels, weight in found if name == "@label[-2]"}
    assert triples["X → Y → X"] > 0
    assert "Y → X → Z" in triples
    assert learner.heaviest(3) == found[:3]
    assert [abs(weight) for *_, weight in found] == sorted((abs(weight) for *_, weight in found), reverse=True)


def test_rerankers_grade_tags_by_accuracy():
    assert grade(["A", "B", None], ["A", "C", "C"], "accuracy") == -1.0
    assert accuracy(["A", "B"], ["A", "C"]) == 0.5
    X = [s.split() for s in ("dogs run fast", "cats run", "runs hurt dogs", "fast cats run", "dogs hurt", "run cats")]
    y = [["N", "V", "A"], ["N", "V"], ["N", "V", "N"], ["A", "N", "V"], ["N", "V"], ["V", "N"]]
    reranker = Reranker(SequenceTagger(template=["suffix(1)", "@label[-1]"], epochs=2), k=4, folds=2).fit(X, y)
    right = sum(
        a == b for one, other in zip(reranker.predict(X), y, strict=True) for a, b in zip(one, other, strict=True)
    )
    assert reranker.score(X, y) == pytest.approx(right / sum(map(len, y)))
    assert reranker.score(X, y) <= reranker.oracle(X, y) <= 1
