"""Draw the pictures of gallery.md: each block of code there, into the picture that the page shows below it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = Path(__file__).with_name("gallery.md")
SECTION = re.compile(
    r"^## (?P<title>.+?)\n.*?```python\n(?P<code>.+?)```\n\n!\[(?P=title)\]\((?P<picture>.+?)\)$", re.S | re.M
)


def draw(folder: Path) -> list[Path]:
    """Draw all of them below a folder; gives their paths."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "perceptive"  # the same picture, the same file
    import matplotlib.pyplot as plt

    pictures = []
    for section in SECTION.finditer(PAGE.read_text(encoding="utf-8")):
        exec(compile(section["code"], f"gallery.md: {section['title']}", "exec"), {})
        path = folder / section["picture"]
        path.parent.mkdir(parents=True, exist_ok=True)
        plt.gcf().savefig(path, metadata={"Date": None})
        plt.close("all")
        pictures.append(path)
    return pictures


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE.parent)
