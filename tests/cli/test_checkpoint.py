"""``perceptive train --checkpoint``: runs that are broken off and resumed; tests/files kills them."""

import json
import os
import shutil
import signal
import subprocess
import time

import pytest

from command_line import perceptive, start, write_lists, write_rows, write_sentences
from perceptive import load_learner
from perceptive.data import labelled_rows, lists, sentences
from perceptive.parameters import TrainingParameters
from perceptive.training.checkpoint import Checkpoint
from perceptive.training.loop import Run


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Files of every kind; and chunks so small that every block has several."""
    write_rows(tmp_path / "rows.svm")
    write_rows(tmp_path / "more.svm", n=100, seed=1)
    write_lists(tmp_path / "lists.svm")
    write_sentences(tmp_path / "sentences.conll")
    rows = [{"text": "abab" * (1 + i % 3), "label": "x"} for i in range(15)]
    rows += [{"text": "acbc" * (1 + i % 4) + "ab" * (i % 2), "label": "y"} for i in range(15)]
    (tmp_path / "objects.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for module, size in ((labelled_rows, 1000), (lists, 300), (sentences, 60)):
        monkeypatch.setattr(module, "CHUNK", size)
    return tmp_path


class Broken(KeyboardInterrupt):
    """Somebody pulls the plug."""


TASKS = {
    "classify": ["rows.svm"],
    "classify-cache": ["rows.svm", "--cache", "kept.cache"],
    "classify-holdout": ["rows.svm", "--holdout", "0.2", "--patience", "1", "--invert-hash", "--bits", "6"],
    "classify-two-files": ["rows.svm", "more.svm", "--hypothesis", "voted"],
    "classify-continue": ["more.svm", "--continue", "base.model"],
    "classify-continue-holdout-names": ["more.svm", "--continue", "names.model", "--holdout", "0.2", "--invert-hash"],
    "classify-cache-names": ["rows.svm", "--cache", "kept.cache", "--invert-hash", "--bits", "6"],
    "classify-holdout-cache": ["rows.svm", "--holdout", "0.2", "--cache", "kept.cache", "--no-shuffle"],
    "rank": ["lists.svm", "--task", "rank", "--rule", "pa1"],
    "rank-cache": ["lists.svm", "--task", "rank", "--holdout", "0.2", "--cache", "kept.cache"],
    "kernel": ["rows.svm", "--kernel", "poly(2)"],
    "kernel-holdout": ["rows.svm", "--kernel", "poly(2)", "--holdout", "0.2", "--hypothesis", "voted"],
    "kernel-objects": ["objects.jsonl", "--kernel", "spectrum(2)@text"],
    "kernel-rank": ["lists.svm", "--task", "rank", "--kernel", "poly(2)", "--holdout", "0.2"],
    "tag": ["sentences.conll", "--task", "tag", "--min-count", "2"],
    "tag-holdout": ["sentences.conll", "--task", "tag", "--holdout", "0.2", "--encoding", "bioes", "--rule", "pa1"],
    "rerank": ["sentences.conll", "--task", "rerank", "--base", "tagger.model", "--folds", "2", "--candidates", "3"],
}  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("often", [1, 2])
def test_every_task_is_resumed_bit_for_bit(files, monkeypatch, task, often):
    """A run that is broken off again and again, after so many chunks, ends as one that was left alone."""
    if task == "classify-continue":
        perceptive("train", "rows.svm", "-o", "base.model", "--quiet", cwd=files)
    if task == "classify-continue-holdout-names":
        names = ["--invert-hash", "--bits", 6]
        perceptive("train", "rows.svm", "-o", "names.model", "--quiet", *names, cwd=files)
    if task == "rerank":
        perceptive("train", "sentences.conll", "--task", "tag", "-o", "tagger.model", "--quiet", cwd=files)
    command = ["train", *TASKS[task], "--epochs", "3", "--json"]
    whole = json.loads(perceptive(*command, "-o", "whole.model", cwd=files).stdout)
    (files / "kept.cache").unlink(missing_ok=True)
    seen = 0

    def after_chunk(self, run, dataset):
        nonlocal seen
        seen += 1
        if seen % often == 0:
            self.save(run, dataset)
            raise Broken

    resume = [*command, "-o", "resumed.model", "--checkpoint", "point"]
    monkeypatch.setattr(Checkpoint, "after_chunk", after_chunk)
    broken = 0
    while (done := perceptive(*resume, cwd=files, code=None)).returncode:
        assert done.returncode == 130, done.stderr
        assert (files / "point").exists()
        broken += 1
    assert 0 < broken < 200
    resumed = json.loads(done.stdout)
    for part in ("training", "learner", "data"):
        assert resumed[part] == whole[part]
    assert (files / "resumed.model").read_bytes() == (files / "whole.model").read_bytes()
    assert not (files / "point").exists()


def test_a_run_that_is_killed_when_it_has_replaced_its_model(files, monkeypatch):
    """With ``--continue X -o X`` the checkpoint is of a model that is no more: the run's end is played again."""
    perceptive("train", "rows.svm", "-o", "a.model", "--quiet", cwd=files)
    before = (files / "a.model").read_bytes()
    command = ["train", "more.svm", "--continue", "a.model", "--epochs", 2, "--quiet", "-o"]
    perceptive(*command, "whole.model", cwd=files)
    resume = [*command, "a.model", "--checkpoint", "point", "--every", "0s"]

    def killed(self):
        self.close()
        raise Broken

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "remove", killed)
        perceptive(*resume, cwd=files, code=130)
    assert (files / "a.model").read_bytes() == (files / "whole.model").read_bytes() != before
    kept = (files / "point").read_bytes()
    perceptive(*resume, cwd=files)
    assert (files / "a.model").read_bytes() == (files / "whole.model").read_bytes()
    (files / "point").write_bytes(kept)
    perceptive("train", "more.svm", "-o", "a.model", "--quiet", cwd=files)  # another one
    other = (files / "a.model").read_bytes()
    done = perceptive(*resume, cwd=files, code=1)
    assert (
        "a.model: has been replaced since the checkpoint was made; delete the checkpoint to start again" in done.stderr
    )
    assert (files / "a.model").read_bytes() == other


