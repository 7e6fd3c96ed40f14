"""Kernel rankers on the command line: ``train --task rank --kernel``, rank, eval, certify, inspect."""

import json

import numpy as np
import pytest

from command_line import perceptive
from perceptive import KernelClassifier, KernelRanker, LinearRanker, load_learner, save
from perceptive.evaluation import metrics
from perceptive.kernels import Custom, Polynomial, Spectrum, SubsetTree

SPELLED = [
    {"candidates": ["recieve", "receive"], "best": 1, "qid": "a"},
    {"candidates": ["weird", "wierd", "wired"], "grades": [2, 0, 1]},
    {"candidates": ["beleive", "believe"], "best": [1]},
    {"candidates": ["sieze", "seize"]},
]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def circle():
    """Lists in which the candidate nearest to the origin is best: no linear ranker finds it."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(int(n), 2)) for n in rng.integers(2, 6, size=120)]
    return X, [int(np.argmin((xs**2).sum(axis=1))) for xs in X]


@pytest.fixture
def svmlight(tmp_path, circle):
    lines = []
    for t, (xs, best) in enumerate(zip(*circle, strict=True)):
        for j, x in enumerate(xs):
            entries = " ".join(f"{i + 1}:{v:.17g}" for i, v in enumerate(x))
            lines.append(f"{int(j == best)} qid:{t} {entries}\n")
    path = tmp_path / "circle.svm"
    path.write_text("".join(lines))
    return path


def test_vectors(circle, svmlight, tmp_path):
    """The same model as from Python, to the last bit; each command agrees with the learner."""
    X, y = circle
    model = tmp_path / "circle.model"
    options = ("--kernel", "poly(2)", "--dtype", "float64", "--epochs", 4, "--certify", "--json")
    told = json.loads(perceptive("train", svmlight, "--task", "rank", "-o", model, *options).stdout)
    assert (told["data"]["examples"], told["data"]["candidates"]) == (len(X), sum(map(len, X)))
    assert told["certificate"]["holds"]
    assert not told["certificate"]["hypothetical"]
    learner = load_learner(model)
    assert learner.kernel == Polynomial(2)
    assert told["learner"]["supports"] == len(learner.dual)
    rows = np.vstack(X)
    grades = np.concatenate([np.arange(len(xs)) == best for xs, best in zip(X, y, strict=True)]).astype(float)
    qid = np.repeat(np.arange(len(X)), [len(xs) for xs in X])
    same = KernelRanker(kernel=Polynomial(2), dtype="float64", epochs=4).fit(rows, grades, qid=qid)
    assert told["training"]["mistakes"] == same.mistakes_.tolist()
    expected = same.decision_function(rows, qid=qid)
    starts = np.concatenate([[0], np.cumsum([len(xs) for xs in X])])
    orders = perceptive("rank", model, svmlight, "--json").stdout.splitlines()
    assert len(orders) == len(X)
    for t, line in enumerate(orders):
        said = json.loads(line)
        mine = expected[starts[t] : starts[t + 1]]
        assert said["qid"] == t
        assert said["scores"] == pytest.approx(sorted(mine, reverse=True), rel=1e-6, abs=1e-6)
    report = json.loads(perceptive("eval", model, svmlight, "--json").stdout)
    assert report["metrics"]["top1"] == metrics.top1(grades, expected, starts) == same.score(rows, grades, qid=qid)
    assert report["metrics"]["top1"] > 0.9
    assert LinearRanker().fit(rows, grades, qid=qid).score(rows, grades, qid=qid) < 0.6
    certificate = json.loads(perceptive("certify", model, svmlight, "--json").stdout)["certificate"]
    assert certificate == told["certificate"]
    voted = perceptive("rank", model, svmlight, "--scores", "--hypothesis", "voted").stdout.splitlines()
    assert all(0 <= float(part.split(":")[1]) <= 1 for line in voted for part in line.split())
    inspected = json.loads(perceptive("inspect", model, "--json").stdout)["learner"]
    assert (inspected["kernel"], inspected["format"], inspected["features"]) == ("Polynomial(degree=2)", "svmlight", 2)
    assert "supports" in perceptive("train", svmlight, "--task", "rank", "-o", model, "--kernel", "poly(2)").stdout


def test_holding_out_and_going_on(svmlight, tmp_path):
    model = tmp_path / "circle.model"
    options = ("--kernel", "poly(2)", "--epochs", 3, "--holdout", 0.3, "--delta", 0.5, "--json")
    told = json.loads(perceptive("train", svmlight, "--task", "rank", "-o", model, *options).stdout)
    assert len(told["training"]["held_out"]) == len(told["training"]["mistakes"])
    assert 0.5 < max(told["training"]["held_out"]) <= 1
    before = load_learner(model).rounds
    perceptive("train", svmlight, "--task", "rank", "--continue", model, "-o", model, "--epochs", 1)
    assert load_learner(model).rounds == before + 120
    for wrong, message in [
        (("--kernel", "linear"), "leave out --kernel"),
        (("--rule", "pa1"), "leave out --rule"),
        (("--bits", "5"), "leave out --bits"),
        (("--certify",), "also those of earlier training"),
    ]:
        said = perceptive("train", svmlight, "--task", "rank", "--continue", model, "-o", model, *wrong, code=2)
        assert message in said.stderr


def test_json_lists_of_features(tmp_path):
    rows = [
        {"candidates": [{"kind": "good", "length": 2}, {"kind": "bad"}], "best": 0},
        {"candidates": [{"kind": "bad"}, {"kind": "good"}], "best": 1},
    ]
    path, model = write_lines(tmp_path / "a.jsonl", rows), tmp_path / "a.model"
    perceptive("train", path, "--task", "rank", "--kernel", "gaussian", "--bits", 8, "-o", model)
    assert perceptive("rank", model, path).stdout.split("\n") == ["0 1", "1 0", ""]
    assert json.loads(perceptive("inspect", model, "--json").stdout)["learner"]["bits"] == 8


def test_strings(tmp_path):
    path, model = write_lines(tmp_path / "spelled.jsonl", SPELLED), tmp_path / "spelling.model"
    options = ("--kernel", "spectrum(3).normalized()", "--pairs", "all", "--json", "--certify")
    told = json.loads(perceptive("train", path, "--task", "rank", "-o", model, *options).stdout)
    assert (told["data"]["examples"], told["data"]["unanswered"], told["training"]["converged"]) == (3, 1, True)
    assert told["certificate"]["holds"]
    lists, grades = [row["candidates"] for row in SPELLED[:3]], [[0, 1], [2, 0, 1], [0, 1]]
    same = KernelRanker(kernel=Spectrum(3).normalized(), pairs="all").fit(lists, grades)
    assert told["training"]["mistakes"] == same.mistakes_.tolist()
    asked = '{"candidates": ["decieve", "deceive"], "qid": "x"}\n'
    said = json.loads(perceptive("rank", model, "-", "--json", input=asked).stdout)
    assert said == {
        "qid": "x",
        "order": [1, 0],
        "scores": [round(float(s), 9) for s in sorted(same.decision_function([["decieve", "deceive"]])[0])[::-1]],
    }
    report = json.loads(perceptive("eval", model, path, "--json").stdout)
    assert (report["data"]["examples"], report["data"]["unanswered"], report["metrics"]["top1"]) == (3, 1, 1.0)
    assert not json.loads(perceptive("certify", model, path, "--json").stdout)["certificate"]["hypothetical"]
    write_lines(tmp_path / "other.jsonl", SPELLED[:1])
    assert "On data other than the run's" in perceptive("certify", model, tmp_path / "other.jsonl").stdout
    rounds = load_learner(model).rounds
    perceptive("train", path, "--task", "rank", "--continue", model, "-o", model)
    assert load_learner(model).rounds == rounds + 3


def test_trees_and_parts(tmp_path):
    def parses(verb, noun):
        high = f"(S (VP (V {verb}) (NP {noun}) (PP with it)))"
        return [
            {"tree": f"(S (VP (V {verb}) (NP (NP {noun}) (PP with it))))", "text": noun},
            {"tree": high, "text": noun},
        ]

    rows = [{"candidates": parses(v, n), "best": 1} for v, n in [("eat", "soup"), ("see", "stars")]]
    path, model = write_lines(tmp_path / "trees.jsonl", rows), tmp_path / "trees.model"
    kernel = "subsettree(0.5)@tree + 0.1*spectrum(2)@text"
    perceptive("train", path, "--task", "rank", "--kernel", kernel, "-o", model)
    assert load_learner(model).kernel == SubsetTree(0.5).on("tree") + 0.1 * Spectrum(2).on("text")
    new = write_lines(tmp_path / "new.jsonl", [{"candidates": parses("cut", "bread")}])
    assert perceptive("rank", model, new).stdout == "1 0\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "this is not JSON"),
        ('{"candidates": []}', "the list has no candidates"),
        ('{"candidates": "so", "best": 0}', '"candidates" must be a list'),
        ('{"candidates": ["a", "b"], "best": 2}', '"best" is 2'),
        ('{"candidates": ["a", 7], "best": 0}', "candidate 1: it is a int; Spectrum(n=2) takes strings"),
        ('{"candidates": ["a", {"text": "b"}], "best": 0}', "candidate 1: it is a dict"),
    ],
)
def test_broken_lists(tmp_path, line, message):
    good = ['{"candidates": ["ab", "ba"], "best": 0}', '{"candidates": ["abc", "cba", "b"], "best": 0}']
    path, model = tmp_path / "a.jsonl", tmp_path / "a.model"
    path.write_text("\n".join([good[0], "", line, good[1]]) + "\n")
    train = ("train", path, "--task", "rank", "--kernel", "spectrum(2)", "-o", model)
    assert f"a.jsonl:3: {message}" in perceptive(*train, code=1).stderr
    assert not model.exists()
    done = perceptive(*train, "--on-error", "skip", "--json")
    assert f"skipped: {path}:3: {message}" in done.stderr
    assert (json.loads(done.stdout)["data"]["examples"], json.loads(done.stdout)["data"]["skipped"]) == (2, 1)
    assert f"a.jsonl:3: {message}" in perceptive("rank", model, path, code=1).stderr
    done = perceptive("rank", model, path, "--on-error", "skip")
    assert done.stdout == "0 1\n\n0 2 1\n"
    assert json.loads(perceptive("eval", model, path, "--on-error", "skip", "--json").stdout)["data"]["skipped"] == 1


def test_what_cannot_be(svmlight, circle, tmp_path):
    model, spelled = tmp_path / "a.model", write_lines(tmp_path / "spelled.jsonl", SPELLED)
    for path, options, message in [
        (svmlight, ("--kernel", "precomputed"), "files hold no Gram matrices"),
        (svmlight, ("--kernel", "poly(2"), "poly(2"),
        (svmlight, ("--kernel", "poly(2)", "--budget", "9"), "--budget does not go with --task rank --kernel"),
        (svmlight, ("--kernel", "poly(2)", "--cache", "x"), "--cache does not go with --task rank --kernel"),
        (svmlight, ("--kernel", "poly(2)", "--normalize"), "--normalize does not go with --task rank --kernel"),
        (
            svmlight,
            ("--kernel", "poly(2)", "--multiclass", "ovr"),
            "--multiclass does not go with --task rank --kernel",
        ),
        (svmlight, ("--kernel", "poly(2)", "--rule", "romma"), "rule"),
        (svmlight, ("--kernel", "poly(2)", "--holdout", "0.0001"), "of 120 lists"),
        (svmlight, ("--kernel", "spectrum(2)"), "take JSON lines, not svmlight; write an object a line\n"),
        (svmlight, ("--kernel", "spectrum(2)", "--format", "svmlight"), "take JSON lines, not svmlight"),
        (spelled, ("--kernel", "poly(2)"), "list of objects"),
        (spelled, ("--kernel", "spectrum(2)@text"), "candidate 0: it has no part 'text'"),
        (
            spelled,
            ("--kernel", "spectrum(2)", "--bits", "5"),
            "--bits does not go with --task rank --kernel of strings",
        ),
    ]:
        code = 1 if message in ("list of objects", "candidate 0: it has no part 'text'") else 2
        said = perceptive("train", path, "--task", "rank", "-o", model, *options, code=code).stderr
        assert message in said
        assert not model.exists()
    unanswered = write_lines(tmp_path / "u.jsonl", SPELLED[3:])
    train = ("train", unanswered, "--task", "rank", "--kernel", "spectrum(2)", "-o", model)
    assert "no lists with answers" in perceptive(*train, code=1).stderr
    save(LinearRanker().fit(*circle), model)
    train = ("train", svmlight, "--task", "rank", "-o", tmp_path / "b.model", "--continue", model)
    assert "was not learned with a kernel" in perceptive(*train, "--kernel", "linear", code=2).stderr
    save(KernelClassifier().fit([[0.0], [1.0]], [0, 1]), model)
    assert "is a kernel classifier; give --task classify" in perceptive(*train, code=2).stderr
    assert "is a kernel classifier; use perceptive predict" in perceptive("rank", model, svmlight, code=2).stderr


def test_models_from_python(svmlight, circle, tmp_path):
    """Rankers of arrays and of strings serve files; those that need a function or a Gram matrix say so."""
    X, y = circle
    model = tmp_path / "a.model"
    ranker = KernelRanker(kernel="poly(2)").fit(X, y)
    save(ranker, model)
    report = json.loads(perceptive("eval", model, svmlight, "--json").stdout)
    assert report["metrics"]["top1"] == ranker.score(X, y)
    assert json.loads(perceptive("certify", model, svmlight, "--json").stdout)["certificate"]["holds"]
    assert "is a ranker; use perceptive rank" in perceptive("predict", model, svmlight, code=2).stderr
    save(KernelRanker(kernel=Spectrum(2)).fit([["ab", "ba"]], [0]), model)
    assert perceptive("rank", model, "-", input='{"candidates": ["ba", "ab"]}\n').stdout == "1 0\n"
    assert "take JSON lines" in perceptive("rank", model, svmlight, "--format", "svmlight", code=2).stderr
    rows = np.vstack(X[:3])
    sizes = [len(xs) for xs in X[:3]]
    grades = np.concatenate([np.arange(n) == best for n, best in zip(sizes, y, strict=False)]).astype(float)
    gram = KernelRanker(kernel="precomputed").fit(rows @ rows.T, grades, qid=np.repeat(np.arange(3), sizes))
    save(gram, model)
    assert "a Gram matrix, which files do not hold" in perceptive("rank", model, svmlight, code=1).stderr
    save(KernelRanker(kernel=Custom(lambda a, b: float(a == b), name="same")).fit([["a", "b"]], [0]), model)
    assert "same" in perceptive("rank", model, svmlight, code=1).stderr
