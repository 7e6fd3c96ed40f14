"""The pictures of the gallery are drawn by the code above them."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
def test_every_picture_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "gallery.py")
    gallery = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gallery)
    pictures = gallery.draw(tmp_path)
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[.*?\]\((.+?)\)", page)
    assert [str(path.relative_to(tmp_path)) for path in pictures] == shown
    assert len(shown) == page.count("\n## ") == page.count("```python")
    assert all(path.stat().st_size > 5_000 for path in pictures)
