"""``perceptive train --kernel`` and what can be done with such models."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from command_line import perceptive
from perceptive import KernelClassifier, load_learner, save
from perceptive.kernels import Gaussian, Polynomial
from perceptive.learners import KernelLearner


@pytest.fixture
def circle(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = ((X**2).sum(axis=1) > 1.4).astype(int)
    dump_svmlight_file(sp.csr_array(X), y, str(tmp_path / "circle.svm"), zero_based=False)
    return tmp_path / "circle.svm"


def test_train_predict_eval_inspect(circle, tmp_path):
    model = tmp_path / "a.model"
    told = json.loads(
        perceptive("train", circle, "-o", model, "--kernel", "poly(2)", "--epochs", 20, "--certify", "--json").stdout
    )
    assert told["learner"]["kernel"] == "Polynomial(degree=2)"
    assert "the theorem allows" in told["certificate"]["text"]
    learner = load_learner(model)
    assert learner.kernel == Polynomial(2)
    labels = [int(line) for line in perceptive("predict", model, circle).stdout.split()]
    report = json.loads(perceptive("eval", model, circle, "--json").stdout)
    truth = [int(line[0]) for line in circle.read_text().splitlines()]
    assert report["metrics"]["accuracy"] == pytest.approx(np.mean(np.array(labels) == truth))
    assert report["metrics"]["accuracy"] > 0.95
    assert "Polynomial(degree=2)" in perceptive("inspect", model).stdout
    scores = perceptive("predict", model, circle, "--scores", "--hypothesis", "voted").stdout.splitlines()
    assert all(-1 <= float(line.split("\t")[1]) <= 1 for line in scores)


def test_budget(circle, tmp_path):
    model = tmp_path / "a.model"
    perceptive("train", circle, "-o", model, "--kernel", "gaussian(gamma=1)", "--budget", 30, "--forget", "projectron")
    learner = load_learner(model)
    assert len(learner.dual) <= 30
    assert learner.kernel == Gaussian(gamma=1)


def test_strings_come_as_json_lines(tmp_path):
    train, model = tmp_path / "a.jsonl", tmp_path / "a.model"
    rows = [{"text": "abab", "size": [4], "label": "x"}, {"text": "cdcd", "size": [4], "label": "y"}] * 5
    train.write_text("".join(json.dumps(row) + "\n" for row in rows))
    perceptive("train", train, "-o", model, "--kernel", "0.5*spectrum(2)@text+0.01*linear@size", "--quiet")
    assert perceptive("predict", model, train).stdout.split() == ["x", "y"] * 5
    told = perceptive("predict", model, train, "--json").stdout.splitlines()
    assert json.loads(told[0])["label"] == "x"
    report = json.loads(perceptive("eval", model, train, "--json").stdout)
    assert (report["metrics"]["accuracy"], report["metrics"]["auc"], report["data"]["examples"]) == (1.0, 1.0, 10)
    assert report["confusion"] == [[5, 0], [0, 5]]
    assert "accuracy" in perceptive("eval", model, train, "--hypothesis", "voted").stdout
    certificate = json.loads(perceptive("certify", model, train, "--json").stdout)["certificate"]
    assert certificate["holds"]
    assert not certificate["hypothetical"]
    train.write_text('{"text": "ab", "label": "x"}\nnonsense\n')
    assert "not JSON" in perceptive("train", train, "-o", model, "--kernel", "spectrum(2)@text", code=1).stderr
    train.write_text('{"text": 7, "label": "x"}\n{"text": 8, "label": "y"}\n')
    assert "takes strings" in perceptive("train", train, "-o", model, "--kernel", "spectrum(2)@text", code=1).stderr
    train.write_text('{"text": "ab"}\n')
    assert "no key 'label'" in perceptive("train", train, "-o", model, "--kernel", "spectrum(2)@text", code=1).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kernel", "nonsense"], "no kernel is called 'nonsense'"),
        (["--kernel", "poly(2)", "--max-voters", "3"], "--max-voters does not go with --task classify --kernel"),
        (["--kernel", "poly(2)", "--rule", "arow"], "--rule arow: it must be"),
        (["--kernel", "poly(2)", "--holdout", "0.0001"], "holds out none of 300 examples"),
        (["--kernel", "poly(2)", "--budget", "5", "--forget", "oldest"], "choose --hypothesis last"),
        (["--kernel", "spectrum(2)@text", "--format", "csv"], "take JSON lines, not csv"),
        (["--kernel", "poly(2)", "--follow"], "--follow does not go with --task classify --kernel"),
        (["--budget", "5"], "it is for --task classify --kernel"),
    ],
)
def test_bad_usage_is_told(circle, tmp_path, arguments, message):
    done = perceptive("train", circle, "-o", tmp_path / "a.model", *arguments, code=2)
    assert message in done.stderr


TREES = [
    {"tree": "(S (A a) (B b))", "size": [1.0], "label": "x"},
    {"tree": ["S", ["A", "a"], ["B", "c"]], "size": [2.0], "label": "x"},
    {"tree": "(S (C c) (D d))", "size": [1.0], "label": "y"},
    {"tree": "(S (C c) (D a))", "size": [2.0], "label": "y"},
]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_trees_and_parts_go_all_the_way(tmp_path):
    data, model = write(tmp_path / "a.jsonl", TREES * 10), tmp_path / "a.model"
    told = json.loads(
        perceptive(
            "train", data, "-o", model, "--kernel", "subsettree(0.5)@tree*(1+linear@size)", "--holdout", 0.3, "--json"
        ).stdout
    )
    assert told["training"]["held_out"][-1] == 1.0
    assert told["data"]["examples"] == 40
    assert told["learner"]["played"] < 40 * told["training"]["epochs"]
    strange = [{"tree": "(S (A a) (B b))", "size": [3.0]}, {"tree": "(Z z)", "size": [3.0], "label": "z"}]
    report = json.loads(perceptive("eval", model, write(tmp_path / "b.jsonl", TREES + strange), "--json").stdout)
    assert (report["data"]["examples"], report["data"]["unanswered"], report["metrics"]["accuracy"]) == (5, 1, 0.8)
    assert "(never met)" in perceptive("eval", model, tmp_path / "b.jsonl").stdout
    assert len(perceptive("predict", model, tmp_path / "b.jsonl", "--scores").stdout.splitlines()) == 6
    missing = write(tmp_path / "c.jsonl", [{"tree": "(S (A a))", "label": "x"}])
    assert "has no part 'size'" in perceptive("eval", model, missing, code=1).stderr
    assert "no labelled" in perceptive("eval", model, write(tmp_path / "d.jsonl", strange[:1]), code=1).stderr


def test_broken_lines_are_skipped_where_asked(tmp_path):
    data, model = write(tmp_path / "a.jsonl", TREES), tmp_path / "a.model"
    data.write_text(data.read_text() + "nonsense\n" + json.dumps({"tree": "(A b)", "label": [1]}) + "\n")
    kernel = ["--kernel", "subsettree@tree", "-o", model]
    assert "a.jsonl:5: this is not JSON" in perceptive("train", data, *kernel, code=1).stderr
    done = perceptive("train", data, *kernel, "--on-error", "skip", "--quiet")
    assert "skipped" in done.stderr
    assert "a.jsonl:6: [1] cannot be a label" in done.stderr
    report = json.loads(perceptive("eval", model, data, "--on-error", "skip", "--json").stdout)
    assert (report["data"]["skipped"], report["data"]["examples"]) == (2, 4)
    assert len(perceptive("predict", model, data, "--on-error", "skip").stdout.split()) == 4


def test_going_on_is_learning_all_along(tmp_path):
    """Two files one after the other are the learner that is given both."""
    rows = TREES * 3
    first, second = write(tmp_path / "1.jsonl", rows[:5]), write(tmp_path / "2.jsonl", rows[5:])
    model, more = tmp_path / "a.model", tmp_path / "b.model"
    perceptive("train", first, "-o", model, "--kernel", "subsettree@tree", "--epochs", 1, "--no-shuffle", "--quiet")
    perceptive("train", second, "-o", more, "--continue", model, "--epochs", 1, "--no-shuffle", "--quiet")
    learner = load_learner(more)
    whole = KernelLearner(classes=["x", "y"], kernel="subsettree@tree")
    whole.learn_many([{"tree": row["tree"]} for row in rows], [row["label"] for row in rows])
    assert learner.mistakes == whole.mistakes
    assert learner.dual.ids == whole.dual.ids
    assert np.array_equal(learner.dual.alpha, whole.dual.alpha)
    certificate = json.loads(perceptive("certify", more, write(tmp_path / "3.jsonl", rows), "--json").stdout)[
        "certificate"
    ]
    assert certificate["holds"]


@pytest.mark.slow
def test_going_on_with_rows(circle, tmp_path):
    model, more = tmp_path / "a.model", tmp_path / "b.model"
    perceptive("train", circle, "-o", model, "--kernel", "poly(2)", "--epochs", 1, "--quiet")
    before = json.loads(perceptive("eval", model, circle, "--json").stdout)["metrics"]["accuracy"]
    told = json.loads(
        perceptive("train", circle, "-o", more, "--continue", model, "--epochs", 20, "--holdout", 0.2, "--json").stdout
    )
    assert len(told["training"]["held_out"]) == len(told["training"]["mistakes"])
    assert json.loads(perceptive("eval", more, circle, "--json").stdout)["metrics"]["accuracy"] > before
    for arguments, message in (
        (["--kernel", "poly(3)"], "leave out --kernel"),
        (["--rule", "pa1"], "leave out --rule"),
        (["--budget", "7"], "leave out --budget"),
        (["--classes", "0,1"], "leave out --classes"),
        (["--bits", "7"], "leave out --bits"),
        (["--certify"], "--certify needs all examples"),
        (["--rule", "perceptron", "--epochs", "1"], None),
    ):
        done = perceptive("train", circle, "-o", more, "--continue", model, *arguments, code=2 if message else 0)
        assert message is None or message in done.stderr
    strange = tmp_path / "strange.svm"
    strange.write_text("7 1:1 2:1\n")
    perceptive("train", strange, "-o", more, "--continue", model)
    assert 7 in load_learner(more).classes
    strange.write_text("1 1:1 9:1\n")
    assert "feature" in perceptive("train", strange, "-o", more, "--continue", model, code=1).stderr
    linear = tmp_path / "linear.model"
    perceptive("train", circle, "-o", linear, "--quiet")
    refused = perceptive("train", circle, "-o", more, "--continue", linear, "--kernel", "poly(2)", code=2)
    assert "was not learned with a kernel" in refused.stderr


def test_held_out_examples_stop_the_training(tmp_path):
    """Noise is learned by heart, and the best pass is gone back to."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    dump_svmlight_file(sp.csr_array(X), y, str(tmp_path / "a.svm"), zero_based=False)
    common = ["train", tmp_path / "a.svm", "-o", tmp_path / "a.model", "--kernel", "gaussian(gamma=50)"]
    told = json.loads(
        perceptive(*common, "--holdout", 0.3, "--patience", 2, "--epochs", 50, "--hypothesis", "last", "--json").stdout
    )
    held_out = told["training"]["held_out"]
    best = max(i for i, score in enumerate(held_out) if score == max(held_out))
    assert len(told["training"]["held_out"]) <= best + 3 < 50
    learner = load_learner(tmp_path / "a.model")
    assert learner.mistakes == sum(told["training"]["mistakes"][: best + 1])
    assert learner.played == (best + 1) * learner.seen


