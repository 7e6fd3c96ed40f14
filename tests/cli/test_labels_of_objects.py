"""Labels of JSON lines that kernels of strings and trees compare mean what they mean in tables."""

import json

import pytest

from command_line import perceptive
from perceptive import KernelClassifier, load, save

KERNEL = ("--kernel", "spectrum(2)@text", "--epochs", "5")


def write(path, labels, key="label"):
    texts = [{"text": "abab" if i % 2 else "cdcd"} for i in range(len(labels))]
    path.write_text("".join(json.dumps({**x, key: y}) + "\n" for x, y in zip(texts, labels, strict=True)))
    return path


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([True, False], ["False", "True"]),
        ([" ham ", "spam"], ["ham", "spam"]),
        ([1.0, 2], [1, 2]),
        (["1", "2"], ["1", "2"]),
        (["2020-01-31 00:00:00", "x"], ["2020-01-31", "x"]),
    ],
)
def test_labels_are_those_of_tables(labels, classes, tmp_path):
    data = write(tmp_path / "t.jsonl", labels * 4)
    perceptive("train", data, *KERNEL, "-o", tmp_path / "m")
    assert load(tmp_path / "m").classes_.tolist() == classes
    perceptive("train", data, "-o", tmp_path / "rows", "--epochs", "5")
    assert load(tmp_path / "rows").classes_.tolist() == classes
    told = json.loads(perceptive("eval", tmp_path / "m", data, "--json").stdout)
    assert told["metrics"]["accuracy"] == 1.0
    perceptive("train", data, "--continue", tmp_path / "m", "-o", tmp_path / "more")
    assert load(tmp_path / "more").classes_.tolist() == classes


def test_missing_labels_are_left_out_and_counted(tmp_path):
    data = write(tmp_path / "t.jsonl", ["a", "b", "NA", None, "a", float("nan"), "", "b"])
    with data.open("a") as file:
        file.write('{"text": "abab"}\n')
    done = perceptive("train", data, *KERNEL, "-o", tmp_path / "m", "--json")
    told = json.loads(done.stdout)
    assert (told["data"]["examples"], told["data"]["unanswered"]) == (4, 5)
    assert "t.jsonl:3: the label 'NA' is taken as missing; 1 line has such a label" in done.stderr
    told = json.loads(perceptive("eval", tmp_path / "m", data, "--json").stdout)
    assert (told["data"]["examples"], told["data"]["unanswered"]) == (4, 5)


def test_files_without_labels_are_refused(tmp_path):
    data = write(tmp_path / "t.jsonl", ["a", "b"], key="kind")
    done = perceptive("train", data, *KERNEL, "-o", tmp_path / "m", code=1)
    assert "there is no key 'label' for the label; there are 'text', 'kind'" in done.stderr


def test_announced_classes_say_how_labels_are_read(tmp_path):
    data = write(tmp_path / "t.jsonl", ["07", "08"] * 3)
    for classes, expected in (("07,08", ["07", "08"]), ("7,8", [7, 8])):
        perceptive("train", data, *KERNEL, "--classes", classes, "-o", tmp_path / "m")
        assert load(tmp_path / "m").classes_.tolist() == expected


@pytest.mark.parametrize("labels", [[False, True], ["x ", "y"], ["NA", "y"]])
def test_models_whose_classes_are_others_read_labels_as_they_are(labels, tmp_path):
    """Such classes come from models from before, and from Python."""
    model = KernelClassifier(kernel="spectrum(2)@text", epochs=5)
    model.fit([{"text": "cdcd"}, {"text": "abab"}], labels)
    save(model, tmp_path / "m")
    data = write(tmp_path / "t.jsonl", labels * 3)
    told = json.loads(perceptive("eval", tmp_path / "m", data, "--json").stdout)
    assert (told["data"]["examples"], told["metrics"]["accuracy"]) == (6, 1.0)
    perceptive("train", data, "--continue", tmp_path / "m", "-o", tmp_path / "more")
    assert load(tmp_path / "more").classes_.tolist() == labels
