"""Every block of code on every page runs, and shows what happens; links and their anchors lead somewhere."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md"))
TEXTS = [*PAGES, *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
LINK = re.compile(r"(?<!`)\[[^\]\[]*\]\(([^)\s]+)\)")


def name(path):
    return str(path.relative_to(ROOT))


@pytest.fixture(scope="module")
def site():
    """The modules of docs/_site."""
    sys.path.insert(0, str(DOCS / "_site"))
    try:
        import generated
        import pages

        yield pages, generated
    finally:
        sys.path.remove(str(DOCS / "_site"))


def has_code(path):
    return "```" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", [path for path in PAGES if has_code(path)], ids=name)
def test_code_runs(site, path, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    site[0].run(path)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_code_is_narrow_and_fenced(site, path):
    text = path.read_text(encoding="utf-8")
    wide = [line for block in site[0].blocks(text) for line in block.body.splitlines() if len(line) > 80]
    assert not wide
    assert text.count("```") == 2 * len(list(site[0].blocks(text)))
    outside = site[0].BLOCK.sub("", text)
    assert not re.search(r"^(?: {4}|\t)(?:perceptive|>>>|\$) ", outside, re.M), "indented code is not run"


def test_a_wrong_page_is_found(site, tmp_path, monkeypatch):
    pages, _ = site
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    for wrong in (
        "```python\n>>> 1 + 1\n3\n```\n",
        "```python\n1 / 0\n```\n",
        "```python\npass\n```\n\n![nothing](pictures/nothing.svg)\n",
        "```console\n$ perceptive roles\nnone\n```\n",
        "```console\n$ perceptive predict none.model none.csv\n```\n",
        "```console\n$ cat none.csv\n```\n",
        "```csv\na,b\n```\n",
    ):
        page.write_text(wrong)
        with pytest.raises((pages.PageError, ZeroDivisionError)):
            pages.run(page)


def test_pictures_are_drawn_by_the_code_above_them(site, tmp_path, monkeypatch):
    pages, _ = site
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n>>> x = [1, 2]\n```\n\n```python\nimport matplotlib.pyplot as plt\nplt.plot(x)\n```\n\n"
        "![a line](../pictures/line.svg)\n"
    )
    pages.run(page, tmp_path / "pictures")
    assert (tmp_path / "pictures" / "line.svg").stat().st_size > 1_000


def test_every_picture_has_code(site):
    pages, _ = site
    texts = [path.read_text(encoding="utf-8") for path in PAGES]
    drawn = [block.picture for text in texts for block in pages.blocks(text) if block.picture]
    assert len(drawn) == len(set(drawn))
    shown = {
        target.rpartition("pictures/")[2] for text in texts for target in LINK.findall(text) if "pictures/" in target
    }
    assert shown == {*drawn}


def test_generated_parts_are_complete(site):
    from perceptive.cli import COMMANDS
    from perceptive.estimators import LinearClassifier, SequenceTagger
    from perceptive.rules import RULES

    _, generated = site
    commands, parameters = generated.commands(), generated.parameters()
    assert re.findall(r"^## (\w+)$", commands, re.M) == [*COMMANDS]
    assert "`--holdout` `FLOAT`" in commands
    for estimator in (LinearClassifier(), SequenceTagger()):
        assert all(f"`{parameter}`" in parameters for parameter in estimator.get_params())
    used = [part for path in PAGES for part in re.findall(r"^\{\{ (\w+) \}\}$", path.read_text(encoding="utf-8"), re.M)]
    assert sorted(used) == ["benchmarks", "commands", "parameters", "roles"]
    assert all(rule in generated.roles() for rule in RULES)
    assert "accuracy" in generated.benchmarks()


def anchors(site, path):
    """What a page's headings are called in addresses."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^\{\{ (\w+) \}\}$", lambda match: getattr(site[1], match[1])(), text, flags=re.M)
    headings = re.findall(r"^#+ (.+)$", site[0].BLOCK.sub("", text), re.M)
    return {
        re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.encode("ascii", "ignore").decode()).strip().lower())
        for heading in headings
    }


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_links_lead_somewhere(site, path):
    text = re.sub(r"`[^`\n]*`", "", site[0].BLOCK.sub("", path.read_text(encoding="utf-8")))
    for link in LINK.findall(text):
        target, _, anchor = link.partition("#")
        if re.match(r"\w+:", link) or "pictures/" in target or target.endswith("game.html"):
            continue
        there = (path.parent / target).resolve() if target else path
        assert there.exists(), link
        if anchor and there.suffix == ".md":
            assert anchor in anchors(site, there), link


def test_every_page_is_in_the_navigation():
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in PAGES:
        listed = path.parent / "index.md"
        of_its_folder = listed.read_text(encoding="utf-8") if listed.exists() else ""
        assert str(path.relative_to(DOCS)) in config or f"({path.name})" in of_its_folder, path
