"""What a column and a word have in common: nothing but the name."""

import json

import pytest

from perceptive import _core
from perceptive.cli import main
from perceptive.models.registry import load_learner
from perceptive.streams.file_format import FileFormat

pytestmark = pytest.mark.core


def trained(data, model, *options):
    assert main(["train", str(data), "--label", "y", "-o", str(model), "--quiet", *options]) == 0
    return load_learner(str(model))


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_column_is_no_word_of_the_text_beside_it(tmp_path, form):
    """A model that learns from both tells them apart; one from before reads them as it did."""
    rows = [(40, "old wine", "a"), (50, "old beer", "b"), (20, "new wine", "a"), (30, "new ale", "b")]
    if form == "csv":
        text = "age,text,y\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    else:
        text = "".join(json.dumps(dict(zip(("age", "text", "y"), row, strict=True))) + "\n" for row in rows)
    (tmp_path / f"a.{form}").write_text(text)
    options = ["--text-column", "text"] if form == "csv" else []
    learner = trained(tmp_path / f"a.{form}", tmp_path / "m", *options)
    assert learner.space.format.apart is True
    beside, word = (learner.space.examples([x]).indices.tolist() for x in ({"age": 3.0}, {"text": "age"}))
    assert (beside, word) == ([_core.murmur3(b"age:", 0) % 2**20], [_core.murmur3(b"age", 0) % 2**20])
    meta = learner.space.format.to_meta()
    del meta["apart"]
    before = FileFormat.from_meta(meta)
    assert before.apart is False
    learner.space.format = before
    assert learner.space.examples([{"age": 3.0}]).indices.tolist() == word
    (tmp_path / "b.csv").write_text("age,y\n1,a\n2,b\n")
    assert trained(tmp_path / "b.csv", tmp_path / "m").space.format.apart is False
