"""Disks that are full or broken: at every call of the one writer, and for real."""

import errno
import os
import shutil
import subprocess
import tempfile

import numpy as np
import pytest

from command_line import PERCEPTIVE, perceptive, write_lists, write_rows
from perceptive import file_lock, load_learner, model_file, whole_file
from perceptive.streams import blocks
from perceptive.streams.cache import Cache
from perceptive.training.checkpoint import Checkpoint
from processes import finished

CALLS = ("open", "write", "fsync", "replace", "fchmod", "unlink")
ERRORS = [errno.ENOSPC, errno.EIO]


class Faulty:
    """`os`, with faults: the n-th of the calls fails, or all from there on."""

    def __init__(self, n, number, lasting=False):
        self.left, self.number, self.lasting, self.failed = n, number, lasting, []

    def __getattr__(self, name):
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*arguments):
            if name == "open" and arguments[0].endswith(".tmp") and not arguments[1] & os.O_EXCL:
                return real(*arguments)  # of those who sweep, whom no fault concerns
            self.left -= 1
            if self.left == 0 or (self.left < 0 and self.lasting):
                self.failed.append(name)
                if name == "write" and self.left == 0 and len(arguments[1]) > 1:
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])  # some of it, then the disk is full
                raise OSError(self.number, os.strerror(self.number))
            return real(*arguments)

        return call


@pytest.fixture
def fail(monkeypatch):
    """Let the n-th call fail."""

    def put(*arguments, **options):
        faulty = Faulty(*arguments, **options)
        monkeypatch.setattr(whole_file, "os", faulty)
        monkeypatch.setattr(file_lock, "os", faulty)
        return faulty

    return put


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("number", ERRORS)
def test_a_model_is_saved_whole_or_not_at_all(tmp_path, fail, number, lasting):
    path, new = tmp_path / "a.model", tmp_path / "new.model"
    model_file.write(path, "old", {}, {"w": np.ones(10)})
    model_file.write(new, "new", {}, {"w": np.zeros(1000), "v": np.zeros(3)})
    before, after = path.read_bytes(), new.read_bytes()
    new.unlink()
    for n in range(1, 99):
        path.write_bytes(before)
        faulty = fail(n, number, lasting)
        told = None
        try:
            model_file.write(path, "new", {}, {"w": np.zeros(1000), "v": np.zeros(3)})
        except OSError as error:
            told = error
        if not faulty.failed:
            break
        assert (told.errno, told.filename) == (number, str(path))
        renamed = "is written, but may be lost in a power cut" in told.strerror
        assert renamed or "cannot be written" in told.strerror
        assert path.read_bytes() == (after if renamed else before)
        fail(0, number)
        if not lasting:  # else it could not be removed; the next writer does
            assert {*os.listdir(tmp_path)} <= {"a.model", "other"}
        model_file.write(tmp_path / "other", "new", {}, {})
        assert {*os.listdir(tmp_path)} == {"a.model", "other"}
    assert n > 8


HELD_OUT = f"perceptive: {tempfile.gettempdir()}: "  # the held-out part, which has no name, is needed
RUNS = {
    "rows": ["rows.svm", "--epochs", "2"],
    "rows-holdout": ["rows.svm", "--epochs", "2", "--holdout", "0.2"],
    "lists": ["lists.svm", "--task", "rank", "--epochs", "2"],
}


