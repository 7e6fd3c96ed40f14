"""Labels of files: what cannot be classes is refused with the cure, and whole numbers stay apart."""

import json

import numpy as np
import pytest

from command_line import perceptive
from perceptive import LinearClassifier, load, streams


def regression(n):
    rng = np.random.default_rng(0)
    return "".join(f"{value:.6f} 1:{value:.3f} 2:1\n" for value in rng.random(n))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("one.svm", "1 1:1\n1 2:1\n", "all examples have the label 1: a classifier needs at least two classes"),
        ("floats.svm", regression(1000), "this looks like regression"),
        ("mixed.jsonl", '{"label": 1, "x": 1}\n{"label": "1", "x": 2}\n', "differ only in type"),
    ],
)
def test_refused(tmp_path, name, text, told):
    (tmp_path / name).write_text(text)
    assert told in perceptive("train", name, "-o", "m", cwd=tmp_path, code=1).stderr
    assert not (tmp_path / "m").exists()
    with pytest.raises(ValueError, match=told.split(":")[0]):
        LinearClassifier().fit_stream(tmp_path / name)


def test_a_few_numbers_and_announced_classes_are_classes(tmp_path):
    (tmp_path / "a.svm").write_text("0.5 1:1\n1.5 2:1\n2.5 3:1\n" * 3)
    told = json.loads(perceptive("train", "a.svm", "-o", "m", "--json", cwd=tmp_path).stdout)
    assert told["learner"]["classes"] == [0.5, 1.5, 2.5]
    (tmp_path / "b.svm").write_text("1 1:1\n1 2:1\n")
    perceptive("train", "b.svm", "-o", "m", "--classes", "0,1", cwd=tmp_path)


ONE, OTHER = 2**53 + 1, 2**53  # one number as float64
LARGE = {
    "a.csv": ("label,x,y\n", "{},1,0\n{},0,1\n"),
    "a.jsonl": ("", '{{"label": {}, "x": 1}}\n{{"label": {}, "y": 1}}\n'),
    "a.svm": ("", "{} 1:1\n{} 2:1\n"),
    "a.vw": ("", "{} | x\n{} | y\n"),
}


@pytest.mark.parametrize("labels", [(ONE, OTHER), (-ONE, ONE), (2**64 + 1, 2**64)])
@pytest.mark.parametrize(
    ("name", "kernel"),
    [*((name, ()) for name in LARGE), *((name, ("--kernel", "linear")) for name in list(LARGE)[1:3])],
)
def test_large_whole_numbers_stay_apart(tmp_path, name, labels, kernel):
    head, lines = LARGE[name]
    (tmp_path / name).write_text(head + lines.format(*labels) * 6)
    perceptive("train", name, "-o", "m", "--quiet", *kernel, cwd=tmp_path)
    perceptive("train", name, "-o", "n", "--continue", "m", "--quiet", cwd=tmp_path)
    for model in "mn":
        said = perceptive("predict", model, name, cwd=tmp_path).stdout.split()[:2]
        assert said == [str(label) for label in labels]
        assert sorted(load(tmp_path / model).classes_.tolist()) == sorted(labels)
    assert "100.00%" in perceptive("eval", "m", name, cwd=tmp_path).stdout
    y = streams.load(str(tmp_path / name))[1]
    assert [int(label) for label in y[:2]] == list(labels)


def test_several_labels_are_counted_and_said(tmp_path):
    (tmp_path / "a.txt").write_text("__label__a one\n__label__b __label__a two\n__label__a __label__b one\n" * 4)
    said = "a.txt:2:1: of several labels 'b' was taken (byte 15); 8 lines have several, and only the first counts"
    for _ in range(2):  # the second time from the cache
        done = perceptive("train", "a.txt", "--text", "-o", "m", "--cache", "c", "--json", cwd=tmp_path)
        assert f"note: {said}" in done.stderr
        [note] = json.loads(done.stdout)["notes"]
        assert note.startswith(said)
    assert said in perceptive("eval", "m", "a.txt", cwd=tmp_path).stderr
    with pytest.warns(UserWarning, match="8 lines have several"):
        LinearClassifier().fit_stream(streams.open(tmp_path / "a.txt", format="text"))
    (tmp_path / "b.txt").write_text("__label__a one\n__label__b two\n")
    assert "several" not in perceptive("train", "b.txt", "--text", "-o", "m", cwd=tmp_path).stderr