def test_models_from_python_say_what_they_take(tmp_path):
    model = tmp_path / "a.model"
    save(KernelClassifier(kernel="spectrum(2)").fit(["abab", "cdcd"], [0, 1]), model)
    for command in ("predict", "eval"):
        done = perceptive(command, model, write(tmp_path / "a.jsonl", [{"text": "ab", "label": 0}]), code=1)
        assert "a.jsonl:1: it is a dict; Spectrum(n=2) takes strings" in done.stderr
        assert "name the key to compare behind the kernel, as in spectrum(3)@text" in done.stderr


@pytest.mark.parametrize(
    ("kernel", "good", "bad", "says"),
    [
        ("subtree@t", ["(S a)", "(S b)", "(S a)"], "(S (", "position"),
        ("linear@t", [[1, 2], [-1, 3], [2, 1]], [1], "one length"),
        ("linear@t", [[1, 2], [-1, 3], [2, 1]], ["q", 1], "numbers"),
        ("spectrum(1)@t", ["a", "b", "a"], 7, "takes strings"),
        ("spectrum(1)@t + linear@n", ["a", "b", "a"], "a", "no part 'n'"),
    ],
)
def test_bad_objects_are_named_by_their_lines_or_skipped(kernel, good, bad, says, tmp_path):
    path, model = tmp_path / "a.jsonl", tmp_path / "a.model"
    rows = [{"t": t, "n": [1.0], "label": i % 2} for i, t in enumerate(good)]
    rows.insert(2, {"t": bad, "label": 1})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = perceptive("train", path, "-o", model, "--kernel", kernel, code=1).stderr
    assert "a.jsonl:3: " in told
    assert says in told
    told = perceptive("train", path, "-o", model, "--kernel", kernel, "--on-error", "skip").stderr
    assert "skipped: " in told
    assert "a.jsonl:3: " in told
    told = perceptive("predict", model, path, code=1).stderr
    assert "a.jsonl:3: " in told
    done = perceptive("predict", model, path, "--on-error", "skip")
    assert "a.jsonl:3: " in done.stderr
    assert [bool(line) for line in done.stdout.splitlines()] == [True, True, False, True]


