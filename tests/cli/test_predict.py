"""``perceptive predict``."""

import json

import numpy as np
import pytest

from command_line import perceptive, write_rows
from perceptive import load, load_learner


def test_predict(data, model):
    learner = load_learner(model)
    X, y = write_rows(data / "test.svm", seed=1)
    expected = learner.predict_many(X)
    assert perceptive("predict", model, data / "test.svm").stdout == "".join(f"{label}\n" for label in expected)
    rows = [
        line.split("\t") for line in perceptive("predict", model, data / "test.svm", "--scores").stdout.splitlines()
    ]
    assert [int(row[0]) for row in rows] == expected
    assert np.allclose([float(row[1]) for row in rows], learner.scores(X), rtol=1e-4)
    out = data / "out.txt"
    perceptive("predict", model, data / "test.svm", "--proba", "-o", out)
    proba = np.loadtxt(out, delimiter="\t")[:, 1:]
    assert np.allclose(proba.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(proba.argmax(axis=1), expected)
    text = (data / "test.svm").read_text()
    told = [json.loads(line) for line in perceptive("predict", model, "-", "--json", input=text).stdout.splitlines()]
    assert [one["label"] for one in told] == expected
    assert (
        perceptive("predict", model, data / "test.svm", "--threads", 1).stdout
        == perceptive("predict", model, data / "test.svm", "--threads", 4).stdout
    )
    assert len(y) == len(expected)


def test_features_that_the_model_has_never_seen_have_no_weight(data, model):
    (data / "new.svm").write_text("0 1:1 2000:5\n0 1:1\n")
    first, second = perceptive("predict", model, data / "new.svm", "--scores").stdout.splitlines()
    assert first == second


def test_models_made_in_python(data):
    from perceptive import LinearClassifier, save

    X, y = write_rows(data / "t.svm")
    dicts = [{f"f{j}": float(x) for j, x in zip(row.indices, row.data, strict=True)} for row in X]
    save(LinearClassifier(bits=12).fit(dicts, y), data / "bits.model")
    (data / "t.jsonl").write_text(
        "".join(json.dumps({**d, "label": int(t)}) + "\n" for d, t in zip(dicts, y, strict=True))
    )
    told = json.loads(perceptive("eval", data / "bits.model", data / "t.jsonl", "--format", "json", "--json").stdout)
    assert told["metrics"]["accuracy"] == pytest.approx(np.mean(load(data / "bits.model").predict(dicts) == y))
    save(LinearClassifier().fit(X, y), data / "array.model")
    (data / "one.svm").write_text("0 1:1\n1 2:1 99:1\n")
    assert len(perceptive("predict", data / "array.model", data / "one.svm").stdout.splitlines()) == 2
    assert (
        "give svmlight"
        in perceptive("predict", data / "array.model", data / "t.jsonl", "--format", "json", code=2).stderr
    )
    (data / "narrow.svm").write_text("0 1:1\n1 2:1\n")
    perceptive("train", data / "narrow.svm", "--continue", data / "array.model", "-o", data / "m", "--quiet")
    perceptive("certify", data / "array.model", data / "narrow.svm")
    (data / "empty.svm").write_text("")
    perceptive("certify", data / "array.model", data / "empty.svm", code=1)


def test_labels_that_would_break_lines_are_quoted(tmp_path):
    """A field of a table may hold a line break; the output has a line for each example all the same."""
    table = tmp_path / "table.csv"
    table.write_text("label,x\n" + '"two\nlines",1\nplain,-1\n"a\ttab",5\n"""quoted""",-9\n' * 3)
    perceptive("train", table, "-o", tmp_path / "m", "--epochs", 9, "--quiet")
    labels = load_learner(tmp_path / "m").classes
    assert {"two\nlines", "a\ttab", '"quoted"', "plain"} == set(labels)
    found = perceptive("predict", tmp_path / "m", table).stdout
    assert found.count("\n") == 12
    assert {json.loads(line) if line[0] == '"' else line for line in found.split("\n")[:-1]} <= set(labels)
    rows = perceptive("predict", tmp_path / "m", table, "--scores").stdout.split("\n")[:-1]
    assert [row.count("\t") for row in rows] == [4] * 12


LINES = {  # files with an empty line, a broken one, and (if the format has them) comments; and what each line is
    "rows.svm": ("# comment\n1 1:1\n\n1 1:one\n0 2:1\n", [None, 1, None, None, 0]),
    "table.csv": ("label,a,b\n1,1,0\n\n1,1\n0,0,1\n", [1, None, None, 0]),
    "rows.jsonl": ('{"label": 1, "a": 1}\n\n{"a"\n{"label": 0, "b": 1}\n', [1, None, None, 0]),
    "text.txt": ("1\tgood\n\nno label\n0\tbad\n", ["1", None, None, "0"]),
    "rows.vw": ("1 | a\n\n1 | a:x\n0 | b\n", [1, None, None, 0]),
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("kernel", [[], ["--kernel", "poly(2)"]])
def test_a_line_for_each_line(tmp_path, name, kernel):
    text, expected = LINES[name]
    path = tmp_path / name
    path.write_text(text)
    options = ["--text"] if name == "text.txt" else []
    perceptive("train", path, "-o", tmp_path / "m", "--on-error", "skip", "--epochs", 9, "--quiet", *options, *kernel)
    told = perceptive("predict", tmp_path / "m", path, "--on-error", "skip")
    assert told.stdout == "".join("\n" if label is None else f"{label}\n" for label in expected)
    assert "skipped 1 line: it is empty in the output" in told.stderr
    lines = perceptive("predict", tmp_path / "m", path, "--on-error", "skip", "--json").stdout.splitlines()
    assert [None if (one := json.loads(line)) is None else one["label"] for line in lines] == expected


def test_a_line_for_each_line_of_objects(tmp_path):
    path = tmp_path / "objects.jsonl"
    rows = [{"text": word * 2, "label": word} for word in ("abc", "xyz")] * 3
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    perceptive("train", path, "-o", tmp_path / "m", "--kernel", "spectrum(2)@text", "--quiet")
    path.write_text('\n{"text": "abcabc"}\n{"text"\n{"text": 5}\n{"text": "xyz"}\n\n')
    told = perceptive("predict", tmp_path / "m", path, "--on-error", "skip").stdout
    assert told == "\nabc\n\n\nxyz\n\n"
    path.write_text("\n\n")
    assert perceptive("predict", tmp_path / "m", path).stdout == "\n\n"


def test_header_and_the_best_classes(tmp_path):
    path = tmp_path / "four.csv"
    path.write_text("label,a,b,c\n" + "x,1,0,0\ny,0,1,0\nz,0,0,1\n" * 20)
    perceptive("train", path, "-o", tmp_path / "m", "--holdout", 0.3, "--quiet")
    header, *rows = perceptive("predict", tmp_path / "m", path, "--proba", "--header").stdout.splitlines()
    assert header.split("\t") == ["label", "x", "y", "z"]
    proba = np.array([row.split("\t")[1:] for row in rows], float)
    assert len(rows) == 60  # with the header as many lines as the file
    header, *rows = perceptive("predict", tmp_path / "m", path, "--proba", "--top", 2, "--header").stdout.splitlines()
    assert header.split("\t") == ["label", "proba", "label2", "proba2"]
    best = [row.split("\t") for row in rows]
    assert [row[0] for row in best] == ["xyz"[i] for i in proba.argmax(axis=1)]
    assert np.allclose([[float(row[1]), float(row[3])] for row in best], -np.sort(-proba, axis=1)[:, :2], atol=1e-5)
    told = json.loads(perceptive("predict", tmp_path / "m", path, "--top", 9, "--json").stdout.splitlines()[0])
    assert told["top"][0]["label"] == told["label"]
    assert {one["label"] for one in told["top"]} == {"x", "y", "z"}
    assert [one["score"] for one in told["top"]] == sorted((one["score"] for one in told["top"]), reverse=True)
    assert "leave it out" in perceptive("predict", tmp_path / "m", path, "--header", "--json", code=2).stderr


def test_header_and_the_best_of_two_classes(data, model):
    header, first, *_ = perceptive("predict", model, data / "train.svm", "--scores", "--header").stdout.splitlines()
    label, score = first.split("\t")
    assert header == "label\t1"
    assert int(label) == (float(score) > 0)
    assert perceptive("predict", model, data / "train.svm", "--header").stdout.startswith("label\n")
    [told] = perceptive(
        "predict", model, "-", "--top", 2, input=(data / "train.svm").read_text().split("\n")[0]
    ).stdout.splitlines()
    fields = told.split("\t")
    assert fields[:2] == [label, f"{abs(float(score)):.6g}"]
    assert {fields[0], fields[2]} == {"0", "1"}
    assert float(fields[3]) == -float(fields[1])
