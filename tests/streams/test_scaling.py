"""Numbers are scaled by named column, before they are hashed, in the same way wherever a model meets them."""

import io
import json
import re
import sys
import types

import numpy as np
import pandas as pd
import pytest

import perceptive
from command_line import perceptive as command
from perceptive import LinearClassifier, _core, streams
from perceptive.cli import main
from perceptive.models.fields import READING, check
from perceptive.models.registry import load_learner
from perceptive.streams import blocks
from perceptive.streams.file_format import FileFormat, Header
from perceptive.streams.measuring import measured as measured_format
from perceptive.streams.measuring import mixed_columns
from perceptive.streams.scaling import Scaling, scaling_of

pytestmark = pytest.mark.core
rng = np.random.default_rng(0)
N = 400
COLUMNS = {
    "age": rng.normal(40, 10, N).round(1),
    "income": rng.normal(50_000, 20_000, N).round(0),
    "gain": np.where(rng.random(N) < 0.1, rng.normal(3000, 500, N).round(0), 0.0),
    "same": np.full(N, 7.25),
}
LABEL = np.where((COLUMNS["age"] - 40) / 10 + (COLUMNS["income"] - 50_000) / 20_000 > 0, "yes", "no")


def table(path, rows=range(N), columns=COLUMNS):
    text = ",".join(["y", *columns]) + "\n"
    text += "".join(",".join([LABEL[i], *(repr(float(c[i])) for c in columns.values())]) + "\n" for i in rows)
    path.write_text(text)
    return path


def column(X, name, bits=20):
    h = _core.murmur3(name.encode(), 0)
    return X.toarray()[:, h % 2**bits] * (-1 if h >> 31 else 1)


def measured(text, scale="standard", **how):
    format = FileFormat(name="csv", scale=scale, **how)
    parser = format.parser(header=Header(["y", "a"], ","), measuring=True)
    measures = parser.measure(text)
    [(_, shift, factor)] = scaling_of(measures, scale, False).factors
    return shift, factor


def test_dense_columns_are_standardised_and_sparse_ones_only_scaled(tmp_path):
    X, _ = streams.load(table(tmp_path / "a.csv"), label="y", scale="standard", bits=10)
    for name in ("age", "income"):
        assert column(X, name, 10).mean() == pytest.approx(0, abs=1e-12)
        assert column(X, name, 10).std() == pytest.approx(1)
    gain = COLUMNS["gain"]
    rms = np.sqrt(np.mean(gain[gain != 0] ** 2))
    np.testing.assert_allclose(column(X, "gain", 10), gain / rms, rtol=1e-12)
    assert not column(X, "same", 10).any()
    X, _ = streams.load(table(tmp_path / "a.csv"), label="y", scale="max", bits=10)
    np.testing.assert_allclose(column(X, "income", 10), COLUMNS["income"] / np.abs(COLUMNS["income"]).max(), rtol=1e-12)
    X, _ = streams.load(table(tmp_path / "a.csv"), label="y", bits=10)
    np.testing.assert_array_equal(column(X, "income", 10), COLUMNS["income"])  # literal, unless a model learns


@pytest.mark.parametrize(
    ("cells", "shift", "factor"),
    [
        (["1", "3", "1", "3"], 2.0, 1.0),  # mean 2, deviation 1
        (["1", "3", "", "NA"], 2.0, 1.0),  # what is missing does not count
        (["5", "5", "5", "5"], 5.0, 1.0),  # constant: no feature is left
        (["5", "5", "5", ""], 0.0, 0.2),  # that there is a number is all that it says
        (["0", "0", "4", "0"], 0.0, 0.25),  # sparse
        (["0", "0", "0", "0"], 0.0, 1.0),
        (["1e200", "-1e200", "1e200", "-1e200"], 0.0, 1e-200),  # the square of which no double holds
        (["x", "y", "2", "x"], 0.0, 0.5),
        (["7"], 7.0, 1.0),
        (["5e-324", "5e-324", "0", "0"], 0.0, 1.0),
    ],
)
def test_what_columns_ask_for(cells, shift, factor):
    assert measured("".join(f"u,{cell}\n" for cell in cells).encode()) == (shift, pytest.approx(factor))


