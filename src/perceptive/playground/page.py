"""The files of the page, and the page as a single file."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

STATIC = files("perceptive.playground") / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+\.js)";\n', re.MULTILINE)

# What the page is made of: by name, the type and the bytes.
PAGE: dict[str, tuple[str, bytes]] = {
    one.name: (TYPES[one.name[one.name.rindex(".") :]], one.read_bytes())
    for one in sorted(STATIC.iterdir(), key=lambda one: one.name)
}


def text(name: str) -> str:
    return PAGE[name][1].decode("utf-8")


def in_order(name: str = "main.js") -> list[str]:
    """The modules, each after those that it imports.

    >>> in_order("stream.js")
    ['learners.js', 'dom.js', 'stream.js']
    """
    found: list[str] = []
    for needed in IMPORT.findall(text(name)):
        found += [one for one in in_order(needed) if one not in found]
    return [*found, name]


def exported() -> str:
    """The page as one file, which works from disk. Its policy allows its own script and style, by their hashes, alone.

    The modules become one: their top-level names are all different.
    """
    script = "\n".join(re.sub(r"^export ", "", IMPORT.sub("", text(name)), flags=re.MULTILINE) for name in in_order())
    style = text("style.css")
    if "</script" in script or "</style" in style:
        raise ValueError("a script that ends its own element cannot be put into a page")
    icon = base64.b64encode(PAGE["icon.svg"][1]).decode()
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; base-uri 'none'"
    page = text("index.html")
    for old, new in [
        (
            '<meta charset="utf-8">',
            f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
        ),
        ('<link rel="icon" href="icon.svg">', f'<link rel="icon" href="data:image/svg+xml;base64,{icon}">'),
        ('<link rel="stylesheet" href="style.css">', f"<style>{style}</style>"),
        ('<script type="module" src="main.js"></script>', f'<script type="module">{script}</script>'),
    ]:
        if page.count(old) != 1:
            raise ValueError(f"index.html must have {old} once")
        page = page.replace(old, new)
    return page


def _hash(source: str) -> str:
    """How a policy names a script or style by its content."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
