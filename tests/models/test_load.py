"""`load` of any model gives an estimator that predicts from raw input."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import perceptive
from command_line import perceptive as run
from command_line import write_lists, write_rows, write_sentences

rng = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": rng.normal(size=120).round(3),
        "colour": rng.choice(["red", "blue", None], 120),
        "weight": rng.integers(0, 9, 120),
        "zip": rng.integers(0, 5, 120),
    }
)
LABEL = np.where(FRAME["size"] + (FRAME["colour"] == "red") > 0.5, "yes", "no")


def write_table(folder, name, frame):
    path = folder / name
    if name.endswith("csv"):
        frame.to_csv(path, index=False)
    elif name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        rows = [{k: v for k, v in row.items() if not pd.isna(v)} for row in frame.to_dict("records")]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def scores_of(model, path):
    rows = [line.split("\t") for line in run("predict", model, path, "--scores").stdout.splitlines()]
    return [row[0] for row in rows], np.array([float(row[1]) for row in rows])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl"])
@pytest.mark.parametrize("options", [["--holdout", 0.2], ["--kernel", "poly(2)"]], ids=["linear", "kernel"])
def test_tables(name, options, tmp_path):
    """Frames, Arrow tables, dicts and rows are read as the files were."""
    frame = FRAME if name != "t.jsonl" else FRAME.drop(columns="weight")
    path = write_table(tmp_path, name, frame.assign(label=LABEL))
    categorical = [] if name == "t.jsonl" else ["--categorical", "zip"]
    run("train", path, "-o", tmp_path / "m", "--quiet", "--epochs", 5, *options, *categorical)
    labels, scores = scores_of(tmp_path / "m", path)
    clf = perceptive.load(tmp_path / "m")
    assert type(clf).__name__ == ("KernelClassifier" if "--kernel" in options else "LinearClassifier")
    dicts = [{k: v for k, v in row.items() if not pd.isna(v)} for row in frame.to_dict("records")]
    raw = [frame, frame.assign(label=LABEL), frame.iloc[:, ::-1], pa.Table.from_pandas(frame), dicts]
    if name != "t.jsonl":
        raw += [frame.to_numpy(), frame.to_numpy().tolist()]
    for X in raw:
        assert clf.predict(X).tolist() == labels
        np.testing.assert_allclose(clf.decision_function(X), scores, rtol=1e-4, atol=1e-5)
    assert (
        clf.predict(frame[:1]).tolist() == clf.predict(dicts[:1]).tolist() == [clf.predict_one(dicts[0])] == labels[:1]
    )
    if "--holdout" in options:
        assert clf.predict_proba(frame).shape == (120, 2)
    with pytest.raises(ValueError, match=r"row 0: .*complex"):
        clf.predict([{"size": 1j}])


def test_texts(tmp_path):
    texts = ["win money now", "see you soon", 'a "quoted", text\twith\nlines', "money, money"] * 20
    y = ["spam", "ham", "ham", "spam"] * 20
    flat = [text.replace("\n", " ").replace("\t", " ") for text in texts]
    (tmp_path / "t.txt").write_text("".join(f"{label}\t{text}\n" for label, text in zip(y, flat, strict=True)))
    run(
        "train",
        tmp_path / "t.txt",
        "--text",
        "--words",
        "1-2",
        "--idf",
        "-o",
        tmp_path / "m",
        "--holdout",
        0.2,
        "--quiet",
    )
    labels, scores = scores_of(tmp_path / "m", tmp_path / "t.txt")
    clf = perceptive.load(tmp_path / "m")
    for X in (texts, flat, np.array(texts), pd.Series(texts), [{"text": text} for text in texts]):
        assert clf.predict(X).tolist() == labels
        np.testing.assert_allclose(clf.decision_function(X), scores, rtol=1e-4)
    assert clf.predict_proba(texts).shape == (80, 2)
    assert clf.predict_one("money money") == "spam"
    assert clf.score(texts, y) > 0.9
    run("train", tmp_path / "t.txt", "--text", "--kernel", "linear", "-o", tmp_path / "k", "--quiet")
    kernel = perceptive.load(tmp_path / "k")
    assert kernel.predict(texts).tolist() == scores_of(tmp_path / "k", tmp_path / "t.txt")[0]
    table = write_table(tmp_path, "t.csv", FRAME.assign(label=LABEL))
    run("train", table, "-o", tmp_path / "m", "--quiet")
    with pytest.raises(ValueError, match="X holds texts, but the model learned from a table"):
        perceptive.load(tmp_path / "m").predict(["a text"])


def test_arrays_in_arrays_out(tmp_path):
    X, y = write_rows(tmp_path / "t.svm")
    run("train", tmp_path / "t.svm", "-o", tmp_path / "m", "--quiet", "--holdout", 0.2)
    clf = perceptive.load(tmp_path / "m")
    labels = [int(label) for label in run("predict", tmp_path / "m", tmp_path / "t.svm").stdout.split()]
    for rows in (X, X.toarray(), X.toarray().tolist(), sp.csc_matrix(X)):
        assert clf.predict(rows).tolist() == labels
    assert isinstance(clf.predict(X), np.ndarray)
    assert clf.predict_proba(X).shape == (len(y), 2)
    lines = (tmp_path / "t.svm").read_text().splitlines()
    assert clf.predict(lines).tolist() == labels
    again = clone(clf).fit(X, y)
    assert again.score(X, y) > 0.8
    perceptive.save(clf, tmp_path / "again")
    assert perceptive.load(tmp_path / "again").predict(X).tolist() == labels
    assert perceptive.load_learner(tmp_path / "m").predict_many(X) == labels


def test_rankers_and_taggers(tmp_path):
    write_lists(tmp_path / "lists.svm")
    write_sentences(tmp_path / "s.conll")
    X, y, qid = perceptive.streams.load(tmp_path / "lists.svm", query_id=True)
    for kernel in ([], ["--kernel", "poly(2)"]):
        run("train", tmp_path / "lists.svm", "--task", "rank", "-o", tmp_path / "m", "--quiet", *kernel)
        ranker = perceptive.load(tmp_path / "m")
        assert ranker.score(X, y, qid=qid) > 0.3
    run("train", tmp_path / "s.conll", "--task", "tag", "-o", tmp_path / "m", "--quiet", "--epochs", 3)
    tagger = perceptive.load(tmp_path / "m")
    words = [line.split() for line in run("tag", tmp_path / "m", tmp_path / "s.conll").stdout.splitlines()]
    ends = [i for i, line in enumerate(words) if not line]
    first = words[: ends[0]]
    tokens = [tuple(line[:-2]) if len(line) > 3 else line[0] for line in first]
    assert tagger.predict([tokens])[0] == [line[-1] for line in first]
    options = ["--task", "rerank", "--base", tmp_path / "m", "--folds", 2, "--candidates", 3]
    run("train", tmp_path / "s.conll", *options, "-o", tmp_path / "r", "--quiet")
    assert len(perceptive.load(tmp_path / "r").predict([tokens])[0]) == len(tokens)
    assert clone(tagger).get_params().keys() == tagger.get_params().keys()
