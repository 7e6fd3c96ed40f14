"""Run the code of a page, as its reader would, from top to bottom in one folder.

A block of Python with prompts is compared with what it shows; one without is run, and draws the picture below it. A
block with a title is a file. A console block is commands after ``$`` and what they print. ``text`` is only to be read.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?: +(?P<attributes>[^\n]*))?\n(?P<body>.*?)^(?P=indent)```[ ]*$"
    r"(?=(?:\s*!\[[^\]]*\]\((?P<picture>[^)]*pictures/[^)]+)\))?)",
    re.S | re.M,
)
TITLE = re.compile(r'title="([^"]+)"')
NOT_RUN = (
    "python3 -m venv ",
    "pip ",
    "make ",
    "sudo ",
    "git ",
)  # of the reader's machine, not of the page
SHELL = re.compile(r"[|<>;&$*]")  # needs a shell


class PageError(AssertionError):
    """What a page shows is not what happens."""


@dataclass(frozen=True)
class Block:
    """A block of code, and the picture that it draws."""

    line: int
    language: str
    title: str | None
    body: str
    picture: str | None


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page.

    Examples
    --------
    >>> [(b.language, b.title, b.body) for b in blocks('```csv title="a.csv"\\nx,y\\n```\\n')]
    [('csv', 'a.csv', 'x,y\\n')]
    """
    for match in BLOCK.finditer(text):
        title = TITLE.search(match["attributes"] or "")
        picture = (
            match["picture"] and match["picture"].rpartition("pictures/")[2]
        )
        line = text.count("\n", 0, match.start()) + 1
        yield Block(
            line,
            match["language"],
            title and title[1],
            textwrap.dedent(match["body"]),
            picture,
        )


def run(
    path: Path,
    pictures: Path | None = None,
    names: dict[str, Any] | None = None,
) -> None:
    """Run a page in the present folder; pictures are drawn where a folder for them is given."""
    names = {"__name__": "page", **(names or {})}
    for block in blocks(path.read_text(encoding="utf-8")):
        where = f"{path}:{block.line}"
        with _strict():
            if block.title:
                Path(block.title).parent.mkdir(parents=True, exist_ok=True)
                Path(block.title).write_text(block.body, encoding="utf-8")
            elif block.language == "python" and ">>> " in block.body:
                _compare(block, where, names)
            elif block.language == "python":
                _draw(block, where, names, pictures)
            elif block.language == "console":
                for command, shown in commands(block.body):
                    _perform(command, shown, where)
            elif block.language != "text":
                raise PageError(
                    f"{where}: a block of {block.language or 'nothing'} is not run; give it a title"
                )


@contextlib.contextmanager
def _strict() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # a page must not warn
        warnings.filterwarnings("ignore", module="distributed")  # of slow disks
        yield


def _compare(block: Block, where: str, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(
        block.body, names, where, where, block.line
    )
    test.globs = names  # not a copy: later blocks go on from here
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.write, clear_globs=False)
    if runner.failures:
        raise PageError(f"{where}\n{report.getvalue()}")


def _draw(
    block: Block, where: str, names: dict[str, Any], pictures: Path | None
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(block.body, where, "exec"), names)
    if block.picture:
        if not plt.get_fignums():
            raise PageError(f"{where}: nothing was drawn for {block.picture}")
        if pictures:
            pictures.mkdir(parents=True, exist_ok=True)
            with matplotlib.rc_context(
                {"svg.hashsalt": "perceptive"}
            ):  # the same picture, the same file
                plt.gcf().savefig(
                    pictures / block.picture,
                    metadata={"Date": None},
                    transparent=True,
                    bbox_inches="tight",
                )
    plt.close("all")


def commands(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, and what each shows.

    Examples
    --------
    >>> list(commands("$ perceptive roles \\\\\\n      --json\\n…\\n$ ls\\n"))
    [('perceptive roles --json', '…\\n'), ('ls', '')]
    """
    joined = re.sub(r" *\\\n\s*", " ", body)
    for part in re.split(r"^\$ ", joined, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def _perform(command: str, shown: str, where: str) -> None:
    if command.startswith(NOT_RUN):
        return
    code = re.sub(r"\s+#.*", "", command)
    if code.startswith("perceptive ") and not SHELL.search(
        re.sub(r"'[^']*'", "", code)
    ):
        failed, printed = _in_process(shlex.split(code)[1:])
    else:
        path = os.pathsep.join(
            [str(Path(sys.executable).parent), os.environ["PATH"]]
        )
        done = subprocess.run(
            ["bash", "-c", code.replace("tail -f", "cat")],
            env={**os.environ, "PATH": path, "COLUMNS": "80"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        failed, printed = done.returncode, done.stdout
    if (
        failed and "perceptive" not in shown.partition("\n")[0]
    ):  # unless the page shows the error
        raise PageError(f"{where}: {command}\nends with {failed}:\n{printed}")
    if shown.strip() and not alike(shown, printed):
        raise PageError(
            f"{where}: {command}\nthe page shows\n{shown}\nbut this is printed\n{printed}"
        )


def _in_process(arguments: list[str]) -> tuple[int, str]:
    from perceptive.cli import main

    printed = io.TextIOWrapper(
        io.BytesIO(), encoding="utf-8", write_through=True
    )
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    try:
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            try:
                code = main(arguments)
            except SystemExit as end:  # --help
                code = int(end.code or 0)
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    return code, printed.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]


def alike(shown: str, printed: str) -> bool:
    """Whether a page shows what is printed: ``…`` stands for anything, spaces at the end of a line for nothing.

    Examples
    --------
    >>> alike("a …\\n…\\nd\\n", "a b\\nb\\nc\\nd\\n"), alike("a\\n", "b\\n")
    (True, False)
    """
    lines = [line.rstrip() for line in shown.strip("\n").split("\n")]
    pattern = "".join(
        r"(?:.*\n)*"
        if line == "…"
        else ".*".join(map(re.escape, line.split("…"))) + r"[ ]*\n"
        for line in lines
    )
    return re.fullmatch(pattern, printed.strip("\n") + "\n") is not None
