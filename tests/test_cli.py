"""The command line, run as a process."""

import subprocess
import sys
import time


def perceptive(*arguments):
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "perceptive", *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    return done, time.perf_counter() - began


def test_help_has_an_example_for_every_command():
    done, _ = perceptive("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout
    done, _ = perceptive("demo", "--help")
    assert "example: perceptive demo" in done.stdout


def test_wrong_usage_is_explained_without_a_traceback():
    for arguments in ([], ["dance"], ["demo", "--seed", "x"], ["demo", "--seed", "-1"]):
        done, _ = perceptive(*arguments)
        assert done.returncode == 2
        assert "usage:" in done.stderr
        assert "Traceback" not in done.stderr
    assert "not a whole number" in done.stderr


def test_demo_shows_the_table_the_mistakes_and_the_bound():
    done, seconds = perceptive("demo")
    assert done.returncode == 0, done.stderr
    for word in ("last", "best", "averaged", "voted", "mistakes per pass", "certificate:", "the theorem allows"):
        assert word in done.stdout
    assert "Traceback" not in done.stderr
    assert seconds < 30  # under ten on a machine of its own


def test_a_reader_that_goes_away_is_no_error():
    shell = f"{sys.executable} -m perceptive demo | head -1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False, timeout=120)
    assert "Traceback" not in done.stderr
