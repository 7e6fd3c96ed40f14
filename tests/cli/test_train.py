"""``perceptive train``: from files to models."""

import json
import os
import subprocess

import pytest

from command_line import perceptive, write_rows
from perceptive import load_learner


def test_train_tells_what_happened(data):
    done = perceptive("train", data / "train.svm", "-o", data / "a.model", "--holdout", 0.1, "--epochs", 3)
    assert "none is known for arow; --rule perceptron has one" in done.stdout
    options = ["--holdout", 0.1, "--epochs", 3, "--rule", "perceptron"]
    done = perceptive("train", data / "train.svm", "-o", data / "a.model", *options)
    assert "none is known" not in done.stdout
    told = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if not line.startswith("held-out"))
    assert told["examples"] == "300"
    assert len(told["mistakes"].split()) == 3
    assert "theorem allows" in told["certificate"]
    assert "held-out accuracy" in done.stdout
    assert {"time", "memory", "model", "classes", "features"} <= told.keys()
    told = json.loads(perceptive("train", data / "train.svm", "-o", data / "a.model", "--json", "--epochs", 1).stdout)
    assert told["data"]["examples"] == 300
    assert told["certificate"] is None  # it would have to read the file again
    told = json.loads(perceptive("train", data / "train.svm", "-o", data / "a.model", "--json", "--certify").stdout)
    assert told["certificate"]["holds"]
    assert told["certificate"]["hypothetical"] is False


def test_the_model_is_that_of_the_library(data, model):
    learner = load_learner(model)
    assert learner.classes == [0, 1]
    assert learner.space.format.name == "svmlight"
    assert learner.temperature is not None


def test_continue(data):
    once = ["--epochs", 1, "--no-shuffle", "--quiet", "--classes", "0,1", "--features", 30, "--bias", 1]
    perceptive("train", data / "train.svm", data / "test.svm", "-o", data / "both.model", *once)
    perceptive("train", data / "train.svm", "-o", data / "first.model", *once)
    perceptive(
        "train", data / "test.svm", "--continue", data / "first.model", "-o", data / "then.model", "--epochs", 1,
        "--no-shuffle", "--quiet",
    )  # fmt: skip
    both, then = load_learner(data / "both.model"), load_learner(data / "then.model")
    assert both.vectors[()].weights.arrays["z"].tobytes() == then.vectors[()].weights.arrays["z"].tobytes()
    assert both.vectors[()].weights.arrays["sum"].tobytes() == then.vectors[()].weights.arrays["sum"].tobytes()
    assert both.mistakes == then.mistakes
    assert both.fingerprint == then.fingerprint
    done = perceptive(
        "train", data / "test.svm", "--continue", data / "first.model", "-o", data / "x", "--rule", "pa1", "--bits", 3,
        code=2,
    )  # fmt: skip
    assert "keeps the parameters that it was trained with; leave out --rule, --bits" in done.stderr


def test_cache_and_threads_change_nothing(data):
    arguments = ["train", data / "train.svm", "--quiet", "--epochs", 3]
    perceptive(*arguments, "-o", data / "a", "--threads", 1)
    perceptive(*arguments, "-o", data / "b", "--threads", 4, "--cache", data / "c.cache")
    perceptive(*arguments, "-o", data / "c", "--cache", data / "c.cache")
    assert (data / "a").read_bytes() == (data / "b").read_bytes() == (data / "c").read_bytes()


@pytest.mark.slow
def test_several_classes_and_reductions(tmp_path):
    write_rows(tmp_path / "t.svm", classes=4)
    for multiclass in ("joint", "ovr", "ovo"):
        perceptive("train", tmp_path / "t.svm", "-o", tmp_path / "m", "--multiclass", multiclass, "--quiet")
        told = json.loads(perceptive("eval", tmp_path / "m", tmp_path / "t.svm", "--json").stdout)
        assert told["metrics"]["accuracy"] > 0.7
        assert len(told["classes"]) == 4
        assert told["metrics"]["auc"] is None
        assert perceptive("inspect", tmp_path / "m", "--top", 2).stdout
    for hypothesis in ("last", "best", "voted", "random"):
        perceptive("train", tmp_path / "t.svm", "-o", tmp_path / "m", "--hypothesis", hypothesis, "--quiet")
        perceptive("predict", tmp_path / "m", tmp_path / "t.svm")
    perceptive("predict", tmp_path / "m", tmp_path / "t.svm", "--hypothesis", "nonsense", code=2)


