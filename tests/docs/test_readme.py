"""The README's examples run, one after the other, without a warning; its picture is the one that is drawn."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_examples_run(capsys):
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for block in blocks("python"):
            exec(block, names)
    shown = re.search(r"# (.+? updates), and the theorem allows (.+?) …", README)
    assert f"{shown[1]}, and the theorem allows {shown[2]}:" in capsys.readouterr().out
    assert len(blocks("python")) + len(blocks("sh")) == 6


def test_what_is_shown_is_right():
    names = {}
    exec(blocks("python")[0], names)
    shown = float(re.search(r"model\.score\(.+\)  # ([0-9.]+)", README)[1])
    assert round(names["model"].score(names["X"][1200:], names["y"][1200:]), 3) == shown
    exec(blocks("python")[1], names)
    said = re.search(r"(model\.predict_one\(.+\))  # (.+)", README)
    assert repr(eval(said[1], names)) == said[2]


def test_commands_run(tmp_path):
    (tmp_path / "messages.tsv").write_text("ham\thello you\nspam\twin a prize\n" * 9)
    (tmp_path / "inbox.txt").write_text("win\nhello\n")
    program = f'"{sys.executable}" -m perceptive'
    for command in "".join(blocks("sh")).splitlines():
        done = subprocess.run(
            ["bash", "-c", re.sub(r"\bperceptive\b", program, command)], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, (command, done.stderr)


def test_the_picture_is_small_and_drawn_by_its_script(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(ROOT / "docs" / "_site")
    import readme

    readme.draw(tmp_path / "readme.svg")
    kept = ROOT / "docs" / "readme.svg"
    assert kept.stat().st_size < 60_000
    drawn, there = ((path.read_text(encoding="utf-8").count("<path")) for path in (tmp_path / "readme.svg", kept))
    assert drawn == there
