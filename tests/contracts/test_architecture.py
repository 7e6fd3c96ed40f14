"""What ARCHITECTURE.md promises of the sources: no learner is asked for its class, one definition of each thing."""

import ast
import re
from pathlib import Path

import pytest

import perceptive

ROOT = Path(__file__).parents[2]
PYTHON = sorted((ROOT / "src/perceptive").rglob("*.py"))
CORE = sorted((ROOT / "core").rglob("*.?pp"))
# Each of these is written once: a pattern, and the file that it stands in.
ONCE = {
    "hold-out": (r"^class HoldOut\b", "src/perceptive/training/holdout.py"),
    "early stopping": (r">= .*\bpatience\b", "src/perceptive/training/loop.py"),
    "number of processors": (r"\bsched_getaffinity\b", "src/perceptive/processors.py"),
    "entry to certificates": (r"^def certify\(", "src/perceptive/certificates/certificate.py"),
    "names of rules": (r"\bRuleName \w*rule_by_name\(", "core/rules.hpp"),
    "thinning of journals": (r"\bvoid thin\(", "core/journal.hpp"),
}


def asks_for_a_learner(node):
    """Whether this is isinstance(…, SomeLearner)."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"):
        return False
    return any(isinstance(name, ast.Name) and name.id.endswith("Learner") for name in ast.walk(node.args[1]))


def test_no_learner_is_asked_for_its_class():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in PYTHON
        for node in ast.walk(ast.parse(path.read_text()))
        if asks_for_a_learner(node)
    ]
    assert found == []


def test_no_file_is_past_400_lines():
    assert [str(path) for path in PYTHON + CORE if len(path.read_text().splitlines()) > 400] == []


@pytest.mark.parametrize("what", ONCE)
def test_it_is_written_once(what):
    pattern, home = ONCE[what]
    found = [str(path.relative_to(ROOT)) for path in PYTHON + CORE if re.search(pattern, path.read_text(), re.M)]
    assert found == [home]


def test_public_modules_and_names_are_there():
    for name in ("datasets", "games", "kernels", "learners", "metrics", "plots", "streams", *perceptive.__all__):
        assert name in dir(perceptive)
        assert getattr(perceptive, name) is not None
    assert perceptive.metrics.__name__ == "perceptive.evaluation.metrics"
