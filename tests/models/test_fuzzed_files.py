"""Files with changed fields and arrays, and a sound checksum, are refused or give what can be used (fuzz/models.py)."""

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FUZZER = Path(__file__).parents[2] / "fuzz" / "models.py"
INPUTS = int(os.environ.get("PERCEPTIVE_INPUTS", "200"))  # 2,000 in `make sanitize`; 100,000 by `make fuzz-models`
pytestmark = pytest.mark.core


PROGRAM = """
import sys, tempfile
sys.path.insert(0, sys.argv[1])
import models
code = models.main(["--runs", sys.argv[2], "--seed", "2026"])
with tempfile.TemporaryDirectory() as folder:
    print(models.Fuzzer(1, folder, "learner linear-pa").recipe(7))
sys.exit(code)
"""


@pytest.fixture(scope="module")
def fuzzed():
    """What a process says that fuzzes, and then makes an input of another seed."""
    flags = ["-S"] if sys.flags.no_site else []
    command = [sys.executable, *flags, "-c", PROGRAM, str(FUZZER.parent), str(INPUTS)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_changed_files(fuzzed):
    assert fuzzed.returncode == 0, fuzzed.stdout + fuzzed.stderr
    assert re.search(rf"^{INPUTS} inputs of \d{{3}} files, seed 2026: 0 failures", fuzzed.stdout)


@pytest.mark.once
def test_an_input_can_be_had_again(fuzzed, tmp_path, monkeypatch, capsys):
    """In another process, whose sets have another order."""
    monkeypatch.syspath_prepend(FUZZER.parent)
    monkeypatch.chdir(tmp_path)
    from models import main
    from perceptive.model_file import ModelFileError

    with contextlib.suppress(ModelFileError):
        main(["--seed", "1", "--like", "learner linear-pa", "--only", "7"])
    one = capsys.readouterr().out
    assert re.match(r"learner .*\[.+\]", one)
    assert fuzzed.stdout.endswith(f"\n{one}")