def test_a_checkpoint_of_other_options_is_refused(data):
    perceptive("train", data / "train.svm", "-o", data / "l.model", "--quiet", "--epochs", 1)
    Checkpoint(data / "c", {"data": "other"}).save(Run.of(load_learner(data / "l.model"), TrainingParameters()))
    done = perceptive("train", data / "train.svm", "-o", data / "m", "--checkpoint", data / "c", code=1)
    assert "was made with different options and files and data; give the same as then" in done.stderr


def interrupted_at_its_end(train, folder, monkeypatch):
    """Leave the checkpoint of a run that was all but over."""

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "remove", killed)
        perceptive(*train, code=130, cwd=folder)


def test_a_checkpoint_of_data_that_changed_unseen_is_refused(data, monkeypatch):
    """One byte, in the midst of a large file, at the same size and time."""
    line = "1 1:1 2:0.5 3:0.25\n"
    (data / "large.svm").write_text((line + line.replace("1 1", "0 1", 1)) * 120_000)
    train = ("train", "large.svm", "-o", "m", "--checkpoint", "c", "--every", "0s", "--quiet", "--epochs", 2)
    interrupted_at_its_end(train, data, monkeypatch)
    kept, status = (data / "c").read_bytes(), (data / "large.svm").stat()
    with open(data / "large.svm", "r+b") as file:
        file.seek(len(line) * (status.st_size // len(line) // 7))
        file.write(b"5")
    os.utime(data / "large.svm", ns=(status.st_atime_ns, status.st_mtime_ns))
    done = perceptive(*train, code=1, cwd=data)
    assert "c: was made with different files; give the same as then, or delete it to start again" in done.stderr
    assert (data / "c").read_bytes() == kept


@pytest.mark.parametrize("beside", [(), ("--cache", "cache"), ("--holdout", "0.2"), ("--continue", "first.model")])
def test_copies_of_the_same_content_are_resumed_from(data, monkeypatch, beside):
    """A new mode, another time, another file of the same bytes: only they matter."""
    perceptive("train", "train.svm", "-o", "first.model", "--quiet", cwd=data)
    train = ("train", "train.svm", "-o", "m", "--checkpoint", "c", "--every", "0s", "--quiet", "--epochs", 2, *beside)
    stopped = []

    def once(self, run, dataset=None, save=Checkpoint.save):
        save(self, run, dataset)
        stopped.append(run.epoch)
        if len(stopped) == 2:
            raise KeyboardInterrupt

    perceptive(*train[:3], "whole", *train[4:], cwd=data)
    (data / "cache").unlink(missing_ok=True)
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", once)
        perceptive(*train, code=130, cwd=data)
    for name in ("train.svm", "first.model"):
        shutil.copy(data / name, data / "copy")
        (data / "copy").replace(data / name)
        (data / name).chmod(0o640)
        os.utime(data / name, ns=(1, 1))
    perceptive(*train, cwd=data)
    assert (data / "m").read_bytes() == (data / "whole").read_bytes()
    assert not (data / "c").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code", "told"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "")])
def test_training_that_is_stopped_leaves_its_checkpoint_and_nothing_else(tmp_path, sent, code, told):
    write_rows(tmp_path / "big.svm", n=4_000, d=60)
    process = start(
        "train", "big.svm", "-o", "m", "--epochs", "20000", "--checkpoint", "c", "--every", "0s",
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while process.poll() is None and not ((tmp_path / "c").exists() and (tmp_path / "c").stat().st_size):
        time.sleep(0.01)  # an empty one only holds the place
    process.send_signal(sent)
    _, error = process.communicate(timeout=60)
    assert process.returncode == code
    assert error.strip().endswith(told)
    assert set(os.listdir(tmp_path)) == {"big.svm", "c"}
