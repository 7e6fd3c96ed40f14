"""The built site, opened from disk: its search works, and nothing is fetched from elsewhere (`make docs` runs this)."""

import os
from pathlib import Path

import pytest

from chromium import chromium

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