@pytest.mark.parametrize(
    ("task", "number"), [("rows", errno.ENOSPC), ("rows-holdout", errno.EIO), ("lists", errno.EIO)]
)
def test_training_goes_on_without_cache_and_checkpoint(tmp_path, fail, task, number):
    write_rows(tmp_path / "rows.svm", n=30)
    write_lists(tmp_path / "lists.svm", n=8)
    command = ["train", *RUNS[task], "--quiet", "-o"]
    perceptive(*command, "whole", cwd=tmp_path)
    kept = ["--cache", "kept.cache", "--checkpoint", "point", "--every", "0s"]
    went_on = ended = 0
    for n in range(1, 999):
        for name in ("kept.cache", "point"):
            (tmp_path / name).unlink(missing_ok=True)
        (tmp_path / "made").write_bytes(b"old")
        faulty = fail(n, number)
        done = perceptive(*command, "made", *kept, cwd=tmp_path, code=None)
        if not faulty.failed:
            break
        fail(0, number)
        made = (tmp_path / "made").read_bytes()
        if done.returncode == 0:
            went_on += 1
            assert made == (tmp_path / "whole").read_bytes()
            assert done.stderr == "" or done.stderr.startswith(("perceptive: kept.cache: ", "perceptive: point: "))
            assert done.stderr or faulty.failed == ["unlink"]
        else:
            ended += 1
            name = ["point", "kept.cache"][n - 1] if n <= 2 else "made"  # the locks, before anything has been learned
            assert done.stderr.startswith((f"perceptive: {name}: ", HELD_OUT))
            assert "may be lost" in done.stderr or made == b"old"
        assert "No space" in done.stderr or "Input/output" in done.stderr or faulty.failed == ["unlink"]
        assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
    assert min(went_on, ended) > 7


@pytest.mark.parametrize("number", ERRORS)
def test_predictions_are_written_whole_or_not_at_all(tmp_path, fail, number):
    write_rows(tmp_path / "rows.svm", n=60)
    perceptive("train", "rows.svm", "--epochs", 1, "-o", "m", "--quiet", cwd=tmp_path)
    perceptive("predict", "m", "rows.svm", "-o", "whole", cwd=tmp_path)
    for n in range(1, 99):
        (tmp_path / "lines").write_bytes(b"old")
        faulty = fail(n, number)
        done = perceptive("predict", "m", "rows.svm", "-o", "lines", cwd=tmp_path, code=None)
        if not faulty.failed:
            break
        assert done.returncode == 1
        assert done.stderr.startswith("perceptive: lines: ")
        assert "may be lost" in done.stderr or (tmp_path / "lines").read_bytes() == b"old"
        assert {*os.listdir(tmp_path)} == {"rows.svm", "m", "whole", "lines"}
    assert n > 4
    assert (tmp_path / "lines").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("killed", [False, True])
def test_a_run_without_its_cache_parses_the_files_in_every_epoch(tmp_path, monkeypatch, killed):
    """Also where it is broken off and resumed when there is room again."""
    monkeypatch.setattr(blocks, "BLOCK", 4000)
    write_rows(tmp_path / "rows.svm", n=200)
    command = ["train", "rows.svm", "--epochs", 3, "--quiet", "--cache", "c", "--checkpoint", "p", "-o"]
    append = Cache.append

    def full(self, *arguments):
        raise OSError(errno.ENOSPC, "cannot be written (No space left on device); make room", self.path or "/tmp")

    monkeypatch.setattr(Cache, "append", full)
    done = perceptive(*command, "whole", cwd=tmp_path)
    assert "c: cannot be written (No space left on device); make room; going on without keeping it" in done.stderr
    assert "make room; going on without the cache: every epoch parses the files again" in done.stderr
    assert not (tmp_path / "c").exists()
    if killed:
        chunks = iter(range(999))

        def stop(self, run, dataset):
            if run.epoch == 1 and run.block == 2 and next(chunks) == 0:
                self.save(run, dataset)
                raise KeyboardInterrupt

        monkeypatch.setattr(Checkpoint, "after_chunk", stop)
        perceptive(*command, "made", cwd=tmp_path, code=130)
        monkeypatch.setattr(Cache, "append", append)
        perceptive(*command, "made", cwd=tmp_path)
        assert (tmp_path / "made").read_bytes() == (tmp_path / "whole").read_bytes()
    else:
        monkeypatch.setattr(Cache, "append", append)
        perceptive(*command, "made", cwd=tmp_path)
        assert load_learner(tmp_path / "made").rounds == load_learner(tmp_path / "whole").rounds
        assert load_learner(tmp_path / "made").fingerprint == load_learner(tmp_path / "whole").fingerprint


