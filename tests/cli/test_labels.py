"""Labels of files: what cannot be classes is refused with the cure."""

import json

import numpy as np
import pytest

from command_line import perceptive
from perceptive import LinearClassifier


def regression(n):
    rng = np.random.default_rng(0)
    return "".join(f"{value:.6f} 1:{value:.3f} 2:1\n" for value in rng.random(n))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("one.svm", "1 1:1\n1 2:1\n", "all examples have the label 1: a classifier needs two classes"),
        ("floats.svm", regression(1000), "this looks like regression"),
        ("mixed.jsonl", '{"label": 1, "x": 1}\n{"label": "1", "x": 2}\n', "written alike"),
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