def test_measures_are_those_of_all_rows_however_they_are_cut():
    x = rng.normal(1e6, 1.0, 1000)
    parser = FileFormat(name="vw").parser()
    whole = parser.measure("".join(f"1 | a:{v!r}\n" for v in x.tolist()).encode())
    parts = _core.Measures()
    for part in np.array_split(x, 7):
        parts.merge(parser.measure("".join(f"1 | a:{v!r}\n" for v in part.tolist()).encode()))
    for found in (whole, parts):
        n, nonzero, mean, spread, squares, low, high = found.table().tolist()
        assert (n, nonzero, low, high, found.names, found.rows) == (1000, 1000, x.min(), x.max(), ["a"], 1000)
        assert mean == pytest.approx(x.mean(), rel=1e-15)
        assert spread == pytest.approx(x.var() * 1000, rel=1e-6)
        assert squares == pytest.approx((x**2).sum())


def test_columns_beyond_a_limit_stay_as_they_are():
    names = 2**16 + 10
    measures = FileFormat(name="vw").parser().measure(("1 | " + " ".join(f"f{j}:2" for j in range(names))).encode())
    assert len(measures.names) == 2**16
    assert FileFormat(name="vw").parser().measure(b"1 | \xff:2 a:3\n").names == ["a"]


@pytest.mark.parametrize(
    ("how", "header", "sound", "broken"),
    [
        ({"name": "csv", "label": "y"}, Header(["y", "a", "w"], ","), ["u,1,red", "u,3,blue"], "u,1e30,green,4"),
        ({"name": "csv", "label": "y"}, Header(["y", "a", "w"], ","), ["u,1,red", "u,3,blue"], 'u,1e30,5"'),
        ({"name": "json"}, None, ['{"a": 1, "w": "red"}', '{"a": 3, "w": "blue"}'], '{"a": 1e30, "w": "x", "z": 1'),
        ({"name": "json"}, None, ['{"a": 1, "w": "red"}', '{"a": 3, "w": "blue"}'], '{"a": 7, "w": "7", "z": "z", }'),
        ({"name": "vw"}, None, ["1 | a:1", "1 | a:3"], "1 | a:1e30 z:2 b:x"),
        ({"name": "svmlight"}, None, ["1 1:1", "1 1:3"], "1 1:1e30 2:2 3:x"),
        ({"name": "svmlight", "bits": 8}, None, ["1 1:1", "1 1:3"], "1 1:1e30 2:2 3:x"),
    ],
)
def test_a_broken_line_is_not_measured(how, header, sound, broken):
    parser = FileFormat(**how).parser(header=header, measuring=True)

    def found(lines):
        measures = parser.measure("\n".join(lines).encode())
        return measures.rows, measures.names, measures.table().tolist(), measures.words, measures.codes

    one, other = sound
    assert found([broken, one, broken, other, broken]) == found(sound)


@pytest.mark.once
def test_threads_and_formats_make_no_difference(tmp_path):
    columns = {**COLUMNS, "wide": rng.normal(1, 1, N)}
    path = table(tmp_path / "a.csv", list(range(N)) * 150, columns)
    assert path.stat().st_size > 2 * 2**20
    format = FileFormat(name="csv", label="y", scale="standard")
    one = measured_format([str(path)], format, 1)
    assert one == measured_format([str(path)], format, 4)
    lines = (json.dumps({"y": str(LABEL[i]), **{k: float(c[i]) for k, c in columns.items()}}) for i in range(N))
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    path = table(tmp_path / "a.csv", columns=columns)
    expected, _ = streams.load(path, label="y", scale="standard")
    found, _ = streams.load(tmp_path / "a.jsonl", label="y", scale="standard")
    assert (expected != found).nnz == 0
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"y": LABEL, **columns}), tmp_path / "a.parquet")
    found, _ = streams.load(tmp_path / "a.parquet", label="y", scale="standard")
    assert (expected != found).nnz == 0


