"""Draw the picture of README.md, which is that of the site's first page on white: ``python docs/_site/readme.py``."""

from __future__ import annotations

from pathlib import Path

import pages

DOCS = Path(__file__).parents[1]


def draw(path: Path) -> None:
    """Draw it, with text as text, so that the file is small."""
    import matplotlib
    import matplotlib.pyplot as plt

    gallery = (DOCS / "reference" / "gallery.md").read_text(encoding="utf-8")
    [block] = [
        block for block in pages.blocks(gallery) if block.picture == "game.svg"
    ]
    matplotlib.use("Agg")
    with matplotlib.rc_context(
        {"svg.hashsalt": "perceptive", "svg.fonttype": "none"}
    ):
        exec(compile(block.body, "gallery.md", "exec"), {})
        plt.gcf().savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close("all")


if __name__ == "__main__":
    draw(DOCS / "readme.svg")
