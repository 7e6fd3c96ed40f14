"""The page in Debian's Chromium, driven by Playwright. Console errors and requests to elsewhere fail a test."""

import threading

import pytest

from chromium import chromium
from perceptive.playground import Server


@pytest.fixture(scope="session")
def server():
    with Server(0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def opened(browser, server):
    """Opens the page at an address; at the end nothing may have gone wrong, and nothing gone elsewhere."""
    contexts, wrong = [], []

    def open(hash="", url=None, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **options})
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        home = url or server.url
        page.on("request", lambda one: one.url.startswith((home, "data:")) or wrong.append(f"request to {one.url}"))
        page.goto(f"{home}{hash}")
        page.wait_for_selector(".tab")
        return page

    yield open
    for context in contexts:
        context.close()
    assert wrong == []
