"""The command line, run as a process: what it prints, its exit codes, and that bad input never shows a traceback."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import f1_score, roc_auc_score

from perceptive import SequenceTagger, certify, cli, load
from perceptive.cli import COMMANDS
from perceptive.cli.options import option_of
from perceptive.cli.refusals import ALWAYS, TAKEN
from perceptive.parameters import LinearParameters, TrainingParameters
from perceptive.streams import conll

PERCEPTIVE = [sys.executable, "-m", "perceptive"]


def perceptive(*arguments, input=None, code=0, **options):
    done = subprocess.run(
        [*PERCEPTIVE, *map(str, arguments)],
        input=input,
        capture_output=True,
        text=isinstance(input, str | None),
        **options,
    )
    assert "Traceback" not in (done.stderr if isinstance(done.stderr, str) else done.stderr.decode())
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


def write(path, n=300, d=30, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.3, "csr", random_state=seed)
    y = (X @ np.random.default_rng(7).normal(size=(d, classes))).argmax(axis=1)
    y[rng.random(n) < 0.05] = 0
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return X, y


@pytest.fixture
def data(tmp_path):
    write(tmp_path / "train.svm")
    write(tmp_path / "test.svm", seed=1)
    return tmp_path


@pytest.fixture
def model(data):
    perceptive("train", data / "train.svm", "-o", data / "a.model", "--quiet", "--epochs", 5, "--holdout", 0.2)
    return data / "a.model"


# ---------------------------------------------------------------- help


def test_help_of_every_command():
    top = perceptive("--help").stdout
    for name in COMMANDS:
        assert name in top
        help = perceptive(name, "--help").stdout
        assert "example" in help
        assert f"perceptive {name}" in help
    assert "exit codes: 0 done, 1 failed" in " ".join(top.split())
    assert perceptive("--version").stdout.startswith("perceptive ")


def test_wrong_usage():
    perceptive(code=2)
    perceptive("fly", code=2)
    perceptive("train", "a.svm", code=2)
    perceptive("train", "a.svm", "-o", "b", "--rule", "sgd", code=2)
    perceptive("train", "a.svm", "-o", "b", "--every", "soon", code=2)
    perceptive("demo", "--seed", "-1", code=2)


def test_every_declared_parameter_is_an_option():
    help = perceptive("train", "--help").stdout
    for parameters, left_out in ((LinearParameters, {"cost"}), (TrainingParameters, {"progress"})):
        for name in parameters.__dataclass_fields__:
            assert name in left_out or option_of(name) in help, name


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"]])
def test_help_imports_next_to_nothing(arguments):
    program = f"import sys, perceptive.cli\ntry: perceptive.cli.main({arguments})\nexcept SystemExit: pass\n" \
        "print({'numpy', 'scipy', 'sklearn', 'rich'} & set(sys.modules), file=sys.stderr)"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.strip() == "set()"


@pytest.mark.parametrize("command", ["train", "predict", "eval", "inspect", "certify"])
def test_commands_import_neither_scipy_nor_scikit_learn(data, model, command):
    arguments = {
        "train": ["train", str(data / "train.svm"), "-o", str(data / "b.model")],
        "inspect": ["inspect", str(model)],
    }.get(command, [command, str(model), str(data / "test.svm")])
    program = f"import sys, perceptive.cli\nperceptive.cli.main({arguments})\n" \
        "print({'scipy', 'sklearn', 'rich'} & set(sys.modules), file=sys.stderr)"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.strip() == "set()", done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    script = perceptive("completion", shell).stdout
    for word in ("train", "-l hypothesis" if shell == "fish" else "--hypothesis", "averaged"):
        assert word in script
    if shell == "bash":
        typed = [(2, "train --rul"), (3, "train --rule pa")]
        for at, words in typed:
            script += f'\nCOMP_WORDS=(perceptive {words}); COMP_CWORD={at}; _perceptive; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == ["--rule", "pa pa1 pa2"]


# ---------------------------------------------------------------- from files to models


def test_train_tells_what_happened(data):
    done = perceptive("train", data / "train.svm", "-o", data / "a.model", "--holdout", 0.1, "--epochs", 3)
    told = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if not line.startswith("held-out"))
    assert told["examples"] == "300"
    assert len(told["mistakes"].split()) == 3
    assert "theorem allows" in told["certificate"]
    assert "held-out accuracy" in done.stdout
    assert {"time", "memory", "model", "classes", "features"} <= told.keys()
    told = json.loads(perceptive("train", data / "train.svm", "-o", data / "a.model", "--json", "--epochs", 1).stdout)
    assert told["examples"] == 300
    assert told["certificate"] is None  # it would have to read the file again
    told = json.loads(perceptive("train", data / "train.svm", "-o", data / "a.model", "--json", "--certify").stdout)
    assert told["certificate"]["holds"]
    assert told["certificate"]["hypothetical"] is False


def test_the_model_is_that_of_the_library(data, model):
    learner = load(model)
    assert learner.classes == [0, 1]
    assert learner.reading.format == "svmlight"
    assert learner.temperature is not None


def test_predict(data, model):
    learner = load(model)
    X, y = write(data / "test.svm", seed=1)
    expected = learner.predict_many(X)
    assert perceptive("predict", model, data / "test.svm").stdout == "".join(f"{label}\n" for label in expected)
    rows = [
        line.split("\t") for line in perceptive("predict", model, data / "test.svm", "--scores").stdout.splitlines()
    ]
    assert [int(row[0]) for row in rows] == expected
    assert np.allclose([float(row[1]) for row in rows], learner.scores(X), rtol=1e-4)
    out = data / "out.txt"
    perceptive("predict", model, data / "test.svm", "--proba", "-o", out)
    proba = np.loadtxt(out, delimiter="\t")[:, 1:]
    assert np.allclose(proba.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(proba.argmax(axis=1), expected)
    text = (data / "test.svm").read_text()
    told = [json.loads(line) for line in perceptive("predict", model, "-", "--json", input=text).stdout.splitlines()]
    assert [one["label"] for one in told] == expected
    assert (
        perceptive("predict", model, data / "test.svm", "--threads", 1).stdout
        == perceptive("predict", model, data / "test.svm", "--threads", 4).stdout
    )
    assert len(y) == len(expected)


def test_features_that_the_model_has_never_seen_have_no_weight(data, model):
    (data / "new.svm").write_text("0 1:1 2000:5\n0 1:1\n")
    first, second = perceptive("predict", model, data / "new.svm", "--scores").stdout.splitlines()
    assert first == second


def test_eval_is_as_scikit_learn_counts(data, model):
    X, y = write(data / "test.svm", seed=1)
    learner = load(model)
    predicted = learner.predict_many(X)
    told = json.loads(perceptive("eval", model, data / "test.svm", "--json").stdout)
    assert told["accuracy"] == pytest.approx(np.mean(predicted == y))
    assert told["auc"] == pytest.approx(roc_auc_score(y, learner.scores(X)), abs=1e-5)
    assert [one["f1"] for one in told["classes"]] == pytest.approx(f1_score(y, predicted, average=None).tolist())
    assert np.sum(told["confusion"]) == 300
    shown = perceptive("eval", model, data / "test.svm").stdout
    assert f"{told['accuracy']:.2%}" in shown
    assert "true \\ predicted" in shown


def test_eval_takes_a_label_column_of_taggers_only(data, model):
    assert "is no tagger; leave out --label-column" in perceptive(
        "eval", model, data / "test.svm", "--label-column", 1, code=1
    ).stderr  # fmt: skip


def test_a_label_not_seen_in_training(data, model):
    (data / "new.svm").write_text("5 1:1\n0 1:1\n1 2:1\n")
    told = json.loads(perceptive("eval", model, data / "new.svm", "--json").stdout)
    assert [one["label"] for one in told["classes"]] == [0, 1, "(never met)"]
    assert told["classes"][2]["recall"] == 0
    assert told["examples"] == 3
    assert "(never met)" in perceptive("eval", model, data / "new.svm").stdout
    (data / "many.svm").write_text("".join(f"{i * 1.37} 1:1\n" for i in range(6000)))
    assert json.loads(perceptive("eval", model, data / "many.svm", "--json").stdout)["examples"] == 6000


def test_inspect(data, model):
    shown = perceptive("inspect", model, "--top", 3).stdout
    assert "rule" in shown
    told = json.loads(perceptive("inspect", model, "--top", 3, "--json").stdout)
    [one] = told["classes"]
    w = load(model).problems[()].vector("averaged")[0][:, 0]
    heaviest = np.argsort(-abs(w))[:3]
    assert [feature["column"] for feature in one["features"]] == heaviest.tolist()
    assert [feature["name"] for feature in one["features"]] == [str(j + 1) for j in heaviest]
    perceptive("inspect", model, "--class", "7", code=1)
    perceptive("train", data / "train.svm", "-o", data / "h.model", "--bits", 3, "--invert-hash", "--quiet")
    told = json.loads(perceptive("inspect", data / "h.model", "--json").stdout)
    assert told["names"] == 30
    assert told["collisions"] > 0
    features = told["classes"][0]["features"]
    assert sorted(int(feature["name"]) for feature in features) == list(range(1, 31))
    learner = load(data / "h.model")
    for feature in features:  # a name's own weight: what one unit of it adds to the score
        (data / "one.svm").write_text(f"0 {feature['name']}:1\n0\n")
        rows = perceptive("predict", data / "h.model", data / "one.svm", "--scores").stdout.splitlines()
        with_it, without = (float(row.split("\t")[1]) for row in rows)
        assert with_it - without == pytest.approx(feature["weight"], abs=2e-3 * max(1, abs(with_it)))
        if feature["column"] > 2:
            break
    assert learner.names is not None


def test_certify(data):
    perceptive("train", data / "train.svm", "-o", data / "a.model", "--quiet", "--epochs", 3)
    told = json.loads(perceptive("certify", data / "a.model", data / "train.svm", "--json").stdout)
    assert told["holds"]
    assert not told["hypothetical"]
    told = json.loads(perceptive("certify", data / "a.model", data / "test.svm", "--json").stdout)
    assert told["hypothetical"]
    assert "On data other than the run's" in perceptive("certify", data / "a.model", data / "test.svm").stdout


def test_continue(data):
    once = ["--epochs", 1, "--no-shuffle", "--quiet", "--classes", "0,1", "--features", 30]
    perceptive("train", data / "train.svm", data / "test.svm", "-o", data / "both.model", *once)
    perceptive("train", data / "train.svm", "-o", data / "first.model", *once)
    perceptive(
        "train", data / "test.svm", "--continue", data / "first.model", "-o", data / "then.model", "--epochs", 1,
        "--no-shuffle", "--quiet",
    )  # fmt: skip
    both, then = load(data / "both.model"), load(data / "then.model")
    assert both.problems[()].arrays["z"].tobytes() == then.problems[()].arrays["z"].tobytes()
    assert both.problems[()].arrays["sum"].tobytes() == then.problems[()].arrays["sum"].tobytes()
    assert both.mistakes == then.mistakes
    assert both.fingerprint == then.fingerprint
    done = perceptive(
        "train", data / "test.svm", "--continue", data / "first.model", "-o", data / "x", "--rule", "pa1", "--bits", 3,
        code=1,
    )  # fmt: skip
    assert "goes on learning as it has begun; leave out --rule, --bits" in done.stderr


def test_cache_and_threads_change_nothing(data):
    arguments = ["train", data / "train.svm", "--quiet", "--epochs", 3]
    perceptive(*arguments, "-o", data / "a", "--threads", 1)
    perceptive(*arguments, "-o", data / "b", "--threads", 4, "--cache", data / "c.cache")
    perceptive(*arguments, "-o", data / "c", "--cache", data / "c.cache")
    assert (data / "a").read_bytes() == (data / "b").read_bytes() == (data / "c").read_bytes()


@pytest.mark.parametrize("extra", [["--epochs", "2"], ["--epochs", "3", "--holdout", "0.2", "--cache", "kept.cache"]])
@pytest.mark.slow
def test_killed_and_resumed_gives_the_model_of_an_undisturbed_run(tmp_path, extra):
    write(tmp_path / "big.svm", n=40_000, d=200)
    arguments = ["train", "big.svm", "--hypothesis", "averaged", "--quiet", *extra]
    perceptive(*arguments, "-o", "whole.model", cwd=tmp_path)
    (tmp_path / "kept.cache").unlink(missing_ok=True)
    resume = [*arguments, "-o", "killed.model", "--checkpoint", "run.checkpoint", "--every", "0s"]
    kills = 0
    for wait in (0.05, 0.15, 0.3):
        process = subprocess.Popen([*PERCEPTIVE, *resume], cwd=tmp_path, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while not (tmp_path / "run.checkpoint").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(wait)
        kills += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert kills
    perceptive(*resume, cwd=tmp_path)
    assert (tmp_path / "killed.model").read_bytes() == (tmp_path / "whole.model").read_bytes()
    assert not (tmp_path / "run.checkpoint").exists()


def test_a_checkpoint_of_other_options_is_refused(data):
    from perceptive.persistence import save_checkpoint
    from perceptive.training.stream import Run

    save_checkpoint(Run(load_learner(data), TrainingParameters()), data / "c", {"data": "other"})
    done = perceptive("train", data / "train.svm", "-o", data / "m", "--checkpoint", data / "c", code=1)
    assert "was made from other data or with other options; delete it to start anew" in done.stderr


def load_learner(data):
    perceptive("train", data / "train.svm", "-o", data / "l.model", "--quiet", "--epochs", 1)
    return load(data / "l.model")


def test_follow(data):
    text = (data / "train.svm").read_text().splitlines(keepends=True)
    process = subprocess.Popen(
        [*PERCEPTIVE, "train", "--follow", "-", "--bits", "10", "-o", str(data / "live.model"), "--json"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    process.stdin.write("".join(text[:3]))
    process.stdin.flush()
    first = json.loads(process.stdout.readline())  # it does not wait for more
    assert first["examples"] >= 1
    process.stdin.write("".join(text[3:]))
    process.stdin.close()
    last = json.loads(process.stdout.read().splitlines()[-1])
    assert process.wait() == 0
    learner = load(data / "live.model")
    assert last["examples"] == learner.rounds == 300
    assert last["accuracy"] == pytest.approx(1 - learner.mistakes / 300)


def test_follow_saves_on_ctrl_c_and_on_a_broken_line(data):
    command = [*PERCEPTIVE, "train", "--follow", "-", "-o", str(data / "live.model")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(b"1 1:1\n0 2:1\n")
    process.stdin.flush()
    assert b"examples" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0
    assert load(data / "live.model").rounds == 2
    process.stdin.close()
    process.stdout.close()
    broken = "1 1:1\n0 2:1\n1 x\n"
    done = perceptive(
        "train", "--follow", "-", "--format", "svmlight", "-o", data / "other.model", input=broken, code=1
    )
    assert "<stdin>:3:3: 'x' is not an entry" in done.stderr
    assert load(data / "other.model").rounds == 2


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code", "told"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "")])
def test_training_that_is_stopped_leaves_its_checkpoint_and_nothing_else(tmp_path, sent, code, told):
    write(tmp_path / "big.svm", n=40_000, d=200)
    process = subprocess.Popen(
        [*PERCEPTIVE, "train", "big.svm", "-o", "m", "--epochs", "20000", "--checkpoint", "c", "--every", "0s"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (tmp_path / "c").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(sent)
    _, error = process.communicate(timeout=60)
    assert process.returncode == code
    assert error.strip().endswith(told)
    assert {"big.svm", "c"} <= set(os.listdir(tmp_path)) <= {"big.svm", "c", "c.cache"}


# ---------------------------------------------------------------- bad input

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
    assert (told["skipped"], told["examples"]) == (2, 301)
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
    done = perceptive("predict", model, data / "test.svm", "--format", "vw", code=1)
    assert "perceptive: " in done.stderr
    uncalibrated = data / "u.model"
    perceptive("train", data / "train.svm", "-o", uncalibrated, "--quiet")
    assert "train it with --holdout" in perceptive("predict", uncalibrated, data / "test.svm", "--proba", code=1).stderr


@pytest.mark.slow
def test_several_classes_and_reductions(tmp_path):
    write(tmp_path / "t.svm", classes=4)
    for multiclass in ("joint", "ovr", "ovo"):
        perceptive("train", tmp_path / "t.svm", "-o", tmp_path / "m", "--multiclass", multiclass, "--quiet")
        told = json.loads(perceptive("eval", tmp_path / "m", tmp_path / "t.svm", "--json").stdout)
        assert told["accuracy"] > 0.7
        assert len(told["classes"]) == 4
        assert told["auc"] is None
        assert perceptive("inspect", tmp_path / "m", "--top", 2).stdout
    for hypothesis in ("last", "best", "voted", "random"):
        perceptive("train", tmp_path / "t.svm", "-o", tmp_path / "m", "--hypothesis", hypothesis, "--quiet")
        perceptive("predict", tmp_path / "m", tmp_path / "t.svm")
    perceptive("predict", tmp_path / "m", tmp_path / "t.svm", "--hypothesis", "nonsense", code=1)


def test_nothing_is_overwritten_that_is_to_be_read(data):
    before = (data / "train.svm").read_bytes()
    for arguments in (["--cache", "train.svm", "test.svm", "-o", "m"], ["train.svm", "-o", "train.svm"]):
        done = perceptive("train", *arguments, code=1, cwd=data)
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
            done = perceptive(command, of, data / input, "-o", target, code=1)
            assert f"{target}: is one of the files to read, and would be lost" in done.stderr
    with open(chunks / "train.conll") as file:
        done = perceptive("tag", tagger, "-", "-o", chunks / "train.conll", code=1, stdin=file)
    assert "would be lost" in done.stderr
    done = perceptive(*train, "--template", chunks / "t.template", "-o", chunks / "t.template", code=1)
    assert "would be lost" in done.stderr
    assert {path: path.read_bytes() for path in data.iterdir()} == before


def test_pipes_as_paths(data):
    text = (data / "train.svm").read_text() * 30
    (data / "more.svm").write_text(text)
    perceptive("train", data / "more.svm", "-o", data / "a", "--epochs", 2, "--quiet", "--classes", "0,1")
    program = " ".join(PERCEPTIVE)
    for source in (f"<(cat {data}/more.svm)", f"<(gzip -c {data}/more.svm)"):
        command = f"{program} train {source} -o {data}/b --epochs 2 --quiet --classes 0,1"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert (data / "a").read_bytes() == (data / "b").read_bytes()
    slow = f"(printf '1 1'; sleep .3; printf ':1\\n0 2:1\\n') | {program} train - -o {data}/c --quiet"
    assert subprocess.run(["bash", "-c", slow], capture_output=True).returncode == 0
    assert load(data / "c").classes == [0, 1]
    done = perceptive("train", "-", "-o", data / "d", "--certify", "--epochs", 1, input=text, code=1)
    assert "--certify reads the examples twice" in done.stderr


def test_going_on_keeps_what_was_known(data):
    perceptive("train", data / "train.svm", "-o", data / "a", "--bits", 8, "--invert-hash", "--quiet", "--holdout", 0.2)
    perceptive("train", data / "test.svm", "--continue", data / "a", "-o", data / "b", "--quiet", "--epochs", 1)
    a, b = load(data / "a"), load(data / "b")
    assert b.names.buckets(1) == a.names.buckets(1)
    assert b.first_pass == a.first_pass
    assert b.temperature is None
    (data / "empty.svm").write_text("")
    perceptive("train", data / "empty.svm", "--continue", data / "a", "-o", data / "c", code=1)
    done = perceptive(
        "train", data / "test.svm", "--continue", data / "a", "-o", data / "c", "--reference", "0", code=1
    )
    assert "leave out --reference" in done.stderr


def test_models_made_in_python(data):
    from perceptive import LinearClassifier, save

    X, y = write(data / "t.svm")
    dicts = [{f"f{j}": float(x) for j, x in zip(row.indices, row.data, strict=True)} for row in X]
    save(LinearClassifier(bits=12).fit(dicts, y), data / "bits.model")
    (data / "t.jsonl").write_text(
        "".join(json.dumps({**d, "label": int(t)}) + "\n" for d, t in zip(dicts, y, strict=True))
    )
    told = json.loads(perceptive("eval", data / "bits.model", data / "t.jsonl", "--format", "json", "--json").stdout)
    assert told["accuracy"] == pytest.approx(np.mean(load(data / "bits.model").predict(dicts) == y))
    save(LinearClassifier().fit(X, y), data / "array.model")
    (data / "one.svm").write_text("0 1:1\n1 2:1 99:1\n")
    assert len(perceptive("predict", data / "array.model", data / "one.svm").stdout.splitlines()) == 2
    assert (
        "give svmlight"
        in perceptive("predict", data / "array.model", data / "t.jsonl", "--format", "json", code=1).stderr
    )
    (data / "narrow.svm").write_text("0 1:1\n1 2:1\n")
    perceptive("train", data / "narrow.svm", "--continue", data / "array.model", "-o", data / "m", "--quiet")
    perceptive("certify", data / "array.model", data / "narrow.svm")
    (data / "empty.svm").write_text("")
    perceptive("certify", data / "array.model", data / "empty.svm", code=1)


def test_follow_saves_when_its_reader_has_gone(data):
    source = f"(cat {data}/train.svm; sleep 1.2; cat {data}/train.svm; sleep 1.2; cat {data}/train.svm)"
    command = f"{source} | {' '.join(PERCEPTIVE)} train --follow - -o {data}/live --json | head -1"
    subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert load(data / "live").rounds >= 300
    done = perceptive(
        "train", "--follow", "-", "-o", data / "x", "--epochs", 3, "--cache", "c", input="1 1:1\n", code=1
    )
    assert "--epochs, --cache: not with --follow" in done.stderr


def test_special_files(data, model):
    os.mkfifo(data / "pipe")
    reader = subprocess.Popen(["cat", str(data / "pipe")], stdout=subprocess.PIPE)
    perceptive("predict", model, data / "test.svm", "-o", data / "pipe")
    assert len(reader.communicate()[0].splitlines()) == 300
    assert (
        "is no file that could be replaced"
        in perceptive("train", data / "train.svm", "-o", data / "pipe", code=1).stderr
    )
    for arguments in (["predict", str(model), str(data / "test.svm")], ["eval", str(model), str(data / "test.svm")]):
        done = subprocess.run(
            ["bash", "-c", f"{' '.join(PERCEPTIVE)} {' '.join(arguments)} >&-"], capture_output=True, text=True
        )
        assert "Traceback" not in done.stderr
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(PERCEPTIVE)} train - --format svmlight -o {data}/m <&-"],
        capture_output=True,
        text=True,
    )
    assert done.stderr.startswith("perceptive: standard input is closed"), done.stderr


def test_messages_that_name_the_cure(data, tmp_path):
    assert (
        "the folder does not exist" in perceptive("train", data / "train.svm", "-o", data / "no" / "m", code=1).stderr
    )
    assert "is a folder" in perceptive("train", data / "train.svm", "-o", data, code=1).stderr
    (tmp_path / "t.csv").write_text("age,job\n1,a\n2,b\n")
    done = perceptive("train", tmp_path / "t.csv", "-o", tmp_path / "m", "--label", "nope", code=1)
    assert "there is no column 'nope' for the label but 'age', 'job'" in done.stderr
    (tmp_path / "t.txt").write_bytes(b"\xef\xbb\xbf" + b"0\tred apple\n1\tblue plum\n" * 3)
    perceptive("train", tmp_path / "t.txt", "--text", "--classes", "0,1", "-o", tmp_path / "m", "--quiet")
    assert load(tmp_path / "m").classes == ["0", "1"]
    perceptive("train", data / "train.svm", "-o", data / "m", "--seed", "-5", "--holdout", 0.3, code=1)
    done = subprocess.run(
        [*PERCEPTIVE, "train", "-", "-o", str(data / "m")], input=b"\x1f\x8bgarbage", capture_output=True
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


# ---------------------------------------------------------------- other formats


def test_text(tmp_path):
    texts = ["ham\tsee you at home", "spam\tWIN a free prize", "ham\tat home", "spam\tfree prize now"]
    (tmp_path / "sms.txt").write_text("\n".join(texts * 5))
    how = ["--text", "--words", "1-2", "--chars", "3", "--idf", "--bits", 14, "--invert-hash", "--quiet"]
    perceptive("train", tmp_path / "sms.txt", "-o", tmp_path / "m", *how)
    done = perceptive("predict", tmp_path / "m", "-", "--unlabelled", input="a free prize for you\nhome\n")
    assert done.stdout == "spam\nham\n"
    told = json.loads(perceptive("eval", tmp_path / "m", tmp_path / "sms.txt", "--json").stdout)
    assert told["accuracy"] == 1
    told = json.loads(perceptive("inspect", tmp_path / "m", "--json", "--top", 1000).stdout)
    names = [feature["name"] for feature in told["classes"][0]["features"]]
    assert "free prize" in names
    learner = load(tmp_path / "m")
    assert learner.reading.text["words"] == (1, 2)
    assert learner.idf.shape == (2**14,)


def test_csv_json_and_vw(tmp_path):
    rows = [(i, "clerk" if i % 3 else "boss", "low" if i % 3 else "high") for i in range(60)]
    (tmp_path / "t.csv").write_text("age,job,income\n" + "".join(f"{a},{j},{y}\n" for a, j, y in rows))
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"job": j, "label": y}) + "\n" for a, j, y in rows))
    (tmp_path / "t.vw").write_text("".join(f"{1 if y == 'high' else -1} |f job={j}\n" for a, j, y in rows))
    for name, extra in (("t.csv", ["--label", "income", "--ignore", "age"]), ("t.jsonl", []), ("t.vw", [])):
        perceptive("train", tmp_path / name, "-o", tmp_path / "m", "--quiet", "--bits", 12, "--normalize", *extra)
        told = json.loads(perceptive("eval", tmp_path / "m", tmp_path / name, "--json").stdout)
        assert told["accuracy"] > 0.95, name
        assert told["examples"] == 60
    done = perceptive("train", tmp_path / "t.csv", "-o", tmp_path / "m", code=1)
    assert "there is no column 'label' for the label" in done.stderr
    perceptive("train", tmp_path / "t.vw", "-o", tmp_path / "m", "--text", "--format", "vw", code=1)


# ---------------------------------------------------------------- demo


def test_demo():
    done = perceptive("demo", env={**os.environ, "COLUMNS": "100"})
    assert "certificate:" in done.stdout
    for name in ("last", "best", "averaged", "voted"):
        assert name in done.stdout


def test_a_reader_that_goes_away(data, model):
    shell = f"{sys.executable} -m perceptive predict {model} {data}/test.svm | head -1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert done.stderr == ""


# ---------------------------------------------------------------- taggers

CHUNKS = """\
the DT B-NP
dog NN I-NP
barks VBZ B-VP

