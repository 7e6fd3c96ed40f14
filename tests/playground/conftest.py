"""The page in Debian's Chromium, driven by Playwright. Console errors and requests to elsewhere fail a test."""

import functools
import threading

import pytest

from chromium import chromium
from perceptive.playground import Server

DESK = {"width": 1280, "height": 860}
MEDIA = {"color_scheme": "light", "reduced_motion": "no-preference"}


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


@pytest.fixture(scope="session")
def window(browser):
    """A window for mice and one for fingers, which all tests share: another takes most of a second."""

    @functools.cache
    def window(touch):
        context = browser.new_context(has_touch=touch)
        context.set_default_timeout(10_000)
        return context.new_page()

    return window


@pytest.fixture
def opened(window, server):
    """Opens the page at an address; at the end nothing may have gone wrong, and nothing gone elsewhere."""
    homes, wrong, used = [server.url, "data:", "about:blank"], [], []

    def heard(message):
        if message.type in ("error", "warning"):
            wrong.append(message.text)

    def failed(error):
        wrong.append(str(error))

    def asked(request):
        if not request.url.startswith(tuple(homes)):
            wrong.append(f"request to {request.url}")

    listeners = {"console": heard, "pageerror": failed, "request": asked}

    def open(hash="", url=None, touch=False, viewport=DESK, **media):
        page = window(touch)
        if page not in used:
            used.append(page)
            for event, listener in listeners.items():
                page.on(event, listener)
        homes.append(url or server.url)
        page.goto("about:blank")  # whatever was there before is gone
        page.set_viewport_size(viewport)
        page.emulate_media(**{**MEDIA, **media})
        page.goto(f"{homes[-1]}{hash}")
        page.wait_for_selector(".tab")
        return page

    yield open
    for page in used:
        page.context.clear_permissions()
        page.goto("about:blank")
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
    assert wrong == []
