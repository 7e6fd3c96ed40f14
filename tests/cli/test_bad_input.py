"""Bad input is told in a line, without a traceback."""

import json
import os
import subprocess

import pytest

from command_line import PERCEPTIVE, perceptive
from perceptive import load_learner

BAD = {
    "a NUL byte": b"1 1:1\n0 1:\0\n",
    "invalid UTF-8": b"1 1:1\n\xff\xfe 1:1\n",
    "a huge index": b"1 99999999999:1\n",
    "too many features": b"1 20000000:1\n",
    "a number that is too large": b"1 1:1e999\n",
    "nothing": b"",
    "no examples": b"\n\n# nothing\n",
    "text": b"hello world\n",
    "gzip cut short": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03abc",
    "zstd cut short": b"\x28\xb5\x2f\xfd\x00",
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_files(tmp_path, kind):
    path = tmp_path / "bad.svm"
    path.write_bytes(BAD[kind])
    done = perceptive("train", path, "-o", tmp_path / "m", code=1)
    assert done.stderr.startswith("perceptive: ")
    assert len(done.stderr.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == ["bad.svm"]


def test_an_overlong_line_is_refused_in_bounded_memory(tmp_path):
    path = tmp_path / "long.svm"
    with path.open("wb") as file:
        file.write(b"1 1:1\n1 ")
        for _ in range(80):
            file.write(b"1" * (1 << 20))
    done = perceptive("train", path, "-o", tmp_path / "m", code=1)
    assert "is longer than 64 MiB; break it up" in done.stderr


def test_skipped_lines_are_counted(data):
    with (data / "train.svm").open("a") as file:
        file.write("1 1:x\nnonsense\n1 2:1")  # and the file ends mid-line
    perceptive("train", data / "train.svm", "-o", data / "m", code=1)
    done = perceptive("train", data / "train.svm", "-o", data / "m", "--on-error", "skip", "--json")
    told = json.loads(done.stdout)
    assert (told["data"]["skipped"], told["data"]["examples"]) == (2, 301)
    assert done.stderr.count("skipped: ") == 2
    assert "train.svm:301:5: value 'x'" in done.stderr


def test_files_that_are_not_there_or_not_models(data, model):
    assert "No such file" in perceptive("train", data / "none.svm", "-o", data / "m", code=1).stderr
    assert "no file matches" in perceptive("train", str(data / "none-*.svm"), "-o", data / "m", code=1).stderr
    assert "No such file" in perceptive("eval", data / "none", data / "test.svm", code=1).stderr
    assert "not a perceptive model file" in perceptive("inspect", data / "test.svm", code=1).stderr
    assert perceptive("predict", model, data, code=1).stderr.startswith("perceptive: ")
    done = perceptive("train", data / "train.svm", "-o", data / "no" / "folder" / "m", code=1)
    assert "the folder does not exist" in done.stderr
    done = perceptive("predict", model, data / "test.svm", "--format", "vw", code=2)
    assert done.stderr.startswith("perceptive predict: error: the model has learned from svmlight files")
    uncalibrated = data / "u.model"
    perceptive("train", data / "train.svm", "-o", uncalibrated, "--quiet")
    assert "train it with --holdout" in perceptive("predict", uncalibrated, data / "test.svm", "--proba", code=2).stderr


def test_a_missing_file_is_no_matter_of_its_format(tmp_path):
    """Not even where its name says a format that the model cannot read."""
    (tmp_path / "a.jsonl").write_text('{"label": "x", "text": "ab"}\n{"label": "y", "text": "cd"}\n')
    (tmp_path / "a.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    (tmp_path / "a.conll").write_text("Ada B-PER\nleft O\n\nYes O\n")
    trained = {"classify": ["a.jsonl", "--kernel", "spectrum(2)@text"], "rank": ["a.svm"], "tag": ["a.conll"]}
    for task, options in trained.items():
        perceptive("train", *options, "--task", task, "-o", f"{task}.model", "--quiet", cwd=tmp_path)
    uses = {"classify": ["predict", "eval", "explain"], "rank": ["rank", "eval"], "tag": ["tag", "eval", "explain"]}
    for task, commands in uses.items():
        for command in commands:
            for name in ("none.csv", "none.svm", "none.jsonl"):
                said = perceptive(command, f"{task}.model", name, code=1, cwd=tmp_path).stderr
                assert said == f"perceptive: {name}: No such file or directory\n"
    said = perceptive("train", "none.csv", "--kernel", "spectrum(2)@text", "-o", "m", code=1, cwd=tmp_path).stderr
    assert said == "perceptive: none.csv: No such file or directory\n"


def test_messages_that_name_the_cure(data, tmp_path):
    assert (
        "the folder does not exist" in perceptive("train", data / "train.svm", "-o", data / "no" / "m", code=1).stderr
    )
    assert "is a folder" in perceptive("train", data / "train.svm", "-o", data, code=1).stderr
    (tmp_path / "t.csv").write_text("age,job\n1,a\n2,b\n")
    done = perceptive("train", tmp_path / "t.csv", "-o", tmp_path / "m", "--label", "nope", code=2)
    assert "there is no column 'nope' for the label; there are 'age', 'job'" in done.stderr
    (tmp_path / "t.txt").write_bytes(b"\xef\xbb\xbf" + b"0\tred apple\n1\tblue plum\n" * 3)
    perceptive("train", tmp_path / "t.txt", "--text", "--classes", "0,1", "-o", tmp_path / "m", "--quiet")
    assert load_learner(tmp_path / "m").classes == ["0", "1"]
    perceptive("train", data / "train.svm", "-o", data / "m", "--seed", "-5", "--holdout", 0.3, code=2)
    done = subprocess.run(
        [*PERCEPTIVE, "train", "-", "-o", str(data / "m")], input=b"\x1f\x8bgarbage", capture_output=True
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_standard_output_is_named(data, model):
    with open("/dev/full", "w") as full:
        command = [*PERCEPTIVE, "predict", model, data / "test.svm"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "standard output: cannot be written (No space left on device); make room" in done.stderr