@pytest.mark.parametrize("bits", [None, 8])
def test_svmlight_and_vw_are_scaled_where_asked(tmp_path, bits):
    (tmp_path / "a.svm").write_text("1 1:10 3:4\n-1 1:20\n1 1:30 3:8\n")
    X, _ = streams.load(tmp_path / "a.svm", scale="max", bits=bits)
    assert sorted(np.abs(X.data).tolist()) == pytest.approx([1 / 3, 0.5, 2 / 3, 1, 1])
    X, _ = streams.load(tmp_path / "a.svm", scale="standard", bits=bits)
    assert sorted(np.abs(X.data[X.data != 0]).round(6).tolist()) == pytest.approx(
        sorted([1.224745, 1.224745, *(np.array([4, 8]) / np.sqrt(40)).round(6)])
    )
    (tmp_path / "a.vw").write_text("1 |n a:10 b\n-1 |n a:20\n1 |n a:30 b\n")
    X, _ = streams.load(tmp_path / "a.vw", scale="standard", bits=8)
    assert column(X, "n^a", 8) == pytest.approx([-1.2247449, 0, 1.2247449])
    assert column(X, "n^b", 8).tolist() == [1, 0, 1]  # a name without a number stays as it is
    clf = LinearClassifier().fit_stream(tmp_path / "a.vw")
    assert clf.learner_.space.format.scale is None


def train(data, model, *options):
    assert main(["train", str(data), "--label", "y", "-o", str(model), "--quiet", *options]) == 0
    return load_learner(str(model))


def predicted(capsys, model, data):
    capsys.readouterr()
    assert main(["predict", str(model), str(data)]) == 0
    return capsys.readouterr().out.split()


def test_a_model_remembers_how_it_scales(tmp_path, capsys):
    path, model = table(tmp_path / "a.csv", range(300)), tmp_path / "m.model"
    learner = train(path, model)
    format = learner.space.format
    assert format.scale == "standard"
    assert dict(zip(format.scaling.names, format.scaling.shift, strict=True))["age"] == pytest.approx(
        COLUMNS["age"][:300].mean()
    )
    few = table(tmp_path / "b.csv", range(300, 303))  # statistics of three rows would be others
    every = table(tmp_path / "c.csv", range(300, N))
    assert predicted(capsys, model, few) == predicted(capsys, model, every)[:3]
    right = np.mean(np.array(predicted(capsys, model, every)) == LABEL[300:])
    assert right > 0.95
    assert np.mean(np.array(predicted(capsys, model, every)) == LABEL[300:]) == right
    train(path, tmp_path / "raw.model", "--scale", "none", "--bias", "1")
    assert np.mean(np.array(predicted(capsys, tmp_path / "raw.model", every)) == LABEL[300:]) < right
    went_on = tmp_path / "on.model"
    assert main(["train", str(few), "--continue", str(model), "-o", str(went_on), "--quiet"]) == 0
    assert load_learner(str(went_on)).space.format == format
    clf = LinearClassifier().fit_stream(streams.open(path, label="y"))
    assert clf.learner_.space.format.scaling == format.scaling
    perceptive.save(clf, tmp_path / "p.model")
    assert perceptive.load(tmp_path / "p.model").learner_.space.format == clf.learner_.space.format