a DT B-NP
big JJ I-NP
cat NN I-NP
sleeps VBZ B-VP
. . O
"""


@pytest.fixture
def chunks(tmp_path):
    (tmp_path / "train.conll").write_text(CHUNKS * 10)
    return tmp_path


def test_a_tagger_from_file_to_labels(chunks):
    train, model = chunks / "train.conll", chunks / "a.model"
    done = perceptive(
        "train", train, "--task", "tag", "--template", "chunking", "--rule", "pa1", "--dev", train, "-o", model
    )
    assert "held-out F1 100.00" in done.stderr
    assert "sentences/s" in done.stderr
    table = perceptive("eval", model, train).stdout
    assert table.startswith("processed 80 tokens with 40 phrases; found: 40 phrases; correct: 40.\naccuracy: 100.00%;")
    assert "               NP: precision: 100.00%; recall: 100.00%; FB1: 100.00  20\n" in table
    assert json.loads(perceptive("eval", model, train, "--json").stdout)["f1"] == 100.0
    tagged = perceptive("tag", model, "-", input="the DT\ncat NN\n\n").stdout
    assert tagged == "the DT B-NP\ncat NN I-NP\n\n"
    with_margins = perceptive("tag", model, "-", "--kbest", 2, "--margin", input="the DT\ncat NN\n").stdout.splitlines()
    assert with_margins[0].startswith("# 1 ")
    assert with_margins[1].startswith("the DT B-NP ")
    assert float(with_margins[1].split()[3]) > 0
    assert with_margins[4].startswith("# 2 ")
    spans = perceptive("tag", model, "-", "--spans", input="the DT\ncat NN\nbarks VBZ\n").stdout
    assert spans == "0\t2\tNP\tthe cat\n2\t3\tVP\tbarks\n\n"
    told = json.loads(perceptive("tag", model, "-", "--json", "--kbest", 1, input="the DT\ncat NN\n").stdout)
    assert told["labels"] == ["B-NP", "I-NP"]
    assert "pos[0] = NN" in perceptive("inspect", model, "--top", 50).stdout
    assert json.loads(perceptive("inspect", model, "--json", "--class", "B-NP").stdout)["features"]


def test_a_tagger_is_certified(chunks):
    train, other, model = chunks / "train.conll", chunks / "other.conll", chunks / "a.model"
    other.write_text(CHUNKS)
    learn = ("train", train, "--task", "tag", "--template", "chunking", "-o", model, "--quiet")
    perceptive(*learn, "--encoding", "bioes")
    told = json.loads(perceptive("certify", model, train, "--json").stdout)
    assert told["holds"]
    assert not told["hypothetical"]
    assert 0 < told["updates"] <= told["bound"]
    X, y = conll.read(train)
    expected = certify(load(model), X, y)
    assert (told["bound"], told["text"]) == (expected.bound, str(expected))
    assert perceptive("certify", model, train).stdout == f"{expected}\n"
    assert json.loads(perceptive("certify", model, other, "--json").stdout)["hypothetical"]
    perceptive(*learn, "--rule", "pa1")
    assert "no bound is known" in perceptive("certify", model, train).stdout
    assert "cannot hold the label" in perceptive("certify", model, train, "--label-column", 3, code=1).stderr
    other.write_text("the DT B-NEW\n")
    assert "other.conll:1: the learner has never met" in perceptive("certify", model, other, code=1).stderr
    for command in ("certify", "eval"):
        done = perceptive(command, model, train, "--on-error", "skip", "--threads", 2, code=1)
        assert "--threads, --on-error does not go with taggers" in done.stderr


def test_training_certifies_a_tagger(chunks):
    train, model = chunks / "train.conll", chunks / "a.model"
    learn = ("train", train, "--task", "tag", "--certify", "-o", model)
    told = json.loads(perceptive(*learn, "--json", "--prune", 0).stdout)["certificate"]
    X, y = conll.read(train)
    expected = SequenceTagger(certify=True).fit(X, y).certificate_
    assert (told["bound"], told["text"]) == (expected.bound, str(expected))
    assert f"certificate  {expected}\n" in perceptive(*learn).stdout
    assert "certificate" not in perceptive(*learn[:-3], "-o", model).stdout
    assert "those before are not here" in perceptive(*learn, "--continue", model, code=1).stderr


def test_a_holdout_that_holds_nothing_is_refused(chunks):
    learn = ("train", chunks / "train.conll", "--task", "tag", "-o", chunks / "a.model", "--quiet")
    for part in (0.001, 0.999):
        assert (
            f"too few to hold out a part of {part}; give more" in perceptive(*learn, "--holdout", part, code=1).stderr
        )
    perceptive(*learn, "--holdout", 0.1)


def test_tagged_columns_are_separated_as_they_were(tmp_path):
    (tmp_path / "tabs.conll").write_text("New York\tN\nis\tV\n\nhere\tA\n\n")
    (tmp_path / "spaces.conll").write_text("here  N\nis V\n\nhere A\n\n")
    model = tmp_path / "a.model"
    perceptive("train", tmp_path / "tabs.conll", "--task", "tag", "--template", "word", "-o", model, "--quiet")
    expected = {"tabs": "New York\tN\tN\nis\tV\tV\n\nhere\tA\tA\n\n", "spaces": "here N A\nis V V\n\nhere A A\n\n"}
    for name, lines in expected.items():
        done = perceptive("tag", model, tmp_path / f"{name}.conll", "-o", tmp_path / "out.conll")
        assert (tmp_path / "out.conll").read_text() == lines, done
        (again, _), (before, _) = conll.read(tmp_path / "out.conll"), conll.read(tmp_path / f"{name}.conll", None)
        assert again == before
    both = perceptive("tag", model, tmp_path / "tabs.conll", tmp_path / "spaces.conll").stdout
    assert both == expected["tabs"] + expected["spaces"].replace(" ", "\t")
    done = perceptive("tag", model, tmp_path / "spaces.conll", tmp_path / "tabs.conll", code=1)
    assert "tabs.conll:1: a column is empty or has spaces in it" in done.stderr


def test_labels_with_spaces_are_separated_by_tabs(tmp_path):
    (tmp_path / "train.conll").write_text("Rome\tproper noun\nis\tverb\n")
    model = tmp_path / "a.model"
    perceptive("train", tmp_path / "train.conll", "--task", "tag", "--template", "word", "-o", model, "--quiet")
    assert perceptive("tag", model, "-", input="Rome x\n").stdout == "Rome\tx\tproper noun\n\n"
    assert perceptive("tag", model, "--text", "Rome").stdout == "Rome\tproper noun\n\n"


def test_errors_speak_of_options(chunks):
    learn = ("train", chunks / "train.conll", "--task", "tag", "-o", chunks / "a.model", "--quiet")
    (chunks / "long.conll").write_text("a B-X\nb I-X\nc I-X\n")
    (chunks / "odd.conll").write_text("a B-X\nb I-Y\n")
    long, odd = (("train", chunks / f"{name}.conll", *learn[2:]) for name in ("long", "odd"))
    for arguments, message in (
        ((*learn, "--holdout", 1.5), "--holdout 1.5: it must be"),
        ((*learn, "--max-segment", 3), "--max-segment needs --segments"),
        ((*long, "--segments", "--max-segment", 2), "is longer than 2; set --max-segment 3\n"),
        ((*odd, "--constraints", "bio"), "turn the constraints off (--constraints none)"),
        ((*learn, "--template", chunks / "no.tmpl"), "no.tmpl: no such file; presets are chunking"),
    ):
        assert message in perceptive(*arguments, code=1).stderr
    assert "(--constraints none)" in perceptive(*odd).stderr


def test_a_class_of_an_encoded_tagger_is_inspected_by_its_own_name(tmp_path):
    (tmp_path / "train.conll").write_text("it O\nRome B-N\n\nNew B-N\nYork I-N\n")
    model = tmp_path / "a.model"
    perceptive("train", tmp_path / "train.conll", "--task", "tag", "--encoding", "bioes", "-o", model, "--quiet")
    told = json.loads(perceptive("inspect", model, "--json", "--top", 1000, "--class", "B-N").stdout)
    labels = {one["label"] for one in told["features"]}
    assert {"B-N", "S-N"} <= labels
    assert all({"B-N", "S-N"} & set(label.split(" → ")) for label in labels)
    done = perceptive("inspect", model, "--class", "X", code=1)
    assert "no class 'X'; there are B-N, I-N, O" in done.stderr


def test_a_tagger_of_raw_text(chunks):
    words = "\n".join(" ".join([line.split()[0], line.split()[2]]) if line else "" for line in CHUNKS.splitlines())
    (chunks / "words.conll").write_text((words + "\n\n") * 10)
    perceptive(
        "train", chunks / "words.conll", "--task", "tag", "--template", "ner", "-o", chunks / "a.model", "--quiet"
    )
    done = perceptive("tag", chunks / "a.model", "--text", "the big  cat sleeps.", "--spans")
    assert done.stdout == "0\t12\tNP\tthe big cat\n13\t19\tVP\tsleeps\n\n"
    perceptive("tag", chunks / "a.model", "--text", "", code=0)
    perceptive("tag", chunks / "a.model", code=1)
    more = perceptive(
        "train", chunks / "words.conll", "--task", "tag", "--continue", chunks / "a.model", "-o", chunks / "b.model",
        "--json", "--epochs", 1,
    )  # fmt: skip
    assert json.loads(more.stdout)["mistakes"] == [0]


def test_taggers_say_what_is_wrong(chunks, model):
    train = chunks / "train.conll"
    (chunks / "bad.conll").write_text("the DT B-NP\ndog NN\n")
    done = perceptive("train", chunks / "bad.conll", "--task", "tag", "-o", chunks / "x.model", code=1)
    assert "bad.conll:2: 2 columns where line 1 has 3" in done.stderr
    (chunks / "t.template").write_text("word\nsufix(3)\n")
    done = perceptive("train", train, "--task", "tag", "--template", chunks / "t.template", "-o", "x", code=1)
    assert "t.template, line 2: unknown directive 'sufix'" in done.stderr
    done = perceptive("train", train, "--task", "tag", "--bits", 3, "-o", "x", code=1)
    assert "--bits does not go with --task tag" in done.stderr
    done = perceptive("train", train, "--template", "ner", "-o", "x", code=1)
    assert "--template needs --task tag" in done.stderr
    assert "is a classifier" in perceptive("tag", model, train, code=1).stderr
    perceptive("train", train, "--task", "tag", "--quiet", "-o", chunks / "t.model")
    assert "use perceptive tag" in perceptive("predict", chunks / "t.model", train, code=1).stderr
    assert "but the templates read 2" in perceptive("tag", chunks / "t.model", "-", input="the\n", code=1).stderr
    assert not (chunks / "x.model").exists()


def test_the_label_column_of_a_tagger(tmp_path):
    (tmp_path / "first.conll").write_text("D the DT\nN cat NN\n\nN dog NN\n")
    (tmp_path / "empty.conll").write_text("\n")
    model = tmp_path / "a.model"
    train = ("train", tmp_path / "first.conll", "--task", "tag", "--label-column", 0, "-o", model, "--quiet")
    perceptive(*train)
    told = json.loads(perceptive("eval", model, tmp_path / "first.conll", "--label-column", 0, "--json").stdout)
    assert told["accuracy"] == 100.0
    tagged = perceptive("tag", model, tmp_path / "first.conll", "--label-column", 0).stdout
    assert tagged == "D the DT D\nN cat NN N\n\nN dog NN N\n\n"
    told = perceptive("tag", model, "-", "--label-column", 0, "--json", input="D the DT\n").stdout
    assert json.loads(told)["tokens"] == ["the"]
    assert (
        "cannot hold the label"
        in perceptive("tag", model, tmp_path / "first.conll", "--label-column", 3, code=1).stderr
    )
    assert "empty.conll: there are no sentences" in perceptive(*train, "--dev", tmp_path / "empty.conll", code=1).stderr
    assert "--prune does not go" in perceptive(*train, "--keep", "all", "--prune", 0.1, code=1).stderr


@pytest.mark.slow
def test_a_tagger_remembers_its_label_column(tmp_path):
    labelled, bare, wide = tmp_path / "first.conll", tmp_path / "bare.conll", tmp_path / "wide.conll"
    labelled.write_text("D the DT\nN cat NN\n\nN dog NN\n")
    bare.write_text("the DT\ncat NN\n")
    wide.write_text("D the DT x\n")
    model = tmp_path / "a.model"
    perceptive("train", labelled, "--task", "tag", "--label-column", 0, "-o", model, "--quiet")
    assert json.loads(perceptive("eval", model, labelled, "--json").stdout)["accuracy"] == 100.0
    assert json.loads(perceptive("inspect", model, "--json").stdout)["label column"] == 0
    assert perceptive("tag", model, labelled).stdout == "D the DT D\nN cat NN N\n\nN dog NN N\n\n"
    assert perceptive("tag", model, bare).stdout == "the DT D\ncat NN N\n\n"
    assert "wide.conll:1: 4 columns, but the model has learned from 3" in perceptive("tag", model, wide, code=1).stderr
    assert perceptive("tag", model, wide, "--label-column", 0).stdout == "D the DT x D\n\n"
    perceptive("train", labelled, "--task", "tag", "--continue", model, "-o", tmp_path / "b.model", "--quiet")
    assert json.loads(perceptive("eval", tmp_path / "b.model", labelled, "--json").stdout)["accuracy"] == 100.0
    words = tmp_path / "words.conll"  # the last column of a model of words
    words.write_text("the D\ncat N\n")
    perceptive("train", words, "--task", "tag", "-o", model, "--quiet")
    assert perceptive("tag", model, "-", input="the\ncat\n").stdout == "the D\ncat N\n\n"
    assert perceptive("tag", model, words).stdout == "the D D\ncat N N\n\n"
    assert perceptive("tag", model, "--text", "the cat").stdout == "the D\ncat N\n\n"


@pytest.mark.slow
def test_what_is_wrong_with_a_sentence_is_told_by_file_and_line(tmp_path):
    good, bad = tmp_path / "good.conll", tmp_path / "bad.conll"
    good.write_text("the DT B-NP\ndog NN I-NP\n\n\nbarks VBZ B-VP\n\n" * 10)
    model = tmp_path / "a.model"

    def told(*options, **more):
        return perceptive(*options, code=1, **more).stderr

    train = ("train", good, bad, "--task", "tag", "--template", "chunking", "-o", model, "--quiet")
    bad.write_text("\nthe DT B-NP\n\ncat NN B-NP\nsleeps VBZ I-VP\n")
    assert "bad.conll:5: label 'I-VP' may not stand here in the scheme 'bio'" in told(*train, "--constraints", "bio")
    done = perceptive(*train)
    assert "warning: " in done.stderr
    assert "bad.conll:5: label 'I-VP' may not stand here in the scheme 'bio', so that" in done.stderr
    encoded = told(*train, "--constraints", "bio", "--encoding", "bioes")
    assert "bad.conll:5: label 'I-VP' may not stand here" in encoded
    segments = ("--segments", "--template", "records")
    assert told(*train, *segments).rstrip().endswith("repair the labels")
    bad.write_text("\n\ncat NN B-NP\nand CC I-NP\ndog NN I-NP\n")
    assert "bad.conll:3: the segment 'NP' of tokens 0 to 2 is longer than 2; set --max-segment 3" in told(
        *train, *segments, "--max-segment", 2
    )
    bad.write_text("the B-NP\n\ncat B-NP\n")
    assert "bad.conll:1 has 1 columns, but the templates read 2" in told(*train)
    held = ("train", good, "--task", "tag", "--template", "chunking", "-o", model, "--quiet")
    model.unlink()
    assert "bad.conll:1 has 1 columns" in told(*held, "--dev", bad)
    assert not model.exists()
    assert "bad.conll:1 has 1 columns" in told(*train, "--holdout", 0.1)
    bad.write_text("the\tDT\tB-NP\n\n\tNN\t\n")
    assert "bad.conll:3: the label is missing" in told(*train)
    perceptive(*held)
    assert "<stdin>:2 has 1 columns" in told("tag", model, "-", input="\nthe\n")
    bad.write_text("the B-NP\n")
    assert "bad.conll:1 has 1 columns" in told("eval", model, bad)
    bad.write_text("the\n")
    assert "bad.conll:1: column -1 cannot hold the label: there is one only" in told("eval", model, bad)
    assert "bad.conll:1 has 1 columns" in told("tag", model, bad)


# ---------------------------------------------------------------- options that mean nothing


def options_of_train():
    """Every option of ``train`` with a value it takes, by its name in the namespace."""
    made = cli.parser(["train"])
    [commands] = [action for action in made._actions if action.dest == "command"]
    values = {"interactions": "all", "words": "1-2", "chars": "3", "every": "5m", "learning_rate": "0.5"}
    found = {}
    for action in commands.choices["train"]._actions:
        if action.option_strings and action.dest not in ("help", "task", "output"):
            value = values.get(action.dest) or (str(list(action.choices)[-1]) if action.choices else "3")
            found[action.dest] = [action.option_strings[-1], *([] if action.nargs == 0 else [value])]
    return found


@pytest.mark.parametrize("task", TAKEN)
def test_what_a_task_does_not_take_is_refused(task, tmp_path, capsys):
    mine = {
        "kernels": ["--kernel", "poly(2)"],
        "kernels of strings and trees": ["--kernel", "spectrum(2)@text"],
        "kernel rankers": ["--task", "rank", "--kernel", "poly(2)"],
        "kernel rankers of strings and trees": ["--task", "rank", "--kernel", "spectrum(2)@text"],
        "--task rerank": ["--task", "rerank", "--base", "x"],
    }.get(task, task.split())
    refused = 0
    for name, option in options_of_train().items():
        if name in ALWAYS | TAKEN[task]:
            continue
        assert cli.main(["train", str(tmp_path / "nothing"), "-o", str(tmp_path / "m"), *mine, *option]) == 1
        told = capsys.readouterr().err
        assert option[0].replace("--no-", "--") in told
        assert "does not go" in told or "need" in told
        refused += 1
    assert refused > 10


def test_many_passes_are_told_shortly(data, chunks):
    noisy = data / "noisy.svm"
    noisy.write_text("1 1:1\n-1 1:1\n" * 3)
    (chunks / "noisy.conll").write_text("a N\n\na V\n\n" * 3)
    for source, options in ((noisy, ()), (noisy, ("--kernel", "linear")), (chunks / "noisy.conll", ("--task", "tag"))):
        told = perceptive("train", source, "-o", data / "n.model", "--epochs", 40, *options).stdout
        [line] = [line for line in told.splitlines() if line.startswith("mistakes")]
        assert len(line.split()) == 10
        assert line.endswith("(40 passes)")


def test_what_would_be_passed_over_is_refused(chunks, data, model):
    train = chunks / "train.conll"
    learn = ("train", train, "--task", "tag", "-o", chunks / "a.model")
    done = perceptive(*learn, "--on-error", "skip", "--threads", 2, code=1)
    assert "--on-error, --threads does not go with --task tag; leave it out" in done.stderr
    assert "give one of them" in perceptive(*learn, "--dev", train, "--holdout", 0.1, code=1).stderr
    (data / "lists.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n" * 3)
    rank = ("train", data / "lists.svm", "--task", "rank", "-o", data / "r.model", "--quiet")
    perceptive(*rank)
    told = perceptive(*rank, "--continue", data / "r.model", "--zero-based", code=1).stderr
    assert "goes on learning as it has begun; leave out --zero-based" in told
    for command in (rank, ("train", data / "train.svm", "-o", data / "b.model")):
        told = perceptive(*command, "--continue", model, "--certify", code=1).stderr
        assert "--certify is about all examples of a run" in told
