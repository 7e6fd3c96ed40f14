"""Files with changed fields and arrays, and a sound checksum, are refused or give what can be used (fuzz/models.py)."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FUZZER = Path(__file__).parents[2] / "fuzz" / "models.py"
INPUTS = int(os.environ.get("PERCEPTIVE_INPUTS", "200"))  # 2,000 in `make sanitize`; 100,000 by `make fuzz-models`
pytestmark = pytest.mark.core


def fuzz(*options):
    return subprocess.run(
        [sys.executable, *(["-S"] if sys.flags.no_site else []), str(FUZZER), *map(str, options)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_changed_files():
    done = fuzz("--runs", INPUTS, "--seed", 2026)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^{INPUTS} inputs of \d{{3}} files, seed 2026: 0 failures", done.stdout)


@pytest.mark.once
def test_an_input_can_be_had_again(tmp_path, monkeypatch):
    """In another process, whose sets have another order."""
    monkeypatch.syspath_prepend(FUZZER.parent)
    from models import Fuzzer

    one = Fuzzer(1, str(tmp_path), "learner linear-pa").recipe(7)
    assert re.match(r"learner .*\[.+\]", one)
    assert fuzz("--seed", 1, "--like", "learner linear-pa", "--only", 7).stdout == f"{one}\n"