def test_certificates_are_about_rows_as_learned(tmp_path, capsys):
    path, model = table(tmp_path / "a.csv"), tmp_path / "m.model"
    train(path, model)
    capsys.readouterr()
    assert main(["certify", str(model), str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["certificate"]
    assert not told["hypothetical"]
    assert told["radius"] < 20
    assert told["bound"] >= told["mistakes"]


def test_standard_input_is_measured_by_its_first_block(tmp_path, monkeypatch):
    path, model = table(tmp_path / "a.csv"), tmp_path / "m.model"
    expected = train(path, model)
    stdin = types.SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(path.read_bytes())))
    monkeypatch.setattr(sys, "stdin", stdin)
    found = train("-", tmp_path / "n.model", "--format", "csv")
    assert found.space.format.scaling == expected.space.format.scaling
    assert found.rounds == expected.rounds


def test_what_is_followed_is_not_measured(tmp_path, capsys):
    path, model = table(tmp_path / "a.csv"), tmp_path / "m.model"
    assert train(path, model, "--follow").space.format.scale is None
    assert main(["train", str(path), "--label", "y", "-o", str(model), "--follow", "--scale", "max"]) != 0
    assert "--scale measures the columns" in capsys.readouterr().err
    known = train(path, model)
    assert main(["train", str(path), "--continue", str(model), "-o", str(model), "--follow", "--quiet"]) == 0
    assert load_learner(str(model)).space.format == known.space.format


def test_numbers_beside_texts_with_idf_are_scaled(tmp_path):
    (tmp_path / "a.csv").write_text("y,n,t\n1,10,red wine\n0,30,red beer\n")
    how = {"label": "y", "text_column": "t", "text": {"idf": True}, "bits": 12}
    X, _ = streams.load(tmp_path / "a.csv", scale="standard", **how)
    assert column(X, "n", 12).tolist() == [-1, 1]
    clf = LinearClassifier().fit_stream(streams.open(tmp_path / "a.csv", **how))
    assert clf.learner_.space.format.scaling.names == ("n",)


def test_texts_are_not_scaled(tmp_path, capsys):
    (tmp_path / "a.tsv").write_text("spam\tbuy 10 now\nham\thello 20\n")
    assert main(["train", str(tmp_path / "a.tsv"), "--text", "--scale", "max", "-o", str(tmp_path / "m")]) != 0
    assert "--scale: this means nothing in text files" in capsys.readouterr().err


def test_models_from_before_do_not_scale_and_hostile_ones_are_refused():
    def load(meta):
        check(READING, meta)
        return FileFormat.from_meta(meta)

    meta = FileFormat(name="csv").to_meta()
    del meta["scale"], meta["scaling"], meta["weight"], meta["missing"]
    check(READING, meta)
    assert FileFormat.from_meta(meta).scale is None
    good = {**meta, "scale": "max", "scaling": {"names": ["a"], "shift": [0.0], "factor": [2.0]}}
    check(READING, good)
    assert FileFormat.from_meta(good).scaling == Scaling(("a",), (0.0,), (2.0,))
    for part in ({"names": ["a", "a"]}, {"names": []}, {"factor": [float("nan")]}, {"shift": ["1"]}, {"names": [1]}):
        with pytest.raises(ValueError, match="scaling"):
            load({**good, "scaling": {**good["scaling"], **part}})

    for scale in ("auto", "large", 1):
        with pytest.raises(ValueError, match="scale"):
            check(READING, {**good, "scale": scale})


def test_dicts_are_scaled_by_what_a_stream_has_measured(tmp_path):
    path = table(tmp_path / "a.csv")
    stream = streams.open(path, label="y", scale="standard")
    [(X, _)] = stream
    rows = [{k: float(c[i]) for k, c in COLUMNS.items()} for i in range(N)]
    [(found, _)] = streams.from_dicts(rows, scale="standard", scaling=stream.measured.scaling)
    assert (found != X).nnz == 0
    with pytest.raises(ValueError, match="scale reads the rows twice"):
        list(streams.from_dicts(rows, scale="standard"))


