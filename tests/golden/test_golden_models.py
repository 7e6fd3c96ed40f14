"""Models of an earlier build load and say the same, and training today gives them again."""

import functools
import json
import lzma

import golden_cases as g
import golden_commands
import pytest
import running
from comparing import differences

pytestmark = pytest.mark.core
FROM_COMMANDS = sorted(path.stem.removeprefix("cli-") for path in g.FOLDER.glob("cli-*.json"))


@functools.cache
def recorded(name):
    return json.loads((g.FOLDER / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", g.CASES)
def test_a_golden_model_loads_and_says_the_same(name):
    expected = recorded(name)
    found = g.CASES[name].ask(g.loaded(name))
    assert differences(expected["loaded"], found, expected["exact"]) == []


@pytest.mark.parametrize("name", g.CASES)
def test_training_today_gives_the_golden_model(name, tmp_path):
    expected = recorded(name)
    found = g.CASES[name].ask(g.made(g.CASES[name], tmp_path))
    assert differences(expected.get("trained", expected["loaded"]), found, expected["exact"]) == []


@pytest.mark.parametrize("name", FROM_COMMANDS)
def test_a_golden_model_of_the_command_line_says_the_same(name, tmp_path):
    expected = recorded(f"cli-{name}")
    running.write_files(tmp_path, golden_commands.CASES[name].steps)
    for model in running.models_of(expected["steps"]):
        path = g.FOLDER / f"cli-{name}.{model}"
        packed = path.with_name(path.name + ".xz")
        (tmp_path / model).write_bytes(lzma.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes())
    for step in expected["steps"]:
        found = running.played(step["step"], tmp_path)
        assert running.faults(step, found, expected["exact"]) == []


def test_every_recording_is_of_a_case():
    names = {path.stem for path in g.FOLDER.glob("*.json")}
    assert names - {f"cli-{name}" for name in FROM_COMMANDS} == set(g.CASES)
    assert {path.stem for path in golden_commands.FOLDER.glob("*.json")} == set(golden_commands.CASES)
