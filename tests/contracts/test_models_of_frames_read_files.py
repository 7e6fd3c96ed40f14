"""Models that learned from data frames or dicts in Python read files with the same columns, by name."""

import json

import numpy as np
import pytest

from command_line import perceptive
from perceptive import KernelClassifier, KernelRanker, LinearClassifier, LinearRanker, save

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

N = 60
RNG = np.random.default_rng(3)
NUMBERS = pd.DataFrame(
    {"size": RNG.normal(size=N), "count": RNG.integers(0, 5, N), "ripe": RNG.random(N) < 0.5, "b c": RNG.normal(size=N)}
)
WORDS = NUMBERS.assign(
    colour=RNG.choice(["red", "blue", "dark green"], N),
    zip=RNG.choice(["01", "10", "7"], N),
    day=pd.to_datetime(RNG.choice(["2020-01-31", "2021-05-01"], N)),
    mass=RNG.normal(5000, 300, N),
    kind=pd.Categorical(RNG.choice([101, 102], N)),
)
WORDS.loc[5, ["colour", "mass"]] = None
Y = np.where(NUMBERS["size"] + NUMBERS["ripe"] > 0.4, "yes", "no")
FRAMES = {"numbers": NUMBERS, "words": WORDS}
CLASSIFIERS = [
    LinearClassifier(),
    LinearClassifier(bits=12),
    LinearClassifier(hypothesis="voted", normalize=True),
    KernelClassifier(kernel="gaussian(gamma=0.5)"),
]
FILES = ("csv", "tsv", "jsonl", "parquet")


def write(frame, path):
    if path.suffix in (".csv", ".tsv"):
        frame.to_csv(path, index=False, sep="," if path.suffix == ".csv" else "\t")
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True, date_format="iso")
    else:
        frame.to_parquet(path, index=False)
    return path


