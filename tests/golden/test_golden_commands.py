"""Commands give the values, exit codes and texts that an earlier build gave."""

import functools
import json
import tempfile
from pathlib import Path

import golden_commands as g
import pytest
import running

# What is neither about data nor models need not run again under the sanitizers.
NAMES = [name if name in ("demo", "completion") else pytest.param(name, marks=pytest.mark.core) for name in g.CASES]


@functools.cache
def steps(name):
    """What was recorded of a case, and what its steps say now."""
    recorded = json.loads((g.FOLDER / f"{name}.json").read_text("utf-8"))
    assert [step["step"] for step in recorded["steps"]] == g.CASES[name].steps, "record the case again"
    with tempfile.TemporaryDirectory() as folder:
        running.write_files(Path(folder), g.CASES[name].steps)
        found = [running.played(step["step"], Path(folder)) for step in recorded["steps"]]
    return [(old, new, recorded["exact"]) for old, new in zip(recorded["steps"], found, strict=True)]


@pytest.mark.parametrize("name", NAMES)
def test_values_and_exit_codes(name):
    assert [said for step in steps(name) for said in running.faults(*step)] == []


@pytest.mark.parametrize("name", NAMES)
def test_wording_and_shape(name):
    """What may be changed on purpose; then `make.py --wording` records it again."""
    assert [said for step in steps(name) for said in running.rewordings(*step)] == []


@pytest.mark.core
def test_bad_input_is_told_without_a_traceback():
    for recorded, found, _ in steps("bad"):
        if recorded["step"].startswith("!"):
            assert found["code"] in (1, 2), recorded["step"]
            assert not found["traceback"], recorded["step"]
            assert not found["silent"], recorded["step"]