def test_pipes_as_paths(data):
    text = (data / "train.svm").read_text() * 10  # more than a pipe holds
    (data / "more.svm").write_text(text)
    perceptive("train", data / "more.svm", "-o", data / "a", "--epochs", 2, "--quiet", "--classes", "0,1")
    for name, program in (("plain", "cat"), ("packed", "gzip -c")):
        os.mkfifo(data / name)
        with subprocess.Popen(["bash", "-c", f"{program} more.svm > {name}"], cwd=data):
            perceptive("train", data / name, "-o", data / "b", "--epochs", 2, "--quiet", "--classes", "0,1")
        assert (data / "a").read_bytes() == (data / "b").read_bytes()
    for name in ("first", "second"):  # bash gives each the same path
        with subprocess.Popen(["cat", data / "more.svm"], stdout=subprocess.PIPE) as writer:
            os.dup2(writer.stdout.fileno(), 60)
            perceptive("train", "/dev/fd/60", "-o", data / name, "--epochs", 2, "--quiet", "--classes", "0,1")
            os.close(60)
        assert (data / "a").read_bytes() == (data / name).read_bytes()
    slow = "printf '1 1'; sleep .2; printf ':1\\n0 2:1\\n'"
    with subprocess.Popen(["bash", "-c", slow], stdout=subprocess.PIPE, text=True) as writer:
        perceptive("train", "-", "-o", data / "c", "--quiet", stdin=writer.stdout)
    assert load_learner(data / "c").classes == [0, 1]
    done = perceptive("train", "-", "-o", data / "d", "--certify", "--epochs", 1, input=text, code=2)
    assert "--certify reads the examples twice" in done.stderr


def test_going_on_keeps_what_was_known(data):
    perceptive("train", data / "train.svm", "-o", data / "a", "--bits", 8, "--invert-hash", "--quiet", "--holdout", 0.2)
    perceptive("train", data / "test.svm", "--continue", data / "a", "-o", data / "b", "--quiet", "--epochs", 1)
    a, b = load_learner(data / "a"), load_learner(data / "b")
    assert b.space.names.buckets(1) == a.space.names.buckets(1)
    assert b.first_epoch == a.first_epoch
    assert b.temperature is None
    (data / "empty.svm").write_text("")
    perceptive("train", data / "empty.svm", "--continue", data / "a", "-o", data / "c", code=1)
    done = perceptive(
        "train", data / "test.svm", "--continue", data / "a", "-o", data / "c", "--reference", "0", code=2
    )
    assert "leave out --reference" in done.stderr


def test_text(tmp_path):
    texts = ["ham\tsee you at home", "spam\tWIN a free prize", "ham\tat home", "spam\tfree prize now"]
    (tmp_path / "sms.txt").write_text("\n".join(texts * 5))
    how = ["--text", "--words", "1-2", "--chars", "3", "--idf", "--bits", 14, "--invert-hash", "--quiet"]
    perceptive("train", tmp_path / "sms.txt", "-o", tmp_path / "m", *how)
    done = perceptive("predict", tmp_path / "m", "-", "--unlabelled", input="a free prize for you\nhome\n")
    assert done.stdout == "spam\nham\n"
    told = json.loads(perceptive("eval", tmp_path / "m", tmp_path / "sms.txt", "--json").stdout)
    assert told["metrics"]["accuracy"] == 1
    told = json.loads(perceptive("inspect", tmp_path / "m", "--json", "--top", 1000).stdout)
    names = [feature["name"] for feature in told["weights"][0]["features"]]
    assert "free prize" in names
    learner = load_learner(tmp_path / "m")
    assert learner.space.format.text["words"] == (1, 2)
    assert learner.space.idf.shape == (2**14,)


def test_csv_json_and_vw(tmp_path):
    rows = [(i, "clerk" if i % 3 else "boss", "low" if i % 3 else "high") for i in range(60)]
    (tmp_path / "t.csv").write_text("age,job,income\n" + "".join(f"{a},{j},{y}\n" for a, j, y in rows))
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"job": j, "label": y}) + "\n" for a, j, y in rows))
    (tmp_path / "t.vw").write_text("".join(f"{1 if y == 'high' else -1} |f job={j}\n" for a, j, y in rows))
    for name, extra in (("t.csv", ["--label", "income", "--ignore", "age"]), ("t.jsonl", []), ("t.vw", [])):
        perceptive("train", tmp_path / name, "-o", tmp_path / "m", "--quiet", "--bits", 12, "--normalize", *extra)
        told = json.loads(perceptive("eval", tmp_path / "m", tmp_path / name, "--json").stdout)
        assert told["metrics"]["accuracy"] > 0.95, name
        assert told["data"]["examples"] == 60
    done = perceptive("train", tmp_path / "t.csv", "-o", tmp_path / "m", code=2)
    assert "there is no column 'label' for the label" in done.stderr
    perceptive("train", tmp_path / "t.vw", "-o", tmp_path / "m", "--text", "--format", "vw", code=2)


def test_many_epochs_are_told_shortly(data, chunks):
    noisy = data / "noisy.svm"
    noisy.write_text("1 1:1\n-1 1:1\n" * 3)
    (chunks / "noisy.conll").write_text("a N\n\na V\n\n" * 3)
    for source, options in ((noisy, ()), (noisy, ("--kernel", "linear")), (chunks / "noisy.conll", ("--task", "tag"))):
        told = perceptive("train", source, "-o", data / "n.model", "--epochs", 40, *options).stdout
        [line] = [line for line in told.splitlines() if line.startswith("mistakes")]
        assert len(line.split()) == 10
        assert line.endswith("(40 epochs)")