def labels(done):
    return [json.loads(line)["label"] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("kind", FRAMES)
def test_classifiers_predict_as_in_python(model, kind, tmp_path):
    frame = FRAMES[kind]
    model = model.fit(frame, Y)
    save(model, tmp_path / "m")
    extra = frame[frame.columns[::-1]].assign(label=Y, other="x", more=7)
    expected = model.predict(frame).tolist()
    for suffix in FILES:
        path = write(extra, tmp_path / f"t.{suffix}")
        assert labels(perceptive("predict", tmp_path / "m", path, "--json")) == expected, suffix
        told = json.loads(perceptive("eval", tmp_path / "m", path, "--json").stdout)
        assert told["data"]["examples"] == N
        assert told["metrics"]["accuracy"] == pytest.approx(model.score(frame, Y))


def test_scores_are_those_of_python(tmp_path):
    for frame in FRAMES.values():
        model = LinearClassifier().fit(frame, Y)
        save(model, tmp_path / "m")
        for suffix in ("csv", "parquet"):
            told = perceptive("predict", tmp_path / "m", write(frame, tmp_path / f"t.{suffix}"), "--scores").stdout
            found = [float(line.split("\t")[1]) for line in told.splitlines()]
            assert found == pytest.approx(model.decision_function(frame).tolist(), rel=1e-5)


@pytest.mark.parametrize("model", [LinearRanker(), LinearRanker(bits=12), KernelRanker(kernel="linear")], ids=repr)
@pytest.mark.parametrize("kind", FRAMES)
def test_rankers_rank_as_in_python(model, kind, tmp_path):
    frame, qid = FRAMES[kind], np.repeat(np.arange(N // 4), 4)
    model = model.fit(frame, (Y == "yes").astype(int), qid=qid)
    save(model, tmp_path / "m")
    rows = [json.loads(line) for line in write(frame, tmp_path / "t.jsonl").read_text().splitlines()]
    lists = [{"candidates": rows[i : i + 4], "best": 0} for i in range(0, N, 4)]
    (tmp_path / "lists.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lists))
    done = perceptive("rank", tmp_path / "m", tmp_path / "lists.jsonl")
    scores = model.decision_function(frame, qid)
    expected = [np.argsort(-scores[i : i + 4], kind="stable").tolist() for i in range(0, N, 4)]
    assert [list(map(int, line.split())) for line in done.stdout.splitlines()] == expected


def test_explanations_name_the_columns(tmp_path):
    for kind, frame in FRAMES.items():
        model = LinearClassifier(epochs=3).fit(frame, Y)
        save(model, tmp_path / "m")
        told = perceptive("explain", tmp_path / "m", write(frame, tmp_path / "t.csv"), "--json").stdout.splitlines()
        names = {part["name"] for line in told for part in json.loads(line)["parts"]}
        assert {"size", "b c"} <= names
        assert ("colour=dark green" in names) == (kind == "words")
        assert None not in names
        told = json.loads(perceptive("inspect", tmp_path / "m", "--json").stdout)["weights"]
        assert {"size", "b c"} <= {feature["name"] for one in told for feature in one["features"]}


def test_models_of_dicts_read_json_lines(tmp_path):
    rows = [{"red": 1, "word": "x"}, {"blue": 2.0}, {"green": 1, "word": "y"}, {"blue": 1}]
    model = LinearClassifier(epochs=10).fit(rows, [1, 2, 1, 2])
    save(model, tmp_path / "m")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert labels(perceptive("predict", tmp_path / "m", tmp_path / "t.jsonl", "--json")) == [1, 2, 1, 2]
    (tmp_path / "t.jsonl").write_text('{"other": 1}\n')
    assert "knows none of the features" in perceptive("predict", tmp_path / "m", tmp_path / "t.jsonl", code=1).stderr


def test_files_that_lack_the_columns_are_told_of(tmp_path):
    for frame in FRAMES.values():
        save(LinearClassifier().fit(frame, Y), tmp_path / "m")
        done = perceptive("predict", tmp_path / "m", write(frame.drop(columns="size"), tmp_path / "t.csv"))
        assert "lacks columns that the model has learned from: size" in done.stderr
        done = perceptive("predict", tmp_path / "m", write(pd.DataFrame({"a": [1.0]}), tmp_path / "o.csv"), code=1)
        assert "none of the columns" in done.stderr
        done = perceptive("eval", tmp_path / "m", write(frame, tmp_path / "t.csv"), code=1)
        assert "there is no column 'label' for the label" in done.stderr


def test_a_feature_called_label_stays_one(tmp_path):
    frame = NUMBERS.rename(columns={"size": "label"})
    model = LinearClassifier().fit(frame, Y)
    save(model, tmp_path / "m")
    done = perceptive("predict", tmp_path / "m", write(frame, tmp_path / "t.csv"), "--json")
    assert labels(done) == model.predict(frame).tolist()


def test_formats_without_names_are_refused(tmp_path):
    save(LinearClassifier().fit(WORDS, Y), tmp_path / "m")
    (tmp_path / "t.svm").write_text("1 1:0.5\n")
    assert "give csv, json or arrow" in perceptive("predict", tmp_path / "m", tmp_path / "t.svm", code=2).stderr
    data = write(WORDS.assign(label=Y), tmp_path / "t.csv")
    done = perceptive("train", data, "--continue", tmp_path / "m", "-o", tmp_path / "x", code=2)
    assert "partial_fit" in done.stderr


def test_certificates_count_the_same_run(tmp_path):
    for frame in FRAMES.values():
        model = LinearClassifier(epochs=5).fit(frame, Y)
        save(model, tmp_path / "m")
        expected = model.certificate(frame, Y)
        done = perceptive("certify", tmp_path / "m", write(frame.assign(label=Y), tmp_path / "t.csv"), "--json")
        told = json.loads(done.stdout)["certificate"]
        assert told["mistakes"] == expected.mistakes
        assert told["radius"] == pytest.approx(expected.radius)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_boolean_classes_meet_those_of_files(model, tmp_path):
    y = Y == "yes"
    model = model.fit(WORDS, y)
    save(model, tmp_path / "m")
    for suffix in FILES:
        path = write(WORDS.assign(label=y), tmp_path / f"t.{suffix}")
        told = json.loads(perceptive("eval", tmp_path / "m", path, "--json").stdout)
        assert told["metrics"]["accuracy"] == pytest.approx(model.score(WORDS, y))
