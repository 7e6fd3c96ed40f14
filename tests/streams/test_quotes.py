"""Tables whose quotes mean nothing."""

import pandas as pd
import pytest

from perceptive import LinearClassifier, load, save, streams
from perceptive.cli import main
from perceptive.streams import FileFormat

ROWS = [
    ('"Great stuff', "pos"),
    ("awful", "neg"),
    ('he said wow"', "pos"),
    ('a 5" screen', "neg"),
    ("fine", "pos"),
    ('""', "neg"),
]


def write(path, rows=ROWS, header=("text", "label"), delimiter="\t"):
    path.write_text("".join(delimiter.join(row) + "\n" for row in [header, *rows]))
    return path


def test_quotes_may_mean_nothing(tmp_path):
    path = write(tmp_path / "t.tsv")
    with pytest.raises(ValueError, match=r"if quotes have no special meaning, give --quote none \(Python: quote"):
        streams.load(path)
    for how in ({}, {"text_column": "text"}):
        X, y = streams.load(path, quote=None, **how)
        assert (X.shape[0], y.tolist()) == (6, [label for _, label in ROWS])
    stream = streams.open(path, quote=None, remember_names=True)
    assert len(list(stream)) == 1
    names = {name for bucket in stream.log.names.buckets(1) for name in stream.log.names.names(bucket)}
    assert names == {f"text={text}" for text, _ in ROWS}
    assert streams.open(write(tmp_path / "h.csv", [], ('"a', 'b"'), ","), quote=None).columns == ('"a', 'b"')


def test_a_model_remembers_it(tmp_path):
    model = LinearClassifier(epochs=3).fit_stream(streams.open(write(tmp_path / "t.tsv"), quote=None))
    assert model.predict([{"text": '"Great stuff'}, ["awful"]][:1]).tolist() == ["pos"]
    assert model.predict([["awful"], ['a 5" screen']]).tolist() == ["neg", "neg"]
    meta = model.learner_.space.format.to_meta()
    assert meta["quote"] is None
    assert FileFormat.from_meta(meta).quote is None
    assert "quote" not in FileFormat(name="csv").to_meta()


def test_every_command_takes_it(tmp_path, capsys):
    odd, plain = (
        write(tmp_path / "t.tsv"),
        write(tmp_path / "p.tsv", [(text.strip('"'), y) for text, y in ROWS[:3]] * 2),
    )
    model, more = str(tmp_path / "m"), str(tmp_path / "more")
    assert main(["train", str(plain), "-o", model]) == 0
    for words in (["predict"], ["eval"], ["explain"], ["certify"]):
        assert main([*words, model, str(odd)]) != 0
        assert "--quote none" in " ".join(capsys.readouterr().err.split())
        assert main([*words, model, str(odd), "--quote", "none"]) == 0
    assert main(["train", str(odd), "--quote", "none", "--continue", model, "-o", more]) == 0
    assert main(["train", str(odd), "--quote", "none", "-o", model]) == 0
    assert load(model).learner_.space.format.quote is None
    assert main(["predict", model, str(odd)]) == 0
    with pytest.raises(ValueError, match="quote='x': it must be"):
        FileFormat(name="csv", quote="x")


def test_a_model_of_a_frame_takes_it(tmp_path, capsys):
    model, odd = tmp_path / "m", write(tmp_path / "t.tsv")
    frame = pd.DataFrame({"text": [text for text, _ in ROWS]})
    save(LinearClassifier(bits=12, epochs=3).fit(frame, [label for _, label in ROWS]), model)
    assert main(["predict", str(model), str(odd), "--quote", "none"]) == 0
    assert capsys.readouterr().out.split() == [label for _, label in ROWS]


def test_values_that_swallow_lines_are_noted(tmp_path):
    swallowed = [
        ('"Great stuff', "pos"),
        ("awful", "neg"),
        ("fine", "pos"),
        ('wow"', "pos"),
        ("a", "neg"),
        ("b", "pos"),
    ]
    stream = streams.open(write(tmp_path / "t.tsv", swallowed))
    assert sum(len(y) for _, y in stream) == 3
    said = stream.log.remarks["spans"]
    assert ":2:1: a value in quotes has 4 lines (" in said
    assert "; 1 line has such a value" in said
    assert "give --quote none (Python: quote=None)" in said


def test_texts_of_some_lines_are_not(tmp_path):
    (tmp_path / "t.csv").write_text('text,label\n"two\nlines, no more",a\n"one\n\n\n\ntwo",b\n')
    stream = streams.open(tmp_path / "t.csv")
    assert sum(len(y) for _, y in stream) == 2
    assert "spans" not in stream.log.remarks