@pytest.mark.parametrize(
    "text",
    [
        "y,a,b\n1,,x\n0,,y\n1,,x\n",  # a column without a value
        "y,a\n1,1e38\n0,-1e38\n1,2e38\n",
        "y,a\n1,1e300\n0,-1e300\n1,2e300\n",
        "y,a\n1,5\n0,5\n",
        "y,day,id\n1,2024-01-02,a17\n0,2024-01-03,a18\n1,2024-01-02,a19\n",
        'y,a\n1,"12"\n0,"7"\n1,"NA"\n',
        "y,a\n1,3\n0,\n",
    ],
)
def test_odd_tables_are_learned_from(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    learner = train(tmp_path / "a.csv", tmp_path / "m.model")
    assert main(["eval", str(tmp_path / "m.model"), str(tmp_path / "a.csv")]) == 0
    assert np.isfinite(learner.vectors[()].vector("last")[0]).all()


def test_words_are_counted_while_numbers_are_measured():
    """By column, with the first two that differ, however rows are divided; numerals and what is missing are none."""
    parser = FileFormat(name="csv").parser(header=Header(["code", "zip", "label"], ",", ["zip"]))
    lines = [b"100,01,a\n", b"V10,x,b\n", b"NA,,a\n", b"V10,y,b\n", b"280b,z,a\n", b"V11,z,a\n"]
    whole = parser.measure(b"".join(lines))
    assert whole.words == [("code", 4, [b"V10", b"280b"]), ("zip", 4, [b"x", b"y"])]
    parts = _core.Measures()
    for line in lines:
        parts.merge(parser.measure(line))
    assert parts.words == whole.words
    assert mixed_columns(whole, FileFormat(name="csv")) == {"code": "V10"}


@pytest.mark.parametrize("odd", [1e30, -1e200, 1e5])
def test_one_value_beside_which_all_others_are_alike_is_told_of(tmp_path, odd):
    numbers = np.random.default_rng(0).normal(size=200).round(3)
    few = np.where(np.arange(200) % 7, 0.0, numbers)  # a sparse column
    for name, column in (("dense", numbers), ("sparse", few)):
        frame = pd.DataFrame(
            {name: column, "word": ["a", "b"] * 100, "once": [0] * 199 + [1], "label": ["x", "y"] * 100}
        )
        frame.to_csv(tmp_path / "plain.csv", index=False)
        frame.loc[7, name] = odd
        frame.to_csv(tmp_path / "odd.csv", index=False)
        said = f"column '{name}' has one value, {odd:g}, so large that scaling makes all its others alike"
        for file, found in (("plain.csv", False), ("odd.csv", True)):
            done = command("train", file, "-o", "m", "--quiet", cwd=tmp_path)
            assert (said in done.stderr) == found
            assert ("has one value" in done.stderr) == found
        with pytest.warns(UserWarning, match=re.escape(said)):
            LinearClassifier().fit(frame.drop(columns="label"), frame.label)


@pytest.mark.parametrize("epochs", [1, 2])
def test_pipes_whose_numbers_grow_are_told_of(tmp_path, monkeypatch, epochs):
    """They are scaled by their first block."""
    monkeypatch.setattr(blocks, "BLOCK", 4000)
    numbers = rng.normal(size=2000).round(3)
    for grows in (False, True):
        sizes = np.where(np.arange(2000) < 500, 1, 5000 if grows else 1)
        lines = (f"{'yes' if x > 0 else 'no'},{x * size}\n" for x, size in zip(numbers, sizes, strict=True))
        text = "label,x\n" + "".join(lines)
        (tmp_path / "a.csv").write_text(text)
        train = ["train", "-o", "m", "--quiet", "--epochs", epochs]
        piped = command(*train, "-", "--format", "csv", cwd=tmp_path, input=text)
        assert ("later ones are far larger: give a file" in piped.stderr) == grows
        assert "far larger" not in command(*train, "a.csv", cwd=tmp_path).stderr
