"""What the build of the site adds to the pages: pictures, the game, and what is generated from the code."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
import generated
import pages

PART = re.compile(r"^\{\{ (\w+) \}\}$", re.M)
TAB = "\ue009"  # while Markdown runs, which makes spaces of tabs


def on_config(config: Any) -> Any:
    """Leave the parameters of estimators out of the members of classes: they are told as parameters."""
    from perceptive import estimators
    from perceptive.declarations import declared

    classes = [getattr(estimators, name) for name in estimators.__all__]
    names = {
        name
        for cls in classes
        if isinstance(cls, type)
        for name in declared(cls)
    }
    handler = config.plugins["mkdocstrings"].config.handlers["python"]
    handler["options"]["filters"].append(f"!^({'|'.join(sorted(names))})$")
    return config


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Draw the pictures by the code that the pages show, and export the game."""
    from perceptive.playground import PAGE, exported

    with tempfile.TemporaryDirectory() as folder:
        pictures = Path(folder) / "pictures"
        for page in files.documentation_pages():
            path = Path(page.abs_src_path)
            if any(
                block.picture
                for block in pages.blocks(path.read_text(encoding="utf-8"))
            ):
                working = Path(folder) / "working" / page.src_uri
                working.mkdir(parents=True)
                with contextlib.chdir(working):
                    pages.run(path, pictures)
        for picture in sorted(pictures.iterdir()):
            files.append(
                File.generated(
                    config,
                    f"pictures/{picture.name}",
                    content=picture.read_bytes(),
                )
            )
    files.append(File.generated(config, "game.html", content=exported()))
    files.append(
        File.generated(config, "icon.svg", content=PAGE["icon.svg"][1])
    )
    return files


def on_page_markdown(
    markdown: str, page: Any, config: Any, files: Files
) -> str:
    """Put in what is generated from the code: ``{{ commands }}`` is ``generated.commands()``; keep tabs in blocks."""
    markdown = PART.sub(lambda match: getattr(generated, match[1])(), markdown)
    return pages.BLOCK.sub(_prepared, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Put back the tabs."""
    return html.replace(TAB, "\t")


def _prepared(match: re.Match[str]) -> str:
    """A block as it is shown: prompts and output are not Python, commands are not formulas, empty lines are empty."""
    language = match["language"]
    if language == "python" and ">>> " in match["body"]:
        language = "pycon"
    elif language == "text" and match["body"].startswith("perceptive "):
        language = "sh"
    shown = match[0].replace(match["language"], language, 1)
    return shown.replace("<BLANKLINE>", "").replace("\t", TAB)


os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
