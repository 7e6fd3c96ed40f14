"""Lists in files: streams, the cache, and what the command line does with rankers."""

import json

import numpy as np
import pytest

import perceptive
from list_data import lists_by_weights
from perceptive import KernelRanker, LinearClassifier, LinearRanker, streams
from perceptive.cli import main
from perceptive.evaluation import metrics
from perceptive.learners import RankingLearner
from perceptive.models.registry import load_learner
from perceptive.parameters import TrainingParameters
from perceptive.training.blocks import ListBlocks
from perceptive.training.loop import Run, train
from perceptive.training.source import FileSource
from test_linear_ranker import flat

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def lists():
    return lists_by_weights(150)


def write_svmlight(path, X, y):
    with open(path, "w") as file:
        for t, (xs, best) in enumerate(zip(X, y, strict=True)):
            for j, x in enumerate(xs):
                entries = " ".join(f"{i + 1}:{v:.17g}" for i, v in enumerate(x))
                file.write(f"{int(j == best)} qid:{t} {entries}\n")


def test_lists_are_taken_in_the_order_asked_for(tmp_path, lists):
    """Also where that is all of them; and what is taken is a copy."""
    from perceptive.streams.lists import join_lists, read_lists

    write_svmlight(tmp_path / "rank.svm", *lists)
    stream = streams.open(tmp_path / "rank.svm")
    whole = join_lists(list(read_lists(stream)), stream.dtype)
    back = whole.take(np.arange(len(whole))[::-1])
    assert np.diff(back.starts).tolist() == np.diff(whole.starts)[::-1].tolist()
    again = back.take(np.arange(len(back))[::-1])
    for name in ("indptr", "indices", "data"):
        one, other = getattr(whole.examples, name), getattr(again.examples, name)
        assert (one == other).all()
        assert not np.may_share_memory(one, other)
    assert (whole.grades == again.grades).all()


@pytest.mark.parametrize("block", [200, 3000, 1 << 20])
def test_lists_may_span_blocks(tmp_path, lists, block, monkeypatch):
    from perceptive import streams
    from perceptive.streams import blocks
    from perceptive.streams.lists import read_lists

    X, y = lists
    path = tmp_path / "rank.svm"
    write_svmlight(path, X, y)
    monkeypatch.setattr(blocks, "BLOCK", block)
    parts = list(read_lists(streams.open(path, threads=2)))
    assert len(parts) > 10 if block < 1 << 20 else len(parts) == 2  # the last list waits for what may follow
    sizes = np.concatenate([np.diff(part.starts) for part in parts])
    assert sizes.tolist() == [len(xs) for xs in X]
    assert [name for part in parts for name in part.names] == list(range(len(X)))
    rows = np.vstack([part.examples.X(6).toarray() for part in parts])
    assert (rows == np.vstack(X)).all()


def test_a_list_without_end_is_refused(tmp_path, monkeypatch):
    from perceptive import streams
    from perceptive.streams import lists as module

    path = tmp_path / "long.svm"
    path.write_text("1 qid:1 1:1\n" * 100)
    monkeypatch.setattr(module, "MAX_LIST", 50)
    with pytest.raises(ValueError, match="more than 50 candidates"):
        list(module.read_lists(streams.open(path)))


