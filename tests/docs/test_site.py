"""The built site, opened from disk: its search works, nothing is fetched from elsewhere, and what pages show arrives
(`make docs` runs this)."""

import html
import os
import re
from pathlib import Path

import pytest

from chromium import chromium

DOCS = Path(__file__).parents[2] / "docs"
SITE = Path(os.environ.get("PERCEPTIVE_SITE", "nowhere"))

pytestmark = pytest.mark.skipif(not SITE.is_dir(), reason="PERCEPTIVE_SITE names no built site: make docs")


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def opened(browser):
    """A page at the front of the site; at the end nothing may have gone wrong, and nothing gone elsewhere."""
    page, wrong = browser.new_page(), []
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda one: one.url.startswith(("file:", "data:")) or wrong.append(f"request to {one.url}"))
    page.goto((SITE / "index.html").as_uri())
    yield page
    page.close()
    assert wrong == []


def test_the_search_finds(opened):
    found = opened.locator(".md-search-result__link").first
    for _ in range(30):  # what is typed before the page listens is lost
        opened.locator(".md-search__input").fill("")
        opened.locator(".md-search__input").press_sequentially("certificate")
        opened.wait_for_timeout(1_000)
        if found.is_visible():
            break
    found.click()
    opened.wait_for_url("**/certificate*.html*", timeout=60_000)
    assert opened.url.startswith("file:")


def test_pages_ask_for_nothing_from_elsewhere(opened):
    paths = [path for path in SITE.rglob("*.html") if path.name != "404.html"]  # a server shows that one
    assert len(paths) > 100
    for path in sorted(paths):
        opened.goto(path.as_uri())


def shown(source):
    """The text of a page or of a part of it."""
    return html.unescape(re.sub(r"<[^>]*>", "", source))


def test_blocks_keep_their_tabs():
    pages = 0
    for path in sorted(DOCS.rglob("*.md")):
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if "\t" in line.strip()]
        if lines:
            text = shown((SITE / path.relative_to(DOCS).with_suffix(".html")).read_text(encoding="utf-8"))
            assert [line for line in lines if line not in text] == [], path
            pages += 1
    assert pages


def test_no_formula_is_emphasised():
    for path in sorted(SITE.rglob("*.html")):
        parts = re.findall(r"<em>(.*?)</em>", path.read_text(encoding="utf-8"), re.S)
        assert [part for part in parts if re.search("[=√‖Σℓ]", shown(part))] == [], path


def test_the_reference_has_neither_imports_nor_docstrings_of_builtins():
    """Griffe counts both as a module's own when it inspects one."""
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (SITE / "reference" / "api").glob("*.html")}
    assert 'id="perceptive.inspection.heaviest"' in pages["evaluation"]
    assert 'id="perceptive.inspection.FeatureSpace"' not in pages["evaluation"]
    for name, page in pages.items():
        assert re.findall("Built-in immutable sequence|Create a new string object|Alias for field", page) == [], name
        assert "<blockquote>" not in page, name  # prompts that nothing fences


def test_no_mark_of_markdown_or_doctest_is_shown():
    lists = r"<td[^>]*>\s*(?:[-*]|\d+\.) [A-Z].*|<p>[^<]*(?:<(?!/p>)[^<]*)*\n- .*"  # in a table, in a paragraph
    for path in sorted(SITE.rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        assert "BLANKLINE" not in page, path
        assert re.findall(lists, page) == [], path


def test_the_button_copies_neither_prompts_nor_output(opened):
    opened.goto((SITE / "start.html").as_uri())
    copied = opened.evaluate(
        """() => [...document.querySelectorAll(".highlight code")].map((code) => {
            code.setAttribute("data-md-copying", "");  // as the theme does
            return code.innerText;
        })"""
    )
    assert "pip install" in copied[0]
    assert any("stars,budget,genre" in text for text in copied)
    everything = "\n".join(copied)
    assert "model.mistakes_.tolist()" in everything
    assert "perceptive explain films.model" in everything
    assert not re.search(r"^(\$|>>>|\.\.\.) |388, 191|certificate  6", everything, re.M)