@pytest.mark.parametrize("kernel", ["precomputed", "2*precomputed"])
def test_gram_matrices_are_refused_before_anything_is_read(kernel, tmp_path):
    told = perceptive("train", tmp_path / "none", "-o", tmp_path / "m", "--kernel", kernel, code=2).stderr
    assert "precomputed" in told
    assert "from Python" in told


MIXED = [
    {"text": "abab", "b": 1, "a": 0.5, "note": [3], "on": True, "label": "x"},
    {"a": -1, "b": 2.5, "text": "cdcd", "label": "y"},
    {"b": -2, "text": "abcd", "a": 3, "extra": 7, "label": "x"},
    {"text": "dcba", "b": 0, "a": -2.0, "label": "y"},
]


@pytest.mark.parametrize("kernel", ["0.5*gaussian(sigma=2)+spectrum(3)@text", "gaussian*spectrum(2)@text+linear@a+1"])
def test_kernels_of_vectors_see_the_numbers_beside_the_parts(kernel, tmp_path):
    data, model = write(tmp_path / "a.jsonl", MIXED * 5), tmp_path / "a.model"
    told = json.loads(
        perceptive("train", data, "-o", model, "--kernel", kernel, "--certify", "--no-shuffle", "--json").stdout
    )
    names = ["b"] if "@a" in kernel else ["a", "b"]
    assert f".on({names})" in told["learner"]["kernel"]
    parts = [(row["text"], [row[name] for name in names], row["a"]) for row in MIXED * 5]
    same = kernel.replace("@text", "@0").replace("@a", "@2").replace("gaussian(sigma=2)", "gaussian(sigma=2)@1")
    python = KernelClassifier(kernel=same.replace("gaussian*", "gaussian@1*"), shuffle=False)
    python.fit(parts, [row["label"] for row in MIXED * 5])
    labels = python.predict(parts).tolist()
    assert perceptive("predict", model, data).stdout.split() == labels
    assert json.loads(perceptive("certify", model, data, "--json").stdout)["certificate"]["holds"]
    perceptive("train", data, "--continue", model, "-o", model, "--quiet")
    truth = [row["label"] for row in MIXED * 5]
    report = json.loads(perceptive("eval", model, data, "--json").stdout)
    assert report["metrics"]["accuracy"] >= np.mean(np.array(labels) == truth)
    write(data, [{"text": "ab", "label": "x", "a": 1}])
    assert f"{data}:1: it has no part" in perceptive("predict", model, data, code=1).stderr


def test_numbers_that_are_not_there_are_told(tmp_path):
    data, model = tmp_path / "a.jsonl", tmp_path / "a.model"
    options = ["-o", model, "--kernel", "gaussian+spectrum(2)@text"]
    write(data, [{"text": "ab", "label": 1}, {"text": "cd", "label": 2}])
    done = perceptive("train", data, *options, code=1).stderr
    assert f"{data}:1" in done
    assert "name the part, as in gaussian(...)@column" in done
    write(data, [*MIXED, {"text": "ab", "a": 1, "label": "x"}])
    assert f"{data}:5: it has no part" in perceptive("train", data, *options, code=1).stderr
    assert f"{data}:5" in perceptive("train", data, *options, "--on-error", "skip").stderr
    write(data, [*MIXED, {"text": "ab", "a": 1, "b": None, "label": "x"}])
    assert f"{data}:5: X[0, 1] is nan" in perceptive("train", data, *options, code=1).stderr
    done = perceptive("train", data, "-o", model, "--kernel", "gaussian+spectrum(2)", code=1)
    assert "gaussian(...)@column" in done.stderr
