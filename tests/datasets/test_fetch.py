"""Files of the literature: found in a folder, downloaded once from a server, checked."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from perceptive.datasets import FILES, fetch

TEXT = b"ham\thello\n"
SHA256 = hashlib.sha256(TEXT).hexdigest()


class Counting(SimpleHTTPRequestHandler):
    """A server of files that counts what it is asked for."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server with one file; the cache is empty."""
    (tmp_path / "served" / "mails").mkdir(parents=True)
    (tmp_path / "served" / "mails" / "train.tsv").write_bytes(TEXT)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PERCEPTIVE_DATA", raising=False)
    monkeypatch.delenv("PERCEPTIVE_MIRROR", raising=False)
    Counting.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Counting, directory=tmp_path / "served")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_file_is_downloaded_once(mirror: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fetch("mails/train.tsv", sha256=SHA256, mirror=mirror)
    assert path.read_bytes() == TEXT
    monkeypatch.setenv("PERCEPTIVE_MIRROR", mirror)
    assert fetch("mails/train.tsv", sha256=SHA256) == path
    assert Counting.asked == ["/mails/train.tsv"]
    monkeypatch.delenv("PERCEPTIVE_MIRROR")
    assert fetch("mails/train.tsv", sha256=SHA256) == path  # the cache has it


def test_a_file_with_another_hash_is_refused(mirror: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="hash"):
        fetch("mails/train.tsv", sha256="0" * 64, mirror=mirror)
    assert not (tmp_path / "cache" / "perceptive" / "mails" / "train.tsv").exists()


def test_a_changed_file_of_the_cache_is_downloaded_again(mirror: str) -> None:
    path = fetch("mails/train.tsv", sha256=SHA256, mirror=mirror)
    path.write_text("changed")
    assert fetch("mails/train.tsv", sha256=SHA256, mirror=mirror).read_bytes() == TEXT


def test_the_folder_of_the_user_comes_first(mirror: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.tsv").write_text("mine")
    monkeypatch.setenv("PERCEPTIVE_DATA", str(tmp_path))
    assert fetch("mine.tsv", mirror=mirror) == tmp_path / "mine.tsv"
    assert Counting.asked == []


def test_what_cannot_be_found_is_said_with_the_cure(mirror: str) -> None:
    with pytest.raises(ValueError, match="pass sha256"):
        fetch("unknown.tsv", mirror=mirror)
    with pytest.raises(FileNotFoundError, match="PERCEPTIVE_DATA"):
        fetch(next(iter(FILES)))
