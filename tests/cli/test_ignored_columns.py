"""Columns and keys that are left out, in every kind of table."""

import json

from perceptive import load, streams
from perceptive.cli import main
from perceptive.cli.options import words

ROWS = [{"Msg ID": i, "a": i % 2, "deep": {"x": i, "y": "v"}, "label": ["no", "yes"][i % 2]} for i in range(20)]


def write(folder, name, rows):
    path = folder / name
    if name.endswith("csv"):
        flat = [{k: v for k, v in row.items() if k != "deep"} for row in rows]
        lines = [",".join(f'"{v}"' if "," in str(v) else str(v) for v in row.values()) for row in flat]
        path.write_text("\n".join([",".join(f'"{k}"' for k in flat[0]), *lines]) + "\n")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def names(path, **how):
    stream = streams.open(path, remember_names=True, **how)
    list(stream)
    found = stream.log.names
    return {name for bucket in found.buckets(1) for name in found.names(bucket)}


def test_json_lines_leave_out_keys(tmp_path):
    path = write(tmp_path, "t.jsonl", ROWS)
    assert names(path, ignore=("Msg ID",)) == {"a", "deep.x", "deep.y=v"}
    assert names(path, ignore=("Msg ID", "deep")) == {"a"}
    assert names(path, ignore=("Msg ID", "deep.x")) == {"a", "deep.y=v"}
    inner = write(tmp_path, "v.jsonl", [{"features": {"b": 1, "c": 2}, "a": 1, "label": 1}])
    assert names(inner, ignore=("c",)) == {"a", "b"}
    assert names(inner, ignore=("features",)) == {"a"}
    texts = write(tmp_path, "u.jsonl", [{"text": "spam", "big": 1e300, "a": 1, "label": 1}])
    assert names(texts, ignore=("text", "big"), dtype="float32") == {"a"}


def test_a_model_leaves_them_out_in_every_file(tmp_path, capsys):
    table, lines, model = write(tmp_path, "t.csv", ROWS), write(tmp_path, "t.jsonl", ROWS), str(tmp_path / "m")
    for path in (table, lines):
        assert main(["train", path, "--ignore", "Msg ID,deep" if path == lines else "Msg ID", "-o", model]) == 0
        assert "Msg ID" not in load(model).learner_.space.header
        capsys.readouterr()
        for other in (table, lines):
            assert main(["predict", model, other]) == 0
            assert capsys.readouterr().out.split() == [row["label"] for row in ROWS]


def test_a_model_goes_on_where_they_are_missing(tmp_path):
    table, model = write(tmp_path, "t.csv", ROWS), str(tmp_path / "m")
    more = write(tmp_path, "more.csv", [{"a": row["a"], "label": row["label"]} for row in ROWS])
    assert main(["train", table, "--ignore", "Msg ID", "--categorical", "a", "-o", model]) == 0
    assert main(["train", more, "--continue", model, "-o", str(tmp_path / "n")]) == 0
    assert main(["train", more, "--ignore", "Msg ID", "-o", model]) != 0  # it is asked for here


def test_names_may_hold_commas(tmp_path, capsys):
    assert words('a,"b, c",d') == ("a", "b, c", "d")
    rows = [{"Name, first": i, "a": i % 2, "label": i % 2} for i in range(20)]
    model = str(tmp_path / "m")
    assert main(["train", write(tmp_path, "t.csv", rows), "--ignore", '"Name, first"', "-o", model]) == 0
    assert load(model).learner_.space.header == ("a",)
    assert main(["train", "t.csv", "--ignore", '"Name, first', "-o", model]) == 2
    assert "put a name with a comma in double quotes" in " ".join(capsys.readouterr().err.split())
