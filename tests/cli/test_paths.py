"""No command writes over a file that it reads, or over another that it writes."""

import json
import os

import pytest

from command_line import perceptive, process
from perceptive.cli.paths import check_paths
from perceptive.errors import UsageError


def test_nothing_is_overwritten_that_is_to_be_read(data):
    before = (data / "train.svm").read_bytes()
    for arguments in (["--cache", "train.svm", "test.svm", "-o", "m"], ["train.svm", "-o", "train.svm"]):
        done = perceptive("train", *arguments, code=2, cwd=data)
        assert "would be lost" in done.stderr
        assert (data / "train.svm").read_bytes() == before


def test_outputs_replace_no_inputs(data, model, chunks):
    tagger, ranker = chunks / "t.model", data / "r.model"
    (data / "lists.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    (chunks / "t.template").write_text("word\n")
    train = ("train", chunks / "train.conll", "--task", "tag", "--quiet")
    perceptive(*train, "-o", tagger)
    perceptive("train", data / "lists.svm", "--task", "rank", "--quiet", "-o", ranker)
    before = {path: path.read_bytes() for path in data.iterdir()}
    for command, input, of in (
        ("predict", "test.svm", model),
        ("rank", "lists.svm", ranker),
        ("tag", "*.conll", tagger),
    ):
        for target in (of, next(data.glob(input))):
            done = perceptive(command, of, data / input, "-o", target, code=2)
            assert f"{target}: is one of the files to read, and would be lost" in done.stderr
    with open(chunks / "train.conll") as file:
        done = process("tag", tagger, "-", "-o", chunks / "train.conll", code=2, stdin=file)
    assert "would be lost" in done.stderr
    done = perceptive(*train, "--template", chunks / "t.template", "-o", chunks / "t.template", code=2)
    assert "would be lost" in done.stderr
    assert {path: path.read_bytes() for path in data.iterdir()} == before


@pytest.mark.parametrize("template", ["t.template", "word\nin(names.txt)\n"])
def test_dictionaries_of_templates_are_read_too(template, chunks):
    (chunks / "names.txt").write_text("Rome\n")
    (chunks / "t.template").write_text("word\nin(names.txt)\n")
    for target in ("-o", "--checkpoint"):
        rest = ["names.txt"] if target == "-o" else ["names.txt", "-o", "m"]
        train = ("train", "train.conll", "--task", "tag", "--template", template, target, *rest)
        done = perceptive(*train, code=2, cwd=chunks)
        assert "names.txt: is one of the files to read, and would be lost" in done.stderr
    assert (chunks / "names.txt").read_text() == "Rome\n"


@pytest.mark.parametrize(
    "same",
    [
        ["-o", "x", "--checkpoint", "x"],
        ["-o", "x", "--cache", "./x"],
        ["-o", "m", "--cache", "x", "--checkpoint", "x"],
        ["-o", "link", "--checkpoint", "there"],
    ],
)
def test_no_file_is_written_twice(data, same):
    (data / "there").write_bytes(b"")
    (data / "link").symlink_to("there")
    done = perceptive("train", "train.svm", *same, code=2, cwd=data)
    assert "is to be written twice, and one of the two would be lost; give another name" in done.stderr


def test_a_model_that_goes_on_is_replaced_by_itself_only(data, model, chunks):
    before = model.read_bytes()
    for wrong in (["-o", "m", "--cache", "a.model"], ["-o", "m", "--checkpoint", "a.model"]):
        done = perceptive("train", "test.svm", "--continue", "a.model", *wrong, code=2, cwd=data)
        assert "a.model: is one of the files to read, and would be lost" in done.stderr
    assert model.read_bytes() == before
    perceptive("train", "test.svm", "--continue", "a.model", "-o", "a.model", "--quiet", cwd=data)
    assert model.read_bytes() != before
    tag = ["train", "train.conll", "--task", "tag", "--quiet"]
    perceptive(*tag, "-o", "t.model", cwd=chunks)
    done = perceptive(*tag, "--dev", "train.conll", "-o", "train.conll", code=2, cwd=chunks)
    assert "would be lost" in done.stderr
    rerank = ["train", "train.conll", "--task", "rerank", "--base", "t.model"]
    assert "would be lost" in perceptive(*rerank, "-o", "t.model", code=2, cwd=chunks).stderr


@pytest.mark.parametrize("options", [["--certify"], ["--epochs", 2]])
@pytest.mark.parametrize(
    ("broken", "code", "said"),
    [
        (MemoryError, 1, "perceptive: there is not enough memory"),
        (OSError(28, "No space left on device"), 1, "No space left"),
        (ValueError("the cache is damaged; delete it"), 1, "perceptive: the cache is damaged"),
        (KeyboardInterrupt, 130, "interrupted"),
    ],
)
def test_a_certificate_that_fails_costs_no_model(data, monkeypatch, options, broken, code, said):
    def fails(learner, datasets):
        next(iter(datasets))
        assert (data / "m").exists()
        assert not (data / "x").exists()
        raise broken

    monkeypatch.setattr("perceptive.certificates.certify_datasets", fails)
    train = ["train", "train.svm", "--checkpoint", "x", "-o", "m", "--json", *options]
    done = perceptive(*train, code=code, cwd=data)
    assert "m: the model is saved, but its certificate could not be made\n" in done.stderr
    assert said in done.stderr.splitlines()[-1]
    told = json.loads(done.stdout)  # what was learned is told all the same
    assert told["certificate"] is None
    assert told["learner"]["rounds"] > 0
    perceptive("predict", "m", "test.svm", cwd=data)


def test_a_file_that_another_run_removes_meanwhile_is_compared_by_name(tmp_path, monkeypatch):
    """The checkpoint of a run that ended at this moment: "No such file or directory" was said."""
    monkeypatch.setattr(os.path, "exists", lambda path: True)  # as it was a moment ago
    monkeypatch.chdir(tmp_path)
    check_paths(["model", "kept.cache", "point"], [])
    with pytest.raises(UsageError, match="written twice"):
        check_paths(["model", "point", "point"], [])
