"""Bad input to rankers, their metrics and their commands: what is said, and where."""

import json
import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import perceptive
from perceptive import JointClassifier, KernelClassifier, KernelRanker, LinearClassifier, LinearRanker, streams
from perceptive.cli import main
from perceptive.cli.options import as_json
from perceptive.errors import ParameterError
from perceptive.evaluation.metrics import mean_average_precision, mrr, ndcg, top1


def run(capsys, *arguments):
    code = main([str(a) for a in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def write(path, *lines):
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


@pytest.fixture
def data(tmp_path):
    lines = [f"{int(j == 0)} qid:{q} 1:{3 - j + q % 2} 2:{j}" for q in range(1, 21) for j in range(3)]
    return write(tmp_path / "a.svm", *lines)


# ---------------------------------------------------------------- metrics


@pytest.mark.parametrize("metric", [top1, mrr, mean_average_precision, ndcg])
def test_metrics_check_their_input(metric):
    grades, scores, starts = [0, 2, 1, 1, 0], [0.1, 0.9, 0.5, 0.2, 0.3], [0, 3, 5]
    assert metric(grades, scores, starts) == metric(np.array(grades), np.array(scores), np.array(starts))
    assert math.isnan(metric([], [], [0]))
    for wrong, message in (
        ((grades, scores[:4], starts), "one of each for every candidate"),
        (([grades], [scores], starts), "one of each for every candidate"),
        ((grades, scores, [0, 3]), "whole numbers from 0 to 5"),
        ((grades, scores, [1, 3, 5]), "whole numbers from 0 to 5"),
        ((grades, scores, []), "whole numbers from 0 to 5"),
        ((grades, scores, [0.0, 5.0]), "whole numbers from 0 to 5"),
        ((grades, scores, [0, 3, 3, 5]), "list 1 has no candidates"),
        ((grades, scores, np.array([0, 4, 3, 5], np.uint8)), "list 1 has no candidates"),
        ((grades, [0.1, math.nan, 0.5, 0.2, 0.3], starts), "score of candidate 1 is NaN"),
        (([0, 2, 1, math.nan, 0], scores, starts), "grade of candidate 3 is NaN"),
        ((["a"], [1.0], [0, 1]), "must be numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            metric(*wrong)


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_ndcg_of_no_places(k):
    with pytest.raises(ValueError, match="at least 1, or None"):
        ndcg([0, 1], [1.0, 2.0], [0, 2], k)
    assert ndcg([0, 1], [1.0, 2.0], [0, 2], np.int64(1)) == 1.0


# ---------------------------------------------------------------- JSON is JSON


def test_json_has_no_nan():
    told = {"a": [1.0, math.nan, (math.inf, -math.inf)], "b": {"c": math.nan}, "d": "NaN", "e": None}
    assert json.loads(as_json(told), parse_constant=pytest.fail) == {
        "a": [1.0, None, [None, None]], "b": {"c": None}, "d": "NaN", "e": None,
    }  # fmt: skip


def test_no_command_prints_nan(monkeypatch, data, tmp_path, capsys):
    """Whatever a held-out score or a score is, what is printed is JSON."""
    model = tmp_path / "m"
    monkeypatch.setattr("perceptive.training.blocks.ListBlocks.score", lambda self, learner, blocks: math.nan)
    code, out, err = run(capsys, "train", data, "--task", "rank", "-o", model, "--holdout", 0.2, "--json")
    assert code == 0, err
    assert set(json.loads(out, parse_constant=pytest.fail)["training"]["held_out"]) == {None}
    monkeypatch.setattr(
        "perceptive.learners.ranking.RankingLearner.scores", lambda self, rows, sizes, h: np.full(rows.n, math.inf)
    )
    code, out, err = run(capsys, "rank", model, data, "--json")
    assert code == 0, err
    for line in out.splitlines():
        assert json.loads(line, parse_constant=pytest.fail)["scores"] == [None] * 3


# ---------------------------------------------------------------- certificates


@pytest.mark.core
def test_the_delta_trick_in_words():
    X, y = [[1.0], [1.0]], [0, 1]
    for model in (LinearClassifier(bias=0.0, delta=2.0, epochs=2000), KernelClassifier(kernel="linear", delta=2.0)):
        certificate = model.fit(X, y).certificate(X, y)
        assert math.isinf(certificate.margin)
        assert not certificate.vacuous
        assert "only the id features distinguish the examples" in str(certificate)
        assert "inf" not in str(certificate)
        assert certificate.holds


# ---------------------------------------------------------------- reading


@pytest.mark.parametrize(
    "option",
    ["--label x", "--categorical a", "--ignore a", "--delimiter ;", "--text", "--text-column t", "--words 1-2",
     "--chars 2", "--weighting tf", "--idf", "--lowercase", "--no-unit-length", "--hash-seed 3"],
)  # fmt: skip
@pytest.mark.parametrize("more", [(), ("--kernel", "linear")])
def test_options_that_mean_nothing_are_refused(data, tmp_path, capsys, option, more):
    told = option.split()
    for task in (("--task", "rank"), ()):
        if not task and option == "--text":
            continue  # says that the files are texts
        code, _, err = run(capsys, "train", data, *task, "-o", tmp_path / "m", *told, *more)
        assert code == 2
        assert told[0].replace("--no-", "--") in err, err
        assert not (tmp_path / "m").exists()


def test_what_means_nothing_where():
    for format, how in (
        ("svmlight", {"label": "y"}),
        ("vw", {"zero_based": True}),
        ("text", {"interactions": ("all",)}),
        ("json", {"delimiter": ";"}),
        ("csv", {"n_features": 3}),
        ("csv", {"text": {"words": (1, 2)}}),
        ("svmlight", {"hash_seed": 2}),
    ):
        with pytest.raises(ParameterError, match=next(iter(how.get("text", how)))):
            streams.open(__file__, format=format, **how)
    streams.open(__file__, format="csv", text_column="t", text={"words": (1, 2)})
    streams.open(__file__, format="svmlight", bits=3, hash_seed=2)
    streams.open(__file__, format="svmlight", bits=None, n_features=None, label="label")


def test_a_model_that_goes_on_names_the_option(data, tmp_path, capsys):
    model = tmp_path / "m"
    for more in ((), ("--kernel", "linear")):
        assert run(capsys, "train", data, "--task", "rank", "-o", model, "--quiet", *more)[0] == 0
        goes_on = ("--task", "rank", "--continue", model, "-o", model)
        err = run(capsys, "train", data, *goes_on, "--words", "1-2")[2]
        assert "leave out --words" in err
        assert "--text" not in err


def test_a_query_that_comes_back_is_noted(tmp_path, capsys):
    first = {"qid": 1, "candidates": [{"a": 1}, {"b": 1}], "best": 0}
    again = write(tmp_path / "a.jsonl", first, {**first, "qid": "1"}, {**first, "qid": [2]}, first, first)
    code, _, err = run(capsys, "train", again, "--task", "rank", "-o", tmp_path / "m")
    assert code == 0
    assert err.count("comes back") == 1
    assert "a.jsonl:4: query 1 comes back" in err
    words = {"qid": "x", "candidates": ["ab", "cd"], "best": 0}
    again = write(tmp_path / "b.jsonl", words, words)
    code, _, err = run(capsys, "train", again, "--task", "rank", "--kernel", "spectrum(1)", "-o", tmp_path / "m")
    assert code == 0
    assert 'b.jsonl:2: query "x" comes back' in err
    alone = write(tmp_path / "c.jsonl", words, {**words, "qid": None}, {**words, "qid": None})
    assert "comes back" not in run(
        capsys, "train", alone, "--task", "rank", "--kernel", "spectrum(1)", "-o", tmp_path / "m"
    )[2]  # fmt: skip


def test_inspect_counts_rounds(data, tmp_path, capsys):
    assert run(capsys, "train", data, "--task", "rank", "-o", tmp_path / "m", "--quiet", "--epochs", 1)[0] == 0
    told = json.loads(run(capsys, "inspect", tmp_path / "m", "--json")[1])
    assert told["learner"]["rounds"] == 20


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("task", ["rank", "classify"])
def test_parts_that_do_not_fit_are_told_and_skipped(task, tmp_path, capsys):
    def line(x, y):
        if task == "rank":
            return {"candidates": [{"x": x, "w": "ab"}, {"x": y, "w": "cd"}], "best": 0}
        return {"x": x, "w": "ab", "label": int(x[0] > 1)}

    kernel = ("--kernel", "linear@x + spectrum(1)@w")
    good = [line([1.0, 2.0], [0.0, 1.0]), line([3.0, 1.0], [0.0, 2.0])]
    large = write(tmp_path / "large.jsonl", *good, line([1e60, 0.0], [1e60, 0.0]))
    model = tmp_path / "m"
    args = ("train", large, "--task", task, *kernel, "-o", model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code, _, err = run(capsys, *args)
        assert code == 1
        assert "large.jsonl:3" in err
        assert "too large for float32" in err
        assert "inf" not in err
        code, _, err = run(capsys, *args, "--on-error", "skip", "--quiet")
        assert code == 0, err
        assert "large.jsonl:3" in err
        assert run(capsys, *args, "--dtype", "float64", "--epochs", 1, "--on-error", "skip", "--quiet")[0] == 0
    assert run(capsys, *args, "--on-error", "skip", "--quiet")[0] == 0
    wide = write(tmp_path / "wide.jsonl", *good, line([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]))
    for command in (
        ("train", wide, "--task", task, "--continue", model, "-o", tmp_path / "n"),
        ("certify", model, wide),
    ):
        code, _, err = run(capsys, *command)
        assert code == 1
        assert "wide.jsonl:3" in err
        assert "features" in err
        code, _, err = run(capsys, *command, "--on-error", "skip")
        assert code == 0, err
        assert "skipped: " in err
        assert "wide.jsonl:3" in err


@pytest.mark.parametrize("task", ["rank", "classify"])
def test_files_with_more_features_name_the_cure(task, data, tmp_path, capsys):
    model, wide = tmp_path / "m", write(tmp_path / "wide.svm", "1 qid:1 1:1 7:2", "0 qid:1 2:1")
    args = ("--task", task, "-o", model, "--quiet")
    assert run(capsys, "train", data, *args, "--kernel", "linear")[0] == 0
    for command in (("train", wide, *args, "--continue", model), ("certify", model, wide)):
        code, _, err = run(capsys, *command)
        assert code == 1
        assert "wide.svm: there are 7 features, but the model was trained on 2" in err
        assert "--features 7" in err
    assert run(capsys, "train", data, *args, "--kernel", "linear", "--features", 7)[0] == 0
    assert run(capsys, "train", wide, *args, "--continue", model)[0] == 0


def test_numbers_too_large_for_float32():
    X = np.random.default_rng(0).normal(size=(3, 4, 2))
    rows = sp.csr_array(X.reshape(-1, 2) * 1e60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"X\[0, 0\] is .*e\+5.*too large for float32"):
            KernelRanker().fit(X * 1e60, [0, 1, 2])
        with pytest.raises(ValueError, match=r"too large for float32"):
            KernelRanker(kernel="linear").fit(rows, [1, 0, 0, 0] * 3, qid=np.repeat([1, 2, 3], 4))
        with pytest.raises(ValueError, match="too large for gamma='scale'"):
            KernelRanker().fit(X * 1e200, [0, 1, 2])
        for model in (KernelRanker(kernel="linear", dtype="float64"), LinearRanker(dtype="float64")):
            with pytest.raises(ValueError, match="in which all values must fit, whatever the dtype"):
                model.fit(X * 1e60, [0, 1, 2])
        with pytest.raises(ValueError, match="is inf; drop or impute"):
            KernelRanker(kernel="linear").fit(np.where(X > 1, np.inf, X), [0, 1, 2])


# ---------------------------------------------------------------- arg max_t w·φ(x, t)


def test_joint_classifiers_check_their_input(tmp_path):
    pd = pytest.importorskip("pandas")

    def phi(x, t):
        return {f"{t}": float(x[0]), f"{t} bias": 1.0}

    X, y = [[-1.0], [2.0], [-2.0], [1.0]], ["neg", "pos", "neg", "pos"]
    model = JointClassifier(phi, ["neg", "pos"]).fit(X, y)
    assert JointClassifier(phi, ["neg", "pos"]).fit((x for x in X), iter(y)).predict(iter(X)) == y
    assert model.score(iter(X), iter(y)) == 1.0
    for wrong in (pd.DataFrame(X), sp.csr_array(np.array(X))):
        for ask in (lambda X: model.fit(X, y), model.predict, lambda X: model.score(X, y)):
            with pytest.raises(ValueError, match="give its rows in a list"):
                ask(wrong)
    for ask in (model.fit, model.partial_fit, model.score):
        with pytest.raises(ValueError, match="X has 4 examples, but y has 3 answers"):
            ask(X, y[:3])
    for given in (3.0, None, "a"):
        with pytest.raises(ValueError, match=r"phi gave .*; give a dict"):
            JointClassifier(lambda x, t, given=given: given, ["neg", "pos"]).fit(X, y)
    with pytest.raises(TypeError, match="save its ranker_"):
        perceptive.save(model, tmp_path / "m")
    perceptive.save(model.ranker_, tmp_path / "m")
    again = JointClassifier(phi, ["neg", "pos"])
    again.ranker_ = perceptive.load(tmp_path / "m")
    assert again.predict(X) == model.predict(X)


def test_answers_may_be_arrays():
    answers = [np.array([1, 0]), np.array([0, 1])]
    X, y = [2.0, -1.0, 3.0], [answers[0], np.array([0, 1]), answers[0]]
    model = JointClassifier(lambda x, t: x * t, answers).fit(X, y)
    assert [a.tolist() for a in model.predict(X)] == [a.tolist() for a in y]
    assert model.score(X, y) == 1.0
    with pytest.raises(ValueError, match="example 0: its answer"):
        model.fit([1.0], [np.array([1, 1])])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("ranker", [LinearRanker(), KernelRanker()], ids=repr)
def test_the_list_of_another_width_is_named(ranker, form):
    lists = [form(np.eye(3)), form(np.eye(2))]
    said = "list 1: its candidates have 2 features, those of list 0 have 3"
    with pytest.raises(ValueError, match=said):
        ranker.fit(lists, [0, 1])
    with pytest.raises(ValueError, match=said):
        ranker.fit(lists[:1], [0]).predict(lists)


@pytest.mark.parametrize("ranker", [LinearRanker(), KernelRanker()], ids=repr)
def test_a_list_without_candidates_is_named(ranker):
    for lists in ([[]], [[], [[1.0, 2.0]]]):
        with pytest.raises(ValueError, match="list 0: the list has no candidates"):
            ranker.fit([np.eye(2)], [0]).predict(lists)
