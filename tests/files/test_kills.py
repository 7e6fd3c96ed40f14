"""Runs that are killed at random moments, and runs that want the same files."""

import os

import pytest

import kill_matrix
from command_line import write_rows
from processes import Process, finished


@pytest.mark.slow
def test_killed_runs_are_resumed_bit_for_bit():
    """20 kills of the 200 of ``make kill-matrix``; each day may try others: ``KILLS_SEED=7 pytest …``."""
    kills = int(os.environ.get("KILLS", "20"))
    assert sum(kill_matrix.run(kills, int(os.environ.get("KILLS_SEED", "0"))).values()) == kills


@pytest.mark.parametrize("more", [[], ["--invert-hash", "--bits", 7], ["--holdout", 0.2]], ids=["", "names", "holdout"])
def test_runs_that_share_checkpoint_and_cache(tmp_path, more):
    """Of three that begin at once some come too late, and say so; the models of the others are right."""
    write_rows(tmp_path / "rows.svm", n=400)
    command = ["train", "rows.svm", "--epochs", 3, "--quiet", "--cache", "kept.cache", *more]
    code, said = finished([*command, "-o", "whole"], tmp_path)
    assert code == 0, said
    (tmp_path / "kept.cache").unlink()
    shared = {"both": ["--checkpoint", "point", "--every", "0s"], "cache": []}
    for name, options in shared.items():
        for _ in range(2):
            runs = [
                Process([*command, *options, "-o", f"made-{i}"], tmp_path, said=f"said-{name}-{i}") for i in range(3)
            ]
            codes = [run.wait() for run in runs]
            assert 0 in codes
            for i, (run, code) in enumerate(zip(runs, codes, strict=True)):
                said = run.said.read_text()
                if code == 0:
                    assert (tmp_path / f"made-{i}").read_bytes() == (tmp_path / "whole").read_bytes()
                else:
                    what = "cache" if "kept.cache" in said else "checkpoint"
                    path = {"cache": "kept.cache", "checkpoint": "point"}[what]
                    cure = "wait until that run has ended, or give another file"
                    assert said == f"perceptive: {path}: another run has this {what}; {cure}\n"
            (tmp_path / "kept.cache").unlink()
    assert not (tmp_path / "point").exists()
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_a_finished_cache_is_shared(tmp_path):
    write_rows(tmp_path / "rows.svm", n=400)
    command = ["train", "rows.svm", "--epochs", 3, "--quiet", "--cache", "kept.cache"]
    code, said = finished([*command, "-o", "whole"], tmp_path)
    assert code == 0, said
    before = (tmp_path / "kept.cache").stat()
    runs = [Process([*command, "-o", f"made-{i}"], tmp_path, said=f"said-{i}") for i in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert (tmp_path / "kept.cache").stat().st_ino == before.st_ino
    for i in range(3):
        assert (tmp_path / f"made-{i}").read_bytes() == (tmp_path / "whole").read_bytes()
