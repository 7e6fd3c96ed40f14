"""Commands that the pages name for their figures exist, and every table of the benchmarks stands under one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in PAGES}
VERBS = {*re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)}
MAKE = re.compile(r"(?:`|^ {4}|^\$ )make (?:[A-Z_]+=\S+ )*([a-z-]+)", re.M)
SCRIPT = re.compile(r"\b(?:benchmarks|tests|fuzz|docs/_site)/[\w/]+\.py\b")


@pytest.mark.parametrize("name", TEXTS)
def test_commands_exist(name):
    assert {*MAKE.findall(TEXTS[name])} <= VERBS
    assert [script for script in SCRIPT.findall(TEXTS[name]) if not (ROOT / script).exists()] == []


def test_every_table_of_the_benchmarks_has_a_command():
    sections = re.split(r"^## ", TEXTS["benchmarks/README.md"], flags=re.M)[1:]
    assert len(sections) > 8
    for section in sections:
        assert MAKE.search(section.partition("\n|")[0]), section.partition("\n")[0]


def test_the_figures_of_the_front_pages_have_commands():
    assert MAKE.search(TEXTS["README.md"].partition("## Measured")[2].partition("\n|")[0])
    rows = re.findall(r"^\| (.+) \|$", TEXTS["docs/why.md"].partition("## Measured")[2], re.M)[1:]
    assert len(rows) > 8
    assert {row.rpartition("| ")[2].strip("`") for row in rows} <= VERBS