def run(capsys, *arguments):
    from perceptive.cli import main

    code = main([str(a) for a in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_train_rank_eval(tmp_path, lists, capsys):
    X, y = lists
    write_svmlight(tmp_path / "train.svm", X[:100], y[:100])
    write_svmlight(tmp_path / "test.svm", X[100:], y[100:])
    model = tmp_path / "rank.model"
    code, out, err = run(
        capsys, "train", tmp_path / "train.svm", "--task", "rank", "-o", model, "--dtype", "float64", "--certify",
        "--json",
    )  # fmt: skip
    assert code == 0, err
    told = json.loads(out)
    assert told["data"]["examples"] == 100
    assert told["data"]["candidates"] == sum(map(len, X[:100]))
    assert told["certificate"]["holds"]
    assert not told["certificate"]["hypothetical"]
    in_memory = LinearRanker(dtype="float64").fit(X[:100], y[:100])
    assert in_memory.n_iter_ == len(told["training"]["mistakes"])
    code, out, err = run(capsys, "eval", model, tmp_path / "test.svm", "--json")
    assert code == 0, err
    scores = np.concatenate([xs @ load_learner(model).vector.vector("averaged")[0][:, 0] for xs in X[100:]])
    starts = np.cumsum([0, *map(len, X[100:])])
    grades = flat(X[100:], y[100:])[1]
    # the command line reads float32
    assert json.loads(out)["metrics"]["top1"] == pytest.approx(metrics.top1(grades, scores, starts), abs=0.02)
    assert json.loads(out)["metrics"]["ndcg"] == pytest.approx(metrics.ndcg(grades, scores, starts), abs=0.02)
    code, out, err = run(capsys, "rank", model, tmp_path / "test.svm")
    assert code == 0, err
    orders = [list(map(int, line.split())) for line in out.splitlines()]
    assert [sorted(order) for order in orders] == [list(range(len(xs))) for xs in X[100:]]
    right = np.mean([order[0] == best for order, best in zip(orders, y[100:], strict=True)])
    assert right > 0.9
    code, out, _ = run(capsys, "rank", model, tmp_path / "test.svm", "--json")
    assert json.loads(out.splitlines()[3])["qid"] == 3
    code, out, err = run(
        capsys, "train", tmp_path / "test.svm", "--task", "rank", "--continue", model, "-o", model, "--epochs", 1
    )
    assert code == 0, err
    assert "mistakes" in out


@pytest.mark.parametrize("format", ["svm", "jsonl"])
@pytest.mark.slow
def test_lists_are_parsed_once(tmp_path, lists, capsys, monkeypatch, format):
    """Later epochs, held-out lists and the certificate come from the cache, and so does a later run that keeps it."""
    from perceptive.streams import blocks
    from perceptive.training import blocks as kinds

    X, y = lists
    path, cache = tmp_path / f"train.{format}", tmp_path / "lists.cache"
    if format == "svm":
        write_svmlight(path, X, y)
    else:
        rows = [{"candidates": [dict(zip("abcdef", x, strict=True)) for x in xs.tolist()], "best": b}
                for xs, b in zip(X, y, strict=True)]  # fmt: skip
        rows.insert(3, {"candidates": [{"a": 1}]})  # without an answer
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(blocks, "BLOCK", 5000)
    readings = []
    read = kinds.read_lists
    monkeypatch.setattr(kinds, "read_lists", lambda stream, live: (readings.append(1), read(stream, live))[1])
    options = ("--task", "rank", "--holdout", 0.2, "--certify", "--json", "--epochs", 4, "-o", tmp_path / "m")
    code, out, err = run(capsys, "train", path, *options)
    assert code == 0, err
    assert len(readings) == 1
    told = json.loads(out)
    assert (told["data"]["examples"], told["data"]["unanswered"]) == (150, int(format == "jsonl"))
    assert told["certificate"]["holds"]
    assert not told["certificate"]["hypothetical"]
    assert len(told["training"]["held_out"]) == len(told["training"]["mistakes"]) > 1
    for n in (2, 2):
        code, out, err = run(capsys, "train", path, *options, "--cache", cache)
        assert code == 0, err
        assert len(readings) == n  # the first of the two wrote it
        again = json.loads(out)
        for part in ("data", "learner", "training", "certificate"):
            for one in (again[part], told[part]):  # with a cache names are not remembered
                one.pop("names", None), one.pop("collisions", None)
            assert again[part] == told[part]
    cache.write_bytes(cache.read_bytes()[:-30])
    assert run(capsys, "train", path, *options, "--cache", cache)[0] == 0  # not whole, and so made anew
    assert len(readings) == 3


def test_epochs_from_the_cache_are_those_of_the_file(tmp_path, lists):
    """Reading the first epoch from a cache that was kept gives the same weights as parsing the file."""
    X, y = lists
    write_svmlight(tmp_path / "train.svm", X, y)
    stream = streams.open(tmp_path / "train.svm", dtype="float64")
    training = TrainingParameters(epochs=3)
    learners = [RankingLearner(dtype="float64", hypothesis="averaged") for _ in range(2)]
    for learner in learners:
        with FileSource(stream, ListBlocks(), epochs=3, cache=str(tmp_path / "cache")) as source:
            train(Run.of(learner, training), source)
    assert learners[0].mistakes == learners[1].mistakes
    assert (learners[0].vector.vector("averaged")[0] == learners[1].vector.vector("averaged")[0]).all()


def test_inspect_and_certify(tmp_path, lists, capsys):
    X, y = lists
    path, model = tmp_path / "train.svm", tmp_path / "rank.model"
    write_svmlight(path, X, y)
    assert run(capsys, "train", path, "--task", "rank", "-o", model, "--pairs", "all")[0] == 0
    learner = load_learner(model)
    code, out, err = run(capsys, "inspect", model, "--json", "--top", 2)
    assert code == 0, err
    told = json.loads(out)
    assert [told["learner"][name] for name in ("pairs", "features", "mistakes")] == ["all", 6, learner.mistakes]
    weights = learner.vector.vector("averaged")[0][:, 0]
    heaviest = np.argsort(-np.abs(weights))[:2]
    assert [f["name"] for f in told["weights"][0]["features"]] == [str(j + 1) for j in heaviest]
    assert [f["weight"] for f in told["weights"][0]["features"]] == pytest.approx(weights[heaviest].tolist())
    code, out, err = run(capsys, "inspect", model)
    assert code == 0, err
    assert "score" in out
    code, out, err = run(capsys, "certify", model, path, "--json")
    assert code == 0, err
    told = json.loads(out)["certificate"]
    assert told["holds"]
    assert not told["hypothetical"]
    assert told["mistakes"] == learner.mistakes
    write_svmlight(tmp_path / "other.svm", X[:50], y[:50])
    assert "On data other than the run's" in run(capsys, "certify", model, tmp_path / "other.svm")[1]
    (tmp_path / "empty.svm").write_text("\n")
    assert run(capsys, "certify", model, tmp_path / "empty.svm")[0] == 1
    ranker = KernelRanker().fit(X, y)
    perceptive.save(ranker, model)
    code, out, err = run(capsys, "inspect", model, "--json")
    assert code == 0, err
    assert json.loads(out)["learner"]["supports"] == len(ranker.support_)


def test_json_lists(tmp_path, capsys):
    path, model = tmp_path / "answers.jsonl", tmp_path / "answers.model"
    rows = [
        {"candidates": [{"kind": "good", "length": 2}, {"kind": "bad"}], "best": 0},
        {"candidates": [{"kind": "bad"}, {"kind": "odd"}, {"kind": "good"}], "grades": [0, 1, 2], "qid": "q"},
        {"candidates": [{"kind": "good"}, {"kind": "fine"}], "best": [0, 1]},
        {"candidates": [{"kind": "new"}]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    code, out, err = run(
        capsys, "train", path, "--task", "rank", "--bits", 10, "--pairs", "all", "--pair-cost", "grade", "-o", model,
        "--json",
    )  # fmt: skip
    assert code == 0, err
    told = json.loads(out)
    assert (told["data"]["examples"], told["data"]["unanswered"], told["training"]["converged"]) == (3, 1, True)
    code, out, err = run(capsys, "rank", model, path)
    assert out.splitlines()[:2] == ["0 1", "2 1 0"]
    code, out, err = run(capsys, "eval", model, path)
    assert code == 0, err
    assert "NDCG@10" in out


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("a.svm", "1 1:1\n", (), "a.svm:1:1: this line names no query; to rank, write qid:n"),
        ("a.svm", "1 qid:1 1:1\n# so\n\n0 qid:1 2:1\n 1 2:1\n", (), "a.svm:5:2: this line names no query"),
        ("a.svm", "1 qid:1 1:1\n0 qid:x 2:1\n", (), "a.svm:2:3: qid 'x' is not a whole number"),
        ("a.svm", "1 qid:1 1:nan\n0 qid:1 2:1\n", (), "a.svm:1"),
        ("a.jsonl", '{"candidates": [{"a": NaN}], "best": 0}\n', (), "a.jsonl:1"),
        ("a.svm", "1 qid:1 1:1\n1 qid:1 2:1\n", (), "no list has a candidate that is better"),
        ("a.jsonl", '{"candidates": []}\n', (), "a.jsonl:1: the list has no candidates"),
        ("a.jsonl", '\n{"candidates": [{"a": 1}], "best": 1}\n', (), 'a.jsonl:2: "best" is 1'),
        ("a.jsonl", '{"candidates": [{"a": 1}], "grades": [1, 2]}\n', (), "list of 1 numbers"),
        ("a.jsonl", '{"candidates": 3}\n', (), "list of objects"),
        ("a.jsonl", "{]\n", ("--format", "json"), "not JSON"),
        ("a.csv", "label,a\n1,2\n", (), "csv files have no lists"),
        ("a.svm", "1 qid:1 1:1\n0 qid:1 2:1\n", ("--multiclass", "ovr"), "--multiclass does not go"),
        ("a.svm", "1 qid:1 1:1\n0 qid:1 2:1\n", ("--folds", "2"), "--folds does not go"),
        ("a.svm", "1 qid:1 1:1\n0 qid:1 2:1\n", ("--delta", "1"), "--delta needs the examples in memory"),
    ],
)
def test_bad_files(tmp_path, capsys, name, text, options, message):
    path = tmp_path / name
    path.write_text(text)
    code, _, err = run(capsys, "train", path, "--task", "rank", "-o", tmp_path / "m", *options)
    assert code == (2 if "--" in message else 1)
    assert message in err
    assert not (tmp_path / "m").exists()


def test_broken_lists_may_be_skipped(tmp_path, capsys):
    path = tmp_path / "a.jsonl"
    good = '{"candidates": [{"a": 1}, {"b": 1}], "best": 0}'
    bad = ['{"candidates": []}', '{"candidates": [{"a": 1}, {"b": NaN}], "best": 0}', "so", good.replace("0", "7")]
    path.write_text("\n".join([good, bad[0], good, bad[1], bad[2], good, bad[3], bad[1]]) + "\n")
    code, _, err = run(capsys, "train", path, "--task", "rank", "-o", tmp_path / "m")
    assert code == 1
    assert "a.jsonl:2: the list has no candidates" in err
    options = ("--task", "rank", "--on-error", "skip", "--json", "--epochs", 1, "-o", tmp_path / "m")
    code, out, err = run(capsys, "train", path, *options)
    assert code == 0, err
    told = json.loads(out)
    assert (told["data"]["examples"], told["data"]["skipped"]) == (3, 5)
    assert "skipped: " + str(path) + ":4: " in err
    (tmp_path / "a.svm").write_text("1 qid:1 1:1\n0 1:2\n0 qid:1 2:1\n1 qid:2 1:1\n0 qid:2 2:1\n")
    code, out, err = run(capsys, "train", tmp_path / "a.svm", *options)
    assert code == 0, err
    counts = {"examples": 1, "skipped": 1, "unanswered": 0, "candidates": 2}
    assert json.loads(out)["data"] == counts  # the list as a whole is left out


def test_rankers_and_classifiers_are_not_mixed_up(tmp_path, capsys, lists):
    X, y = lists
    perceptive.save(LinearRanker().fit(X, y), tmp_path / "rank.model")
    perceptive.save(LinearClassifier().fit([[0.0], [1.0]], [0, 1]), tmp_path / "class.model")
    write_svmlight(tmp_path / "a.svm", X, y)
    assert "is a ranker" in run(capsys, "predict", tmp_path / "rank.model", tmp_path / "a.svm")[2]
    assert "--class does not go with rankers" in run(capsys, "inspect", tmp_path / "rank.model", "--class", "1")[2]
    assert "is a classifier" in run(capsys, "rank", tmp_path / "class.model", tmp_path / "a.svm")[2]
    told = run(capsys, "train", tmp_path / "a.svm", "--pairs", "all", "-o", tmp_path / "m")[2]
    assert "--pairs does not go with --task classify; it is for --task rank" in told


@pytest.mark.parametrize("kernel", [[], ["--kernel", "linear"]])
def test_lines_that_are_not_sorted_by_query_get_advice(tmp_path, capsys, kernel):
    (tmp_path / "a.svm").write_text("1 qid:1 1:1\n0 qid:2 1:2\n0 qid:1 2:1\n1 qid:2 2:1\n")
    code, _, err = run(capsys, "train", tmp_path / "a.svm", "--task", "rank", "-o", tmp_path / "m", *kernel)
    assert code == 1
    assert "sort the lines by query" in err


def read(*paths, on_error="stop"):
    """The names, sizes and places of skipped lists of some files, and the stream."""
    from perceptive import streams
    from perceptive.streams.lists import read_lists

    stream = streams.open([str(path) for path in paths], on_error=on_error)
    parts = list(read_lists(stream))
    names = [name for part in parts for name in part.names]
    return names, [int(n) for part in parts for n in np.diff(part.starts)], stream


@pytest.mark.parametrize(("name", "text"), [("e.svm", ""), ("e.jsonl", '{"candidates": [{"a": 1}, {"b": 1}]}\n')])
def test_files_without_lists_with_answers_are_told_of(tmp_path, capsys, name, text):
    (tmp_path / name).write_text(text)
    assert main(["train", str(tmp_path / name), "--task", "rank", "-o", str(tmp_path / "m")]) == 1
    assert "there are no lists with answers; check the files and the format (a JSON line" in capsys.readouterr().err


def test_lists_that_do_not_count_are_told_of(tmp_path, capsys):
    path, model = tmp_path / "few.svm", str(tmp_path / "m.model")
    path.write_text("1 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:1\n1 qid:2 2:1\n3 qid:3 1:2\n")
    assert run(capsys, "train", path, "--task", "rank", "-o", model)[0] == 0
    code, _, err = run(capsys, "eval", model, path)
    assert code == 0
    assert "in 2 of 3 lists no candidate is better than another: they do not count" in err