def test_a_run_that_had_a_cache_needs_one_when_it_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 4000)
    write_rows(tmp_path / "rows.svm", n=200)
    command = ["train", "rows.svm", "--epochs", 3, "--quiet", "--checkpoint", "p", "-o", "m"]
    after_chunk = Checkpoint.after_chunk

    def stop(self, run, dataset):
        self.save(run, dataset)
        raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "after_chunk", stop)
    perceptive(*command, cwd=tmp_path, code=130)
    monkeypatch.setattr(Checkpoint, "after_chunk", after_chunk)

    def full(self, *arguments):
        raise OSError(errno.ENOSPC, "cannot be written (No space left on device); make room", "/tmp")

    monkeypatch.setattr(Cache, "append", full)
    assert perceptive(*command, cwd=tmp_path, code=1).stderr.endswith("make room\n")


def test_what_comes_but_once_needs_its_cache(tmp_path, fail):
    write_rows(tmp_path / "rows.svm", n=60)
    text = (tmp_path / "rows.svm").read_text()
    command = ["train", "-", "--format", "svmlight", "--epochs", 2, "-o", "m", "--cache", "c"]
    fail(4, errno.ENOSPC)
    done = perceptive(*command, cwd=tmp_path, input=text, code=1)
    assert done.stderr == "perceptive: c: cannot be written (No space left on device); make room\n"


def test_following_goes_on_when_the_disk_was_full(tmp_path, fail):
    faulty = fail(2, errno.ENOSPC)
    done = perceptive("train", "--follow", "-", "--every", "0s", "-o", "m", cwd=tmp_path, input="1 1:1\n0 2:1\n")
    assert faulty.failed == ["write"]
    said = "perceptive: m: cannot be written (No space left on device); make room; trying again after 0 s"
    assert said in done.stderr
    assert (tmp_path / "m").exists()


@pytest.mark.parametrize("parts", [1, 8])
def test_a_limit_on_the_size_of_files(tmp_path, parts):
    """The cache does not fit, the model does: training goes on. The model does not fit: the old one stays."""
    write_rows(tmp_path / "rows.svm", n=40 * parts)
    command = ["train", "rows.svm", "--epochs", 3, "--quiet", "-o", "m"]
    kept = ["--cache", "c", "--checkpoint", "p", "--every", "0s"]
    code, said = finished(command, tmp_path)
    assert code == 0, said
    whole, size = (tmp_path / "m").read_bytes(), (tmp_path / "m").stat().st_size
    limit = size + 1 if parts == 8 else size - 1
    code, said = finished([*command, *kept], tmp_path, limit=limit)
    assert (tmp_path / "m").read_bytes() == whole or parts == 8
    if parts == 8:
        assert (code, "perceptive: c: cannot be written (File too large)" in said) == (0, True)
        assert "perceptive: p: cannot be written (File too large)" in said
        assert {*os.listdir(tmp_path)} == {"rows.svm", "m", "said"}
    else:
        assert (code, "perceptive: m: cannot be written (File too large)" in said) == (1, True)


FULL = """
set -e
mount -t tmpfs -o size=200k none {folder}
cp {rows} {folder}/rows.svm; cd {folder}
head -c 3000 /dev/zero > m
head -c {filler} /dev/zero > filler || true
{program} train rows.svm --epochs 3 --quiet -o m --cache c --checkpoint p --every 0s && code=0 || code=$?
echo "code $code"; ls -A; stat -c %s m
"""


@pytest.mark.slow
@pytest.mark.parametrize(("filler", "code"), [(100_000, 0), (999_999, 1)])
def test_a_small_disk(tmp_path, filler, code):
    """A tmpfs on which there is room for all, or for nothing more."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("no mounting here")
    write_rows(tmp_path / "rows.svm", n=100)
    (tmp_path / "disk").mkdir()
    script = FULL.format(
        folder=tmp_path / "disk", rows=tmp_path / "rows.svm", filler=filler, program=" ".join(PERCEPTIVE)
    )
    done = subprocess.run(["unshare", "-rm", "bash", "-c", script], capture_output=True, text=True)
    assert f"code {code}" in done.stdout, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    if code:
        assert "perceptive: m: cannot be written (No space left on device); make room" in done.stderr
        assert done.stdout.split()[-1] == "3000"
    assert ".tmp" not in done.stdout
